//! Threads of tirea: pages of messages, names, deletion.

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Gateway, fast, text, waiting, words};

/// A thread with four runs of two messages each, and one message for the model only.
async fn filled() -> Gateway {
    let gateway = fast().await;
    for number in 1..=4 {
        let mut body = words("t", "plain");
        body["runId"] = json!(format!("r{number}"));
        if number == 2 {
            let hidden = json!({"role": "system", "content": "hidden", "visibility": "internal"});
            body["messages"].as_array_mut().expect("messages").push(hidden);
        }
        gateway.post("/tirea/v1/runs", body).await.frames();
    }
    gateway
}

async fn cursors(gateway: &Gateway, query: &str) -> (Vec<i64>, Value) {
    let page = gateway.get(&format!("/tirea/v1/threads/t/messages?{query}")).await.json();
    let messages = page["messages"].as_array().expect("messages").iter();
    (messages.map(|message| message["cursor"].as_i64().expect("a cursor")).collect(), page)
}

#[tokio::test]
async fn messages_come_in_pages_with_their_positions() {
    let gateway = filled().await;
    for (query, expected, more) in [
        ("", vec![0, 1, 2, 4, 5, 6, 7, 8], false),
        ("visibility=none", vec![0, 1, 2, 3, 4, 5, 6, 7, 8], false),
        ("visibility=internal", vec![3], false),
        ("limit=3", vec![0, 1, 2], true),
        ("limit=3&after=2", vec![4, 5, 6], true),
        ("limit=3&order=desc", vec![8, 7, 6], true),
        ("limit=3&order=desc&before=6", vec![5, 4, 2], true),
        ("before=2", vec![0, 1], false),
        ("after=8", vec![], false),
        ("limit=0", vec![0], true),
        ("run_id=r2", vec![2, 4], false),
        ("run_id=nobody", vec![], false),
    ] {
        let (found, page) = cursors(&gateway, query).await;
        assert_eq!((&found, page["has_more"] == true), (&expected, more), "{query}");
        let edge = |place: Option<&i64>| place.map_or(Value::Null, |cursor| json!(cursor));
        assert_eq!(
            (&page["prev_cursor"], &page["next_cursor"]),
            (&edge(expected.first()), &edge(expected.last()))
        );
    }
    let (_, page) = cursors(&gateway, "limit=2").await;
    assert_eq!(
        page["messages"][0],
        json!({"role": "user", "content": "plain", "cursor": 0}),
        "as it came: no id"
    );
    assert_eq!(page["messages"][1]["metadata"], json!({"step_index": 0}));
    let nobody = gateway.get("/tirea/v1/threads/nobody/messages").await;
    assert_eq!(nobody.error(), (404, "thread not found: nobody".to_owned()));
    let bad = gateway.get("/tirea/v1/threads/t/messages?limit=x").await;
    assert_eq!(bad.status, 400);
    assert!(bad.text.starts_with("Failed to deserialize query string"), "{}", bad.text);
}

#[tokio::test]
async fn results_of_decisions_belong_to_no_run() {
    let gateway = fast().await;
    let call = waiting(&gateway.say("t", "approval").await)[0]["call_id"].clone();
    let mut body = json!({"agentId": "a", "threadId": "t", "runId": "second"});
    body["decisions"] = json!([{"target_id": call, "action": "resume"}]);
    gateway.post("/tirea/v1/runs", body).await.frames();
    let page = gateway.get("/tirea/v1/threads/t/messages?run_id=second").await.json();
    let roles: Vec<&Value> =
        page["messages"].as_array().expect("messages").iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["assistant"]);
    let all = gateway.get("/tirea/v1/threads/t/messages").await.json();
    assert_eq!(all["messages"].as_array().map(Vec::len), Some(5));
    assert!(all["messages"][3].get("metadata").is_none(), "{}", all["messages"][3]);
}

#[tokio::test]
async fn titles_are_given_and_kept() {
    let gateway = filled().await;
    let path = "/tirea/v1/threads/t/metadata";
    let named = gateway.send(Method::PATCH, path, json!({"title": "My title"})).await.json();
    assert_eq!(named["title"], "My title");
    let unnamed = gateway.send(Method::PATCH, path, json!({})).await.json();
    assert_eq!(unnamed, named);
    assert_eq!(gateway.get("/tirea/v1/threads/t").await.json()["metadata"], named);
    let summaries = gateway.get("/tirea/v1/threads/summaries").await.json();
    assert_eq!((&summaries[0]["title"], &summaries[0]["message_count"]), (&json!("My title"), &json!(9)));
    let nobody = gateway.send(Method::PATCH, "/tirea/v1/threads/nobody/metadata", json!({})).await;
    assert_eq!(nobody.error(), (404, "thread not found: nobody".to_owned()));
    assert_eq!(gateway.send(Method::PATCH, path, json!({"title": 5})).await.status, 422);
}

#[tokio::test]
async fn deleted_threads_are_gone_and_runs_stay_on_record() {
    let gateway = filled().await;
    for thread in ["t", "t", "nobody"] {
        let answer = gateway.send(Method::DELETE, &format!("/tirea/v1/threads/{thread}"), json!({})).await;
        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (204, ""));
    }
    assert_eq!(gateway.get("/tirea/v1/threads/t").await.error(), (404, "thread not found: t".to_owned()));
    assert_eq!(gateway.get("/tirea/v1/runs/r1").await.json()["thread_id"], "t");
    gateway.say("t", "plain").await;
    let page = gateway.get("/tirea/v1/threads/t").await.json();
    assert_eq!(page["messages"].as_array().map(Vec::len), Some(2), "a new thread of the old name");
}

#[tokio::test]
async fn methods_and_paths_that_are_not_there() {
    let gateway = fast().await;
    let nowhere = gateway.get("/tirea/v1/nothing").await;
    assert_eq!((nowhere.status.as_u16(), nowhere.text.as_str()), (404, ""));
    let method = gateway.send(Method::PUT, "/tirea/v1/threads", json!({})).await;
    assert_eq!((method.status.as_u16(), method.text.as_str()), (405, ""));
    let allowed = text(&json!(method.headers["allow"].to_str().expect("text")));
    assert!(allowed.contains("GET"), "{allowed}");
    let health = gateway.get("/tirea/health").await;
    assert_eq!((health.status.as_u16(), health.text.as_str()), (200, ""));
}
