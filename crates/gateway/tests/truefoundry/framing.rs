//! The bytes of a stream: headers, frames, numbers, comments, the end.

use std::time::Duration;

use serde_json::{Value as Json, json};
use turnwire_gateway::{Config, Delivery, Numbers};

use crate::client::{Gateway, events, fast, paced};

#[tokio::test]
async fn a_stream_is_frames_of_data_and_id() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let body = json!({"input": [{"type": "user.message", "content": "plain"}]});
    let answer = gateway.post(&format!("{session}/turns"), body).await;
    assert_eq!(answer.headers["content-type"], "text/event-stream");
    assert_eq!(answer.headers["cache-control"], "no-cache");
    assert_eq!(answer.headers["connection"], "keep-alive");
    assert_eq!(answer.headers["transfer-encoding"], "chunked");
    assert!(answer.text.starts_with("data: {\"type\":\"turn.created\",\"id\":\""));
    let mut frames = answer.text.split("\n\n").collect::<Vec<_>>();
    assert_eq!(frames.pop(), Some(""), "the stream ends right after a blank line");
    for (index, frame) in frames.iter().enumerate() {
        let lines: Vec<&str> = frame.split('\n').collect();
        assert_eq!(lines.len(), 2, "{frame}");
        assert!(lines[0].starts_with("data: {\"type\":\""), "{frame}");
        assert_eq!(lines[1], format!("id: {}", index + 1));
    }
    assert!(frames[frames.len() - 1].starts_with("data: {\"type\":\"turn.done\""));
    assert!(!answer.text.contains('\r'));
}

#[tokio::test]
async fn silence_is_broken_by_a_comment() {
    let mut config = paced(Duration::from_millis(250));
    config.silence = Duration::from_millis(60);
    let gateway = Gateway::start(config).await;
    let session = gateway.session().await;
    let body = json!({"input": [{"type": "user.message", "content": "long 1"}]});
    let answer = gateway.post(&format!("{session}/turns"), body).await;
    let pings = answer.text.matches(": ping\n\n").count();
    assert!(pings >= 4, "{pings} pings in four pauses of 250 ms");
    let numbers: Vec<u64> = events(&answer.text).iter().map(|frame| frame.number).collect();
    assert_eq!(numbers, (1..=6).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_hundred_thousand_deltas_pass_quickly() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let events = gateway.say(&session, "long").await;
    // Created, connected, the empty message, the end of the message, done.
    assert_eq!(events.len(), 100_000 + 5);
    assert!(events.iter().zip(1..).all(|(event, number)| event.number == number));
    let text = crate::client::said(&events);
    assert_eq!(crate::client::state(&events)["output"]["content"], text.as_str());
}

#[tokio::test]
async fn the_pause_between_events_is_set_by_the_request() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let body = json!({"input": [{"type": "user.message", "content": "long 20"}]});
    for (path, header) in [("turns?delay_ms=10", "1"), ("turns", "10")] {
        let mut request = gateway.request(reqwest::Method::POST, &format!("{session}/{path}"));
        // The header wins over the query.
        if path == "turns" {
            request = request.header("x-turnwire-delay-ms", header);
        }
        let started = std::time::Instant::now();
        let answer = crate::client::Answer::read(request.json(&body)).await;
        assert_eq!(answer.events().len(), 25);
        let elapsed = started.elapsed().as_millis();
        assert!((230..5000).contains(&elapsed), "{path}: {elapsed} ms for 24 pauses of 10 ms");
    }
}

/// By a header, a query or the server's own option: in the JSON, in both places, the same or not.
#[tokio::test]
async fn numbers_stand_where_requested() {
    let config = Config { delivery: Delivery { numbers: Some(Numbers::Both), ..fast().delivery }, ..fast() };
    let gateway = Gateway::start(config).await;
    let session = gateway.session().await;
    let body = json!({"input": [{"type": "user.message", "content": "plain"}]});
    for (query, has_id, more) in [
        ("", true, 0),
        ("?numbers=id", true, -1),
        ("?numbers=json", false, 0),
        ("?numbers=different", true, 1000),
    ] {
        let turns = format!("{session}/turns{query}");
        let streamed = gateway.post(&turns, body.clone()).await.text;
        let frames: Vec<&str> = streamed.split_terminator("\n\n").collect();
        assert!(frames.len() > 10);
        for (number, frame) in (1..).zip(frames) {
            let data = frame.strip_prefix("data: ").expect("data").lines().next().expect("a line");
            let event: Json = serde_json::from_str(data).expect("JSON");
            let said = if more < 0 { Json::Null } else { json!(number + more) };
            assert_eq!(event["sequence_number"], said, "{query}: {frame}");
            assert_eq!(frame.ends_with(&format!("\nid: {number}")), has_id, "{query}: {frame}");
        }
    }
}

/// Faults are what they are: only where their numbers stand differs.
#[tokio::test]
async fn faults_keep_their_meaning_where_numbers_stand_in_the_json() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let said = async |fault: &str| {
        let body = json!({"input": [{"type": "user.message", "content": "plain"}]});
        let turns = format!("{session}/turns?numbers=json&fault={fault}");
        let text = gateway.post(&turns, body).await.text;
        assert!(!text.contains("\nid: "), "{fault}");
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        let number =
            |data: &str| serde_json::from_str::<Json>(data).expect("JSON")["sequence_number"].clone();
        data.take(4).map(number).collect::<Vec<Json>>()
    };
    assert_eq!(said("gap:2:1").await, [1, 3, 4, 5]);
    assert_eq!(said("duplicate:2").await, [1, 2, 2, 3]);
    assert_eq!(said("numbers:negative:3").await, [1, 2, -3, -4]);
    assert_eq!(said("numbers:words:3").await, [json!(1), json!(2), json!("one"), json!("one")]);
    assert_eq!(said("numbers:none:3").await, [json!(1), json!(2), Json::Null, Json::Null]);
}
