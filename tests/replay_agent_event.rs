//! Recorded run streams of tirea 0.5.0 and awaken 0.6.0, replayed whole, byte by byte and cut anywhere: always the
//! same events and the same index, and those that the servers' own answers name.
//!
//! The records are bodies of `POST /v1/runs` as `curl -N` gets them. `tirea/tool-thread.json` is the thread that
//! `tirea/tool.sse` left behind, as `GET /v1/threads/:id` returns it.
#![cfg(not(target_arch = "wasm32"))]

#[path = "support/random.rs"]
mod random;
#[path = "support/scope.rs"]
mod scope;

#[path = "support/typed.rs"]
mod typed;

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use turnwire::delivery::ChangeBatch;
use turnwire::event::{EventRef, TextDelta};
use turnwire::index::PendingKind;
use turnwire::protocol::agent_event::{AgentEvent, Dialect};
use turnwire::protocol::{EventSink, Protocol};
use turnwire::sse::FrameDecoder;
use turnwire::turn::{TurnMachine, TurnReader, TurnStatus};

use random::Random;
use scope::tries;

const CHUNKINGS: u64 = 100;
const FRAME_LIMIT: usize = 8 * 1024 * 1024;

struct Recording {
    name: String,
    bytes: Vec<u8>,
    frames: Vec<Json>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agent-event")
}

fn recording(name: &str) -> Recording {
    let bytes = std::fs::read(folder().join(name).with_extension("sse")).expect("the fixture can be read");
    let text = std::str::from_utf8(&bytes).expect("UTF-8");
    let frames = text.strip_suffix("\n\n").expect("the stream ends with a frame").split("\n\n");
    let frames = frames.map(|frame| {
        let data = frame.strip_prefix("data: ").expect("nothing but data");
        serde_json::from_str(data).expect("JSON")
    });
    Recording { name: name.to_owned(), frames: frames.collect(), bytes }
}

fn recordings() -> Vec<Recording> {
    let mut names = Vec::new();
    for dialect in ["tirea", "awaken"] {
        for entry in std::fs::read_dir(folder().join(dialect)).expect("the fixtures are there") {
            let path = entry.expect("a file").path();
            if path.extension().is_some_and(|extension| extension == "sse") {
                names.push(format!("{dialect}/{}", path.file_stem().expect("a name").to_string_lossy()));
            }
        }
    }
    names.sort();
    assert!(names.len() >= 35, "recordings are missing");
    names.iter().map(|name| recording(name)).collect()
}

impl Recording {
    fn protocol(&self) -> AgentEvent {
        AgentEvent::new(if self.name.starts_with("awaken") { Dialect::Awaken } else { Dialect::Tirea })
    }

    /// The payloads of the frames of a type.
    fn payloads<'r>(&'r self, kind: &'r str) -> Vec<&'r Json> {
        let of_kind = self.frames.iter().filter(|frame| frame["type"] == kind || frame["event_type"] == kind);
        of_kind.map(|frame| frame.get("data").unwrap_or(frame)).collect()
    }

    /// The run's answer, if it has one.
    fn response(&self) -> Option<&str> {
        let finish = self.payloads("run_finish").into_iter().next()?;
        finish["result"]["response"].as_str().filter(|response| !response.is_empty())
    }
}

/// The events of a stream.
#[derive(Debug, Default, PartialEq)]
struct Events(Vec<Json>);

impl Events {
    fn of<'e>(&'e self, kind: &'e str) -> Vec<&'e Json> {
        self.0.iter().filter(|event| event["type"] == kind).collect()
    }

    fn last(&self) -> &Json {
        self.0.last().expect("an event")
    }
}

impl EventSink for Events {
    fn delta(&mut self, sequence_number: u64, delta: TextDelta<'_>) {
        self.0.push(typed::of_delta(&delta));
        assert_eq!(sequence_number, self.0.len() as u64);
    }

    fn event(&mut self, sequence_number: u64, event: EventRef<'_>) {
        self.0.push(typed::of_event(event, false));
        assert_eq!(sequence_number, self.0.len() as u64);
    }
}

fn events<'c>(recording: &Recording, chunks: impl IntoIterator<Item = &'c [u8]>) -> Events {
    let (mut decoder, mut frames) = (recording.protocol().decoder(), FrameDecoder::with_limit(FRAME_LIMIT));
    let mut events = Events::default();
    for chunk in chunks {
        frames.feed(chunk, &mut |frame| decoder.decode(&frame, &mut events)).expect("frames are small");
    }
    decoder.end(&mut events);
    events
}

fn whole(recording: &Recording) -> Events {
    events(recording, [&*recording.bytes])
}

/// A reader that has read these chunks to their end.
fn read<'c>(recording: &Recording, chunks: impl IntoIterator<Item = &'c [u8]>) -> TurnReader {
    let mut reader = TurnReader::new(&recording.protocol(), TurnMachine::unstarted(), FRAME_LIMIT);
    reader.machine_mut().stream(None).expect("an unstarted turn can be started");
    for chunk in chunks {
        reader.push(chunk).expect("the stream is one run's");
    }
    reader.ended();
    reader
}

/// The final state of a reader: the mirror of a page, and the turn's status.
#[derive(Debug, PartialEq)]
struct Left {
    document: Option<String>,
    /// The slot of each message's thread, and the message.
    messages: Vec<(usize, String)>,
    status: TurnStatus,
    state: Option<String>,
}

fn left_with(mut reader: TurnReader) -> Left {
    let messages = reader.index().messages().iter();
    let messages = messages.map(|message| (message.thread, message.to_json("thread"))).collect();
    let document = reader.take_changes(&mut ChangeBatch::default());
    Left { document, messages, status: reader.machine().status(), state: reader.take_state() }
}

#[test]
fn streams_byte_by_byte_are_the_same() {
    for recording in recordings() {
        let whole = whole(&recording);
        assert!(events(&recording, recording.bytes.chunks(1)) == whole, "{}", recording.name);
        let (bytes, whole) =
            (read(&recording, recording.bytes.chunks(1)), read(&recording, [&*recording.bytes]));
        assert!(left_with(bytes) == left_with(whole), "{}", recording.name);
    }
}

#[test]
fn streams_cut_anywhere_are_the_same() {
    for recording in recordings() {
        let (whole, kept) = (whole(&recording), left_with(read(&recording, [&*recording.bytes])));
        // The long ones add little.
        let chunkings = tries(if recording.bytes.len() > 10_000 { CHUNKINGS / 20 } else { CHUNKINGS });
        for seed in 0..chunkings {
            let chunks = Random::new(seed).cut(&recording.bytes);
            assert!(events(&recording, chunks.iter().copied()) == whole, "{}, seed {seed}", recording.name);
            assert!(left_with(read(&recording, chunks)) == kept, "{}, seed {seed}", recording.name);
        }
    }
}

/// Section 1.2: the text of the stream is the answer, regardless of the envelopes.
#[test]
fn answers_are_the_servers() {
    let mut answered = 0;
    for recording in recordings() {
        let Some(response) = recording.response() else { continue };
        answered += 1;
        let name = &recording.name;
        let reader = read(&recording, [&*recording.bytes]);
        let message = reader.index().messages().last().expect("a message");
        assert_eq!(message.content(), response, "{name}");
        assert_eq!(reader.machine().status(), TurnStatus::Done, "{name}");
        let events = whole(&recording);
        let state = &events.last()["state"];
        assert_eq!(state["output"]["content"], response, "{name}");
        assert_eq!(state["output"]["id"], message.id, "{name}");
        assert_eq!(state["required_actions"], json!([]), "{name}");
    }
    assert!(answered >= 15, "{answered}");
}

/// Steps are messages, results are responses, and the model's text is counted.
#[test]
fn nothing_is_lost_or_repeated() {
    for recording in recordings() {
        let name = &recording.name;
        let events = whole(&recording);
        let ids =
            |events: Vec<&Json>| -> Vec<Json> { events.iter().map(|event| event["id"].clone()).collect() };
        let steps: Vec<Json> =
            recording.payloads("step_start").iter().map(|step| step["message_id"].clone()).collect();
        assert_eq!(ids(events.of("model.message")), steps, "{name}");
        let text = |list: Vec<&Json>, field: &str| -> String {
            list.iter().filter_map(|item| item[field].as_str()).collect()
        };
        assert_eq!(
            text(events.of("model.message.delta"), "content"),
            text(recording.payloads("text_delta"), "delta"),
            "{name}"
        );
        let done = recording.payloads("tool_call_done");
        let done: Vec<&&Json> = done.iter().filter(|done| done["outcome"] != "suspended").collect();
        let responses = events.of("tool.response");
        assert_eq!(responses.len(), done.len(), "{name}");
        for (response, done) in responses.iter().zip(done) {
            assert_eq!(response["tool_call_id"], done["id"], "{name}");
            assert_eq!(response["outcome"], done["outcome"], "{name}");
            assert_eq!(response["result"], done["result"], "{name}");
            assert_eq!(response["patch"], done["patch"], "{name}");
        }
        assert_eq!(events.of("state.snapshot").len(), recording.payloads("state_snapshot").len(), "{name}");
        let totals = |field: &str| -> u64 {
            recording
                .payloads("inference_complete")
                .iter()
                .filter_map(|said| said["usage"][field].as_u64())
                .sum()
        };
        if let Some(metrics) = events.last()["state"].get("metrics") {
            assert_eq!(metrics["total_input_tokens"], totals("prompt_tokens"), "{name}");
            assert_eq!(metrics["total_tokens"], totals("total_tokens"), "{name}");
        }
    }
}

/// Every call has the arguments that the server reports, and its result joins it.
#[test]
fn calls_are_those_of_the_server() {
    for recording in recordings() {
        let name = &recording.name;
        let reader = read(&recording, [&*recording.bytes]);
        let calls: Vec<_> =
            reader.index().messages().iter().flat_map(turnwire::index::Message::calls).flatten().collect();
        let ready = recording.payloads("tool_call_ready");
        let ready: Vec<&&Json> = ready.iter().filter(|ready| ready["name"] != "PermissionConfirm").collect();
        assert_eq!(calls.len(), ready.len(), "{name}");
        for (call, ready) in calls.iter().zip(ready) {
            assert_eq!(call.id, ready["id"], "{name}");
            assert_eq!(call.name, ready["name"], "{name}");
            assert_eq!(
                serde_json::from_str::<Json>(call.arguments()).expect("JSON"),
                ready["arguments"],
                "{name}"
            );
        }
        let responses = calls.iter().filter(|call| call.response().is_some()).count();
        let is_resumed = !recording.payloads("tool_call_resumed").is_empty();
        let done = recording.payloads("tool_call_done");
        let done = done.iter().filter(|done| done["outcome"] != "suspended").count();
        assert_eq!(responses, if is_resumed { 0 } else { done }, "{name}");
    }
}

/// Section 2: the thread that the server keeps has the same messages, byte for byte.
#[test]
fn the_stored_thread_has_the_same() {
    let thread =
        std::fs::read_to_string(folder().join("tirea/tool-thread.json")).expect("the fixture can be read");
    let thread: Json = serde_json::from_str(&thread).expect("JSON");
    let recording = recording("tirea/tool");
    let reader = read(&recording, [&*recording.bytes]);
    let events = whole(&recording);
    let stored = |role: &'static str| {
        thread["messages"].as_array().expect("messages").iter().filter(move |message| message["role"] == role)
    };
    for (message, stored) in reader.index().messages().iter().zip(stored("assistant")) {
        assert_eq!(message.id, stored["id"]);
        assert_eq!(message.content(), stored["content"]);
    }
    let responses = events.of("tool.response");
    assert_eq!(responses.len(), stored("tool").count());
    for (response, stored) in responses.iter().zip(stored("tool")) {
        assert_eq!(response["id"], stored["id"]);
        assert_eq!(response["content"], stored["content"]);
        assert_eq!(response["tool_call_id"], stored["tool_call_id"]);
    }
}

fn suspension_of(recording: &Recording) -> (String, Json) {
    let events = whole(recording);
    let actions = events.last()["state"]["required_actions"].as_array().expect("a list").clone();
    assert_eq!(actions.len(), 1);
    let told: Vec<&Json> = events.0.iter().filter(|event| event["id"] == actions[0]["id"]).collect();
    assert_eq!(told, [&actions[0]], "it was told before, once");
    let kind = actions[0]["type"].as_str().expect("a type").to_owned();
    (kind, actions[0]["tool_calls"][0].clone())
}

/// Section 2.2: the pending calls, with all that the page needs to ask and the client to answer.
#[test]
fn suspended_runs_ask() {
    let approval = recording("tirea/suspended");
    let (kind, call) = suspension_of(&approval);
    assert_eq!(kind, "tool.approval_required");
    let suspended =
        &approval.payloads("state_snapshot")[0]["snapshot"]["__tool_call_scope"]["call_1"]["suspended_call"];
    let mut asked = suspended["suspension"].clone();
    asked["resume_mode"] = "replay_tool_call".into();
    let message = approval.payloads("step_start")[0]["message_id"].clone();
    let expected = json!({"id": "call_1", "source_event_id": message, "event_id": message, "name": "serverInfo", "arguments": "{}", "suspension": asked});
    assert_eq!(call, expected);

    for name in ["tirea/starter-ask-frontend-tool", "awaken/suspended"] {
        let (kind, call) = suspension_of(&recording(name));
        assert_eq!(kind, "tool.response_required", "{name}");
        assert_eq!(call["name"], "askUserQuestion", "{name}");
        assert_eq!(call["arguments"], r#"{"message":"Which colour?"}"#, "{name}");
        assert_eq!(call["suspension"]["parameters"], json!({"message": "Which colour?"}), "{name}");
        assert_eq!(call["suspension"]["resume_mode"], "use_decision_as_tool_result", "{name}");
    }
    let pending = [("tirea/suspended", PendingKind::Approval), ("awaken/suspended", PendingKind::Response)];
    for (name, kind) in pending {
        let recording = recording(name);
        let reader = read(&recording, [&*recording.bytes]);
        let kinds: Vec<_> = reader.index().pending().iter().map(|action| action.kind).collect();
        assert_eq!(kinds, [kind], "{name}");
    }
    // An empty answer leaves it suspended, and emits nothing more.
    let events = whole(&recording("tirea/resume-bad-target"));
    assert_eq!(events.last()["state"]["termination"]["type"], "suspended");
    assert_eq!(events.last()["state"]["required_actions"], json!([]));
}

#[test]
fn answers_reach_their_calls() {
    for (name, outcome) in [
        ("tirea/resume-approve", "succeeded"),
        ("tirea/resume-deny", "failed"),
        ("tirea/starter-ask-resume", "succeeded"),
    ] {
        let recording = recording(name);
        let events = whole(&recording);
        let (resumed, response) = (events.of("tool.resumed"), events.of("tool.response"));
        assert_eq!(resumed[0]["tool_call_id"], response[0]["tool_call_id"], "{name}");
        assert_eq!(response[0]["outcome"], outcome, "{name}");
        assert!(
            events.of("tool.approval_required").is_empty() && events.of("tool.response_required").is_empty(),
            "{name}"
        );
        assert!(read(&recording, [&*recording.bytes]).index().pending().is_empty(), "{name}");
    }
}

/// Section 1.2: frames of these streams carry other runs' ids.
#[test]
fn envelopes_of_other_runs_change_nothing() {
    let leaking = [
        "error-midstream-cut",
        "superseded-first",
        "leaking-envelope",
        "no-messages",
        "resume-of-aisdk-thread",
        "starter-cancel-in-tool",
    ];
    for name in leaking {
        let recording = recording(&format!("tirea/{name}"));
        let run = &recording.frames[0]["run_id"];
        assert!(recording.frames.iter().any(|frame| frame["run_id"] != *run), "{name} does not leak");
        let events = whole(&recording);
        assert_eq!(events.0[0]["turn_id"], *run, "{name}");
        let text = serde_json::to_string(&events.0).expect("JSON");
        for frame in recording.frames.iter().filter(|frame| frame["run_id"] != *run) {
            let foreign = frame["run_id"].as_str().expect("an id");
            assert!(!text.contains(foreign), "{name}: {foreign}");
        }
        assert_eq!(read(&recording, [&*recording.bytes]).machine().id(), run.as_str(), "{name}");
    }
}

/// Section 1.5: a step that was retried is one message.
#[test]
fn retried_steps_are_one_message() {
    let cut = recording("tirea/error-midstream-cut");
    let reader = read(&cut, [&*cut.bytes]);
    assert_eq!(reader.index().messages().len(), 1);
    assert_eq!(reader.index().messages()[0].content(), "partial text Hello from the mock, 你好 ☃\nline two.");
    for name in ["tirea/error-500", "tirea/error-empty"] {
        let recording = recording(name);
        assert_eq!(recording.payloads("step_start").len(), 3, "{name}");
        let reader = read(&recording, [&*recording.bytes]);
        assert_eq!(reader.index().messages().len(), 1, "{name}");
        assert_eq!(reader.index().messages()[0].content(), "", "{name}");
    }
}

/// Section 1.5: one failure is reported, with its code.
#[test]
fn failures_are_failures() {
    let cases = [
        ("tirea/error-401", Some("LLM_ERROR")),
        ("tirea/error-500", Some("LLM_ERROR")),
        ("tirea/error-empty", Some("LLM_ERROR")),
        ("tirea/superseded-first", Some("STATE_ERROR")),
        ("awaken/error-401", None),
    ];
    for (name, code) in cases {
        let recording = recording(name);
        let events = whole(&recording);
        assert_eq!(events.of("turn.done").len(), 1, "{name}");
        let state = &events.last()["state"];
        assert_eq!(state["status"], "error", "{name}");
        assert_eq!(state.get("code").and_then(Json::as_str), code, "{name}");
        let said = recording.payloads("error").first().map(|error| error["message"].clone());
        let said =
            said.unwrap_or_else(|| recording.payloads("run_finish")[0]["termination"]["value"].clone());
        assert_eq!(state["message"], said, "{name}");
        assert_eq!(read(&recording, [&*recording.bytes]).machine().status(), TurnStatus::Error, "{name}");
    }
}

#[test]
fn cancelled_runs_are_cancelled() {
    for name in ["tirea/cancelled", "tirea/interrupted", "tirea/starter-cancel-in-tool", "awaken/cancelled"] {
        let recording = recording(name);
        let reader = read(&recording, [&*recording.bytes]);
        assert_eq!(reader.machine().status(), TurnStatus::Cancelled, "{name}");
        let messages = reader.index().messages();
        assert!(messages.iter().all(|message| !message.finish_reason().is_empty()), "{name}");
    }
    let recording = recording("tirea/cancelled");
    let reader = read(&recording, [&*recording.bytes]);
    assert_eq!(reader.index().messages()[0].finish_reason(), "cancelled");
}

#[test]
fn other_ends_are_normal() {
    for (name, code) in [("tirea/stopped", "tool_called"), ("tirea/max-rounds", "max_rounds_reached")] {
        let events = whole(&recording(name));
        assert_eq!(events.last()["state"]["status"], "done", "{name}");
        assert_eq!(events.last()["state"]["termination"]["value"]["code"], code, "{name}");
    }
}

/// Section 1.5: a stream that ends without a report does not end the turn.
#[test]
fn a_stream_that_just_ends_is_not_the_end() {
    let recording = recording("tirea/provider-hang-no-heartbeat-90s");
    let reader = read(&recording, [&*recording.bytes]);
    assert!(!reader.machine().status().is_terminal());
    assert_eq!(reader.index().messages()[0].finish_reason(), "");
}

/// Section 1.6: a report is one event, not sixteen.
#[test]
fn each_progress_report_is_one_event() {
    for (name, frames, reports) in [("tirea/starter-progress", 176, 11), ("awaken/progress", 11, 11)] {
        let recording = recording(name);
        assert_eq!(recording.payloads("activity_snapshot").len(), frames, "{name}");
        let events = whole(&recording);
        let told = events.of("activity.snapshot");
        assert_eq!(told.len(), reports, "{name}");
        for (number, report) in told.iter().enumerate() {
            assert_eq!(report["tool_call_id"], "call_p1", "{name}");
            let done = number + 1 == reports;
            let status = if done {
                "done"
            } else if number == 0 {
                "pending"
            } else {
                "running"
            };
            let content = &report["content"];
            assert_eq!(content["status"], status, "{name} {number}");
            let message = match number {
                0 => "Initializing...".to_owned(),
                _ if done => "Complete".to_owned(),
                _ => format!("Processing step {number}/10..."),
            };
            assert_eq!(content["message"], message, "{name} {number}: nothing of another report");
        }
    }
    // Cancelled within its second step.
    let events = whole(&recording("tirea/starter-cancel-in-tool"));
    let messages: Vec<_> =
        events.of("activity.snapshot").iter().map(|report| report["content"]["message"].clone()).collect();
    assert_eq!(messages, ["Initializing...", "Processing step 1/10..."]);
}

/// The state that a tool changed is in the snapshot that follows.
#[test]
fn states_are_kept() {
    let recording = recording("tirea/starter-note-state-patch");
    let reader = read(&recording, [&*recording.bytes]);
    let state = reader.index().agent_state().expect("a state");
    assert_eq!(state, json!({"notes": ["buy milk"], "theme_color": "", "todos": []}));
}
