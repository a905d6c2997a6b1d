//! Streams that end before their time, or go on without saying anything.

use std::time::Duration;

use serde_json::json;

use super::raw::{End, Raw};
use super::ten_events;
use crate::client::{Gateway, Numbered, events, fast, paced, text};

/// What came of a stream that broke: its body, which was not brought to an end.
async fn broken(gateway: &Gateway, session: &str, fault: &str, query: &str) -> Vec<u8> {
    let path = format!("{session}/turns{query}");
    let mut raw = Raw::send(gateway, "POST", &path, fault, &ten_events()).await;
    assert_eq!(raw.end().await, End::Reset, "{fault}");
    assert!(raw.head().starts_with("http/1.1 200 ok"), "{fault}: {}", raw.head());
    let (body, complete) = raw.body();
    assert!(!complete, "{fault}: there is a last chunk");
    body
}

/// The events in the complete frames of a body.
fn complete_events(body: &[u8]) -> Vec<Numbered> {
    let text = String::from_utf8_lossy(body).into_owned();
    let end = text.rfind("\n\n").map_or(0, |end| end + 2);
    events(&text[..end])
}

#[tokio::test]
async fn an_early_end_looks_like_a_good_one() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    for count in [0, 1, 4, 9] {
        let (text, log) = gateway.faulty_turn(&session, &format!("eof:{count}")).await;
        assert_eq!(events(&text), log[..count]);
        assert_eq!(log.len(), 10, "the turn goes on");
    }
    for bytes in [0, 1, 700] {
        let (text, log) = gateway.faulty_turn(&session, &format!("eof-bytes:{bytes}")).await;
        assert_eq!(text.len(), bytes);
        assert_eq!(log.len(), 10);
    }
    let (text, log) = gateway.faulty_turn(&session, "eof:11").await;
    assert_eq!(events(&text), log, "an end behind the end changes nothing");
}

#[tokio::test]
async fn a_reset_breaks_the_connection_within_the_body() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    for count in [0, 1, 6, 10] {
        let body = broken(&gateway, &session, &format!("reset:{count}"), "").await;
        let log = gateway.ended(&session).await;
        assert_eq!(complete_events(&body), log[..count]);
        assert_eq!(log.len(), 10, "the turn goes on");
    }
    for bytes in [0, 1, 333] {
        let body = broken(&gateway, &session, &format!("reset-bytes:{bytes}"), "").await;
        assert_eq!(body.len(), bytes);
    }
}

#[tokio::test]
async fn all_events_before_a_reset_arrive_however_they_are_cut() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    for query in ["?chunk_bytes=7", "?chunk_bytes=100000", "?batch=2", "?delay_ms=3"] {
        let body = broken(&gateway, &session, "reset:5", query).await;
        assert!(body.ends_with(b"id: 5\n\n"), "{query}");
        assert_eq!(complete_events(&body).len(), 5, "{query}");
        gateway.ended(&session).await;
    }
}

#[tokio::test]
async fn a_long_stream_arrives_up_to_its_reset() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let body = json!({"input": [{"type": "user.message", "content": "long 30000"}]});
    let mut raw = Raw::send(&gateway, "POST", &format!("{session}/turns"), "reset:25000", &body).await;
    assert_eq!(raw.end().await, End::Reset);
    assert!(raw.body().0.ends_with(b"id: 25000\n\n"));
}

#[tokio::test]
async fn a_character_is_cut_in_two() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let body = json!({"input": [{"type": "user.message", "content": "unicode"}]});
    for number in [1, 2, 30] {
        let fault = format!("cut-char:{number}");
        let mut raw = Raw::send(&gateway, "POST", &format!("{session}/turns"), &fault, &body).await;
        assert_eq!(raw.end().await, End::Reset);
        let (body, complete) = raw.body();
        assert!(!complete);
        let torn = std::str::from_utf8(&body).expect_err("a torn character");
        assert_eq!((torn.error_len(), body.len() - torn.valid_up_to()), (None, 1));
        let whole = std::str::from_utf8(&body[..torn.valid_up_to()]).expect("text");
        assert_eq!(whole.chars().filter(|character| !character.is_ascii()).count(), number - 1);
        gateway.ended(&session).await;
    }
}

#[tokio::test]
async fn a_stalled_stream_says_nothing_until_the_client_leaves() {
    let mut config = fast();
    config.silence = Duration::from_millis(10);
    let gateway = Gateway::start(config).await;
    let session = gateway.session().await;
    for (fault, query, last, count) in [
        ("stall:3", "", "id: 3\n\n", 3),
        ("stall:3", "?chunk_bytes=1000", "id: 3\n\n", 3),
        ("stall:0", "", "\r\n\r\n", 0),
        ("stall-bytes:5", "", "data:", 0),
    ] {
        let path = format!("{session}/turns{query}");
        let mut raw = Raw::send(&gateway, "POST", &path, fault, &ten_events()).await;
        raw.until(last).await;
        raw.silence(Duration::from_millis(150)).await;
        let (body, complete) = raw.body();
        assert!(!complete);
        assert_eq!(complete_events(&body).len(), count, "{fault}");
        assert!(!body.windows(6).any(|bytes| bytes == b": ping"), "{fault}");
        assert_eq!(gateway.ended(&session).await.len(), 10, "the turn goes on");
        gateway.open_streams(1).await;
        drop(raw);
        gateway.open_streams(0).await;
    }
}

#[tokio::test]
async fn comments_never_end() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let path = format!("{session}/turns");
    let mut raw = Raw::send(&gateway, "POST", &path, "comments:2", &ten_events()).await;
    raw.until("id: 2\n\n").await;
    raw.until_times(": still here\n\n", 5).await;
    let (body, complete) = raw.body();
    assert!(!complete);
    assert_eq!(complete_events(&body).len(), 2);
    drop(raw);
    gateway.open_streams(0).await;
}

#[tokio::test]
async fn a_cut_stream_can_be_taken_up_again() {
    let gateway = Gateway::start(paced(Duration::from_millis(2))).await;
    let session = gateway.session().await;
    let body = broken(&gateway, &session, "reset:4", "").await;
    let seen = complete_events(&body);
    let turn = text(&seen[0].event["turn_id"]);
    let path = format!("{session}/turns/{turn}/subscribe");
    let rest = gateway.post(&path, json!({"after_sequence_number": 4})).await.events();
    assert_eq!([seen, rest].concat(), gateway.ended(&session).await);
}
