//! Numbers that are missing, contradictory, or another turn's: what the reader awaits, skips and reports.

use serde_json::json;

use super::reader::{content, created, delta, done, frame, numbers, push, reader, turn};
use crate::error::{Error, ErrorCode};
use crate::turn::{TurnReader, TurnStatus};

fn reconnect(reader: &mut TurnReader) {
    let _ = reader.take_failure();
    reader.connected(true);
}

/// Pushes a frame after a gap; returns why the connection is unusable.
fn push_gap(reader: &mut TurnReader, id: u64, text: &str) -> Error {
    reader.push(frame(id, &delta(text)).as_bytes()).expect_err("a gap")
}

/// Section 2.1: numbers are consecutive, so a skipped number means a missing event.
#[test]
fn a_gap_ends_the_connection_and_is_refilled_by_the_next() {
    let mut reader = reader();
    push(&mut reader, &turn(&[created(), delta("a")]));
    let error = push_gap(&mut reader, 5, "d");
    assert_eq!(error.code, ErrorCode::Incomplete);
    assert!(error.message.contains("event 3") && error.message.contains("5 arrived"), "{}", error.message);
    // Everything else on this connection comes too early.
    for id in [3, 6] {
        assert_eq!(push_gap(&mut reader, id, "x"), error);
    }
    let stray = format!("data: {}\n\n", delta("x"));
    assert_eq!(reader.push(stray.as_bytes()), Err(error.clone()));
    assert_eq!((content(&reader), reader.machine().cursor().last()), ("a", 2));
    assert_eq!(reader.take_failure(), Some(error));

    reader.connected(true);
    push(
        &mut reader,
        &(3..=5).zip(["b", "c", "d"]).map(|(id, text)| frame(id, &delta(text))).collect::<Vec<_>>().concat(),
    );
    assert_eq!(content(&reader), "abcd");
    assert_eq!(numbers(&mut reader), [1, 2, 3, 4, 5]);
    assert!(reader.gaps().is_empty());
}

#[test]
fn a_gap_that_is_met_again_is_passed_over_and_told() {
    let mut reader = reader();
    push(&mut reader, &turn(&[created(), delta("a")]));
    for _ in 0..3 {
        push_gap(&mut reader, 5, "d");
        reconnect(&mut reader);
    }
    push(&mut reader, &frame(5, &delta("d")));
    push(&mut reader, &frame(6, &delta("e")));
    assert_eq!(reader.gaps(), [(2, 5)]);
    // Late, but not lost, and not delivered twice.
    for id in [4, 4, 5] {
        push(&mut reader, &frame(id, &delta("c")));
    }
    assert_eq!(content(&reader), "adec");
    assert_eq!(numbers(&mut reader), [1, 2, 5, 6, 4]);
    // Another gap is handled separately.
    push_gap(&mut reader, 9, "h");
    assert_eq!(reader.gaps(), [(2, 5)]);
}

/// The second connection fills a part of the gap: the rest is a new gap.
#[test]
fn a_gap_that_is_filled_in_part_is_waited_for_again() {
    let mut reader = reader();
    push(&mut reader, &turn(&[created()]));
    push_gap(&mut reader, 4, "c");
    reconnect(&mut reader);
    push(&mut reader, &frame(2, &delta("a")));
    push_gap(&mut reader, 4, "c");
    reconnect(&mut reader);
    push(&mut reader, &frame(3, &delta("b")));
    push(&mut reader, &frame(4, &delta("c")));
    assert_eq!(content(&reader), "abc");
    assert!(reader.gaps().is_empty());
}

#[test]
fn numbers_that_are_never_dense_are_taken_for_what_they_are() {
    let mut reader = reader();
    push(&mut reader, &turn(&[created()]));
    for gap in 0..3 {
        for _ in 0..3 {
            push_gap(&mut reader, 10 * (gap + 1), "x");
            reconnect(&mut reader);
        }
        push(&mut reader, &frame(10 * (gap + 1), &delta("x")));
    }
    // From now on, gaps need no further connection.
    for id in [40, 50, 60] {
        push(&mut reader, &frame(id, &delta("y")));
    }
    assert_eq!(content(&reader), "xxxyyy");
    assert_eq!(reader.gaps(), [(1, 10), (10, 20), (20, 30), (30, 40), (40, 50), (50, 60)]);
}

#[test]
fn without_reconnects_gaps_are_passed_over() {
    let mut reader = reader();
    reader.connected(false);
    push(&mut reader, &turn(&[created()]));
    push(&mut reader, &frame(7, &delta("x")));
    assert_eq!((content(&reader), reader.gaps()), ("x", &[(1, 7)][..]));
}

/// The `id` counts. The first frame with a different number in its JSON is noted.
#[test]
fn two_numbers_of_one_event_are_a_mismatch() {
    let says = |number: u64, text: &str| {
        let mut event = delta(text);
        event["sequence_number"] = number.into();
        event
    };
    let mut reader = reader();
    push(&mut reader, &turn(&[created(), says(2, "a"), says(1 << 53, "b")]));
    assert_eq!(reader.mismatch(), None);
    push(&mut reader, &format!("data: {}\n\n", says(4, "c")));
    push(&mut reader, &frame(5, &says(105, "d")));
    push(&mut reader, &frame(6, &says(106, "e")));
    assert_eq!(reader.mismatch(), Some((5, 105)));
    assert_eq!(content(&reader), "abcde");
    assert_eq!(numbers(&mut reader), [1, 2, 3, 4, 5, 6]);
    assert!(reader.gaps().is_empty());
}

/// Section 2.4: a turn's stream has only that turn's events.
#[test]
fn a_stream_that_goes_over_to_another_turn_is_of_no_use() {
    let other = json!({"type": "turn.created", "id": "e2", "turn_id": "other", "input": []});
    for id in [2, 3, 1, 50] {
        let mut reader = reader();
        push(&mut reader, &turn(&[created(), delta("a")]));
        let error = reader.push(frame(id, &other).as_bytes()).expect_err("another turn");
        assert_eq!(error.code, ErrorCode::UnexpectedResponse, "{id}");
        reader.push(frame(3, &delta("b")).as_bytes()).expect_err("of the other turn");
        assert_eq!(content(&reader), "a");
        assert_eq!(numbers(&mut reader), [1, 2]);
        assert_eq!(reader.machine().id(), Some("t"));
        reconnect(&mut reader);
        push(&mut reader, &frame(3, &delta("b")));
        assert_eq!(content(&reader), "ab");
    }
    // The same turn again is a repeat.
    let mut reader = reader();
    push(&mut reader, &turn(&[created(), delta("a")]));
    push(&mut reader, &turn(&[created(), delta("a"), delta("b")]));
    assert_eq!(content(&reader), "ab");
    assert_eq!(numbers(&mut reader), [1, 2, 3]);
}

/// An unreadable event without a number is shown, but does not move the cursor.
#[test]
fn strays_are_delivered_and_move_nothing() {
    let mut reader = reader();
    push(&mut reader, &turn(&[created()]));
    push(&mut reader, "data: [DONE]\n\n");
    assert_eq!(numbers(&mut reader), [1, 0]);
    assert!(!reader.machine().cursor().is_unsure());
    push(&mut reader, &frame(2, &done("done")));
    push(&mut reader, "data: [DONE]\n\n");
    assert_eq!(reader.machine().status(), TurnStatus::Done);
    assert_eq!(numbers(&mut reader), [2], "nothing comes after the end");
}
