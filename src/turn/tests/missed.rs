//! Events that are listed because the stream is gone: which are delivered, and how they change the index (section 2.4).

use serde_json::{Value as Json, json};

use super::reader::{content, created, delta, done, frame, numbers, push, reader, turn};
use crate::delivery::ChangeBatch;
use crate::event::EventRef;
use crate::json::Value;
use crate::turn::{TurnReader, TurnStatus};

fn missed(reader: &mut TurnReader, event: &Json) {
    let text = event.to_string();
    let json = Value::parse(&text).expect("JSON");
    reader.apply_missed(EventRef::of(json.as_object().expect("an object")));
}

fn end_missed(reader: &mut TurnReader, state: &Json) {
    let text = state.to_string();
    let json = Value::parse(&text).expect("JSON");
    reader.end_missed(json.as_object().expect("an object"));
}

fn whole(content: &str, finish_reason: &str) -> Json {
    json!({"type": "model.message", "id": "m", "thread_id": "main", "content": content,
           "finish_reason": finish_reason})
}

fn base() -> Json {
    json!({"type": "model.message", "id": "m", "thread_id": "main"})
}

fn finish(reason: &str) -> Json {
    json!({"type": "model.message.delta", "id": "m", "thread_id": "main", "finish_reason": reason})
}

fn response(call: &str) -> Json {
    json!({"type": "tool.response", "id": format!("r-{call}"), "thread_id": "main", "tool_call_id": call,
           "content": "ok"})
}

/// The stream's part of message `m`, the listed message, and whether it is delivered again.
#[test]
fn a_message_is_delivered_again_only_if_it_came_in_part() {
    let cases = [
        (vec![], whole("ab", "stop"), true),
        (vec![delta("a")], whole("ab", "stop"), true),
        (vec![delta("a"), delta("b")], whole("ab", "stop"), true),
        (vec![base(), delta("a"), delta("b"), finish("stop")], whole("ab", "stop"), false),
        (vec![base(), delta("ab"), finish("length")], whole("ab", "length"), false),
        (vec![base(), delta("ab"), finish("length")], whole("ab", "stop"), true),
        // Its beginning has more than its text.
        (vec![delta("ab"), finish("stop")], whole("ab", "stop"), true),
        (vec![whole("ab", "stop")], whole("ab", "stop"), false),
        // For a stopped turn, the server may keep a partial message.
        (vec![base(), delta("a"), delta("b")], whole("ab", ""), false),
        (vec![base(), delta("a")], whole("ab", ""), true),
        // A gap in the middle was skipped.
        (vec![base(), delta("b"), finish("stop")], whole("ab", "stop"), true),
    ];
    for (came, listed, is_delivered) in cases {
        let mut reader = reader();
        push(&mut reader, &turn(&[&[created()][..], &came].concat()));
        numbers(&mut reader);
        for is_delivered in [is_delivered, false] {
            missed(&mut reader, &listed);
            assert_eq!(content(&reader), "ab", "{came:?}");
            let expected = if is_delivered { vec![0] } else { Vec::new() };
            assert_eq!(numbers(&mut reader), expected, "{came:?} {listed}");
        }
    }
}

#[test]
fn other_events_are_delivered_once_by_their_ids() {
    let mut reader = reader();
    push(&mut reader, &turn(&[created(), response("c1"), json!({"type": "turn.paused", "id": "p1"})]));
    numbers(&mut reader);
    let listed = [
        (response("c1"), false),
        (response("c2"), true),
        (response("c2"), false),
        // Events of unknown types, too.
        (json!({"type": "unknown", "wire_type": "turn.paused", "raw": {"id": "p1"}}), false),
        (json!({"type": "unknown", "wire_type": "turn.paused", "raw": {"id": "p2"}}), true),
        (json!({"type": "unknown", "wire_type": "turn.paused", "raw": {"id": "p3"}}), true),
        (json!({"type": "unknown", "wire_type": "turn.paused", "raw": {"id": "p2"}}), false),
    ];
    for (event, is_delivered) in listed {
        missed(&mut reader, &event);
        let expected = if is_delivered { vec![0] } else { Vec::new() };
        assert_eq!(numbers(&mut reader), expected, "{event}");
    }
}

fn numbered(mut event: Json, number: u64) -> Json {
    event["sequence_number"] = number.into();
    event
}

/// Lists may have numbers: an event is then also recognised by its number, and keeps it.
#[test]
fn listed_events_are_known_by_their_numbers() {
    let nameless = |call: &str| {
        let mut event = response(call);
        event.as_object_mut().expect("an object").remove("id");
        event
    };
    let mut reader = reader();
    push(&mut reader, &turn(&[created(), nameless("c1"), response("c2")]));
    numbers(&mut reader);
    let unknown = |number: u64| json!({"type": "unknown", "wire_type": "turn.mood", "raw": {"mood": "good"}, "sequence_number": number});
    let listed = [
        (numbered(nameless("c1"), 2), None),
        // The same event under another id.
        (numbered(json!({"type": "tool.response", "id": "other", "tool_call_id": "c2"}), 3), None),
        (numbered(response("c2"), 30), None),
        (numbered(nameless("c3"), 5), Some(5)),
        (numbered(nameless("c3"), 5), None),
        (numbered(nameless("c4"), 4), Some(4)),
        (numbered(response("c5"), 9), Some(9)),
        (unknown(9), None),
        (unknown(8), Some(8)),
        (response("c6"), Some(0)),
    ];
    for (event, number) in listed {
        missed(&mut reader, &event);
        assert_eq!(numbers(&mut reader), number.into_iter().collect::<Vec<u32>>(), "{event}");
    }
    let said = reader.take_changes(&mut ChangeBatch::default()).expect("changes");
    assert!(said.contains("c3") && !said.contains("sequence_number"), "as a stream brings it: {said}");
}

/// A message's number may be that of its beginning or its end. Only the received parts decide.
#[test]
fn a_message_in_part_comes_again_whatever_its_number() {
    for (number, expected) in [(0, 0), (2, 0), (3, 0), (4, 4), (40, 40)] {
        let mut reader = reader();
        push(&mut reader, &turn(&[created(), base(), delta("a")]));
        numbers(&mut reader);
        missed(&mut reader, &numbered(whole("ab", "stop"), number));
        assert_eq!(content(&reader), "ab");
        assert_eq!(numbers(&mut reader), [expected], "{number}");
        missed(&mut reader, &numbered(whole("ab", "stop"), number + 1));
        assert!(numbers(&mut reader).is_empty(), "it is whole now: {number}");
    }
}

/// The state replaces the missing `turn.done`.
#[test]
fn a_state_ends_the_turn_with_an_event() {
    let mut reader = reader();
    push(&mut reader, &turn(&[created(), delta("a")]));
    numbers(&mut reader);
    // The server lists it: the terminal state is applied last.
    missed(&mut reader, &done("done"));
    assert_eq!(reader.machine().status(), TurnStatus::Running);
    let action = json!({"type": "tool.approval_required", "id": "q", "thread_id": "main",
                        "tool_calls": [{"id": "c", "source_event_id": "m"}]});
    let state = json!({"status": "done", "output": null, "required_actions": [action]});
    end_missed(&mut reader, &state);
    assert_eq!(reader.machine().status(), TurnStatus::Done);
    assert_eq!(numbers(&mut reader), [0]);
    assert_eq!(reader.index().pending().len(), 1);
    let taken: Json = serde_json::from_str(&reader.take_state().expect("a state")).expect("JSON");
    assert_eq!(taken, state);
}

/// Events that only complete the index after the turn's end are not delivered.
#[test]
fn a_turn_that_has_ended_is_mended_silently() {
    let mut reader = reader();
    reader.connected(false);
    push(&mut reader, &turn(&[created(), delta("a")]));
    push(&mut reader, &frame(5, &delta("d")));
    push(&mut reader, &frame(6, &done("done")));
    numbers(&mut reader);
    missed(&mut reader, &whole("abcd", "stop"));
    assert_eq!(content(&reader), "abcd");
    assert!(numbers(&mut reader).is_empty());
    assert_eq!(reader.machine().status(), TurnStatus::Done);
}

#[test]
fn a_turn_that_was_found_stands_for_its_creation() {
    let mut reader = reader();
    let record =
        json!({"id": "t", "session_id": "s", "input": [], "state": {"status": "running"}}).to_string();
    let json = Value::parse(&record).expect("JSON");
    reader.found(json.as_object().expect("an object"));
    assert_eq!((reader.machine().id(), reader.machine().status()), (Some("t"), TurnStatus::Running));
    assert_eq!(reader.take_created(), Some(record));
    push(&mut reader, &turn(&[created(), delta("a")]));
    assert_eq!(numbers(&mut reader), [1, 2], "its stream brings it none the less");
}
