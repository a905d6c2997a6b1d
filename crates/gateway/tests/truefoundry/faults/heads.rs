//! Faults of the head: what comes instead of an answer, late, or not at all.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::raw::{End, Raw};
use super::ten_events;
use crate::client::{Answer, Gateway, fast};

/// A gateway, a session, and the path of its turns.
async fn begin() -> (Gateway, String, String) {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let turns = format!("{session}/turns");
    (gateway, session, turns)
}

async fn count(gateway: &Gateway, turns: &str) -> usize {
    gateway.get(turns).await.ids().len()
}

/// Whether a page of another origin may read an answer.
fn readable(answer: &Answer) -> bool {
    answer.headers.get("access-control-allow-origin").is_some_and(|origin| origin == "*")
}

#[tokio::test]
async fn a_status_stands_for_the_answer() {
    let (gateway, _, turns) = begin().await;
    for (fault, status, retry_after) in [
        ("status:503:2", 503, Some("2")),
        ("status:401", 401, None),
        ("status:429:0", 429, Some("0")),
        ("slow-head:5+status:500", 500, None),
    ] {
        let answer = gateway.faulty(fault, Method::POST, &turns, &ten_events()).await;
        assert_eq!(answer.status, status, "{fault}");
        assert!(answer.error().ends_with("on purpose"), "{}", answer.text);
        let header = answer.headers.get("retry-after").map(|value| value.to_str().expect("text"));
        assert_eq!(header, retry_after, "{fault}");
        assert!(readable(&answer), "{fault}");
    }
    let plain = gateway.faulty("text-status:502", Method::GET, &turns, &json!({})).await;
    assert_eq!((plain.status.as_u16(), plain.text.as_str()), (502, "502 Bad Gateway, on purpose\n"));
    assert!(plain.headers["content-type"].to_str().expect("text").starts_with("text/plain"));
    assert!(readable(&plain));
    assert_eq!(count(&gateway, &turns).await, 0, "nothing was processed");
}

#[tokio::test]
async fn a_late_status_comes_after_the_work() {
    let (gateway, _, turns) = begin().await;
    let answer = gateway.faulty("late-status:500:1", Method::POST, &turns, &ten_events()).await;
    assert_eq!(answer.status, 500);
    assert_eq!(answer.headers["retry-after"], "1");
    assert!(readable(&answer));
    assert_eq!(count(&gateway, &turns).await, 1);
}

#[tokio::test]
async fn any_request_can_fail_also_by_its_query() {
    let gateway = Gateway::start(fast()).await;
    let new = json!({"agent_name": "support-bot"});
    let answer = gateway.post("/acme/v1/agents/sessions?fault=status:503", new.clone()).await;
    assert_eq!(answer.status, 503);
    let answer = gateway.faulty("none", Method::POST, "/acme/v1/agents/sessions", &new).await;
    assert_eq!(answer.status, 201);
    assert_eq!(gateway.get("/nowhere?fault=status:418").await.status, 418);
}

#[tokio::test]
async fn a_refused_request_gets_nothing_and_does_nothing() {
    let (gateway, session, turns) = begin().await;
    let mut raw = Raw::send(&gateway, "POST", &turns, "refuse", &ten_events()).await;
    assert_eq!(raw.end().await, End::Closed);
    assert_eq!(raw.bytes, b"");
    assert_eq!(count(&gateway, &turns).await, 0);
    assert_eq!(gateway.journal(&session).await[0]["status"], Value::Null);
}

#[tokio::test]
async fn a_lost_answer_leaves_a_turn_behind() {
    let (gateway, session, turns) = begin().await;
    for _ in 0..20 {
        let mut raw = Raw::send(&gateway, "POST", &turns, "lost", &ten_events()).await;
        assert_eq!(raw.end().await, End::Reset);
        assert_eq!(raw.bytes, b"", "not a byte of a head");
        assert_eq!(gateway.ended(&session).await.last().expect("an event").event["type"], "turn.done");
    }
    let journal = gateway.journal(&session).await;
    let lost: Vec<&Value> = journal.iter().filter(|entry| entry["fault"] == "lost").collect();
    assert_eq!(lost.len(), 20);
    assert!(lost.iter().all(|entry| entry["status"].is_null()));
}

#[tokio::test]
async fn a_slow_head_does_not_slow_the_turn() {
    let (gateway, session, turns) = begin().await;
    let started = Instant::now();
    let body = ten_events();
    let slow = async {
        let answer = gateway.faulty("slow-head:700", Method::POST, &turns, &body).await;
        (answer, started.elapsed())
    };
    let watch = async {
        while count(&gateway, &turns).await == 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        gateway.ended(&session).await;
        started.elapsed()
    };
    let ((answer, answered), ended) = tokio::join!(slow, watch);
    assert!(ended < answered, "the turn ended after {ended:?}, the head came after {answered:?}");
    assert!(answered >= Duration::from_millis(700), "{answered:?}");
    assert_eq!(answer.events().len(), 10);
}

#[tokio::test]
async fn a_portal_returns_a_page() {
    let (gateway, _, turns) = begin().await;
    for fault in ["portal", "redirect-portal"] {
        let answer = gateway.faulty(fault, Method::POST, &turns, &ten_events()).await;
        assert_eq!(answer.status, 200);
        assert!(answer.headers["content-type"].to_str().expect("text").starts_with("text/html"));
        assert!(answer.text.starts_with("<!doctype html>"));
        assert!(readable(&answer));
    }
    let mut raw = Raw::send(&gateway, "GET", &turns, "redirect-portal", &json!({})).await;
    raw.until("\r\n\r\n").await;
    let head = raw.head();
    assert!(head.starts_with("http/1.1 302 ") && head.contains("location: /_gateway/portal"), "{head}");
    assert!(head.contains("access-control-allow-origin: *"), "{head}");
    assert_eq!(count(&gateway, &turns).await, 0);
}

#[tokio::test]
async fn a_redirect_works_in_the_end() {
    let (gateway, session, turns) = begin().await;
    let answer =
        gateway.faulty("redirect", Method::POST, &format!("{turns}?delay_ms=1"), &ten_events()).await;
    assert_eq!(answer.events().len(), 10);
    let answer = gateway.post(&format!("{turns}?fault=redirect"), ten_events()).await;
    assert_eq!(answer.events().len(), 10);
    gateway.plan(&session, json!([{"on": "create", "fault": "redirect", "times": 0}])).await;
    assert_eq!(gateway.post(&turns, ten_events()).await.events().len(), 10);
    let statuses = gateway.journal(&session).await;
    let statuses: Vec<&Value> = statuses.iter().map(|entry| &entry["status"]).collect();
    assert_eq!(statuses, [307, 200, 307, 200, 307, 200]);
}

#[tokio::test]
async fn the_media_type_can_be_wrong() {
    let (gateway, _, turns) = begin().await;
    let answer = gateway.faulty("type:application/json", Method::POST, &turns, &ten_events()).await;
    assert_eq!(answer.headers["content-type"], "application/json");
    assert_eq!(answer.events().len(), 10);
}

#[tokio::test]
async fn a_document_breaks_off_in_the_middle() {
    let (gateway, session, turns) = begin().await;
    let whole = gateway.get(&session).await.text;
    for bytes in [0, 1, whole.len() - 1] {
        let mut raw = Raw::send(&gateway, "GET", &session, &format!("half:{bytes}"), &json!({})).await;
        assert_eq!(raw.end().await, End::Reset);
        assert!(raw.head().contains(&format!("content-length: {}", whole.len())), "{}", raw.head());
        let body = &raw.bytes[raw.head().len() + 4..];
        assert_eq!(std::str::from_utf8(body), Ok(&whole[..bytes]));
    }
    let mut stream = Raw::send(&gateway, "POST", &turns, "half:9", &ten_events()).await;
    assert_eq!(stream.end().await, End::Reset);
    assert_eq!(stream.body(), (b"data: {\"t".to_vec(), false));
}

#[tokio::test]
async fn a_wish_that_makes_no_sense_is_refused_with_a_sentence() {
    let (gateway, session, turns) = begin().await;
    let answer = gateway.faulty("eof:soon", Method::POST, &turns, &ten_events()).await;
    assert_eq!(answer.status, 400);
    let sentence = "N of fault `eof:soon` must be a whole number that is not negative: it is written `eof:N`";
    assert_eq!(answer.error(), sentence);
    let answer = gateway.post(&format!("{turns}?fault=eoff:1"), ten_events()).await;
    assert_eq!(answer.status, 400);
    assert!(answer.error().starts_with("There is no fault `eoff:1`; there are status, "));
    assert_eq!(count(&gateway, &turns).await, 0);
    assert_eq!(gateway.journal(&session).await[0]["status"], 400);
}
