//! Acting on streams now, and looking at what the gateway knows.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use super::raw::{End, Raw};
use super::{id_of, ten_events};
use crate::client::{Gateway, fast, paced, text};

async fn cut(gateway: &Gateway, session: &str, query: &str) -> u64 {
    let answer = gateway.post(&format!("/_gateway/sessions/{}/cut{query}", id_of(session)), json!({})).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["cut"].as_u64().expect("a number")
}

#[tokio::test]
async fn open_streams_are_cut_now() {
    let gateway = Gateway::start(paced(Duration::from_millis(60))).await;
    let (session, other) = (gateway.session().await, gateway.session().await);
    assert_eq!(cut(&gateway, &session, "").await, 0);
    for (query, end, complete) in
        [("", End::Reset, false), ("?how=reset", End::Reset, false), ("?how=eof", End::Closed, true)]
    {
        let mut bystander =
            Raw::send(&gateway, "POST", &format!("{other}/turns"), "none", &ten_events()).await;
        let mut raw = Raw::send(&gateway, "POST", &format!("{session}/turns"), "none", &ten_events()).await;
        raw.until("id: 2\n").await;
        assert_eq!(cut(&gateway, &session, query).await, 1);
        if complete {
            raw.until("\r\n0\r\n\r\n").await;
        } else {
            assert_eq!(raw.end().await, end);
        }
        let (body, ended) = raw.body();
        assert_eq!(ended, complete);
        assert!(!body.windows(9).any(|bytes| bytes == b"turn.done"));
        bystander.until("\r\n0\r\n\r\n").await;
        assert_eq!(gateway.ended(&session).await.len(), 10, "the turn goes on");
    }
}

#[tokio::test]
async fn a_stream_is_stalled_now_and_can_still_be_cut() {
    let mut config = paced(Duration::from_millis(60));
    config.silence = Duration::from_millis(10);
    let gateway = Gateway::start(config).await;
    let session = gateway.session().await;
    let mut raw = Raw::send(&gateway, "POST", &format!("{session}/turns"), "none", &ten_events()).await;
    raw.until("id: 2\n").await;
    assert_eq!(cut(&gateway, &session, "?how=stall").await, 1);
    assert_eq!(gateway.ended(&session).await.len(), 10);
    raw.silence(Duration::from_millis(100)).await;
    assert!(!raw.text().contains("turn.done"));
    assert_eq!(cut(&gateway, &session, "?how=reset").await, 1);
    assert_eq!(raw.end().await, End::Reset);
    gateway.open_streams(0).await;
}

#[tokio::test]
async fn a_stream_without_a_reader_is_cut_too() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let body = json!({"input": [{"type": "user.message", "content": "long 100000"}]});
    let raw = Raw::send(&gateway, "POST", &format!("{session}/turns"), "none", &body).await;
    gateway.end_of_turn(&session).await;
    assert_eq!(cut(&gateway, &session, "").await, 1);
    gateway.open_streams(0).await;
    drop(raw);
}

#[tokio::test]
async fn an_unknown_way_to_cut_is_refused() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let path = format!("/_gateway/sessions/{}/cut?how=saw", id_of(&session));
    let answer = gateway.post(&path, json!({})).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.error(), "how must be reset, eof, or stall, got `saw`");
    let answer = gateway.post("/_gateway/streams", json!({})).await;
    assert_eq!(answer.error(), "Route not found: POST /_gateway/streams");
}

#[tokio::test]
async fn streams_expire_on_request() {
    let gateway = Gateway::start(paced(Duration::from_millis(60))).await;
    let session = gateway.session().await;
    let first = gateway.turn(&session, ten_events()).await;
    let mut open = Raw::send(&gateway, "POST", &format!("{session}/turns"), "none", &ten_events()).await;
    open.until("id: 2\n").await;
    let path = format!("/_gateway/sessions/{}/expire", id_of(&session));
    let expired = gateway.send(Method::PUT, &path, json!({})).await;
    assert_eq!(expired.json(), json!({"expired": 2}));
    open.until("\r\n0\r\n\r\n").await;
    assert!(!open.text().contains("turn.done"), "an open stream ends");
    let last = gateway.get(&format!("{session}/turns")).await.ids().remove(0);
    for turn in [&last, &text(&first[0].event["turn_id"])] {
        let answer = gateway.post(&format!("{session}/turns/{turn}/subscribe"), json!({})).await;
        assert_eq!(answer.status, 412);
        assert!(answer.error().starts_with("Cannot read from stream, stream does not exist anymore: "));
    }
    assert_eq!(gateway.ended(&session).await.len(), 10, "the turn and its log go on");
    assert_eq!(gateway.turn(&session, ten_events()).await.len(), 10, "a later turn is not touched");
}

#[tokio::test]
async fn the_log_is_what_a_stream_without_faults_is() {
    let gateway = Gateway::start(paced(Duration::from_millis(5))).await;
    let session = gateway.session().await;
    let (seen, log) = gateway.faulty_turn(&session, "reorder:2+duplicate:5").await;
    assert_ne!(crate::client::events(&seen), log);
    let turn = text(&log[0].event["turn_id"]);
    let stream = gateway.post(&format!("{session}/turns/{turn}/subscribe"), json!({})).await;
    assert_eq!(stream.events(), log);
    assert_eq!(gateway.get("/_gateway/turns/nobody/log").await.error(), "Turn not found: nobody");
    let body = json!({"input": ten_events()["input"], "stream": false});
    let running = gateway.post(&format!("{session}/turns?delay_ms=500"), body).await.data();
    let so_far = gateway.log(&text(&running["id"])).await;
    assert!((1..10).contains(&so_far.len()), "{} events of a running turn", so_far.len());
}

#[tokio::test]
async fn open_streams_are_counted() {
    let gateway = Gateway::start(paced(Duration::from_millis(50))).await;
    gateway.open_streams(0).await;
    let (one, two) = (gateway.session().await, gateway.session().await);
    let first = gateway.open(&format!("{one}/turns"), ten_events()).await;
    gateway.open_streams(1).await;
    let second = gateway.open(&format!("{two}/turns"), ten_events()).await;
    gateway.open_streams(2).await;
    drop(first);
    gateway.open_streams(1).await;
    second.text().await.expect("a whole stream");
    gateway.open_streams(0).await;
}

#[tokio::test]
async fn only_the_given_token_controls() {
    let mut config = fast();
    config.token = Some("secret".to_owned());
    let gateway = Gateway::start(config).await;
    let owner = gateway.with_token("secret");
    let session = owner.session().await;
    assert_eq!(gateway.get("/_gateway/streams").await.status, 401);
    assert_eq!(gateway.plan(&session, json!([])).await.status, 401);
    assert_eq!(owner.plan(&session, json!([])).await.status, 200);
    assert_eq!(gateway.get("/_gateway/portal").await.status, 200);
}
