//! Sequence numbers are the `id` of the frame itself (sections 2.1 and 2.2).

use super::{Seen, TurnDecoder};
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
