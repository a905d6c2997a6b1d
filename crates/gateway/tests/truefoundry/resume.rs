//! Subscribing to a turn: cursors, replays, streams that are gone.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Answer, Gateway, Numbered, fast, paced, text};

async fn finished(gateway: &Gateway) -> (String, Vec<Numbered>) {
    let session = gateway.session().await;
    let events = gateway.say(&session, "long 20").await;
    let turn = text(&events[0].event["turn_id"]);
    (format!("{session}/turns/{turn}"), events)
}

#[tokio::test]
async fn a_cursor_leaves_out_earlier_events() {
    let gateway = Gateway::start(fast()).await;
    let (turn, all) = finished(&gateway).await;
    let path = format!("{turn}/subscribe");
    for body in [json!({}), json!({"after_sequence_number": 0}), json!({"after_sequence_number": null})] {
        assert_eq!(gateway.post(&path, body).await.events(), all);
    }
    let after = async |number: u64| {
        let answer = gateway.post(&path, json!({"after_sequence_number": number})).await;
        assert_eq!(answer.headers["content-type"], "text/event-stream");
        answer.events()
    };
    assert_eq!(after(7).await, all[7..]);
    assert_eq!(after(24).await, all[24..]);
    assert_eq!(after(25).await, []);
    assert_eq!(after(u64::MAX).await, []);
    let without_a_body = gateway.request(Method::POST, &path);
    assert_eq!(Answer::read(without_a_body).await.events(), all);
}

#[tokio::test]
async fn the_header_counts_when_the_body_says_nothing() {
    let gateway = Gateway::start(fast()).await;
    let (turn, all) = finished(&gateway).await;
    let subscribe = async |header: &str, body: Value| {
        let request = gateway.request(Method::POST, &format!("{turn}/subscribe"));
        Answer::read(request.header("Last-Event-ID", header).json(&body)).await
    };
    assert_eq!(subscribe("9", json!({})).await.events(), all[9..]);
    let body = json!({"after_sequence_number": 3});
    assert_eq!(subscribe("9", body.clone()).await.events(), all[3..]);
    for bad in ["x", "-1", "1.5", ""] {
        let answer = subscribe(bad, json!({})).await;
        assert_eq!(answer.status, 400, "{bad}");
        assert_eq!(answer.error(), "Invalid Last-Event-Id header");
    }
    let negative = subscribe("9", json!({"after_sequence_number": -1})).await;
    assert_eq!(negative.status, 400);
}

#[tokio::test]
async fn any_number_of_readers_share_a_running_turn() {
    let gateway = Gateway::start(paced(Duration::from_millis(5))).await;
    let session = gateway.session().await;
    let body = json!({"input": [{"type": "user.message", "content": "long 40"}], "stream": false});
    let turn = gateway.post(&format!("{session}/turns"), body).await.data();
    let path = format!("{session}/turns/{}/subscribe", text(&turn["id"]));
    let read = async |after: u64| {
        let body = json!({"after_sequence_number": after});
        gateway.post(&path, body).await.events()
    };
    let (whole, late, ahead) = tokio::join!(read(0), read(10), read(40));
    assert_eq!(whole.len(), 45);
    assert_eq!(late, whole[10..]);
    assert_eq!(ahead, whole[40..], "a cursor ahead of the turn waits");
}

#[tokio::test]
async fn a_stream_is_gone_some_time_after_the_end() {
    let mut config = fast();
    config.stream_kept = Duration::from_secs(1);
    let gateway = Gateway::start(config).await;
    let (turn, all) = finished(&gateway).await;
    let path = format!("{turn}/subscribe");
    assert_eq!(gateway.post(&path, json!({})).await.events(), all, "still there");
    let answer = loop {
        let answer = gateway.post(&path, json!({"after_sequence_number": 3})).await;
        if answer.status != 200 {
            break answer;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!(answer.status, 412);
    let message = answer.error();
    assert!(message.starts_with("Cannot read from stream, stream does not exist anymore: "), "{message}");
    assert_eq!(gateway.get(&turn).await.data()["state"]["status"], "done");
    assert_eq!(gateway.get(&format!("{turn}/events")).await.ids().len(), 2);
}

#[tokio::test]
async fn an_unknown_turn_has_no_stream() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let answer = gateway.post(&format!("{session}/turns/nobody/subscribe"), json!({})).await;
    assert_eq!((answer.status.as_u16(), answer.error().as_str()), (404, "Turn not found: nobody"));
}
