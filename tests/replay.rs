//! Recorded streams of every scripted agent of the development gateway, replayed whole, byte by byte and cut anywhere,
//! with and without dropped connections. The events and the index are always the same, and agree with a simple reader
//! and a simple merge.
//!
//! The records are what `curl -N` gets from `turnwire-gateway --delay-ms 0`; a name that ends in
//! `-answered` is the next turn, which answers the questions of the first one.
#![cfg(not(target_arch = "wasm32"))]

#[path = "support/random.rs"]
mod random;
#[path = "support/scope.rs"]
mod scope;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value as Json, json};

use turnwire::ErrorCode;
use turnwire::delivery::{CHANGE_STRIDE, ChangeBatch, EVENT_STRIDE, TextArena, kind};
use turnwire::event::{Event, EventRef};
use turnwire::index::{EventIndex, PendingKind, ThreadStatus};
use turnwire::json::Value;
use turnwire::protocol::truefoundry::{Dialect, TrueFoundry};
use turnwire::turn::{StreamEnd, StreamPlan, TurnMachine, TurnReader, TurnStatus};

use random::Random;
use scope::tries;

/// How often a recording is cut at random: a thousand times for those with all kinds of content.
fn chunkings(name: &str) -> u64 {
    if ["support", "unicode", "parallel"].contains(&name) { 1_000 } else { 100 }
}

const DROPS: u64 = 1_000;
const FRAME_LIMIT: usize = 8 * 1024 * 1024;

/// The scripts that the gateway has.
const SCRIPTS: [&str; 17] = [
    "plain",
    "reasoning",
    "markdown",
    "unicode",
    "tools",
    "parallel",
    "approval",
    "question",
    "mixed",
    "subagents",
    "mcp-auth",
    "sandbox",
    "file",
    "long",
    "slow",
    "error",
    "length",
];

struct Recording {
    name: String,
    bytes: Vec<u8>,
    frames: Vec<WireFrame>,
}

/// A frame as the simple reader sees it.
struct WireFrame {
    sequence_number: u64,
    event: Json,
    /// The frame's bytes, its blank line included.
    bytes: Vec<u8>,
}

fn recordings() -> Vec<Recording> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/truefoundry");
    let entries = std::fs::read_dir(&folder).expect("the fixtures are there");
    let mut recordings: Vec<_> = entries
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sse"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let bytes = std::fs::read(&path).expect("the fixture can be read");
            let frames = wire_frames(std::str::from_utf8(&bytes).expect("UTF-8"));
            Recording { name, bytes, frames }
        })
        .collect();
    recordings.sort_by(|one, other| one.name.cmp(&other.name));
    recordings
}

/// Good enough for what the gateway writes: LF, one `data` line, one `id` line, a blank line.
fn wire_frames(stream: &str) -> Vec<WireFrame> {
    let blocks = stream.strip_suffix("\n\n").expect("the stream ends with a frame").split("\n\n");
    blocks
        .map(|block| {
            let (data, id) = block.split_once('\n').expect("two lines");
            let data = data.strip_prefix("data: ").expect("the data line comes first");
            let id = id.strip_prefix("id: ").expect("the id line comes second");
            WireFrame {
                sequence_number: id.parse().expect("a decimal"),
                event: serde_json::from_str(data).expect("JSON"),
                bytes: format!("{block}\n\n").into_bytes(),
            }
        })
        .collect()
}

/// A client: a reader, and what a page would have received from it.
struct Client {
    reader: TurnReader,
    taken: (Vec<u32>, TextArena),
    names: Vec<String>,
    events: Vec<(u64, Json)>,
}

/// The final state of a client.
#[derive(Debug, PartialEq)]
struct Outcome {
    events: Vec<(u64, Json)>,
    status: TurnStatus,
    turn_id: Option<String>,
    state: Option<Json>,
    document: Option<String>,
    /// Slot, field, call, text.
    texts: Vec<(u32, u32, u32, String)>,
}

impl Client {
    fn started() -> Self {
        let protocol = TrueFoundry::new(Dialect::Gateway);
        let mut reader = TurnReader::new(&protocol, TurnMachine::unstarted(), FRAME_LIMIT);
        reader.set_wants_events(true);
        assert_eq!(reader.machine_mut().stream(None), Ok(StreamPlan::Start));
        Self { reader, taken: Default::default(), names: Vec::new(), events: Vec::new() }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.reader.push(bytes).expect("frames are small");
        if !self.reader.batch().is_empty() {
            self.reader.batch().take(&mut self.taken);
            read_records(&self.taken, &mut self.names, &mut self.events);
        }
    }

    /// The connection breaks. Returns the number after which the stream is requested again.
    fn reconnect(&mut self) -> u64 {
        let ended = self.reader.machine_mut().stream_ended(StreamEnd::Eof);
        let error = ended.expect_err("the turn has not ended");
        assert_eq!(error.code, ErrorCode::Incomplete);
        let plan = self.reader.machine_mut().stream(None).expect("a started turn can be resumed");
        self.reader.connected(false);
        match plan {
            StreamPlan::Subscribe => self.reader.machine().cursor().last(),
            StreamPlan::Start | StreamPlan::Look => panic!("a started turn must not be started again"),
        }
    }

    fn finish(mut self) -> Outcome {
        self.reader.machine_mut().stream_ended(StreamEnd::Eof).expect("`turn.done` has come");
        let mut batch = ChangeBatch::default();
        let document = self.reader.take_changes(&mut batch);
        let wide = wide_units(batch.text());
        let texts = batch.records().chunks(CHANGE_STRIDE).map(|record| {
            let text = slice(batch.text(), &wide, record[1] & kind::WIDE != 0, record[3], record[4]);
            (record[0], record[1] & 0xff, record[2], text)
        });
        Outcome {
            texts: texts.collect(),
            document,
            events: self.events,
            status: self.reader.machine().status(),
            turn_id: self.reader.machine().id().map(str::to_owned),
            state: self.reader.take_state().map(|state| serde_json::from_str(&state).expect("JSON")),
        }
    }
}

/// Decodes records as JavaScript does: names by number, text by UTF-16 offsets.
fn read_records(
    (records, arena): &(Vec<u32>, TextArena),
    names: &mut Vec<String>,
    events: &mut Vec<(u64, Json)>,
) {
    let wide = wide_units(arena);
    for record in records.chunks(EVENT_STRIDE) {
        let [head, name, thread, low, high, start, len, time_start, time_len, index] =
            record.try_into().expect("a whole record");
        let text = slice(arena, &wide, head & kind::WIDE != 0, start, len);
        let sequence_number = u64::from(high) << 32 | u64::from(low);
        let mut delta = |field: &str, value: Json| {
            if head & kind::LIKE != 0 {
                let changed = slice(arena, &wide, head & kind::WIDE_CHANGED != 0, time_start, time_len);
                events
                    .push((sequence_number, like(&names[name as usize], &changed, json!({ field: value }))));
                return;
            }
            let mut event = json!({
                "type": "model.message.delta",
                "id": names[name as usize],
                "thread_id": names[thread as usize],
                field: value,
            });
            if head & kind::TIMED != 0 {
                event["created_at"] = slice(arena, &wide, false, time_start, time_len).into();
            }
            events.push((sequence_number, event));
        };
        match head & 0xff {
            kind::CONTENT => delta("content", text.into()),
            kind::REASONING => delta("reasoning_content", text.into()),
            kind::ARGUMENTS => {
                delta("tool_calls", json!([{"index": index, "function": {"arguments": text}}]));
            }
            kind::JSON => events.push((sequence_number, serde_json::from_str(&text).expect("JSON"))),
            kind::NAME => names.push(text),
            other => panic!("a record of kind {other}"),
        }
    }
}

/// An event with fields that are not known: its outline, with what has changed.
fn like(outline: &str, changed: &str, fields: Json) -> Json {
    let mut event: Json = serde_json::from_str(outline).expect("JSON");
    let members = event.as_object_mut().expect("an object");
    members.remove("sequence_number");
    let changed: Json =
        if changed.is_empty() { json!({}) } else { serde_json::from_str(changed).expect("JSON") };
    for part in [changed, fields] {
        members.extend(part.as_object().expect("an object").clone());
    }
    event
}

fn wide_units(arena: &TextArena) -> Vec<u16> {
    std::str::from_utf8(arena.wide()).expect("UTF-8").encode_utf16().collect()
}

fn slice(arena: &TextArena, wide: &[u16], is_wide: bool, start: u32, len: u32) -> String {
    let range = start as usize..(start + len) as usize;
    if is_wide {
        String::from_utf16(&wide[range]).expect("whole characters")
    } else {
        std::str::from_utf8(&arena.ascii()[range]).expect("ASCII").to_owned()
    }
}

fn replay<'c>(chunks: impl IntoIterator<Item = &'c [u8]>) -> Outcome {
    let mut client = Client::started();
    for chunk in chunks {
        client.push(chunk);
    }
    client.finish()
}

#[test]
fn every_script_is_recorded() {
    let recordings = recordings();
    for script in SCRIPTS {
        assert!(recordings.iter().any(|recording| recording.name == script), "no recording of `{script}`");
    }
    for Recording { name, frames, .. } in &recordings {
        let numbers = frames.iter().map(|frame| frame.sequence_number);
        assert!(numbers.eq(1..=frames.len() as u64), "{name} is not numbered as section 2.1 says");
        assert_eq!(frames[0].event["type"], "turn.created", "{name}");
        assert_eq!(frames.last().expect("a frame").event["type"], "turn.done", "{name}");
    }
}

/// Section 2.1: the events are those of the wire, completed, under their sequence numbers.
#[test]
fn whole_streams_have_the_events_of_the_wire() {
    for Recording { name, bytes, frames } in recordings() {
        let outcome = replay([&*bytes]);
        assert_eq!(outcome.events.len(), frames.len(), "{name}");
        for ((number, event), frame) in outcome.events.iter().zip(&frames) {
            assert_eq!(*number, frame.sequence_number, "{name}");
            assert!(holds(event, &frame.event), "{name} {number}\n  wire  {}\n  event {event}", frame.event);
        }
        let done = &frames.last().expect("a frame").event["state"];
        assert!(holds(outcome.state.as_ref().expect("a state"), done), "{name}");
        assert_eq!(outcome.status.as_str(), done["status"], "{name}");
        assert_eq!(outcome.turn_id.expect("an id"), frames[0].event["turn_id"], "{name}");
    }
}

/// Whether `completed` has everything that `wire` has, and perhaps more.
fn holds(completed: &Json, wire: &Json) -> bool {
    match (completed, wire) {
        (Json::Object(completed), Json::Object(wire)) => {
            wire.iter().all(|(name, value)| completed.get(name).is_some_and(|found| holds(found, value)))
        }
        (Json::Array(completed), Json::Array(wire)) => {
            completed.len() == wire.len() && completed.iter().zip(wire).all(|(one, other)| holds(one, other))
        }
        _ => completed == wire,
    }
}

#[test]
fn streams_byte_by_byte_are_the_same() {
    for Recording { name, bytes, .. } in recordings() {
        assert!(replay(bytes.chunks(1)) == replay([&*bytes]), "{name}");
    }
}

#[test]
fn streams_cut_anywhere_are_the_same() {
    std::thread::scope(|scope| {
        for Recording { name, bytes, .. } in &recordings() {
            let (name, bytes) = (name.clone(), bytes.clone());
            scope.spawn(move || {
                let whole = replay([&*bytes]);
                for seed in 0..tries(chunkings(&name)) {
                    let chunks = Random::new(seed).cut(&bytes);
                    assert!(replay(chunks) == whole, "{name}, seed {seed}");
                }
            });
        }
    });
}

/// Section 2.4: a dropped stream continues after the cursor. Repeated events are not doubled, and half a frame is
/// discarded.
#[test]
fn dropped_streams_continue_without_gap_or_repetition() {
    let recordings = recordings();
    for seed in 0..tries(DROPS) {
        let random = &mut Random::new(seed);
        let Recording { name, bytes, frames } = &recordings[random.below(recordings.len())];
        let mut client = Client::started();
        // Something must have arrived, and something must be missing.
        let (first, last) = (frames[0].bytes.len(), frames[frames.len() - 1].bytes.len());
        let cut = first + random.below(bytes.len() - first - last);
        random.cut(&bytes[..cut]).into_iter().for_each(|chunk| client.push(chunk));
        for _ in 0..random.below(3) {
            let after = client.reconnect();
            let repeated = u64::try_from(random.below(4)).expect("small");
            let rest: Vec<u8> = later(frames, after.saturating_sub(repeated)).concat();
            let cut = random.below(rest.len() - last);
            random.cut(&rest[..cut]).into_iter().for_each(|chunk| client.push(chunk));
        }
        let after = client.reconnect();
        let rest: Vec<u8> = later(frames, after).concat();
        random.cut(&rest).into_iter().for_each(|chunk| client.push(chunk));
        assert!(client.finish() == replay([&**bytes]), "{name}, seed {seed}");
    }
}

fn later(frames: &[WireFrame], after: u64) -> Vec<&[u8]> {
    let later = frames.iter().filter(|frame| frame.sequence_number > after);
    later.map(|frame| &*frame.bytes).collect()
}

/// Section 3.2: each event in turnwire's form is one of the Rust types, with the same fields.
#[test]
fn every_event_has_its_rust_type() {
    for Recording { name, bytes, .. } in recordings() {
        for (number, event) in replay([&*bytes]).events {
            let text = event.to_string();
            let json = Value::parse(&text).expect("JSON");
            let typed = EventRef::of(json.as_object().expect("an object")).to_event();
            assert!(!matches!(typed, Event::Unknown(_)), "{name} {number}: {typed:?}");
            let again = serde_json::to_value(&typed).expect("JSON");
            let mut event = without_nulls(event);
            // An output is not an event to the Rust types, although it has a type on the wire.
            for owner in ["/state/output", "/output"] {
                if let Some(output) = event.pointer_mut(owner).and_then(Json::as_object_mut) {
                    output.remove("type");
                }
            }
            assert_eq!(without_nulls(again), event, "{name} {number}");
        }
    }
}

fn without_nulls(json: Json) -> Json {
    match json {
        Json::Array(items) => items.into_iter().map(without_nulls).collect(),
        Json::Object(members) => {
            let said = members.into_iter().map(|(name, value)| (name, without_nulls(value)));
            said.filter(|(_, value)| !value.is_null()).collect()
        }
        other => other,
    }
}

/// A message in the simple merge: texts by field, calls by index.
#[derive(Debug, Default, PartialEq)]
struct Merged {
    thread: String,
    content: String,
    reasoning: String,
    finish_reason: String,
    calls: BTreeMap<usize, [String; 3]>,
}

fn merged(frames: &[WireFrame]) -> BTreeMap<String, Merged> {
    let mut messages: BTreeMap<String, Merged> = BTreeMap::new();
    for WireFrame { event, .. } in frames {
        if !text(event, "type").starts_with("model.message") {
            continue;
        }
        let message = messages.entry(text(event, "id").to_owned()).or_default();
        text(event, "thread_id").clone_into(&mut message.thread);
        message.content += text(event, "content");
        message.reasoning += text(event, "reasoning_content");
        message.finish_reason += text(event, "finish_reason");
        for call in event["tool_calls"].as_array().into_iter().flatten() {
            let index = usize::try_from(call["index"].as_u64().expect("an index")).expect("small");
            let [id, name, arguments] = message.calls.entry(index).or_default();
            // The gateway sends each of these once.
            *id += text(call, "id");
            *name += text(&call["function"], "name");
            *arguments += text(&call["function"], "arguments");
        }
    }
    messages
}

fn text<'j>(json: &'j Json, name: &str) -> &'j str {
    json[name].as_str().unwrap_or_default()
}

fn indexed(bytes: &[u8]) -> TurnReader {
    let mut client = Client::started();
    client.push(bytes);
    client.reader
}

fn messages_of(index: &EventIndex) -> BTreeMap<String, Merged> {
    let messages = index.messages().iter().map(|message| {
        let calls = message.calls().iter().enumerate().filter_map(|(at, call)| {
            let call = call.as_ref()?;
            Some((at, [call.id.clone(), call.name.clone(), call.arguments().to_owned()]))
        });
        let merged = Merged {
            thread: index.threads()[message.thread].id.clone(),
            content: message.content().to_owned(),
            reasoning: message.reasoning().to_owned(),
            finish_reason: message.finish_reason().to_owned(),
            calls: calls.collect(),
        };
        (message.id.clone(), merged)
    });
    messages.collect()
}

/// Section 3.7: the merged messages are those of the simple merge, and of the server's own output.
#[test]
fn messages_are_those_of_a_simple_merge() {
    for Recording { name, bytes, frames } in recordings() {
        let reader = indexed(&bytes);
        assert_eq!(messages_of(reader.index()), merged(&frames), "{name}");
        let outputs = frames.iter().filter_map(|frame| frame.event["state"]["output"].as_object());
        for output in outputs {
            let id = output["id"].as_str().expect("an id");
            let message = reader.index().message(id).expect("the message was streamed");
            assert_eq!(message.content(), output["content"], "{name}");
        }
    }
}

/// Sections 3.2 and 3.4: threads, results and required actions are those that the wire names.
#[test]
fn threads_results_and_actions_are_those_of_the_wire() {
    for Recording { name, bytes, frames } in recordings() {
        let reader = indexed(&bytes);
        let index = reader.index();
        let of_type = |kind: &'static str| {
            frames.iter().map(|frame| &frame.event).filter(move |event| event["type"] == kind)
        };
        let mut threads: Vec<&str> = frames.iter().map(|frame| text(&frame.event, "thread_id")).collect();
        threads.retain(|thread| !thread.is_empty());
        threads.extend(["main"]);
        threads.sort_unstable();
        threads.dedup();
        let mut found: Vec<&str> = index.threads().iter().map(|thread| &*thread.id).collect();
        found.sort_unstable();
        assert_eq!(found, threads, "{name}");
        assert_eq!(index.threads()[0].id, "main", "{name}");
        for done in of_type("thread.done") {
            let thread = index.thread(text(done, "thread_id")).expect("the thread");
            let expected = match text(&done["state"], "status") {
                "done" => ThreadStatus::Done,
                _ => ThreadStatus::Error(text(&done["state"], "error").to_owned()),
            };
            assert_eq!(thread.status, expected, "{name}");
        }
        for response in of_type("tool.response") {
            let id = text(response, "tool_call_id");
            let Some(call) = index.messages().iter().rev().find_map(|message| message.call(id)) else {
                assert!(name.ends_with("-answered"), "{name}: no call {id}");
                continue;
            };
            let joined: Json = serde_json::from_str(call.response().expect("a response")).expect("JSON");
            assert_eq!(joined, *response, "{name}");
        }
        let actions = |kind: &'static str, list: &'static str| {
            of_type(kind).flat_map(move |event| {
                let items = event[list].as_array().expect("a list");
                items.iter().map(move |item| (text(event, "thread_id"), text(item, "id")))
            })
        };
        let pending = |kind| {
            let of_kind = index.pending().iter().filter(move |action| action.kind == kind);
            of_kind.map(|action| (&*action.thread_id, &*action.id))
        };
        assert!(pending(PendingKind::Approval).eq(actions("tool.approval_required", "tool_calls")), "{name}");
        assert!(pending(PendingKind::Response).eq(actions("tool.response_required", "tool_calls")), "{name}");
        assert!(pending(PendingKind::Auth).eq(actions("mcp.auth_required", "mcp_servers")), "{name}");
        let sandbox = of_type("sandbox.created").map(|event| text(event, "sandbox_id")).next_back();
        assert_eq!(index.sandbox_id(), sandbox, "{name}");
    }
}
