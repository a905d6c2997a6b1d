//! The gateway's own endpoints and the transport's faults, on this surface.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Answer, Frame, fast, frames, outline, paced, read_until, user};

fn delta(words: &str) -> Value {
    json!({"stream": "delta", "messages": user(words)})
}

#[tokio::test]
async fn the_head_is_that_of_the_captures() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let answer = gateway.say(&session, "delta", "plain").await;
    for (name, value) in
        [("content-type", "text/event-stream"), ("cache-control", "no-cache"), ("connection", "keep-alive")]
    {
        assert_eq!(answer.headers[name], value);
    }
    assert!(answer.headers.get("content-length").is_none());
    assert!(answer.text.starts_with("event: turn_start\ndata: {}\n\nevent: text_delta\ndata: {\"delta\":"));
    assert!(answer.text.ends_with("event: turn_stop\ndata: {\"stopReason\":\"end_turn\"}\n\n"));
}

#[tokio::test]
async fn events_come_as_they_are_made() {
    let gateway = paced(20).await;
    let session = gateway.session().await;
    let started = Instant::now();
    let mut response = gateway.open(&format!("{session}/turns"), delta("plain")).await;
    read_until(&mut response, "text_delta").await;
    let first = started.elapsed();
    while response.chunk().await.expect("a chunk").is_some() {}
    assert!(started.elapsed() > first + Duration::from_millis(400), "{first:?} of {:?}", started.elapsed());
}

#[tokio::test]
async fn a_hundred_thousand_deltas_take_no_time() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let started = Instant::now();
    let frames = gateway.say(&session, "delta", "long").await.frames();
    assert_eq!(frames.len(), 100_002);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    let deltas = frames.iter().filter_map(|frame| frame.data["delta"].as_str());
    let text: String = deltas.collect();
    assert_eq!(gateway.history(&session).await[1]["content"][0]["text"], text);
}

#[tokio::test]
async fn streams_are_cut_and_repeated() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let whole = gateway.say(&session, "delta", "plain").await.frames();
    let faulty = async |fault: &str| gateway.say_with(&session, "delta", "plain", fault).await.frames();
    assert_eq!(faulty("eof:4").await, whole[..4]);
    assert_eq!(faulty("duplicate:2").await[1..3], [whole[1].clone(), whole[1].clone()]);
    assert_eq!(faulty("reorder:2").await[1..3], [whole[2].clone(), whole[1].clone()]);
    assert_eq!(faulty("gap:2:3").await[1], whole[4]);
    let late = faulty("after-done:2").await;
    assert_eq!(late.len(), whole.len() + 2);
    assert_eq!(late.last().expect("a frame").event, "text_delta");
    assert_eq!(faulty("other-turn:3").await[3], Frame { event: "turn_start".to_owned(), data: json!({}) });
    for fault in ["reset:4", "reset-bytes:77", "half:77"] {
        let mut response = gateway.open(&format!("{session}/turns?fault={fault}"), delta("plain")).await;
        let mut bytes = 0;
        let error = loop {
            match response.chunk().await {
                Ok(Some(chunk)) => bytes += chunk.len(),
                Ok(None) => panic!("{fault}: a clean end"),
                Err(error) => break error,
            }
        };
        assert!(!error.is_timeout() && bytes > 0, "{fault}: {error} after {bytes} bytes");
    }
}

#[tokio::test]
async fn frames_without_ids_have_nothing_to_renumber() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let whole = gateway.say(&session, "delta", "plain").await.text;
    for fault in ["restart", "hole:1:2", "numbers:words", "numbers:none"] {
        let answer = gateway.say_with(&session, "delta", "plain", fault).await;
        assert_eq!(answer.text, whole, "{fault}");
    }
}

#[tokio::test]
async fn answers_are_lost_or_not_ours() {
    let gateway = fast().await;
    for (fault, stored) in [("refuse", 0), ("lost", 2)] {
        let session = gateway.session().await;
        let request = gateway.request(Method::POST, &format!("{session}/turns"));
        let request = request.header("x-turnwire-fault", fault).json(&delta("plain"));
        let error = request.send().await.expect_err("no answer");
        assert!(!error.is_timeout(), "{fault}: {error}");
        assert_eq!(gateway.history_of(&session, stored).await.len(), stored, "{fault}");
    }
    let session = gateway.session().await;
    let portal = gateway.say_with(&session, "delta", "plain", "portal").await;
    assert_eq!(portal.status, 200);
    assert!(portal.content_type().starts_with("text/html") && portal.text.contains("<html"), "{portal:?}");
    let odd = gateway.say_with(&session, "delta", "plain", "type:text/plain").await;
    assert_eq!(odd.content_type(), "text/plain");
    assert!(odd.text.starts_with("event: turn_start\n"), "{odd:?}");
    let started = Instant::now();
    gateway.say_with(&session, "none", "plain", "slow-head:200").await;
    assert!(started.elapsed() >= Duration::from_millis(200));
}

#[tokio::test]
async fn extra_frames_may_come_between_events() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let whole = gateway.say(&session, "delta", "plain").await.text;
    let retry = gateway.say_with(&session, "delta", "plain", "retry:5").await.text;
    assert_eq!(retry, format!("retry: 5\n\n{whole}"));
    let giant = gateway.say_with(&session, "delta", "plain", "giant:1:5000").await.text;
    assert_eq!(giant.len(), whole.len() + 5000);
    let path = format!("{session}/turns?fault=comments:1");
    let mut response = gateway.open(&path, delta("plain")).await;
    let read = read_until(&mut response, "\n:").await;
    assert!(read.starts_with("event: turn_start\ndata: {}\n\n:"), "{read}");
}

#[tokio::test]
async fn writes_have_the_requested_size() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let path = format!("{session}/turns?chunk_bytes=7");
    let whole = gateway.say(&session, "delta", "unicode").await.frames();
    let answer = Answer::of(gateway.open(&path, delta("unicode")).await).await;
    assert_eq!(answer.frames(), whole);
    let slow = gateway.request(Method::POST, &format!("{session}/turns"));
    let started = Instant::now();
    Answer::read(slow.header("x-turnwire-delay-ms", "5").json(&delta("plain"))).await;
    assert!(started.elapsed() > Duration::from_millis(150));
}

#[tokio::test]
async fn heads_are_refused_in_the_form_of_the_protocol() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let answer = gateway.say_with(&session, "delta", "plain", "status:503:2").await;
    assert_eq!(answer.error(), (503, "503 Service Unavailable, on purpose".to_owned()));
    assert_eq!(answer.headers["retry-after"], "2");
    assert!(gateway.history(&session).await.is_empty());
    let answer = gateway.say_with(&session, "delta", "plain", "late-status:502").await;
    assert_eq!(answer.error().0, 502);
    assert_eq!(gateway.history_of(&session, 2).await.len(), 2, "it was processed");
    let unknown = gateway.say_with(&session, "delta", "plain", "fly").await;
    assert_eq!(unknown.status, 400);
}

#[tokio::test]
async fn each_request_has_its_name_in_a_schedule() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let turns = format!("{session}/turns");
    for (on, method, path, body) in [
        ("create", Method::POST, turns.clone(), delta("plain")),
        ("stream", Method::POST, turns.clone(), delta("plain")),
        ("session-events", Method::GET, format!("{session}/history?type=full"), Value::Null),
        ("session", Method::GET, session.clone(), Value::Null),
        ("any", Method::GET, session.clone(), Value::Null),
    ] {
        let plan = json!([{"on": on, "fault": "status:418"}]);
        let path_of_plan = format!("/_gateway{session}/faults");
        assert_eq!(gateway.send(Method::PUT, &path_of_plan, plan).await.status, 200);
        assert_eq!(gateway.send(method.clone(), &path, body.clone()).await.status, 418, "{on}");
        assert_eq!(gateway.send(method, &path, body).await.status, 200, "{on}: used up");
    }
    let plan = json!([{"on": "stream", "fault": "lost-end"}]);
    gateway.send(Method::PUT, &format!("/_gateway{session}/faults"), plan).await;
    let body = json!({"stream": "none", "messages": user("plain")});
    assert_eq!(gateway.post(&turns, body).await.json()["stopReason"], "end_turn", "that is no stream");
    let cut = gateway.post(&turns, delta("plain")).await.frames();
    assert_eq!(outline(&cut), ["turn_start", "text_delta"]);
    let journal = gateway.get(&format!("/_gateway{session}/requests")).await.json();
    let last = journal.as_array().and_then(|journal| journal.last()).expect("an entry").clone();
    let expected = json!({
        "method": "POST",
        "path": format!("/aap{turns}"),
        "on": "create",
        "status": 200,
        "after": null,
        "fault": "lost-end",
    });
    assert_eq!(last, expected);
}

#[tokio::test]
async fn open_streams_can_be_cut() {
    let gateway = paced(20).await;
    let session = gateway.session().await;
    let mut response = gateway.open(&format!("{session}/turns"), delta("plain")).await;
    let begun = read_until(&mut response, "text_delta").await;
    let cut = gateway.post(&format!("/_gateway{session}/cut?how=eof"), Value::Null).await;
    assert_eq!(cut.json(), json!({"cut": 1}));
    let all = begun + &response.text().await.expect("a clean end");
    assert_ne!(outline(&frames(&all)).last(), Some(&"turn_stop"));
    assert_eq!(gateway.history_of(&session, 2).await.len(), 2, "the turn went on");
}

#[tokio::test]
async fn a_deleted_session_ends_its_turns() {
    let gateway = paced(20).await;
    let session = gateway.session().await;
    let mut response = gateway.open(&format!("{session}/turns"), delta("plain")).await;
    let begun = read_until(&mut response, "text_delta").await;
    assert_eq!(gateway.send(Method::DELETE, &session, Value::Null).await.status, 204);
    let all = begun + &response.text().await.expect("a clean end");
    assert_eq!(outline(&frames(&all)), ["turn_start", "text_delta"]);
}
