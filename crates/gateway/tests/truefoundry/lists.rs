//! Lists of persisted events, of a turn and of a session.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Gateway, fast, paced, text};

fn types(data: &Value) -> Vec<String> {
    let items = data.as_array().expect("a list").iter();
    items.map(|item| text(item.get("event").unwrap_or(item).get("type").expect("a type"))).collect()
}

#[tokio::test]
async fn a_turn_keeps_its_content() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let events = gateway.say(&session, "tools").await;
    let path = format!("{session}/turns/{}/events", text(&events[0].event["turn_id"]));
    let order = [
        "mcp.initialize",
        "model.message",
        "tool.response",
        "model.message",
        "tool.response",
        "model.message",
    ];
    let all = gateway.get(&path).await;
    assert_eq!(types(&all.data()), order);
    assert_eq!(all.json()["pagination"], json!({"limit": 25}));
    let message = &all.data()[1];
    assert_eq!(message["finish_reason"], "tool_calls");
    assert_eq!(message["tool_calls"][0]["tool_info"]["name"], "list_services");
    assert_eq!(message["tool_calls"][0]["function"]["name"], "console__list_services");
    let arguments = text(&message["tool_calls"][0]["function"]["arguments"]);
    assert_eq!(
        serde_json::from_str::<Value>(&arguments).expect("JSON"),
        json!({"account": "tidewater-books"})
    );
    let first = gateway.get(&format!("{path}?limit=4")).await.json();
    let token = text(&first["pagination"]["next_page_token"]);
    let rest = gateway.get(&format!("{path}?limit=4&page_token={token}")).await;
    assert_eq!(types(&rest.data()), order[4..]);
    let newest_first = gateway.get(&format!("{path}?order=desc&limit=2")).await;
    assert_eq!(types(&newest_first.data()), ["model.message", "tool.response"]);
    assert_eq!(gateway.get(&format!("{path}?limit=26")).await.status, 400);
}

#[tokio::test]
async fn a_running_turn_cannot_be_listed() {
    let gateway = Gateway::start(paced(Duration::from_millis(20))).await;
    let session = gateway.session().await;
    gateway.say(&session, "long 1").await;
    let body = json!({"input": [{"type": "user.message", "content": "slow"}], "stream": false});
    let turn = gateway.post(&format!("{session}/turns"), body).await.data();
    let answer = gateway.get(&format!("{session}/turns/{}/events", text(&turn["id"]))).await;
    assert_eq!(answer.status, 409);
    assert!(answer.error().contains("still running"));
    let history = gateway.get(&format!("{session}/events")).await.data();
    assert_eq!(types(&history).len(), 4, "only the first turn");
    let from_running = format!("{session}/events?last_turn_id={}", text(&turn["id"]));
    assert_eq!(gateway.get(&from_running).await.data(), history);
    let first = gateway.session().await;
    let body = json!({"input": [{"type": "user.message", "content": "slow"}], "stream": false});
    gateway.post(&format!("{first}/turns"), body).await.data();
    assert_eq!(gateway.get(&format!("{first}/events")).await.data(), json!([]));
}

#[tokio::test]
async fn a_session_lists_its_chain_newest_first() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let mut turns = Vec::new();
    for _ in 0..3 {
        let events = gateway.say(&session, "long 2").await;
        turns.push(text(&events[0].event["turn_id"]));
    }
    let path = format!("{session}/events");
    let all = gateway.get(&path).await;
    let one = ["turn.done", "model.message", "mcp.initialize", "turn.created"];
    assert_eq!(types(&all.data()), [one, one, one].concat());
    assert_eq!(all.data()[0]["turn_id"], turns[2].as_str());
    assert_eq!(all.data()[11]["turn_id"], turns[0].as_str());
    assert_eq!(all.json()["pagination"], json!({"limit": 100}));
    let older = gateway.get(&format!("{path}?last_turn_id={}", turns[1])).await.data();
    assert_eq!(older, json!(all.data().as_array().expect("a list")[4..]));
    let page = gateway.get(&format!("{path}?limit=5")).await.json();
    let next = text(&page["pagination"]["next_page_token"]);
    // New turns do not disturb who is reading.
    gateway.say(&session, "long 2").await;
    let page = gateway.get(&format!("{path}?limit=5&page_token={next}")).await.data();
    assert_eq!(page, json!(all.data().as_array().expect("a list")[5..10]));
    let fork = json!({"input": [{"type": "user.message", "content": "long 2"}], "previous_turn_id": "none"});
    gateway.turn(&session, fork).await;
    assert_eq!(types(&gateway.get(&path).await.data()), one);
    let page = gateway.get(&format!("{path}?limit=5&page_token={next}")).await.data();
    assert_eq!(page, json!(all.data().as_array().expect("a list")[5..10]), "also from a hidden branch");
    let unknown = gateway.get(&format!("{path}?last_turn_id=nobody")).await;
    assert_eq!((unknown.status.as_u16(), unknown.error().as_str()), (404, "Turn not found: nobody"));
    assert_eq!(gateway.get(&format!("{path}?limit=101")).await.status, 400);
    assert_eq!(gateway.get(&format!("{path}?page_token=x")).await.status, 400);
}

#[tokio::test]
async fn a_new_session_has_no_events() {
    let gateway = Gateway::start(fast()).await;
    let session = gateway.session().await;
    let answer = gateway.get(&format!("{session}/events")).await;
    assert_eq!(answer.json(), json!({"data": [], "pagination": {"limit": 100}}));
}
