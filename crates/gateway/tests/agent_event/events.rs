//! The event store of awaken: pages and streams by cursor.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Gateway, fast, kind, paced, read_until, text, words};

/// The canonical events of a stream, and their cursors.
fn canonical(stream: &str) -> Vec<(String, Value)> {
    let frames = stream.split_terminator("\n\n").filter(|frame| !frame.starts_with(':'));
    frames
        .map(|frame| {
            let (id, data) = frame.split_once("\ndata: ").expect("an id, then data");
            let event = serde_json::from_str(data).expect("JSON");
            (id.strip_prefix("id: ").expect("an id").to_owned(), event)
        })
        .collect()
}

/// All events of a scope, page by page.
async fn pages(gateway: &Gateway, path: &str) -> Vec<Value> {
    let mut items = Vec::new();
    let mut query = "limit=7".to_owned();
    loop {
        let page = gateway.get(&format!("{path}?{query}")).await.json();
        items.extend(page["items"].as_array().expect("items").iter().cloned());
        if page["has_more"] == false {
            return items;
        }
        query = format!("limit=7&cursor={}", text(&page["next_cursor"]));
    }
}

#[tokio::test]
async fn every_event_of_a_run_is_there_once_more() {
    let gateway = fast().await;
    let frames = gateway.ask("t", "tools").await;
    let run = text(&frames[0]["run_id"]);
    for path in [format!("/awaken/v1/runs/{run}/events"), "/awaken/v1/threads/t/events".to_owned()] {
        let items = pages(&gateway, &path).await;
        let payloads: Vec<&Value> = items
            .iter()
            .map(|item| &item["payload"])
            .filter(|payload| payload.get("event_type").is_some())
            .collect();
        assert_eq!(payloads, frames.iter().collect::<Vec<_>>());
        assert_eq!((&items[0]["event_kind"], &items[0]["origin"]), (&json!("RunStarted"), &json!("runtime")));
        assert!(items.iter().any(|item| item["event_kind"] == "MessageCommitted"), "others are among them");
        let scopes =
            json!([{"scope_type": "thread", "thread_id": "t"}, {"scope_type": "run", "run_id": run}]);
        assert!(items.iter().all(|item| item["scopes"] == scopes));
    }
    assert_eq!(pages(&gateway, "/awaken/v1/runs/nobody/events").await, Vec::<Value>::new());
    let off = gateway.get(&format!("/awaken-plain/v1/runs/{run}/events")).await;
    assert_eq!((off.status.as_u16(), off.text.as_str()), (404, ""));
}

#[tokio::test]
async fn a_lost_run_is_followed_from_a_cursor_to_its_end() {
    let gateway = paced(5).await;
    let mut lost = gateway.open("/awaken/v1/runs", words("t", "plain")).await;
    read_until(&mut lost, "text_delta").await;
    drop(lost);
    let run = gateway.until("/awaken/v1/threads/t/runs/active", |run| run["active_run"].is_object()).await;
    let run = text(&run["active_run"]["run_id"]);
    let page = gateway.get(&format!("/awaken/v1/runs/{run}/events?limit=2")).await.json();
    let cursor = text(&page["next_cursor"]);
    let path = format!("/awaken/v1/runs/{run}/events/stream");
    let mut by_query = gateway
        .request(reqwest::Method::GET, &format!("{path}?cursor={cursor}"))
        .send()
        .await
        .expect("a stream");
    let mut by_header = gateway
        .request(reqwest::Method::GET, &path)
        .header("last-event-id", &cursor)
        .send()
        .await
        .expect("a stream");
    let streams = [
        read_until(&mut by_query, "\"RunFinished\"").await,
        read_until(&mut by_header, "\"RunFinished\"").await,
    ];
    let all = pages(&gateway, &format!("/awaken/v1/runs/{run}/events")).await;
    for stream in streams {
        let followed: Vec<Value> = canonical(&stream).into_iter().map(|(_, event)| event).collect();
        assert_eq!(followed, all[2..].to_vec());
    }
    let silence = tokio::time::timeout(Duration::from_millis(100), by_query.chunk()).await;
    assert!(silence.is_err(), "the stream stays open when the run is over");
}

#[tokio::test]
async fn without_a_cursor_a_stream_begins_now() {
    let gateway = fast().await;
    gateway.ask("t", "plain").await;
    let path = "/awaken/v1/threads/t/events/stream";
    let mut stream = gateway.request(reqwest::Method::GET, path).send().await.expect("a stream");
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let second = gateway.ask("t", "plain").await;
    let seen = read_until(&mut stream, "\"RunStarted\"").await;
    let (cursor, event) = &canonical(&seen)[0];
    assert_eq!(event["payload"]["run_id"], second[0]["run_id"]);
    assert!(
        event["cursors_by_scope"]
            .as_array()
            .expect("cursors")
            .iter()
            .any(|scoped| scoped["cursor"] == cursor.as_str())
    );
}

#[tokio::test]
async fn a_decision_and_what_follows_are_seen_only_here() {
    let gateway = fast().await;
    let asked = gateway.ask("t", "approval").await;
    let run = text(&asked[0]["run_id"]);
    let call = asked.iter().find(|frame| kind(frame) == "tool_call_done").expect("a call")["id"].clone();
    let body = json!({"toolCallId": call, "action": "resume", "payload": {"approved": true}});
    gateway.post(&format!("/awaken/v1/runs/{run}/decision"), body).await;
    gateway.until(&format!("/awaken/v1/runs/{run}"), |run| run["status"] == "done").await;
    let items = pages(&gateway, &format!("/awaken/v1/runs/{run}/events")).await;
    let kinds: Vec<&str> = items.iter().filter_map(|item| item["event_kind"].as_str()).collect();
    for wanted in [
        "ToolCallSuspended",
        "ToolPermissionRequested",
        "RunSuspended",
        "MailboxDecisionReceived",
        "RunResumed",
        "ToolCallResumed",
        "ToolCallDone",
        "RunFinished",
    ] {
        assert!(kinds.contains(&wanted), "{wanted}: {kinds:?}");
    }
    assert_eq!(kinds.last(), Some(&"RunFinished"));
}

#[tokio::test]
async fn cursors_expire_and_strangers_are_gone() {
    let gateway = fast().await;
    let run = text(&gateway.ask("t", "plain").await[0]["run_id"]);
    let path = format!("/awaken/v1/runs/{run}/events");
    let cursor = text(&gateway.get(&format!("{path}?limit=3")).await.json()["next_cursor"]);
    assert_eq!(gateway.get(&format!("{path}?cursor={cursor}")).await.status, 200);
    for cursor in ["unknown", "thr_00000001", "run_ffffffff", "run_00000000"] {
        assert_eq!(gateway.get(&format!("{path}?cursor={cursor}")).await.error(), (410, cursor.to_owned()));
    }
    assert_eq!(gateway.get(&format!("{path}?cursor=")).await.status, 400);
    gateway.send(reqwest::Method::PUT, "/_gateway/sessions/t/expire", json!({})).await;
    for query in [format!("?cursor={cursor}"), format!("/stream?cursor={cursor}")] {
        assert_eq!(gateway.get(&format!("{path}{query}")).await.error(), (410, cursor.clone()));
    }
}

#[tokio::test]
async fn faults_cut_a_stream_and_leave_its_cursors_alone() {
    let gateway = fast().await;
    let run = text(&gateway.ask("t", "plain").await[0]["run_id"]);
    let path = format!("/awaken/v1/runs/{run}/events/stream?cursor=run_00000001");
    let cut = gateway.get(&format!("{path}&fault=eof:3")).await;
    let events = canonical(&cut.text);
    let cursors: Vec<&str> = events.iter().map(|(cursor, _)| cursor.as_str()).collect();
    assert_eq!(cursors, ["run_00000002", "run_00000003", "run_00000004"]);
    let again = gateway
        .get(&format!("/awaken/v1/runs/{run}/events/stream?cursor={}&fault=eof:1+duplicate:1", cursors[2]))
        .await;
    assert_eq!(canonical(&again.text)[0].0, "run_00000005");
    let plan =
        json!([{"on": "subscribe", "fault": "status:503"}, {"on": "turn-events", "fault": "status:500"}]);
    let put = gateway.send(reqwest::Method::PUT, "/_gateway/sessions/t/faults", plan).await;
    assert_eq!(put.status, 200, "{}", put.text);
    assert_eq!(gateway.get(&path).await.error(), (503, "503 Service Unavailable, on purpose".to_owned()));
    assert_eq!(gateway.get("/awaken/v1/threads/t/events").await.status, 500);
}
