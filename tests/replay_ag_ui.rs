//! Recorded streams of seven servers and of the official encoder, replayed whole, byte by byte and cut anywhere: always
//! the same events, and the same conversation for the next request.
//!
//! A record is an answer as `curl -i` gets it, with its head; beside it stand its request, and what the official client
//! (1.0.0) made of it. Section numbers are the protocol note's.
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
use turnwire::protocol::ag_ui::AgUi;
use turnwire::protocol::{Call, EventDecoder, EventSink, Protocol};
use turnwire::sse::{Frame, FrameDecoder, FrameSink, Run};

use random::Random;

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
    json!({"session_id": "s", "turn_id": "t", "terms": {"tools": request["tools"], "conversation": conversation}})
}

/// What came of a stream.
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

    /// Reads a stream of which the chunks are these, to its end.
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
        for number in 0..CHUNKINGS {
            let mut random = Random::new(number);
            let mut chunks = Vec::new();
            let mut rest = body.as_bytes();
            while !rest.is_empty() {
                let most = if number == 0 { 1 } else { rest.len().min(1 + number as usize * 7) };
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

/// The messages of a conversation by what identifies them, without what no server reads.
fn by_id(messages: &Json) -> BTreeMap<String, Json> {
    let messages = messages.as_array().expect("messages").iter();
    messages
        .filter(|message| message["role"] != "activity")
        .map(|message| {
            let id = if message["role"] == "tool" { &message["toolCallId"] } else { &message["id"] };
            let mut said = json!({"role": message["role"], "content": message["content"]});
            if said["content"].is_null() || said["content"] == "" {
                said["content"] = Json::Null;
            }
            for name in ["toolCalls", "encryptedValue", "error"] {
                if let Some(value) = message.get(name).filter(|value| !value.is_null()) {
                    said[name] = value.clone();
                }
            }
            (format!("{} {}", message["role"], id), said)
        })
        .filter(|(_, said)| said["role"] != "assistant" || said.as_object().is_some_and(|said| said.len() > 2 || !said["content"].is_null()))
        .collect()
}

#[test]
fn a_conversation_is_what_the_official_client_keeps() {
    let mut compared = 0;
    let mut differing = Vec::new();
    for Record { name, request, body } in records() {
        let folded = folder().join(format!("{name}.folded.json"));
        if !folded.exists() {
            continue;
        }
        let folded = read_json(&format!("{name}.folded.json"));
        if folded["accepted"] != true {
            continue;
        }
        compared += 1;
        let kept = Reading::of(&params(&request), true, [body.as_bytes()]).conversation();
        let (ours, theirs) = (by_id(&kept["messages"]), by_id(&folded["messages"]));
        let state = kept.get("state").cloned().unwrap_or_else(|| json!({}));
        if ours != theirs {
            differing.push(format!("{name}:\n  {}\n  {}", json!(ours), json!(theirs)));
        }
        if state != folded["state"] {
            differing.push(format!("{name}: state\n  {state}\n  {}", folded["state"]));
        }
    }
    println!("{}", differing.join("\n"));
    assert_eq!(differing.len(), 0, "of {compared}");
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
            // Whatever came goes into the next request, which is JSON.
            assert!(reading.conversation()["messages"].is_array(), "{name}");
        }
    }
}

#[test]
fn the_next_request_has_the_conversation_byte_by_byte() {
    for Record { name, request, body } in records() {
        let kept = Reading::of(&params(&request), true, [body.as_bytes()]).decoder.conversation().expect("begun");
        let call = format!(
            r#"{{"sessionId": "s", "turnId": "t2", "input": [{{"type": "user.message", "content": "Next"}}], "terms": {{"conversation": {kept}}}}}"#
        );
        let Ok(Value::Object(call)) = Value::parse(&call) else { panic!("{name}: {call}") };
        let sent = AgUi::new().request(Call::CreateTurnStream, call).expect("a request").body.expect("a body");
        let again = Reading::of(&{
            let mut of: Json = params(&request);
            of["terms"]["conversation"] = serde_json::from_str(&kept).expect("JSON");
            of
        }, true, [br#"data: {"type":"RUN_STARTED"}"#.as_slice(), b"\n\n"]);
        let kept: Json = serde_json::from_str(&kept).expect("JSON");
        assert_eq!(again.conversation()["messages"], kept["messages"], "{name}");
        let sent: Json = serde_json::from_str(&sent).expect("JSON");
        let messages = sent["messages"].as_array().expect("messages");
        assert!(messages.iter().all(|message| message["role"] != "activity"), "{name}");
        let has_null = |message: &Json| message.as_object().expect("an object").values().any(Json::is_null);
        assert!(!messages.iter().any(has_null), "{name}");
        let answered: Vec<&Json> = messages.iter().map(|message| &message["toolCallId"]).collect();
        for call in messages.iter().flat_map(|message| message["toolCalls"].as_array().into_iter().flatten()) {
            assert!(answered.contains(&&call["id"]), "{name}: {call} has no result");
        }
    }
}
