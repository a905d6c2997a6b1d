//! The bytes of a stream: headers, frames, numbers, comments, the end.

use std::time::Duration;

use serde_json::json;

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
