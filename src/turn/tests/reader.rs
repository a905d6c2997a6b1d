//! The reader: from bytes to index and records, and the ways a stream may end. Gaps and lists have their own files.

use serde_json::{Value as Json, json};

use crate::delivery::{ChangeBatch, EVENT_STRIDE, TextArena, kind};
use crate::error::ErrorCode;
use crate::event::EventRef;
use crate::json::Value;
use crate::protocol::truefoundry::{Dialect, TrueFoundry};
use crate::turn::{StreamEnd, StreamPlan, TurnMachine, TurnReader, TurnStatus};

const LIMIT: usize = 4096;

pub(super) fn reader() -> TurnReader {
    let mut reader = TurnReader::new(&TrueFoundry::new(Dialect::Gateway), TurnMachine::unstarted(), LIMIT);
    reader.set_wants_events(true);
    assert_eq!(reader.machine_mut().stream(None), Ok(StreamPlan::Start));
    reader.connected(true);
    reader
}

pub(super) fn frame(id: u64, event: &Json) -> String {
    format!("data: {event}\nid: {id}\n\n")
}

pub(super) fn created() -> Json {
    json!({"type": "turn.created", "id": "e1", "turn_id": "t", "input": [], "created_by": "ada"})
}

pub(super) fn delta(text: &str) -> Json {
    json!({"type": "model.message.delta", "id": "m", "thread_id": "main", "content": text})
}

pub(super) fn done(status: &str) -> Json {
    json!({"type": "turn.done", "id": "e9", "state": {"status": status, "message": "m"}})
}

/// A turn in numbered frames, from 1 on.
pub(super) fn turn(events: &[Json]) -> String {
    (1..).zip(events).map(|(id, event)| frame(id, event)).collect()
}

pub(super) fn push(reader: &mut TurnReader, stream: &str) {
    reader.push(stream.as_bytes()).expect("frames are small");
}

pub(super) fn content(reader: &TurnReader) -> &str {
    reader.index().message("m").map_or("", |message| message.content())
}

/// The sequence numbers of the events since the last call.
pub(super) fn numbers(reader: &mut TurnReader) -> Vec<u32> {
    let mut taken = (Vec::new(), TextArena::default());
    reader.batch().take(&mut taken);
    let records = taken.0.chunks(EVENT_STRIDE);
    records.filter(|record| record[0] & 0xff != kind::NAME).map(|record| record[3]).collect()
}

#[test]
fn a_whole_turn() {
    let mut reader = reader();
    push(&mut reader, &turn(&[created(), delta("a"), delta("b"), done("done")]));
    assert_eq!(reader.machine().status(), TurnStatus::Done);
    assert_eq!(reader.machine().id(), Some("t"));
    assert_eq!(reader.machine().cursor().last(), 4);
    assert_eq!(content(&reader), "ab");
    assert_eq!(numbers(&mut reader), [1, 2, 3, 4]);
    assert!(numbers(&mut reader).is_empty());
    reader.machine_mut().stream_ended(StreamEnd::Eof).expect("it is done");

    let created: Json = serde_json::from_str(&reader.take_created().expect("it has come")).expect("JSON");
    assert_eq!((&created["turn_id"], &created["created_by"]), (&json!("t"), &json!("ada")));
    assert_eq!(reader.take_created(), None, "it is taken once");
    let state: Json = serde_json::from_str(&reader.take_state().expect("it has come")).expect("JSON");
    assert_eq!(state, json!({"status": "done", "message": "m", "output": null, "required_actions": []}));
    assert_eq!(reader.take_state(), None, "it is taken once");
}

/// However far a stream got, without `turn.done` the turn is not done.
#[test]
fn the_end_of_a_stream_is_not_the_end_of_the_turn() {
    let stream = turn(&[created(), delta("a"), delta("b"), done("done")]);
    for end in 0..stream.len() {
        let mut reader = reader();
        push(&mut reader, &stream[..end]);
        let error = reader.machine_mut().stream_ended(StreamEnd::Eof).expect_err("it is not done");
        assert_eq!(error.code, ErrorCode::Incomplete, "{end}");
        assert_eq!(reader.machine().status(), TurnStatus::Incomplete, "{end}");
        assert_eq!(reader.take_state(), None);
    }
}

#[test]
fn events_after_the_end_are_ignored() {
    for status in ["done", "cancelled", "error"] {
        let mut reader = reader();
        push(&mut reader, &turn(&[created(), delta("a"), done(status)]));
        let state = reader.take_state();
        numbers(&mut reader);
        push(&mut reader, &frame(4, &delta("b")));
        push(&mut reader, &frame(5, &done("running")));
        push(&mut reader, &frame(6, &done("done")));
        push(&mut reader, &format!("data: {}\n\n", delta("c")));
        assert_eq!(reader.machine().status().as_str(), status);
        assert_eq!(content(&reader), "a");
        assert!(numbers(&mut reader).is_empty());
        assert!(state.is_some() && reader.take_state().is_none());
    }
}

/// Sections 2.2 and 2.4: the repeats of a resumed stream are dropped.
#[test]
fn what_is_not_newer_than_the_cursor_is_dropped() {
    let mut reader = reader();
    push(&mut reader, &turn(&[created(), delta("a"), delta("b")]));
    for (id, text) in [(3, "b"), (2, "a"), (4, "c"), (4, "c"), (1, "x")] {
        push(&mut reader, &frame(id, &delta(text)));
    }
    assert_eq!(content(&reader), "abc");
    assert_eq!(numbers(&mut reader), [1, 2, 3, 4]);
    assert_eq!(reader.machine().cursor().last(), 4);
    push(&mut reader, &frame(3, &done("done")));
    assert_eq!(reader.machine().status(), TurnStatus::Running, "an old end is no end");
}

#[test]
fn events_without_a_number_are_delivered() {
    let mut reader = reader();
    push(&mut reader, &turn(&[created()]));
    for _ in 0..2 {
        push(&mut reader, &format!("data: {}\n\n", delta("a")));
    }
    assert_eq!(content(&reader), "aa");
    assert_eq!(numbers(&mut reader), [1, 0, 0]);
    assert_eq!(reader.machine().cursor().last(), 1);
}

/// Unknown events have sequence numbers, too: a resumed stream must not repeat them.
#[test]
fn unknown_events_move_the_cursor() {
    let mut reader = reader();
    push(&mut reader, &turn(&[created(), json!({"type": "turn.paused"})]));
    push(&mut reader, "data: [DONE]\nid: 3\n\n");
    assert_eq!(numbers(&mut reader), [1, 2, 3]);
    assert_eq!(reader.machine().cursor().last(), 3);
    assert_eq!(reader.machine().status(), TurnStatus::Running);
}

#[test]
fn a_connection_forgets_half_a_frame_and_keeps_the_rest() {
    let mut reader = reader();
    push(&mut reader, &turn(&[created(), delta("a")]));
    push(&mut reader, "data: {\"type\":\"model.mess");
    reader.machine_mut().stream_ended(StreamEnd::Eof).expect_err("incomplete");
    assert_eq!(reader.machine_mut().stream(None), Ok(StreamPlan::Subscribe));
    reader.connected(true);
    push(&mut reader, &frame(3, &delta("b")));
    push(&mut reader, &frame(4, &done("done")));
    assert_eq!(content(&reader), "ab");
    assert_eq!(numbers(&mut reader), [1, 2, 3, 4]);
    assert_eq!(reader.machine().status(), TurnStatus::Done);
}

#[test]
fn a_frame_over_the_limit_is_an_error_that_names_it() {
    let mut reader = reader();
    push(&mut reader, &turn(&[created(), delta("a")]));
    let large = frame(3, &delta(&"x".repeat(LIMIT)));
    let error = reader.push(large.as_bytes()).expect_err("too large");
    assert_eq!(error.code, ErrorCode::FrameTooLarge);
    assert!(error.message.contains("4096") && error.message.contains("`maxFrameBytes`"), "{}", error.message);
    assert_eq!(content(&reader), "a", "received events are kept");
    let again = reader.push(frame(4, &delta("b")).as_bytes()).expect_err("the connection is spent");
    assert_eq!(again.code, ErrorCode::FrameTooLarge);
    assert_eq!(content(&reader), "a");
    assert_eq!(reader.take_failure().map(|error| error.code), Some(ErrorCode::FrameTooLarge));
    reader.connected(true);
    push(&mut reader, &frame(3, &delta("b")));
    assert_eq!(content(&reader), "ab", "a new connection is not");
    assert_eq!(reader.take_failure(), None);
}

#[test]
fn unwanted_events_are_only_indexed() {
    let mut reader = reader();
    reader.set_wants_events(false);
    push(&mut reader, &turn(&[created(), delta("a"), done("done")]));
    assert!(reader.batch().is_empty());
    assert_eq!(content(&reader), "a");
    assert!(reader.take_created().is_some() && reader.take_state().is_some());
}

fn apply_listed(reader: &mut TurnReader, event: &Json) {
    let text = event.to_string();
    let json = Value::parse(&text).expect("JSON");
    reader.apply_listed(EventRef::of(json.as_object().expect("an object")));
}

fn apply_state(reader: &mut TurnReader, state: &Json) {
    let text = state.to_string();
    let json = Value::parse(&text).expect("JSON");
    reader.apply_state(json.as_object().expect("an object"));
}

/// Section 2.4: if the stream is gone, lists and the turn's state complete the turn.
#[test]
fn listed_events_and_a_fetched_state_complete_a_turn() {
    let mut reader = reader();
    push(&mut reader, &turn(&[created(), delta("hal")]));
    reader.machine_mut().stream_ended(StreamEnd::Eof).expect_err("incomplete");
    apply_state(&mut reader, &json!({"status": "running"}));
    assert_eq!(reader.machine().status(), TurnStatus::Running);
    assert_eq!(reader.take_state(), None);

    let whole = json!({"type": "model.message", "id": "m", "thread_id": "main", "content": "half and half",
                       "finish_reason": "stop"});
    apply_listed(&mut reader, &whole);
    assert_eq!(content(&reader), "half and half");
    let approval = json!({"type": "tool.approval_required", "id": "e", "thread_id": "main",
                          "tool_calls": [{"id": "c", "source_event_id": "m"}]});
    let state = json!({"status": "done", "output": null, "required_actions": [approval]});
    apply_state(&mut reader, &state);
    assert_eq!(reader.machine().status(), TurnStatus::Done);
    assert_eq!(reader.index().pending().len(), 1);
    let taken: Json = serde_json::from_str(&reader.take_state().expect("a state")).expect("JSON");
    assert_eq!(taken, state);

    apply_state(&mut reader, &json!({"status": "error", "message": "late"}));
    assert_eq!(reader.machine().status(), TurnStatus::Done, "the first end counts");
    assert_eq!(reader.take_state(), None);
    assert_eq!(numbers(&mut reader), [1, 2], "listed events are not streamed ones");
}

#[test]
fn changes_are_those_of_the_index() {
    let mut reader = reader();
    push(&mut reader, &turn(&[created(), delta("a")]));
    let mut batch = ChangeBatch::default();
    let document: Json =
        serde_json::from_str(&reader.take_changes(&mut batch).expect("changes")).expect("JSON");
    assert_eq!(document["messages"][0]["id"], "m");
    assert_eq!(batch.text().ascii(), b"a");
    assert_eq!(reader.take_changes(&mut batch), None);
    assert!(batch.records().is_empty());
}
