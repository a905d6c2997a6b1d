//! What each method returns.

use serde_json::{Value, json};

use super::client::{THREAD, TURN, WORKSPACE, completed, fast, text, turn};

#[tokio::test]
async fn there_is_one_workspace() {
    let gateway = fast().await;
    let mut client = gateway.connect().await;
    let workspace = client.call("workspace/default", json!({})).await["workspace"].clone();
    assert_eq!(workspace["id"], WORKSPACE);
    assert_eq!(client.call("workspace/list", json!({})).await["workspaces"], json!([workspace]));
    client.check();
}

#[tokio::test]
async fn a_thread_is_what_its_client_says() {
    let gateway = fast().await;
    let mut client = gateway.connect().await;
    let params = json!({
        "name": "Invoices", "model": "m-1", "model_provider": "p-1", "mode": "Agent",
        "origin_kind": "system", "sidebar_visibility": "hidden", "agent_nickname": "Wren",
        "agent_role": "support",
    });
    let result = client.start_thread(params).await;
    assert_eq!(result["sandbox"], json!({"mode": "FullAccess"}));
    let thread = &result["thread"];
    for (name, value) in [
        ("id", json!(THREAD)),
        ("name", json!("Invoices")),
        ("model", json!("m-1")),
        ("model_provider", json!("p-1")),
        ("mode", json!("Agent")),
        ("origin_kind", json!("system")),
        ("sidebar_visibility", json!("hidden")),
        ("agent_nickname", json!("Wren")),
        ("agent_role", json!("support")),
        ("status", json!("Idle")),
        ("preview", json!("")),
        ("turns", json!([])),
    ] {
        assert_eq!(thread[name], value, "{name}");
    }
    // On a known thread those words change nothing.
    let again = client.start_thread(json!({"name": "Other", "mode": "Chat"})).await;
    assert_eq!(again["thread"], *thread);
    let got = client.call("thread/get", json!({"thread_id": THREAD})).await;
    assert_eq!(got["thread"], *thread);
    client.check();
}

#[tokio::test]
async fn what_a_turn_says_of_the_model_stays() {
    let gateway = fast().await;
    let mut client = gateway.ready("Chat").await;
    let wanted = json!({
        "mode": "Agent", "model": "m-2", "model_provider": "p-2", "sandbox_policy": {"mode": "FullAccess"},
    });
    client.start_turn_with("plain text", wanted).await;
    client.read_turn().await;
    // A thread without a name gets one.
    let updated = client.until(&["thread/updated"]).await;
    assert_eq!(updated[0]["params"]["thread"]["name"], "plain text");
    let thread = client.call("thread/get", json!({"thread_id": THREAD})).await["thread"].clone();
    for (name, value) in [("mode", "Agent"), ("model", "m-2"), ("model_provider", "p-2")] {
        assert_eq!(thread[name], value);
    }
    assert_eq!((&thread["preview"], &thread["turns"][0]["id"]), (&json!("plain text"), &json!(TURN)));
    client.check();
}

#[tokio::test]
async fn the_history_has_turns_and_items() {
    let gateway = fast().await;
    let mut client = gateway.ready("Chat").await;
    client.play("plain").await;
    client.call("turn/start", turn("trn_2", "error", json!({}))).await;
    client.read_turn().await;
    let history = client.call("thread/history", json!({"thread_id": THREAD})).await;
    let events = history["events"].as_array().expect("events").clone();
    let of = |turn: &str| -> Vec<String> {
        let events = events.iter().filter(|event| event["turn_id"] == turn);
        events.map(|event| text(&event["payload"]["type"])).collect()
    };
    let first = of(TURN);
    assert_eq!((first[0].as_str(), first.last().expect("one").as_str()), ("turnStarted", "turnCompleted"));
    assert_eq!(of("trn_2").last().expect("one"), "turnFailed");
    assert_eq!(events[0]["payload"]["input"][0]["text"], "plain");
    let last = client.call("thread/history", json!({"thread_id": THREAD, "limit": 3})).await;
    assert_eq!(last["events"].as_array().expect("events").as_slice(), &events[events.len() - 3..]);
    client.check();
}

#[tokio::test]
async fn all_kinds_of_input_are_taken() {
    let gateway = fast().await;
    let mut client = gateway.ready("Chat").await;
    let input = json!([
        {"type": "text", "text": "file  these", "textElements": [{"byte_range": {"start": 0, "end": 4}, "placeholder": "f"}]},
        {"type": "image", "url": "data:image/png;base64,AAAA"},
        {"type": "file", "url": "https://a.example/report.pdf"},
        {"type": "audio", "url": "https://a.example/a.mp3"},
        {"type": "video", "url": "https://a.example/a.mp4"},
        {"type": "localImage", "path": "/home/u/a.png"},
        {"type": "localFile", "path": "/home/u/a.txt"},
        {"type": "localAudio", "path": "/home/u/a.wav"},
        {"type": "localVideo", "path": "/home/u/a.webm"},
        {"type": "artifact", "artifactId": "art_1"},
        {"type": "mention", "name": "main.rs", "path": "src/main.rs"},
    ]);
    client.call("turn/start", json!({"thread_id": THREAD, "turn_id": TURN, "input": input})).await;
    let items = completed(&client.read_turn().await);
    assert_eq!(items[0]["text"], "file these\n@main.rs");
    assert_eq!(items[0]["attachments"].as_array().expect("attachments").len(), 9);
    let answer = text(&items[2]["text"]);
    assert!(
        answer.contains("9 files") && answer.contains("`report.pdf`, type `application/pdf`"),
        "{answer}"
    );
    client.check();
}

#[tokio::test]
async fn capabilities_are_chips_or_rejected() {
    let gateway = fast().await;
    let mut client = gateway.ready("Chat").await;
    let skill = |id: &str, slug: &str| json!({"id": id, "label": id, "kind": {"type": "skill", "slug": slug, "sourceKind": "workspace"}});
    let server = json!({"id": "s", "kind": {"type": "mcpServer", "name": "browser", "scopeKind": "user"}});
    let wanted = [skill("a", "workspace/imagegen"), skill("b", "workspace/unavailable-thing"), server];
    client.start_turn_with("plain", json!({"capabilities": wanted})).await;
    let frames = client.read_turn().await;
    let items = completed(&frames);
    assert_eq!(items[0]["attachments"][0]["type"], "skill");
    let event = &items[1];
    assert_eq!((&event["type"], &event["level"]), (&json!("systemEvent"), &json!("warning")));
    let rejected = event["details"]["rejected"].as_array().expect("a list");
    assert_eq!(rejected.len(), 1);
    assert_eq!((&rejected[0]["id"], &rejected[0]["reason"]), (&json!("b"), &json!("unavailable")));
    let started = frames.iter().filter(|frame| frame["method"] == "item/started");
    assert!(started.into_iter().all(|frame| frame["params"]["item"]["type"] != "systemEvent"));
    let got = client.call("turn/get", json!({"thread_id": THREAD, "turn_id": TURN})).await;
    let diagnostics = got["turn"]["prompt_manifest"]["diagnostics"].as_array().expect("some").clone();
    assert_eq!(diagnostics[0]["code"], "capability_rejected");
    client.check();
}

#[tokio::test]
async fn tasks_are_items_with_turns_of_their_own() {
    let gateway = fast().await;
    let mut client = gateway.ready("Agent").await;
    let frames = client.play("subagents").await;
    let changes: Vec<&Value> =
        frames.iter().filter(|frame| frame["method"] == "turn/timeline/changed").collect();
    let reasons = ["task_event_changed", "child_turn_changed"];
    assert!(changes.iter().all(|frame| reasons.contains(&frame["params"]["reason"].as_str().unwrap_or(""))));
    let tasks: Vec<Value> = completed(&frames).into_iter().filter(|item| item["type"] == "task").collect();
    let mut statuses: Vec<&str> = tasks.iter().filter_map(|task| task["status"].as_str()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, ["completed", "completed", "failed"]);
    let whole = client.call("turn/timeline", json!({"threadId": THREAD, "turnId": TURN})).await;
    let items = whole["items"].as_array().expect("items");
    let lanes = |lane: &str| items.iter().filter(|item| item["origin"]["lane"] == lane).count();
    for lane in ["parent", "task", "child_agent", "child_tool", "child_reasoning"] {
        assert!(lanes(lane) > 0, "{lane}");
    }
    let times: Vec<i64> = items.iter().filter_map(|item| item["origin"]["occurredAt"].as_i64()).collect();
    assert!(times.is_sorted());
    let own = client.items().await;
    assert_eq!(whole["lastSequence"], own.last().expect("one")["sequence"]);
    let with = async |client: &mut super::client::Client, mut params: Value| {
        params["threadId"] = json!(THREAD);
        params["turnId"] = json!(TURN);
        client.call("turn/timeline", params).await["items"].as_array().expect("items").len()
    };
    assert_eq!(with(&mut client, json!({"composeTasks": false})).await, own.len());
    assert_eq!(with(&mut client, json!({"includeCollapsedTaskEvents": true})).await, items.len() + 3);
    assert!(with(&mut client, json!({"maxChildItemsPerTask": 1})).await < items.len());
    // The child's turn can be read like any other.
    let (thread, turn) = (&tasks[0]["childThreadId"], &tasks[0]["childTurnId"]);
    let child = client.call("turn/get", json!({"thread_id": thread, "turn_id": turn})).await;
    assert_eq!(child["turn"]["turn_kind"], "task_run");
    assert_eq!(child["turn"]["origin"], "attached_task");
    client.check();
}
