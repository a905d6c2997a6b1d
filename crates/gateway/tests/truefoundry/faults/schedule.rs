//! Faults planned for a session's coming requests, and the journal of what came.

use reqwest::Method;
use serde_json::{Value, json};

use super::raw::{End, Raw};
use super::{id_of, ten_events};
use crate::client::{Gateway, fast, text};

/// A gateway, a session, and a finished turn's path.
async fn begin() -> (Gateway, String, String) {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let events = gateway.turn(&session, ten_events()).await;
    let turn = format!("{session}/turns/{}", text(&events[0].event["turn_id"]));
    (gateway, session, turn)
}

#[tokio::test]
async fn each_kind_of_request_has_its_name() {
    let (gateway, session, turn) = begin().await;
    for (on, method, path, body) in [
        ("create", Method::POST, format!("{session}/turns"), ten_events()),
        ("stream", Method::POST, format!("{session}/turns"), ten_events()),
        ("subscribe", Method::POST, format!("{turn}/subscribe"), json!({})),
        ("stream", Method::POST, format!("{turn}/subscribe"), json!({})),
        ("turn", Method::GET, turn.clone(), json!({})),
        ("turns", Method::GET, format!("{session}/turns"), json!({})),
        ("turn-events", Method::GET, format!("{turn}/events"), json!({})),
        ("session-events", Method::GET, format!("{session}/events"), json!({})),
        ("session", Method::GET, session.clone(), json!({})),
        ("cancel", Method::POST, format!("{session}/cancel"), json!({})),
        ("any", Method::GET, session.clone(), json!({})),
    ] {
        let plan = gateway.plan(&session, json!([{"on": on, "fault": "status:418"}])).await;
        assert_eq!(plan.json(), json!([{"on": on, "fault": "status:418", "times": 1, "skip": 0}]));
        let answer = gateway.send(method.clone(), &path, body.clone()).await;
        assert_eq!(answer.status, 418, "{on}");
        assert_ne!(gateway.send(method, &path, body).await.status, 418, "{on}: used up");
        let last = gateway.journal(&session).await.pop().expect("an entry");
        assert!(last["on"] == on || ["stream", "any"].contains(&on), "{last}");
    }
}

#[tokio::test]
async fn a_turn_without_a_stream_is_no_stream() {
    let (gateway, session, _) = begin().await;
    gateway.plan(&session, json!([{"on": "stream", "fault": "status:418"}])).await;
    let quiet = json!({"input": [{"type": "user.message", "content": "plain"}], "stream": false});
    assert_eq!(gateway.post(&format!("{session}/turns"), quiet).await.status, 200);
    assert_eq!(gateway.post(&format!("{session}/turns"), ten_events()).await.status, 418);
}

#[tokio::test]
async fn entries_are_used_up_in_order() {
    let (gateway, session, turn) = begin().await;
    let plan = json!([
        {"on": "turn", "fault": "status:500", "skip": 1, "times": 2},
        {"on": "any", "fault": "status:503"},
        {"on": "turns", "fault": "status:429", "times": 0},
    ]);
    gateway.plan(&session, plan).await;
    let mut statuses = Vec::new();
    for path in [&turn, &turn, &turn, &turn, &format!("{session}/turns"), &format!("{session}/turns")] {
        statuses.push(gateway.get(path).await.status.as_u16());
    }
    assert_eq!(statuses, [503, 500, 500, 200, 429, 429], "a request that is skipped meets the next entry");
    let path = format!("/_gateway/sessions/{}/faults", id_of(&session));
    assert_eq!(gateway.send(Method::DELETE, &path, json!({})).await.status, 204);
    assert_eq!(gateway.get(&format!("{session}/turns")).await.status, 200);
}

#[tokio::test]
async fn a_schedule_belongs_to_one_session() {
    let (gateway, session, _) = begin().await;
    let other = gateway.session().await;
    gateway.plan(&session, json!([{"on": "any", "fault": "status:500", "times": 0}])).await;
    assert_eq!(gateway.get(&other).await.status, 200);
    assert_eq!(gateway.get(&session).await.status, 500);
    let own_wish = gateway.faulty("status:409", Method::GET, &session, &json!({})).await;
    assert_eq!(own_wish.status, 409, "a request's own wish comes first");
    let none = gateway.faulty("none", Method::GET, &format!("{session}?fault=none"), &json!({})).await;
    assert_eq!(none.status, 200);
    assert_eq!(gateway.journal(&session).await.pop().expect("an entry")["fault"], Value::Null);
}

#[tokio::test]
async fn streams_fail_as_planned() {
    let (gateway, session, _) = begin().await;
    let plan = json!([{"on": "create", "fault": "eof:2"}, {"on": "subscribe", "fault": "gap:1:1+eof:1"}]);
    gateway.plan(&session, plan).await;
    let begun = gateway.turn(&session, ten_events()).await;
    assert_eq!(begun.len(), 2);
    let path = format!("{session}/turns/{}/subscribe", text(&begun[0].event["turn_id"]));
    let numbers = async || -> Vec<u64> {
        let events = gateway.post(&path, json!({"after_sequence_number": 2})).await.events();
        events.iter().map(|event| event.number).collect()
    };
    assert_eq!(numbers().await, [4]);
    assert_eq!(numbers().await, (3..=10).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_journal_has_the_requests() {
    let (gateway, session, turn) = begin().await;
    let subscribe = format!("{turn}/subscribe");
    gateway.post(&subscribe, json!({"after_sequence_number": 4})).await;
    let by_header = gateway.request(Method::POST, &subscribe).header("last-event-id", "6");
    by_header.send().await.expect("an answer");
    gateway.post(&subscribe, json!({})).await;
    gateway.faulty("status:503", Method::POST, &subscribe, &json!({"after_sequence_number": 8})).await;
    Raw::send(&gateway, "GET", &turn, "lost", &json!({})).await.end().await;
    gateway.send(Method::OPTIONS, &turn, json!({})).await;
    let entry = |method, path: &str, on, status: Value, after: Value, fault: Value| json!({"method": method, "path": path, "on": on, "status": status, "after": after, "fault": fault});
    let none = Value::Null;
    let journal = gateway.journal(&session).await;
    let turns = format!("{session}/turns");
    assert_eq!(journal[0], entry("POST", &turns, "create", json!(200), none.clone(), none.clone()));
    for (index, after) in [4, 6, 0].into_iter().enumerate() {
        let expected = entry("POST", &subscribe, "subscribe", json!(200), json!(after), none.clone());
        assert_eq!(journal[index + 1], expected);
    }
    let refused = entry("POST", &subscribe, "subscribe", json!(503), json!(8), json!("status:503"));
    assert_eq!(journal[4], refused);
    assert_eq!(journal[5], entry("GET", &turn, "turn", none.clone(), none, json!("lost")));
    assert_eq!(journal.len(), 6, "requests of browsers for permission are no requests");
}

#[tokio::test]
async fn a_schedule_that_makes_no_sense_is_refused_with_a_sentence() {
    let (gateway, session, _) = begin().await;
    for (plan, sentence) in [
        (json!([{"on": "turn", "fault": "eof"}]), "Entry 0: Fault `eof` lacks N: it is written `eof:N`"),
        (
            json!([{"on": "trun", "fault": "lost"}]),
            "Not a schedule of faults: unknown variant `trun`, expected ",
        ),
        (
            json!([{"on": "turn", "fault": "lost", "time": 2}]),
            "Not a schedule of faults: unknown field `time`",
        ),
        (json!({"on": "turn"}), "Not a schedule of faults: invalid type: map, expected a sequence"),
    ] {
        let answer = gateway.plan(&session, plan).await;
        assert_eq!(answer.status, 400);
        assert!(answer.error().starts_with(sentence), "{}", answer.text);
    }
    let unknown = gateway.plan("/nobody", json!([])).await;
    assert_eq!((unknown.status.as_u16(), unknown.error().as_str()), (404, "Session not found: nobody"));
}

/// Browsers send a request again by themselves if a connection breaks that had served before.
#[tokio::test]
async fn answers_that_get_lost_are_lost_on_new_connections() {
    let (gateway, session, _) = begin().await;
    let turns = format!("{session}/turns");
    let mut idle = Raw::connect(&gateway).await;
    idle.request("GET", &session, "none", &json!({})).await;
    idle.until("\"id\"").await;
    let mut busy = Raw::send(&gateway, "POST", &format!("{turns}?delay_ms=60"), "none", &ten_events()).await;
    busy.until("id: 1\n").await;
    gateway.plan(&session, json!([{"on": "turns", "fault": "lost"}])).await;
    assert_eq!(idle.end().await, End::Closed, "an idle connection is closed at once");
    assert_eq!(busy.end().await, End::Closed, "a busy one when its answer is complete");
    let (body, complete) = busy.body();
    assert!(complete && body.ends_with(b"id: 10\n\n"));
    let mut first = Raw::send(&gateway, "GET", &session, "none", &json!({})).await;
    assert_eq!(first.end().await, End::Closed, "and meanwhile there is one request on each");
    assert!(first.head().contains("connection: close"), "{}", first.head());
    let mut lost = Raw::send(&gateway, "GET", &turns, "none", &json!({})).await;
    lost.until("\"data\"").await;
    let mut after = Raw::connect(&gateway).await;
    let request = format!("GET {turns} HTTP/1.1\r\nhost: x\r\n\r\n");
    after.plain(&request).await;
    assert_eq!(after.end().await, End::Reset);
    let mut kept = Raw::send(&gateway, "GET", &session, "none", &json!({})).await;
    kept.until("\"id\"").await;
    assert!(!kept.head().contains("connection: close"), "{}", kept.head());
}
