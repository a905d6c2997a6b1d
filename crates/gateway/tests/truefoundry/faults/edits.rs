//! Streams whose events are left out, repeated, swapped, renumbered, or made up.

use reqwest::Method;
use serde_json::{Value, json};

use super::ten_events;
use crate::client::{Gateway, Numbered, events, fast, text};

async fn begin() -> (Gateway, String) {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    (gateway, session)
}

/// The numbers of the events in order, each of which must be the event of that number.
fn order(stream: &str, log: &[Numbered]) -> Vec<u64> {
    let events = events(stream);
    assert!(events.iter().all(|event| log.contains(event)));
    events.iter().map(|event| event.number).collect()
}

#[tokio::test]
async fn events_are_repeated_swapped_or_left_out() {
    let (gateway, session) = begin().await;
    for (fault, numbers) in [
        ("duplicate:3", vec![1, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10]),
        ("replay:3", vec![1, 2, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        ("reorder:3", vec![1, 2, 4, 3, 5, 6, 7, 8, 9, 10]),
        ("reorder:10", (1..=10).collect()),
        ("gap:3:4", vec![1, 2, 7, 8, 9, 10]),
        ("no-done", (1..=9).collect()),
        ("gap:3:4+eof:3", vec![1, 2, 7]),
        ("duplicate:1+duplicate:10", vec![1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10]),
    ] {
        let (stream, log) = gateway.faulty_turn(&session, fault).await;
        assert_eq!(order(&stream, &log), numbers, "{fault}");
    }
}

#[tokio::test]
async fn positions_count_from_the_cursor() {
    let (gateway, session) = begin().await;
    let (_, log) = gateway.faulty_turn(&session, "none").await;
    let path = format!("{session}/turns/{}/subscribe", text(&log[0].event["turn_id"]));
    for (fault, numbers) in [
        ("duplicate:1", vec![7, 7, 8, 9, 10]),
        ("replay:2", vec![7, 8, 7, 8, 9, 10]),
        ("gap:1:2", vec![9, 10]),
        ("eof:2", vec![7, 8]),
        ("restart", (1..=10).collect()),
        ("restart+eof:2", vec![1, 2]),
    ] {
        let answer = gateway.faulty(fault, Method::POST, &path, &json!({"after_sequence_number": 6})).await;
        assert_eq!(order(&answer.text, &log), numbers, "{fault}");
    }
}

#[tokio::test]
async fn a_hole_is_there_in_every_later_stream_of_the_turn() {
    let (gateway, session) = begin().await;
    let (stream, log) = gateway.faulty_turn(&session, "hole:4:2").await;
    assert_eq!(order(&stream, &log), [1, 2, 3, 6, 7, 8, 9, 10]);
    assert_eq!(log.len(), 10, "the log has it all");
    let path = format!("{session}/turns/{}/subscribe", text(&log[0].event["turn_id"]));
    let again = gateway.post(&path, json!({"after_sequence_number": 3})).await;
    assert_eq!(order(&again.text, &log), [6, 7, 8, 9, 10]);
    let more = gateway.faulty("hole:9:1", Method::POST, &path, &json!({})).await;
    assert_eq!(order(&more.text, &log), [1, 2, 3, 6, 7, 8, 10]);
    let again = gateway.post(&path, json!({})).await;
    assert_eq!(order(&again.text, &log), [1, 2, 3, 6, 7, 8, 10]);
    let other = gateway.turn(&session, ten_events()).await;
    assert_eq!(other.len(), 10, "another turn is whole");
}

#[tokio::test]
async fn a_stream_begins_with_a_retry_time() {
    let (gateway, session) = begin().await;
    let (stream, log) = gateway.faulty_turn(&session, "retry:1500").await;
    let rest = stream.strip_prefix("retry: 1500\n\n").expect("the time first");
    assert_eq!(events(rest), log);
}

#[tokio::test]
async fn a_giant_has_its_size_and_no_number() {
    let (gateway, session) = begin().await;
    let (stream, log) = gateway.faulty_turn(&session, "giant:2:9000000").await;
    let frames: Vec<&str> = stream.split_inclusive("\n\n").collect();
    assert_eq!(frames.len(), 11);
    assert_eq!(frames[2].len(), 9_000_000);
    assert!(frames[2].starts_with("data: {") && !frames[2].contains("id:"));
    let others = [&frames[..2], &frames[3..]].concat().concat();
    assert_eq!(events(&others), log);
}

#[tokio::test]
async fn ids_can_be_wrong() {
    let (gateway, session) = begin().await;
    let ids = |stream: &str| -> Vec<String> {
        let lines = stream.lines().filter_map(|line| line.strip_prefix("id: "));
        lines.map(str::to_owned).collect()
    };
    for (fault, expected) in [
        ("numbers:backwards", "9 8 7 6 5 4 3 2 1 0"),
        ("numbers:negative:9", "1 2 3 4 5 6 7 8 -9 -10"),
        ("numbers:words:8", "1 2 3 4 5 6 7 one one one"),
        ("numbers:none:3", "1 2"),
        ("numbers:huge:10", "1 2 3 4 5 6 7 8 9 1152921504606846986"),
    ] {
        let (stream, log) = gateway.faulty_turn(&session, fault).await;
        assert_eq!(ids(&stream).join(" "), expected, "{fault}");
        let data: Vec<Value> = stream
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(|data| serde_json::from_str(data).expect("JSON"))
            .collect();
        assert!(data.iter().eq(log.iter().map(|event| &event.event)), "{fault}: only ids change");
    }
}

#[tokio::test]
async fn another_turn_begins_in_between() {
    let (gateway, session) = begin().await;
    let (stream, log) = gateway.faulty_turn(&session, "other-turn:2").await;
    let events = events(&stream);
    assert_eq!(events.iter().map(|event| event.number).collect::<Vec<_>>(), (1..=11).collect::<Vec<_>>());
    let (own, stranger) = (&log[0].event, &events[2].event);
    assert_eq!(stranger["type"], "turn.created");
    assert_ne!(stranger["turn_id"], own["turn_id"]);
    assert_ne!(stranger["id"], own["id"]);
    assert_eq!(stranger["created_by"], own["created_by"]);
    assert_eq!(events[3].event, log[2].event);
}

#[tokio::test]
async fn there_is_more_after_the_end() {
    let (gateway, session) = begin().await;
    let (stream, log) = gateway.faulty_turn(&session, "after-done:3").await;
    let late = &events(&stream)[10..];
    assert_eq!(late.iter().map(|event| event.number).collect::<Vec<_>>(), [11, 12, 13]);
    let message = &log[2].event;
    for Numbered { event, .. } in late {
        assert_eq!(event["type"], "model.message.delta");
        assert_eq!((&event["id"], &event["thread_id"]), (&message["id"], &message["thread_id"]));
        assert_eq!(event["content"], " too late");
    }
    let (stream, log) = gateway.faulty_turn(&session, "two-dones").await;
    let events = events(&stream);
    assert_eq!(events[..10], log);
    assert_eq!(events[10], Numbered { number: 11, event: log[9].event.clone() });
}

#[tokio::test]
async fn edits_do_not_depend_on_how_the_stream_is_cut() {
    let (gateway, session) = begin().await;
    for query in ["?chunk_bytes=5", "?batch=3", "?delay_ms=2"] {
        let path = format!("{session}/turns{query}");
        let fault = "duplicate:2+reorder:4+gap:7:1+two-dones";
        let answer = gateway.faulty(fault, Method::POST, &path, &ten_events()).await;
        let numbers: Vec<u64> = answer.events().iter().map(|event| event.number).collect();
        assert_eq!(numbers, [1, 2, 2, 3, 5, 4, 6, 8, 9, 10, 11], "{query}");
    }
}
