//! Recorded answers of the Agent Application Protocol's own server (SDK 0.8.0), replayed whole, byte by byte and
//! cut anywhere: always the same events, the same conversation in each of the three modes, and the same as the
//! server's history has.
//!
//! A record is an answer as `curl -i` gets it, with its head; beside it stands the body of its request. Section
//! numbers, and those of findings, are the protocol note's.
#![cfg(not(target_arch = "wasm32"))]

#[path = "support/random.rs"]
mod random;
#[path = "support/typed.rs"]
mod typed;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use turnwire::event::{EventRef, TextDelta};
use turnwire::index::EventIndex;
use turnwire::json::{Object, Value};
use turnwire::protocol::aap::Aap;
use turnwire::protocol::{Answer, Call, EventDecoder, EventSink, Protocol};
use turnwire::sse::FrameDecoder;
use turnwire::{Error, ErrorCode};

use random::Random;

const CHUNKINGS: u64 = 100;

/// Records that no test reads.
const UNUSED: [(&str, &str); 3] = [
    ("60-errors-summary.txt", "it says what the server did behind the answers"),
    ("60-http500-delta.stderr", "it says that the recorder gave up, on a stream that never ends"),
    ("97-agent-unknown-name.request.json", "it names no mode, as this client always does"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/aap")
}

/// The names of all records, as paths below the folder.
fn names() -> Vec<String> {
    let mut names = Vec::new();
    for part in ["", "as-shipped-0.8.0/"] {
        for entry in std::fs::read_dir(folder().join(part)).expect("the fixtures are there") {
            let path = entry.expect("a file").path();
            if path.is_file() {
                names.push(format!("{part}{}", path.file_name().expect("a name").to_string_lossy()));
            }
        }
    }
    names.sort();
    names
}

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// The body of a turn's start.
    Start,
    /// A streamed answer.
    Stream,
    /// An answer that was not streamed.
    Whole,
    /// A session's history.
    History,
    /// Any other answer.
    Other,
    Unused,
}

/// Answers that belong to no turn, and their calls.
const OTHERS: [(&str, Call); 24] = [
    ("00-meta.http", Call::ListAgents),
    ("01-create.http", Call::CreateSession),
    ("01-create.request.json", Call::CreateSession),
    ("81-session-after-overrides.http", Call::GetSession),
    ("82-sessions-list.http", Call::ListSessions),
    ("83-history-missing-type.http", Call::ListMessages),
    ("84-history-bad-type.http", Call::ListMessages),
    ("86-history-unknown-session.http", Call::ListMessages),
    ("87-session-404.http", Call::GetSession),
    ("88-turn-404.http", Call::CreateTurnStream),
    ("89-delete.http", Call::DeleteSession),
    ("89b-delete-again.http", Call::DeleteSession),
    ("90-unknown-route.http", Call::GetSession),
    ("91-create-bad-json.http", Call::CreateSession),
    ("92-create-no-agent.http", Call::CreateSession),
    ("97-agent-unknown-name.http", Call::CreateTurnStream),
    ("98-cors-preflight.http", Call::DeleteSession),
    ("a0-auth-missing.http", Call::ListSessions),
    ("a1-auth-wrong.http", Call::ListSessions),
    ("a3-meta.http", Call::ListAgents),
    ("a4-cors-preflight-with-auth.http", Call::DeleteSession),
    ("f0-list-page1.http", Call::ListSessions),
    ("f1-list-page2.http", Call::ListSessions),
    ("f2-history-unsupported-type.http", Call::ListMessages),
];

fn kind(name: &str) -> Option<Kind> {
    let is = |suffix: &str| name.ends_with(suffix);
    Some(match name {
        _ if UNUSED.iter().any(|(unused, _)| *unused == name) => Kind::Unused,
        _ if OTHERS.iter().any(|(other, _)| *other == name) => Kind::Other,
        _ if is(".request.json") => Kind::Start,
        _ if is(".sse") => Kind::Stream,
        _ if name.contains("-history")
            || name.starts_with("85-")
            || name.starts_with("g-compact-example-") =>
        {
            Kind::History
        }
        "94-turn-unknown-stream.http" => Kind::Whole,
        _ if is(".json") => Kind::Whole,
        _ => return None,
    })
}

/// The tests of its kind read each record.
#[test]
fn every_record_is_used() {
    let names = names();
    assert!(names.len() >= 200, "{}", names.len());
    for name in &names {
        assert!(kind(name).is_some(), "{name} is in no test; if that is right, say why in `UNUSED`");
    }
    let listed = UNUSED.iter().map(|(name, _)| *name).chain(OTHERS.iter().map(|(name, _)| *name));
    for name in listed {
        assert!(names.iter().any(|known| known == name), "{name} is not there any more");
    }
}

fn of_kind(wanted: Kind) -> Vec<String> {
    names().into_iter().filter(|name| kind(name) == Some(wanted)).collect()
}

/// An answer.
struct Http {
    status: u16,
    content_type: String,
    body: Vec<u8>,
}

impl Http {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("UTF-8")
    }
}

/// The answer of this name. Those without a head were successful.
fn answer(name: &str) -> Http {
    let bytes = std::fs::read(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let text = String::from_utf8(bytes).expect("UTF-8");
    if !text.starts_with("HTTP/1.1 ") {
        return Http { status: 200, content_type: "application/json".into(), body: text.into() };
    }
    let (head, body) = text.split_once("\r\n\r\n").expect("a head ends");
    let header = |name: &str| {
        let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with(name));
        line.and_then(|line| line.split_once(": ")).map_or("", |(_, value)| value).to_owned()
    };
    let status = head.get(9..12).and_then(|status| status.parse().ok()).expect("a status");
    Http { status, content_type: header("content-type:"), body: body.into() }
}

fn read_json(name: &str) -> Json {
    let text = std::fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::from_str(&text).expect("JSON")
}

/// The parameters of the turn that this body started, as the client would pass them.
fn params_of(body: &Json) -> Json {
    let items = body["messages"].as_array().expect("messages").iter().map(|message| {
        let call = &message["toolCallId"];
        match message["role"].as_str() {
            Some("user") => {
                let content = match &message["content"] {
                    Json::Array(blocks) => blocks.iter().map(part_of).collect(),
                    text => text.clone(),
                };
                json!({"type": "user.message", "content": content})
            }
            Some("tool") => {
                json!({"type": "user.tool_response", "thread_id": "main", "tool_call_id": call, "content": message["content"]})
            }
            _ => {
                let mut approval = json!({"status": if message["granted"] == true { "allow" } else { "deny" }});
                if let Some(reason) = message.get("reason") {
                    approval["reason"] = reason.clone();
                }
                json!({"type": "user.tool_approval", "thread_id": "main", "tool_call_id": call, "approval": approval})
            }
        }
    });
    let mut terms = json!({"history": "full", "stream": body["stream"], "images": ["data"], "tools": ["get_weather", "get_time"]});
    for (name, term) in [("tools", "declare"), ("agent", "agent")] {
        if let Some(value) = body.get(name) {
            terms[term] = value.clone();
        }
    }
    json!({"sessionId": "s 1", "agentName": "basic-agent", "turnId": "t", "input": items.collect::<Vec<_>>(), "terms": terms})
}

fn part_of(block: &Json) -> Json {
    match block["type"].as_str() {
        Some("image") => json!({"type": "file", "name": "image.png", "data": block["url"]}),
        _ => block.clone(),
    }
}

/// The parameters of the turn that a record answers.
fn params(name: &str) -> Json {
    let stem = name.rsplit_once('.').expect("an extension").0;
    params_of(&read_json(&format!("{stem}.request.json")))
}

fn with_params<T>(params: &Json, then: impl FnOnce(&Object<'_>) -> T) -> T {
    let text = params.to_string();
    then(Value::parse(&text).expect("JSON").as_object().expect("an object"))
}

fn list(call: Call, params: &Json, answer: &Http) -> Result<Json, Error> {
    let Http { status, content_type, .. } = answer;
    let answer = Answer { status: *status, status_text: "", content_type, body: answer.text() };
    let json = with_params(params, |params| answer.read(&Aap::new(), call, params))?;
    Ok(serde_json::from_str(&json).expect("JSON"))
}

/// The events of an answer, and their result.
#[derive(Debug, Default)]
struct Seen {
    events: Vec<Json>,
    index: EventIndex,
}

impl Seen {
    fn take(&mut self, sequence_number: u64, event: Json) {
        self.events.push(event);
        assert_eq!(sequence_number, self.events.len() as u64);
    }

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

    /// What was said, by which role and in what order, but not in which pieces.
    fn conversation(&self) -> Json {
        let messages = self.index.messages().iter().map(|message| {
            let calls = message.calls().iter().flatten();
            let responses = calls.map(|call| json!({"call": call.id, "response": parsed(call.response())}));
            json!({"message": parsed(Some(&message.to_json("main"))), "responses": responses.collect::<Vec<_>>()})
        });
        let pending = self.index.pending().iter().map(|action| format!("{:?} {}", action.kind, action.id));
        json!({
            "created": self.of("turn.created"),
            "messages": messages.collect::<Vec<_>>(),
            "responses": self.of("tool.response"),
            "resumed": self.of("tool.resumed"),
            "pending": pending.collect::<Vec<_>>(),
            "state": self.state(),
        })
    }
}

fn parsed(json: Option<&str>) -> Json {
    json.map_or(Json::Null, |json| serde_json::from_str(json).expect("JSON"))
}

impl EventSink for Seen {
    fn delta(&mut self, sequence_number: u64, delta: TextDelta<'_>) {
        self.index.append(&delta);
        self.take(sequence_number, typed::of_delta(&delta));
    }

    fn event(&mut self, sequence_number: u64, event: EventRef<'_>) {
        let json = typed::of_event(event, false);
        self.index.apply(event);
        self.take(sequence_number, json);
    }
}

fn decoder(params: &Json) -> Box<dyn EventDecoder> {
    let mut decoder = Aap::new().decoder();
    with_params(params, |params| decoder.begin(params));
    decoder
}

/// Reads a streamed answer from these chunks.
fn stream<'c>(params: &Json, chunks: impl IntoIterator<Item = &'c [u8]>) -> Seen {
    let (mut decoder, mut frames, mut seen) = (decoder(params), FrameDecoder::default(), Seen::default());
    for chunk in chunks {
        frames.feed(chunk, &mut |frame| decoder.decode(&frame, &mut seen)).expect("frames are small");
    }
    decoder.end(&mut seen);
    seen
}

/// Reads an answer that was not streamed.
fn whole(params: &Json, body: &str) -> Seen {
    let (mut decoder, mut seen) = (decoder(params), Seen::default());
    decoder.body(Value::parse(body).expect("JSON"), &mut seen);
    decoder.end(&mut seen);
    seen
}

/// Reads the record of this name, streamed or whole; returns nothing for a failure.
fn replay(name: &str) -> Option<Seen> {
    let answer = answer(name);
    let is_success = answer.status == 200;
    let params = params(name);
    let seen = || {
        if answer.content_type == "text/event-stream" {
            stream(&params, [&*answer.body])
        } else {
            whole(&params, answer.text())
        }
    };
    is_success.then(seen)
}

fn seen(name: &str) -> Seen {
    replay(name).unwrap_or_else(|| panic!("{name} is a failure"))
}

#[test]
fn requests_are_those_that_were_recorded() {
    for name in of_kind(Kind::Start) {
        let recorded = read_json(&name);
        let params = params_of(&recorded);
        let request =
            with_params(&params, |params| Aap::new().request(Call::CreateTurnStream, params.clone()));
        let request = request.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(request.path, "sessions/s%201/turns");
        let mut body: Json = serde_json::from_str(&request.body.expect("a body")).expect("JSON");
        if recorded["stream"] == "weird" {
            // Servers read anything unknown as this (finding 7), and so does the client.
            assert_eq!(body["stream"], "none");
            body["stream"] = "weird".into();
        }
        assert_eq!(body, recorded, "{name}");
    }
    let created = read_json("01-create.request.json");
    let params = json!({"agentName": created["agent"]["name"], "agentOptions": created["agent"]["options"],
        "messages": created["messages"], "tools": created["tools"]});
    let request = with_params(&params, |params| Aap::new().request(Call::CreateSession, params.clone()));
    let request = request.expect("a request");
    assert_eq!(request.path, "sessions");
    assert_eq!(serde_json::from_str::<Json>(&request.body.expect("a body")).expect("JSON"), created);
}

#[test]
fn streams_cut_anywhere_are_the_same() {
    let streams = of_kind(Kind::Stream);
    assert!(streams.len() >= 45, "{}", streams.len());
    for name in streams {
        let (answer, params) = (answer(&name), params(&name));
        let whole = stream(&params, [&*answer.body]);
        let check = |seen: &Seen, how: &str| {
            assert_eq!(seen.events, whole.events, "{name}, {how}");
            assert_eq!(seen.conversation(), whole.conversation(), "{name}, {how}");
        };
        check(&stream(&params, answer.body.chunks(1)), "byte by byte");
        for seed in 0..CHUNKINGS {
            check(&stream(&params, Random::new(seed).cut(&answer.body)), &format!("seed {seed}"));
        }
    }
}

#[test]
fn whole_answers_are_read() {
    let mut read = 0;
    for name in of_kind(Kind::Whole) {
        match replay(&name) {
            Some(seen) => {
                read += 1;
                assert!(seen.state().is_some(), "{name}");
            }
            None => assert_eq!(answer(&name).status, 500, "{name}"),
        }
    }
    assert!(read >= 18, "{read}");
}

/// Dialogs whose modes end differently: only the stream of deltas reports an error in the middle (findings 5, 6).
const UNLIKE: [&str; 3] = ["60-http500", "60-miderr", "b-throw"];

#[test]
fn the_three_modes_have_the_same_result() {
    let mut dialogs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in of_kind(Kind::Stream).into_iter().chain(of_kind(Kind::Whole)) {
        if name.starts_with("as-shipped") {
            continue;
        }
        let mut parts: Vec<&str> = name.rsplit_once('.').expect("an extension").0.split('-').collect();
        let modes = parts.len();
        parts.retain(|part| !matches!(*part, "delta" | "message" | "none"));
        if parts.len() < modes {
            dialogs.entry(parts.join("-")).or_default().push(name);
        }
    }
    assert!(dialogs.len() >= 20, "{}", dialogs.len());
    for (dialog, names) in dialogs {
        let expected = if dialog.starts_with("e-parallel") { 2 } else { 3 };
        assert_eq!(names.len(), expected, "{dialog}");
        if UNLIKE.contains(&&*dialog) {
            continue;
        }
        let mut conversations = names.iter().map(|name| (name, seen(name).conversation()));
        let (_, first) = conversations.next().expect("a mode");
        assert_ne!(first["state"], Json::Null, "{dialog}");
        for (name, conversation) in conversations {
            assert_eq!(conversation, first, "{name}");
        }
    }
}

/// The history that was read after a turn, and the turn's own record.
fn turn_before(history: &str) -> Option<String> {
    let stem = history
        .rsplit_once('.')?
        .0
        .strip_suffix("-full")
        .or(history.rsplit_once('.').map(|(stem, _)| stem))?;
    let stem = stem.strip_suffix("-history")?;
    let stem = match stem {
        _ if stem.ends_with("-a2") => format!("{}-a-call", stem.strip_suffix("-a2")?),
        _ if stem.starts_with("20-") => format!("{}-b-resume", stem.strip_suffix("-c")?),
        _ if stem.starts_with('4') => format!("{}-b-permission", stem.strip_suffix("-c")?),
        _ if stem.starts_with("e-") => format!("{stem}-b"),
        _ => stem.to_owned(),
    };
    let names = names();
    ["sse", "json"].iter().map(|extension| format!("{stem}.{extension}")).find(|name| names.contains(name))
}

/// The turn of this record in the history.
fn found(call: Call, record: &str, history: &str) -> Result<Json, Error> {
    let mut params = params(record);
    params["isBegun"] = true.into();
    list(call, &params, &answer(history))
}

#[test]
fn the_history_has_what_the_answer_had() {
    let mut compared = 0;
    for history in of_kind(Kind::History) {
        let Some(record) = turn_before(&history) else { continue };
        if record.starts_with("b-empty") || record.starts_with("b-throw") {
            continue;
        }
        compared += 1;
        let answer = seen(&record);
        let told = found(Call::ListTurnEvents, &record, &history)
            .unwrap_or_else(|error| panic!("{history}: {error}"));
        let (mut messages, mut responses) = (Vec::new(), Vec::new());
        for event in told["items"].as_array().expect("a list") {
            match event["type"].as_str() {
                Some("model.message") => messages.push(event.clone()),
                Some("tool.response") => responses.push(event.clone()),
                Some("tool.response_required" | "tool.approval_required") => {
                    assert!(answer.events.contains(event), "{history}: {event}");
                }
                _ => panic!("{history}: {event}"),
            }
        }
        // The same messages, under the same ids.
        let mut index = EventIndex::new();
        for message in &messages {
            let text = message.to_string();
            index.apply(EventRef::of(Value::parse(&text).expect("JSON").as_object().expect("an object")));
        }
        let json = |index: &EventIndex| -> Vec<String> {
            index.messages().iter().map(|message| message.to_json("main")).collect()
        };
        assert_eq!(json(&index), json(&answer.index), "{history}");
        check_responses(&history, &responses, &answer.of("tool.response"));
        check_state(&history, &record, &answer);
    }
    assert!(compared >= 25, "{compared}");
}

/// Finding 3: what the history has twice is reported once. Finding 2: only the history has a granted call's
/// result, and the server's form of a denied call's reason.
fn check_responses(history: &str, told: &[Json], streamed: &[&Json]) {
    let texts = |events: &mut dyn Iterator<Item = &Json>| -> BTreeMap<String, String> {
        let texts: Vec<(String, String)> = events
            .map(|event| (event["id"].to_string(), event["content"].as_str().expect("a text").to_owned()))
            .collect();
        let unique: BTreeMap<_, _> = texts.iter().cloned().collect();
        assert_eq!(texts.len(), unique.len(), "{history}: an id comes twice");
        unique
    };
    let (mut told, streamed) = (texts(&mut told.iter()), texts(&mut streamed.iter().copied()));
    let granted = |call: &str| format!("\"t:in:{call}\"");
    let difference = match history {
        _ if history.starts_with("40-untrusted-grant") => told.remove(&granted("call_002")),
        _ if history.starts_with("e-parallel") => told.remove(&granted("call_p4")),
        _ if history.starts_with("41-untrusted-deny") => {
            let denied = granted("call_002");
            assert_eq!(streamed[&denied], "Tool call denied: User declined", "{history}");
            told.insert(denied, streamed["\"t:in:call_002\""].clone())
        }
        _ => None,
    };
    let expected = match history.get(..2) {
        Some("40") => Some("\"Tokyo 18°C, partly cloudy\""),
        Some("e-") => Some("{\"said\":\"hi\"}"),
        Some("41") => Some("Tool use denied: User declined"),
        _ => None,
    };
    assert_eq!(difference.as_deref(), expected, "{history}");
    assert_eq!(told, streamed, "{history}");
    if history.starts_with("30-") {
        let body = answer(history);
        assert_eq!(body.text().matches("\"role\":\"tool\"").count(), 2, "{history}");
        assert_eq!(told.len(), 1, "{history}");
    }
}

fn check_state(history: &str, record: &str, answer: &Seen) {
    let turn = found(Call::GetTurn, record, history).unwrap_or_else(|error| panic!("{history}: {error}"));
    assert_eq!(turn["id"], "t");
    assert_eq!(turn["input"], answer.events[0]["input"], "{history}");
    let (told, mut said) = (turn["state"].clone(), answer.state().expect("a state").clone());
    // A history does not say why a turn ended.
    said.as_object_mut().expect("an object").remove("termination");
    for field in ["status", "required_actions"] {
        assert_eq!(told[field], said[field], "{history}");
    }
    for field in ["id", "content", "finish_reason"] {
        assert_eq!(told["output"][field], said["output"][field], "{history}");
    }
}

/// A turn without text leaves only the user's message in the history; a failed turn leaves that, or
/// nothing at all (finding 5).
#[test]
fn histories_without_an_answer() {
    for mode in ["delta", "message", "none"] {
        let extension = if mode == "none" { "json" } else { "sse" };
        let empty = found(
            Call::GetTurn,
            &format!("b-empty-{mode}.{extension}"),
            &format!("b-empty-{mode}-history.json"),
        );
        assert_eq!(empty.expect("it is there")["state"], json!({"status": "running"}), "{mode}");
        let thrown = found(
            Call::GetTurn,
            &format!("b-throw-{mode}.{extension}"),
            &format!("b-throw-{mode}-history.json"),
        );
        match thrown {
            Ok(turn) => assert_eq!((mode, &turn["state"]), ("delta", &json!({"status": "running"}))),
            Err(error) => assert_eq!((error.code, error.status), (ErrorCode::Http, Some(404)), "{mode}"),
        }
    }
}

#[test]
fn every_history_has_turns() {
    for name in of_kind(Kind::History) {
        let answer = answer(&name);
        let kind =
            if answer.text().starts_with("{\"history\":{\"compacted\"") { "compacted" } else { "full" };
        let params =
            json!({"sessionId": "s", "terms": {"history": kind, "tools": ["get_weather", "get_time"]}});
        let read = |call| list(call, &params, &answer).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (messages, turns, events) =
            (read(Call::ListMessages), read(Call::ListTurns), read(Call::ListSessionEvents));
        let body: Json = serde_json::from_str(answer.text()).expect("JSON");
        assert_eq!(messages["items"], body["history"][kind], "{name}");
        let said = messages["items"].as_array().expect("a list");
        let said = said.iter().filter(|message| message["role"] == "user").count();
        assert_eq!(turns["user_messages"], said, "{name}");
        // Here each turn begins with one message.
        let turns = turns["items"].as_array().expect("a list");
        assert_eq!(turns.len(), said, "{name}");
        let begun = events["items"].as_array().expect("a list").iter();
        let begun: Vec<_> = begun.filter(|item| item["event"]["type"] == "turn.created").collect();
        assert_eq!(begun.len(), said, "{name}");
        for (at, (turn, created)) in turns.iter().zip(begun).enumerate() {
            assert_eq!(turn["id"], format!("turn-{}", at + 1), "{name}");
            assert_eq!(
                (&created["turn_id"], &created["event"]["input"]),
                (&turn["id"], &turn["input"]),
                "{name}"
            );
            if at + 1 < turns.len() {
                assert_eq!(turn["state"]["status"], "done", "{name}");
            }
        }
    }
    // Section 6: after a reload, the pending calls are in the history.
    let params = json!({"sessionId": "s", "terms": {"tools": ["get_weather"]}});
    let turns =
        list(Call::ListTurns, &params, &answer("20-client-tool-delta-a2-history.http")).expect("a list");
    let asked = &turns["items"][0]["state"]["required_actions"][0];
    assert_eq!(asked["type"], "tool.response_required");
    assert_eq!(asked["tool_calls"][0]["id"], "call_001");
    assert_eq!(asked["tool_calls"][0]["arguments"], r#"{"location":"Tokyo"}"#);
}

/// Finding 10: a compacted history begins anywhere.
#[test]
fn a_compacted_history_has_fewer_turns() {
    let turns = |name: &str, kind: &str| {
        let params = json!({"sessionId": "s", "terms": {"history": kind}});
        let turns = list(Call::ListTurns, &params, &answer(name)).expect("a list");
        turns["items"].as_array().expect("a list").len()
    };
    assert_eq!(turns("g-compact-example-full.http", "full"), 8);
    assert_eq!(turns("g-compact-example-compacted.http", "compacted"), 5);
}

/// Finding 1: the shipped server closes its streams too early. The received events are kept, and the turn has not
/// ended; its history has the rest.
#[test]
fn streams_that_lose_their_end_have_none() {
    let lost = |name: &str| seen(&format!("as-shipped-0.8.0/{name}.sse"));
    let plain = lost("10-plain-delta");
    assert_eq!(plain.state(), None);
    assert_eq!(plain.index.messages()[0].content(), "The weather in Tokyo is 18°C, partly cloudy.");
    assert_eq!(plain.index.messages()[0].finish_reason(), "");
    let call = lost("20-client-tool-delta-a-call");
    assert_eq!(call.state(), None);
    assert_eq!(call.index.messages()[0].call("call_001").expect("a call").name, "get_weather");
    assert!(call.index.pending().is_empty(), "nothing says that it waits");
    let message = lost("10-plain-message");
    assert_eq!(message.events.len(), 1, "{:?}", message.events);
    for (record, history) in [
        ("10-plain-delta", "10-plain-delta-history-full.http"),
        ("10-plain-message", "10-plain-message-history-full.http"),
        ("20-client-tool-delta-a-call", "20-client-tool-delta-a2-history.http"),
    ] {
        let record = format!("as-shipped-0.8.0/{record}.sse");
        let state = found(Call::GetTurn, &record, history).expect("it is there")["state"].clone();
        let whole = record.strip_prefix("as-shipped-0.8.0/").expect("the folder");
        assert_eq!(
            state["required_actions"],
            seen(whole).state().expect("a state")["required_actions"],
            "{record}"
        );
        assert_eq!(state["status"], "done", "{record}");
    }
}

/// Findings 5 and 6.
#[test]
fn errors_in_the_middle() {
    for (name, text) in [("60-miderr-delta.sse", "partial "), ("b-throw-delta.sse", "before ")] {
        assert_eq!(answer(name).text().matches("turn_stop").count(), 2, "{name}");
        let seen = seen(name);
        let state = seen.state().expect("a state");
        assert_eq!(
            (&state["status"], &state["termination"]),
            (&json!("error"), &json!({"type": "error"})),
            "{name}"
        );
        assert_eq!(seen.index.messages()[0].content(), text, "{name}");
        assert_eq!(seen.index.messages()[0].finish_reason(), "error", "{name}");
    }
    for name in
        ["60-miderr-message.sse", "b-throw-message.sse", "60-http500-delta.sse", "60-http500-message.sse"]
    {
        let seen = seen(name);
        assert_eq!((seen.events.len(), seen.state()), (1, None), "{name}");
    }
    for name in ["60-miderr-none.json", "b-throw-none.json", "60-http500-none.json"] {
        let error = list(Call::ListTurns, &json!({}), &answer(name)).expect_err("a failure");
        assert_eq!(error.message, "the server answered 500: Internal Server Error", "{name}");
    }
}

/// Finding 7: a stream without an event begins no turn.
#[test]
fn an_empty_stream_has_no_events() {
    assert!(seen("95-permission-unknown-call.sse").events.is_empty());
    let denied = seen("96-permission-unknown-call-deny.sse");
    assert_eq!(denied.of("tool.response")[0]["content"], "Tool call denied");
    assert_eq!(denied.state().expect("a state")["output"]["content"], "Tool said: Tool use denied.");
}

/// Section 4: the ends of turns that neither fail nor wait.
#[test]
fn ends_have_reasons() {
    for (name, reason, finish, text) in [
        ("60-length-delta.sse", "max_tokens", Some("length"), Some("This is cut")),
        ("60-filter-delta.sse", "refusal", None, None),
        (
            "10-plain-none.json",
            "end_turn",
            Some("stop"),
            Some("The weather in Tokyo is 18°C, partly cloudy."),
        ),
        ("b-empty-delta.sse", "end_turn", None, None),
        (
            "b-newline-message.sse",
            "end_turn",
            Some("stop"),
            Some("line1\nline2\r\n\nemoji 😀 \u{2028} quote \" end"),
        ),
    ] {
        let seen = seen(name);
        let state = seen.state().expect("a state");
        assert_eq!(
            (&state["status"], &state["termination"]["type"]),
            (&json!("done"), &json!(reason)),
            "{name}"
        );
        assert_eq!(state["output"]["finish_reason"].as_str(), finish, "{name}");
        assert_eq!(state["output"]["content"].as_str(), text, "{name}");
    }
}

/// Section 5: which calls wait, and for whom.
#[test]
fn calls_wait_for_results_and_for_permission() {
    for (name, waiting) in [
        ("20-client-tool-delta-a-call.sse", &["Response call_001"][..]),
        ("40-untrusted-grant-message-a-call.sse", &["Approval call_002"]),
        ("50-mixed-none-a-call.json", &["Response call_003", "Approval call_004"]),
        ("e-parallel-delta-a.sse", &["Response call_p1", "Response call_p2", "Approval call_p4"]),
        ("30-trusted-server-tool-delta.sse", &[]),
        ("d-toolfail-none.json", &[]),
    ] {
        let seen = seen(name);
        let pending = seen.index.pending().iter().map(|action| format!("{:?} {}", action.kind, action.id));
        assert_eq!(pending.collect::<Vec<_>>(), waiting, "{name}");
        let told = seen.of("tool.response_required").len() + seen.of("tool.approval_required").len();
        assert_eq!(told, waiting.len(), "{name}");
        assert_eq!(seen.state().expect("a state")["output"].is_null(), !waiting.is_empty(), "{name}");
    }
}

/// Sections 1, 2 and 7.
#[test]
fn other_answers_are_read_or_refused() {
    for (name, call) in OTHERS {
        if name.ends_with(".request.json") {
            continue;
        }
        let answer = answer(name);
        let params = json!({"agentName": if answer.status == 201 { "basic-agent" } else { "" }});
        let read = list(call, &params, &answer);
        let expected = match name.get(..2).expect("a number") {
            "83" | "84" => Err((400, ": type must be \"compacted\" or \"full\"")),
            "86" | "f2" => Err((404, ": Specified history not found")),
            "87" | "88" => Err((404, ": Session not found")),
            "89" if name.contains("again") => Err((404, ": Session not found")),
            "90" => Err((404, ": 404 Not Found")),
            "91" | "92" | "97" => Err((500, ": Internal Server Error")),
            "a0" | "a1" => Err((401, ": Unauthorized")),
            _ => Ok(()),
        };
        match (read, expected) {
            (Ok(_), Ok(())) => {}
            (Err(error), Err((status, message))) => {
                assert_eq!((error.code, error.status), (ErrorCode::Http, Some(status)), "{name}");
                assert_eq!(error.message, format!("the server answered {status}{message}"), "{name}");
            }
            (read, expected) => panic!("{name}: {read:?}, not {expected:?}"),
        }
    }
}

#[test]
fn sessions_and_agents_are_those_of_the_server() {
    let read = |call, name: &str, params: Json| list(call, &params, &answer(name)).expect("an answer");
    let made = read(Call::CreateSession, "01-create.http", json!({"agentName": "basic-agent"}));
    let expected = json!({"type": "session", "id": "sess_1795256408792", "agent_name": "basic-agent", "title": null,
        "created_by_subject": null, "created_at": null, "updated_at": null});
    assert_eq!(made, expected);
    let session = read(Call::GetSession, "81-session-after-overrides.http", json!({"sessionId": "s"}));
    assert_eq!(session["agent"]["options"]["apiKey"], "***");
    assert_eq!(session["tools"][0]["name"], "get_weather");
    let first = read(Call::ListSessions, "f0-list-page1.http", json!({"agentName": "scripted-agent"}));
    assert_eq!((&first["items"][1]["id"], &first["next"]), (&json!("sess_2"), &json!("2")));
    let others = read(Call::ListSessions, "f1-list-page2.http", json!({"agentName": "another"}));
    assert_eq!((&others["items"], &others["next"]), (&json!([]), &json!("4")));
    let all = read(Call::ListSessions, "82-sessions-list.http", json!({}));
    assert_eq!((all["items"].as_array().map(Vec::len), &all["next"]), (Some(32), &Json::Null));
    let agents = read(Call::ListAgents, "00-meta.http", json!({}));
    let agent = &agents["items"][0];
    assert_eq!(
        agent["terms"],
        json!({"history": "full", "stream": "delta", "images": ["data", "http"], "modes": ["delta", "message", "none"], "page_tools": true})
    );
    assert_eq!((&agent["name"], &agent["tools"][0]["name"]), (&json!("basic-agent"), &json!("web_fetch")));
    let scripted = read(Call::ListAgents, "a3-meta.http", json!({}));
    assert_eq!(scripted["items"][0]["options"][0]["options"], json!(["English", "Japanese"]));
}
