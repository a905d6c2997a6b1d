//! Sequence numbers: the `id` of the frame itself (sections 2.1 and 2.2), or else the `sequence_number` in the
//! event's JSON, as the reference pages have it.

use serde_json::json;

use super::{Seen, TurnDecoder, complete_events, type_of};
use crate::protocol::EventDecoder;
use crate::sse::{Frame, FrameDecoder};

const DATA: &str = r#"{"type":"sandbox.created","id":"e","sandbox_id":"s"}"#;

fn number_of(id: Option<&str>, has_own_id: bool) -> u64 {
    let mut seen: Vec<Seen> = Vec::new();
    TurnDecoder::default().decode(&Frame { event: "", data: DATA, id, has_own_id }, &mut seen);
    seen[0].sequence_number
}

#[test]
fn an_id_is_a_decimal_that_javascript_can_count() {
    let cases: &[(&str, u64)] = &[
        ("1", 1),
        ("42", 42),
        ("007", 7),
        ("00000000000000000000000000000001", 1),
        ("9007199254740991", 9_007_199_254_740_991),
        ("9007199254740992", 0),
        ("18446744073709551615", 0),
        ("18446744073709551616", 0),
        ("99999999999999999999999999", 0),
        ("0", 0),
        ("-1", 0),
        ("1.0", 0),
        ("1e3", 0),
        ("0x10", 0),
        (" 1", 0),
        ("1 ", 0),
        ("", 0),
        ("one", 0),
        ("\u{661}", 0),
        ("NaN", 0),
    ];
    for (id, expected) in cases {
        assert_eq!(number_of(Some(id), true), *expected, "id {id:?}");
    }
}

#[test]
fn a_frame_without_an_id_has_no_number() {
    assert_eq!(number_of(None, false), 0);
    assert_eq!(number_of(Some("7"), false), 0, "the id of an earlier frame is not this one's");
}

/// The standard's last event id persists; a number that two events share would drop the second.
#[test]
fn the_id_of_an_earlier_frame_is_not_used_again() {
    let stream =
        format!("data: {DATA}\nid: 7\n\ndata: {DATA}\n\nid: 8\n\ndata: {DATA}\n\nid: 9\ndata: {DATA}\n\n");
    let (mut frames, mut decoder, mut seen) = (FrameDecoder::default(), TurnDecoder::default(), Vec::new());
    frames.feed(stream.as_bytes(), &mut |frame| decoder.decode(&frame, &mut seen)).expect("small frames");
    let numbers: Vec<u64> = seen.iter().map(|seen: &Seen| seen.sequence_number).collect();
    assert_eq!(numbers, [7, 0, 0, 9]);
}

/// Section 2.2: an event name beside the data changes nothing.
#[test]
fn the_event_field_is_ignored() {
    for event in ["", "turn.created", "message", "error"] {
        let mut seen: Vec<Seen> = Vec::new();
        let frame = Frame { event, data: DATA, id: Some("3"), has_own_id: true };
        TurnDecoder::default().decode(&frame, &mut seen);
        assert_eq!(seen[0].sequence_number, 3);
        assert_eq!(seen[0].event["type"], "sandbox.created");
    }
}

/// An event with this source of its `sequence_number`, in a frame with or without an `id`.
fn told(id: Option<&str>, number: &str) -> u64 {
    let data =
        format!(r#"{{"type":"sandbox.created","id":"e","sandbox_id":"s","sequence_number":{number}}}"#);
    let mut seen: Vec<Seen> = Vec::new();
    let frame = Frame { event: "", data: &data, id, has_own_id: id.is_some() };
    TurnDecoder::default().decode(&frame, &mut seen);
    assert!(seen[0].event.get("sequence_number").is_none(), "the number is told beside the event");
    seen[0].sequence_number
}

#[test]
fn a_number_in_the_json_counts_without_an_id() {
    let cases: &[(&str, u64)] = &[
        ("1", 1),
        ("42", 42),
        ("9007199254740991", 9_007_199_254_740_991),
        ("9007199254740992", 0),
        ("99999999999999999999999999", 0),
        ("0", 0),
        ("-1", 0),
        ("-0", 0),
        ("1.0", 0),
        ("1.5", 0),
        ("1e3", 0),
        ("\"1\"", 0),
        ("\"one\"", 0),
        ("null", 0),
        ("true", 0),
        ("[1]", 0),
        ("{\"a\":1}", 0),
    ];
    for (number, expected) in cases {
        assert_eq!(told(None, number), *expected, "sequence_number {number}");
        for id in ["", "0", "-3", "one", "01J0-ulid", "9007199254740992"] {
            assert_eq!(told(Some(id), number), *expected, "sequence_number {number} beside id {id:?}");
        }
        assert_eq!(told(Some("7"), number), 7, "sequence_number {number} beside id 7");
    }
}

/// The `id` of an earlier frame neither counts nor stands against the number of this one.
#[test]
fn frames_may_be_numbered_each_in_its_own_way() {
    let with = |number: u64| format!(r#"{{"type":"new","sequence_number":{number}}}"#);
    let stream = format!(
        "data: {}\nid: 7\n\ndata: {}\n\ndata: {DATA}\n\nid: 9\ndata: {DATA}\n\ndata: {}\n\n",
        with(7),
        with(8),
        with(10)
    );
    let (mut frames, mut decoder, mut seen) = (FrameDecoder::default(), TurnDecoder::default(), Vec::new());
    frames.feed(stream.as_bytes(), &mut |frame| decoder.decode(&frame, &mut seen)).expect("small frames");
    let numbers: Vec<u64> = seen.iter().map(|seen: &Seen| seen.sequence_number).collect();
    assert_eq!(numbers, [7, 8, 0, 9, 10]);
}

/// Of whatever kind an event is: its number keeps its place in the order.
#[test]
fn every_event_can_have_its_number_in_the_json() {
    let mut events = complete_events();
    events.push(json!({"type": "model.message.delta", "id": "m", "thread_id": "main", "content": "a"}));
    events.push(json!({"type": "turn.mood", "mood": "good"}));
    // What is malformed is none the less numbered.
    events.push(json!({"type": "tool.response", "content": 5}));
    events.push(json!({"no": "type"}));
    for mut wire in events {
        let plain = decode_bare(&wire.to_string());
        wire["sequence_number"] = 12.into();
        let numbered = decode_bare(&wire.to_string());
        assert_eq!((plain.sequence_number, numbered.sequence_number), (0, 12), "{wire}");
        assert_eq!(numbered.is_hot, plain.is_hot, "{wire}");
        if type_of(&plain.event) == "unknown" {
            assert_eq!(numbered.event["raw"]["sequence_number"], 12, "what came stays as it came");
        } else {
            assert_eq!(numbered.event, plain.event);
        }
    }
}

/// Of a name that comes twice the last one counts, as everywhere.
#[test]
fn of_two_numbers_the_last_counts() {
    for (numbers, expected) in [("3,4", 4), ("3,\"x\"", 0), ("\"x\",4", 4), ("null,4", 4), ("3,null", 0)] {
        let (one, other) = numbers.split_once(',').expect("two");
        let data = format!(
            r#"{{"sequence_number":{one},"type":"model.message.delta","id":"m","content":"a","sequence_number":{other}}}"#
        );
        let seen = decode_bare(&data);
        assert_eq!(seen.sequence_number, expected, "{data}");
        assert_eq!(seen.event["content"], "a");
        assert!(seen.event.get("sequence_number").is_none(), "{data}");
    }
}

/// One event of a frame without an `id`.
fn decode_bare(data: &str) -> Seen {
    let mut seen: Vec<Seen> = Vec::new();
    TurnDecoder::default().decode(&Frame { event: "", data, id: None, has_own_id: false }, &mut seen);
    seen.remove(0)
}
