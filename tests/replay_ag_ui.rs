//! Recorded streams of seven servers and of the official encoder, replayed whole, byte by byte and cut anywhere: always
//! the same events, and the same conversation for the next request.
//!
//! A record is an answer as `curl -i` gets it, with its head; beside it stand its request, and what the official client
//! (1.0.0) made of it. Section numbers are the protocol note's.
#![cfg(not(target_arch = "wasm32"))]

#[expect(dead_code, reason = "no test here cuts by its sizes")]
#[path = "support/random.rs"]
mod random;
#[path = "support/scope.rs"]
mod scope;
#[path = "support/typed.rs"]
mod typed;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use turnwire::event::{EventRef, TextDelta};
use turnwire::index::{EventIndex, MessageCall};
use turnwire::json::Value;
use turnwire::protocol::ag_ui::AgUi;
use turnwire::protocol::{Call, EventDecoder, EventSink, Protocol};
use turnwire::sse::{Frame, FrameDecoder, FrameSink, Run};

use random::Random;
use scope::tries;

const CHUNKINGS: u64 = 100;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ag-ui")
}

/// The names of all records, as paths below the folder without their extensions.
fn names() -> Vec<String> {
    let mut names = Vec::new();
    for server in std::fs::read_dir(folder()).expect("the fixtures are there") {
        for file in std::fs::read_dir(server.expect("a folder").path()).expect("a folder") {
            let path = file.expect("a file").path();
            let name = path.strip_prefix(folder()).expect("below it").to_string_lossy().into_owned();
            names.extend(name.strip_suffix(".sse").map(str::to_owned));
        }
    }
    names.sort();
    names
}

fn read(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn read_json(name: &str) -> Json {
    serde_json::from_str(&read(name)).expect("JSON")
}

/// A stream, with the body of the request that it answers.
struct Record {
    name: String,
    request: Json,
    body: String,
}

/// All streams.
fn records() -> Vec<Record> {
    let mut records = Vec::new();
    for name in names() {
        let text = read(&format!("{name}.sse"));
        let (head, body) = text.split_once("\r\n\r\n").expect("a head ends");
        let is_stream = head.contains(" 200") && head.to_ascii_lowercase().contains("text/event-stream");
        if is_stream && body.contains("data:") {
            let request = read_json(&format!("{name}.request.json"))["body"].clone();
            records.push(Record { name, request, body: body.to_owned() });
        }
    }
    assert!(records.len() > 150, "{}", records.len());
    records
}

/// The parameters of a start whose conversation is that of the request, with nothing to add.
fn params(request: &Json) -> Json {
    let mut conversation = json!({"messages": request["messages"]});
    if let Some(state) = request.get("state") {
        conversation["state"] = state.clone();
    }
    json!({"session_id": "s", "turn_id": "t", "terms": {"tools": request["tools"], "conversation": conversation.to_string()}})
}

/// The result of a stream.
struct Reading {
    decoder: Box<dyn EventDecoder>,
    seen: Seen,
    takes_runs: bool,
}

#[derive(Debug, Default)]
struct Seen {
    events: Vec<Json>,
    index: EventIndex,
}

impl Reading {
    fn new(params: &Json, takes_runs: bool) -> Self {
        let mut decoder = AgUi::new().decoder();
        let text = params.to_string();
        decoder.begin(Value::parse(&text).expect("JSON").as_object().expect("an object"));
        Self { decoder, seen: Seen::default(), takes_runs }
    }

    /// Reads a stream from these chunks, to its end.
    fn of<'c>(params: &Json, takes_runs: bool, chunks: impl IntoIterator<Item = &'c [u8]>) -> Self {
        let mut reading = Self::new(params, takes_runs);
        let mut frames = FrameDecoder::default();
        for chunk in chunks {
            frames.feed_runs(chunk, &mut reading).expect("frames are small");
        }
        reading.decoder.end(&mut reading.seen);
        reading
    }

    fn conversation(&self) -> Json {
        self.decoder.conversation().map_or(Json::Null, |json| serde_json::from_str(&json).expect("JSON"))
    }
}

impl FrameSink for Reading {
    fn frame(&mut self, frame: Frame<'_>) {
        self.decoder.decode(&frame, &mut self.seen);
    }

    fn takes_runs(&self) -> bool {
        self.takes_runs
    }

    fn run(&mut self, bytes: &[u8]) -> Run {
        self.decoder.run(bytes, &mut self.seen)
    }
}

impl Seen {
    fn of<'s>(&'s self, kind: &'s str) -> Vec<&'s Json> {
        self.events.iter().filter(|event| event["type"] == kind).collect()
    }

    /// The state that the turn ended in.
    fn state(&self) -> Option<&Json> {
        let done = self.of("turn.done");
        assert!(done.len() <= 1, "a turn ends once");
        assert!(done.is_empty() || self.events.last() == done.first().copied(), "its end is the last of it");
        done.first().map(|done| &done["state"])
    }
}

impl EventSink for Seen {
    fn delta(&mut self, sequence_number: u64, delta: TextDelta<'_>) {
        self.index.append(&delta);
        self.events.push(typed::of_delta(&delta));
        assert_eq!(sequence_number, self.events.len() as u64);
    }

    fn event(&mut self, sequence_number: u64, event: EventRef<'_>) {
        let json = typed::of_event(event, true);
        self.index.apply(event);
        self.events.push(json);
        assert_eq!(sequence_number, self.events.len() as u64);
    }
}

#[test]
fn a_stream_is_the_same_however_it_is_cut() {
    for Record { name, request, body } in records() {
        let params = params(&request);
        let whole = Reading::of(&params, false, [body.as_bytes()]);
        for number in 0..tries(CHUNKINGS) {
            let mut random = Random::new(number);
            let mut chunks = Vec::new();
            let mut rest = body.as_bytes();
            while !rest.is_empty() {
                let most = if number == 0 {
                    1
                } else {
                    rest.len().min(1 + usize::try_from(number).expect("it is small") * 7)
                };
                let (chunk, after) = rest.split_at(1 + random.below(most));
                chunks.push(chunk);
                rest = after;
            }
            let cut = Reading::of(&params, number % 2 == 0, chunks);
            assert_eq!(cut.seen.events, whole.seen.events, "{name}, chunking {number}");
            assert_eq!(cut.decoder.conversation(), whole.decoder.conversation(), "{name}, chunking {number}");
        }
    }
}

/// The content of a conversation's messages, each after its role and, if it `has_ids`, its id or its call. Metadata is
/// what the snapshots leave out.
fn said(messages: &Json, has_ids: bool) -> Vec<String> {
    let mut said = Vec::new();
    for message in
        messages.as_array().expect("messages").iter().filter(|message| message["role"] != "activity")
    {
        let mut one = json!({"role": message["role"]});
        for name in ["toolCallId", "content", "encryptedValue", "error", "toolCalls"] {
            let value = message.get(name).filter(|value| !value.is_null() && *value != "");
            one[name] = value.cloned().unwrap_or_default();
        }
        for call in one["toolCalls"].as_array_mut().into_iter().flatten() {
            call.as_object_mut().expect("a call").remove("metadata");
        }
        if has_ids && message["role"] != "tool" {
            one["id"] = message["id"].clone();
        }
        if let Some(text) = one["content"].as_str().filter(|_| !has_ids) {
            one["content"] = text.trim().into();
        }
        if message["role"] != "assistant" || !one["content"].is_null() || !one["toolCalls"].is_null() {
            said.push(one.to_string());
        }
    }
    // Here a result is beside its call, there at the end.
    said.sort();
    said
}

/// Streams whose messages get ids of ours: they have none, or others in each snapshot.
fn has_ids(name: &str) -> bool {
    !name.starts_with("llama-index/") && name != "pydantic-ai/think-legacy"
}

#[test]
fn a_conversation_is_what_the_official_client_keeps() {
    let mut compared = 0;
    for Record { name, request, body } in records() {
        let path = format!("{name}.folded.json");
        if !folder().join(&path).exists() {
            continue;
        }
        let mut folded = read_json(&path);
        if folded["accepted"] != true {
            continue;
        }
        // It keeps two results of a call: the page's answer, and the result after it.
        let is_second = |result: &Json, messages: &[Json]| {
            let others = messages.iter().filter(|other| other["toolCallId"] == result["toolCallId"]);
            result["role"] == "tool"
                && others.count() > 1
                && request["messages"].to_string().contains(&result.to_string())
        };
        let messages = folded["messages"].as_array().expect("messages").clone();
        folded["messages"].as_array_mut().expect("messages").retain(|one| !is_second(one, &messages));
        compared += 1;
        let kept = Reading::of(&params(&request), true, [body.as_bytes()]).conversation();
        let ours = said(&kept["messages"], has_ids(&name));
        // The official client doubles the arguments of a call that begins again (trap 4).
        let doubled = |one: &String| {
            one.replace(r#"{\"path\": \"a.txt\"}{\"path\": \"a.txt\"}"#, r#"{\"path\": \"a.txt\"}"#)
                .replace(r#"{\"path\":\"a.txt\"}{\"path\":\"a.txt\"}"#, r#"{\"path\":\"a.txt\"}"#)
        };
        let theirs: Vec<String> = said(&folded["messages"], has_ids(&name)).iter().map(doubled).collect();
        assert_eq!(ours, theirs, "{name}");
        assert_eq!(kept.get("state").unwrap_or(&json!({})), &folded["state"], "{name}");
    }
    assert!(compared > 150, "{compared}");
}

/// A stream read by its frames alone: the texts by their messages, the arguments and results by their calls.
#[derive(Debug, Default)]
struct Plain {
    texts: BTreeMap<String, String>,
    arguments: BTreeMap<String, String>,
    results: BTreeMap<String, Json>,
}

impl Plain {
    fn of(body: &str) -> Self {
        let mut plain = Self::default();
        let mut restarted = Vec::new();
        for line in body.lines().filter_map(|line| line.strip_prefix("data: ")) {
            let frame: Json = serde_json::from_str(line).expect("JSON");
            let text = |name: &str| frame[name].as_str().unwrap_or_default().to_owned();
            match frame["type"].as_str().expect("a type") {
                "TEXT_MESSAGE_CONTENT" => {
                    plain.texts.entry(text("messageId")).or_default().push_str(&text("delta"));
                }
                "TOOL_CALL_START" => restarted.push(text("toolCallId")),
                "TOOL_CALL_ARGS" => {
                    let arguments = plain.arguments.entry(text("toolCallId")).or_default();
                    let starts = restarted.iter().filter(|id| **id == text("toolCallId")).count();
                    if starts > 1 {
                        arguments.clear();
                        restarted.retain(|id| *id != text("toolCallId"));
                    }
                    arguments.push_str(&text("delta"));
                }
                "TOOL_CALL_RESULT" => {
                    plain.results.insert(text("toolCallId"), frame["content"].clone());
                }
                _ => {}
            }
        }
        plain
    }
}

#[test]
fn an_index_has_what_the_frames_say() {
    let (mut texts, mut calls, mut results) = (0, 0, 0);
    for Record { name, request, body } in records() {
        let plain = Plain::of(&body);
        let seen = Reading::of(&params(&request), true, [body.as_bytes()]).seen;
        for (id, text) in plain.texts.iter().filter(|(_, text)| !text.is_empty()) {
            let message = seen.index.message(id).unwrap_or_else(|| panic!("{name} has no message {id}"));
            assert_eq!(message.content(), text, "{name}");
            texts += 1;
        }
        // A call that begins again is one of an earlier turn, which shows it.
        let known = request["messages"].to_string();
        for (id, arguments) in plain.arguments.iter().filter(|(id, _)| !known.contains(id.as_str())) {
            let shown = seen.index.messages().iter().flat_map(|message| message.calls().iter().flatten());
            let shown: Vec<&str> = shown.filter(|call| call.id == *id).map(MessageCall::arguments).collect();
            assert_eq!(shown, [arguments], "{name}: {id}");
            calls += 1;
        }
        for (id, content) in &plain.results {
            let responses = seen.of("tool.response");
            let last = responses.iter().rfind(|response| response["tool_call_id"] == *id);
            let response = last.unwrap_or_else(|| panic!("{name} has no result of {id}"));
            if content.is_string() {
                assert_eq!(response["content"], *content, "{name}");
            } else {
                assert_eq!(response["parts"], *content, "{name}");
            }
            results += 1;
        }
    }
    assert!(texts > 130 && calls > 60 && results > 40, "{texts} {calls} {results}");
}

#[test]
fn a_turn_ends_only_when_its_run_did() {
    for Record { name, request, body } in records() {
        let params = params(&request);
        let mut end = 0;
        let last = body.rfind("\"type\":\"RUN_").expect("a run has an end or a beginning");
        for frame in body.split_inclusive("\n\n") {
            end += frame.len();
            let reading = Reading::of(&params, true, [&body.as_bytes()[..end]]);
            let runs = body[..end].matches("\"type\":\"RUN_STARTED\"").count();
            let ends = body[..end].matches("\"type\":\"RUN_FINISHED\"").count()
                + body[..end].matches("\"type\":\"RUN_ERROR\"").count();
            let is_over = ends >= runs && ends > 0;
            assert_eq!(reading.seen.state().is_some(), is_over, "{name} up to {end} of {last}");
            // Everything received goes into the next request, which is JSON.
            assert!(reading.conversation()["messages"].is_array(), "{name}");
        }
    }
}

#[test]
fn the_next_request_has_the_conversation_byte_by_byte() {
    for Record { name, request, body } in records() {
        let kept =
            Reading::of(&params(&request), true, [body.as_bytes()]).decoder.conversation().expect("begun");
        let call = format!(
            r#"{{"sessionId": "s", "turnId": "t2", "input": [{{"type": "user.message", "content": "Next"}}], "terms": {{"conversation": {}}}}}"#,
            Json::from(kept.clone())
        );
        let Ok(Value::Object(call)) = Value::parse(&call) else { panic!("{name}: {call}") };
        let sent =
            AgUi::new().request(Call::CreateTurnStream, call).expect("a request").body.expect("a body");
        let again = Reading::of(
            &{
                let mut of: Json = params(&request);
                of["terms"]["conversation"] = kept.clone().into();
                of
            },
            true,
            [br#"data: {"type":"RUN_STARTED"}"#.as_slice(), b"\n\n"],
        );
        let kept: Json = serde_json::from_str(&kept).expect("JSON");
        assert_eq!(again.conversation()["messages"], kept["messages"], "{name}");
        let sent: Json = serde_json::from_str(&sent).expect("JSON");
        let messages = sent["messages"].as_array().expect("messages");
        assert!(messages.iter().all(|message| message["role"] != "activity"), "{name}");
        let has_null = |message: &Json| message.as_object().expect("an object").values().any(Json::is_null);
        assert!(!messages.iter().any(has_null), "{name}");
        let answered: Vec<&Json> = messages.iter().map(|message| &message["toolCallId"]).collect();
        for call in messages.iter().flat_map(|message| message["toolCalls"].as_array().into_iter().flatten())
        {
            assert!(answered.contains(&&call["id"]), "{name}: {call} has no result");
        }
    }
}

/// Waiting runs, their pending actions, the answers, and the recorded request with the same answers.
const ANSWERED: [(&str, &[&str], &str, &str); 5] = [
    (
        "pydantic-ai/client-tool",
        &["Response call_c1"],
        r#"[{"type":"user.tool_response","thread_id":"main","tool_call_id":"call_c1","content":"red"}]"#,
        "pydantic-ai/client-tool-follow",
    ),
    (
        "pydantic-ai/approve",
        &["Approval call_a1"],
        r#"[{"type":"user.tool_approval","thread_id":"main","tool_call_id":"call_a1","approval":{"status":"allow"}}]"#,
        "pydantic-ai/approve-yes",
    ),
    (
        "pydantic-ai/approve-and-client-tool",
        &["Approval call_a1", "Response call_c1"],
        r#"[{"type":"user.tool_response","thread_id":"main","tool_call_id":"call_c1","content":"red"},{"type":"user.tool_approval","thread_id":"main","tool_call_id":"call_a1","approval":{"status":"allow"}}]"#,
        "pydantic-ai/approve-and-client-tool-follow",
    ),
    (
        "agent-framework/approve",
        &["Approval call_a1"],
        r#"[{"type":"user.tool_approval","thread_id":"main","tool_call_id":"call_a1","approval":{"status":"allow"}}]"#,
        "agent-framework/approve-yes",
    ),
    (
        "langgraph/approve-legacy",
        &["Response t:asks"],
        r#"[{"type":"user.tool_response","thread_id":"main","tool_call_id":"t:asks","content":"{\"approved\":true}"}]"#,
        "langgraph/approve-legacy-command-resume",
    ),
];

#[test]
fn answers_are_sent_as_they_were_recorded() {
    for (name, waiting, input, follow) in ANSWERED {
        let record = records().into_iter().find(|record| record.name == name).expect("it is there");
        let reading = Reading::of(&params(&record.request), true, [record.body.as_bytes()]);
        let pending =
            reading.seen.index.pending().iter().map(|action| format!("{:?} {}", action.kind, action.id));
        assert_eq!(pending.collect::<Vec<_>>(), waiting, "{name}");
        let kept = reading.decoder.conversation().expect("begun");
        let call = format!(
            r#"{{"sessionId":"s","turnId":"t2","input":{input},"terms":{{"conversation":{}}}}}"#,
            Json::from(kept)
        );
        let Ok(Value::Object(call)) = Value::parse(&call) else { panic!("{name}: {call}") };
        let sent =
            AgUi::new().request(Call::CreateTurnStream, call).expect("a request").body.expect("a body");
        let sent: Json = serde_json::from_str(&sent).expect("JSON");
        let recorded = read_json(&format!("{follow}.request.json"))["body"].to_string();
        // One recording has the legacy alias of the schema.
        let recorded: Json =
            serde_json::from_str(&recorded.replace("\"accepted\"", "\"approved\"")).expect("JSON");
        assert_eq!(sent.get("resume"), recorded.get("resume"), "{name}");
        assert_eq!(sent["forwardedProps"], recorded["forwardedProps"], "{name}");
        let answers = |body: &Json| {
            let messages = body["messages"].as_array().expect("messages").iter();
            let answers = messages.filter(|message| message["role"] == "tool");
            answers
                .map(|answer| (answer["toolCallId"].clone(), answer["content"].clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(answers(&sent), answers(&recorded), "{name}");
    }
}
