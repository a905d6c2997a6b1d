//! The open-source sibling's surface, where it differs.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Answer, Gateway, fast, of_type, paced, said, text};

const SESSIONS: &str = "/api/v1/sessions";

async fn create(gateway: &Gateway) -> String {
    let answer = gateway.post(SESSIONS, json!({"agent": {"name": "support-bot"}})).await;
    assert_eq!(answer.status, 201);
    format!("{SESSIONS}/{}", text(&answer.data()["id"]))
}

#[tokio::test]
async fn sessions_name_their_agent_or_describe_it() {
    let gateway = Gateway::start(fast()).await;
    let named = gateway.post(SESSIONS, json!({"agent": {"name": "bot"}})).await.data();
    assert_eq!(named["agent"], json!({"type": "reference", "id": "agent-bot", "name": "bot"}));
    assert_eq!((&named["created_by"], &named["title"]), (&json!("developer"), &Value::Null));
    assert_eq!(text(&named["id"]).len(), 26, "a bare ULID");
    let spec = json!({"model": {"name": "m"}});
    let inline = gateway.post(SESSIONS, json!({"agent": {"spec": spec}})).await.data();
    assert_eq!(inline["agent"], json!({"type": "inline", "spec": spec}));
    let path = format!("{SESSIONS}/{}", text(&inline["id"]));
    let other = json!({"model": {"name": "n"}});
    let changed = gateway.send(Method::PATCH, &path, json!({"agent": {"spec": other}})).await;
    assert_eq!(changed.data()["agent"]["spec"], other);
    let untouched = gateway.send(Method::PATCH, &path, json!({})).await;
    assert_eq!(untouched.data()["agent"]["spec"], other);
    let saved = format!("{SESSIONS}/{}", text(&named["id"]));
    let refused = gateway.send(Method::PATCH, &saved, json!({"agent": {"spec": spec}})).await;
    assert_eq!(refused.status, 422, "a saved agent is not changed here");
    for unknown in [
        json!({"agent": {}}),
        json!({"agent": {"name": "bot", "spec": spec}}),
        json!({"agent": {"name": "bot"}, "title": "Help"}),
        json!({"agent": {"name": "bot", "version": 1}}),
    ] {
        assert_eq!(gateway.post(SESSIONS, unknown.clone()).await.status, 400, "{unknown}");
    }
    assert_eq!(gateway.send(Method::PATCH, &path, json!({"title": "Help"})).await.status, 400);
    let as_gateway = format!("/acme/v1/agents/sessions/{}", text(&named["id"]));
    assert_eq!(gateway.get(&as_gateway).await.status, 404, "another surface");
}

#[tokio::test]
async fn sessions_are_listed_by_change_and_deleted() {
    let gateway = Gateway::start(fast()).await;
    let (first, second) = (create(&gateway).await, create(&gateway).await);
    tokio::time::sleep(Duration::from_millis(3)).await;
    gateway.say(&first, "plain").await;
    let id = |path: &str| path.rsplit('/').next().expect("an id").to_owned();
    let all = gateway.get(SESSIONS).await;
    assert_eq!(all.ids(), [id(&first), id(&second)]);
    assert_eq!(all.json()["pagination"]["limit"], 25);
    assert_eq!(gateway.get(&format!("{SESSIONS}?order=asc")).await.ids(), [id(&second), id(&first)]);
    assert_eq!(gateway.get(&format!("{SESSIONS}?limit=26")).await.status, 400);
    for (window, count) in [
        ("start_timestamp=2020-01-01T00:00:00Z", 2),
        ("end_timestamp=2020-01-01T00:00:00Z", 0),
        ("start_timestamp=2020-01-01T00:00:00Z&end_timestamp=2120-01-01T00:00:00Z", 2),
    ] {
        assert_eq!(gateway.get(&format!("{SESSIONS}?{window}")).await.ids().len(), count, "{window}");
    }
    let deleted = Answer::read(gateway.request(Method::DELETE, &second)).await;
    assert_eq!((deleted.status.as_u16(), deleted.text.as_str()), (204, ""));
    assert_eq!(gateway.get(&second).await.status, 404);
    assert_eq!(gateway.get(SESSIONS).await.ids(), [id(&first)]);
}

#[tokio::test]
async fn turns_do_not_name_their_creator() {
    let gateway = Gateway::start(fast()).await;
    let session = create(&gateway).await;
    let events = gateway.say(&session, "plain").await;
    assert_eq!(events[0].event.get("created_by"), None);
    let id = text(&events[0].event["turn_id"]);
    assert_eq!(id.len(), 26);
    let turn = gateway.get(&format!("{session}/turns/{id}")).await.data();
    assert_eq!(turn.get("created_by_subject"), None);
    gateway.say(&session, "plain").await;
    let turns = gateway.get(&format!("{session}/turns")).await;
    assert_eq!(turns.ids()[0], id, "oldest first");
    assert_eq!(turns.json()["pagination"]["limit"], 25);
}

#[tokio::test]
async fn subscribing_is_a_get_in_which_the_header_wins() {
    let gateway = Gateway::start(fast()).await;
    let session = create(&gateway).await;
    let all = gateway.say(&session, "long 20").await;
    let path = format!("{session}/turns/{}/subscribe", text(&all[0].event["turn_id"]));
    assert_eq!(gateway.get(&path).await.events(), all);
    assert_eq!(gateway.get(&format!("{path}?after_sequence_number=5")).await.events(), all[5..]);
    let with_header = |header: &str| {
        let request = gateway.request(Method::GET, &format!("{path}?after_sequence_number=5"));
        Answer::read(request.header("last-event-id", header))
    };
    assert_eq!(with_header("9").await.events(), all[9..]);
    let bad = with_header("x").await;
    assert_eq!((bad.status.as_u16(), bad.error().as_str()), (400, "Invalid Last-Event-Id header"));
    let post = gateway.post(&path, json!({})).await;
    assert_eq!(post.status, 404, "there is no POST here");
}

#[tokio::test]
async fn events_include_the_turn_itself_and_what_runs() {
    let gateway = Gateway::start(paced(Duration::from_millis(50))).await;
    let session = create(&gateway).await;
    let body = json!({"input": [{"type": "user.message", "content": "slow"}], "stream": false});
    let turn = gateway.post(&format!("{session}/turns"), body).await.data();
    tokio::time::sleep(Duration::from_millis(250)).await;
    let of_turn = gateway.get(&format!("{session}/turns/{}/events", text(&turn["id"]))).await;
    let kinds: Vec<String> =
        of_turn.data().as_array().expect("a list").iter().map(|event| text(&event["type"])).collect();
    assert_eq!(kinds, ["turn.created", "mcp.initialize"]);
    assert_eq!(of_turn.json()["pagination"]["limit"], 100);
    let of_session = gateway.get(&format!("{session}/events")).await.data();
    assert_eq!(of_session[1]["event"]["type"], "turn.created");
}

#[tokio::test]
async fn sandbox_files_belong_to_a_turn() {
    let gateway = Gateway::start(fast()).await;
    let session = create(&gateway).await;
    let plain = gateway.say(&session, "plain").await;
    let events = gateway.say(&session, "sandbox").await;
    assert_eq!(of_type(&events, "sandbox.created").len(), 1);
    assert!(said(&events).contains("/workspace/uptime.csv"));
    let file = |turn: &Value| {
        format!("{session}/turns/{}/download-sandbox-file?path=/workspace/uptime.csv", text(turn))
    };
    assert_eq!(gateway.get(&file(&events[0].event["turn_id"])).await.status, 200);
    assert_eq!(gateway.get(&file(&plain[0].event["turn_id"])).await.status, 404);
}
