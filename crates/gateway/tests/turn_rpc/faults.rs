//! What goes wrong with turns on purpose.

use serde_json::{Value, json};

use super::check::check;
use super::client::{Client, Gateway, THREAD, TURN, completed, fast, joined, outline, text, turn};

/// A turn under a fault that its socket was opened with.
async fn spoiled(gateway: &Gateway, mode: &str, fault: &str, words: &str) -> (Client, Vec<Value>) {
    let mut client = gateway.ready_with(mode, fault).await;
    let id = format!("trn_{fault}");
    client.call("turn/start", turn(&id, words, json!({}))).await;
    let frames = client.read_turn().await;
    (client, frames)
}

fn deltas(frames: &[Value]) -> usize {
    frames.iter().filter(|frame| frame["params"].get("delta").is_some()).count()
}

#[tokio::test]
async fn deltas_get_lost() {
    let gateway = fast().await;
    let (_, whole) = spoiled(&gateway, "Chat", "none", "plain").await;
    let (_, none) = spoiled(&gateway, "Chat", "drop-deltas", "plain").await;
    let (client, some) = spoiled(&gateway, "Chat", "drop-deltas:3", "plain").await;
    assert_eq!(deltas(&none), 0);
    assert_eq!(deltas(&some), deltas(&whole) - deltas(&whole) / 3);
    assert_eq!(completed(&none)[2]["text"], completed(&whole)[2]["text"]);
    client.check();
}

#[tokio::test]
async fn a_delta_comes_after_the_end_of_its_item() {
    let gateway = fast().await;
    for (mode, words) in [("Chat", "reasoning"), ("Agent", "plain"), ("Agent", "shell")] {
        let mut client = gateway.ready_with(mode, "late-delta").await;
        client.call("turn/start", turn(&format!("trn_{mode}_{words}"), words, json!({}))).await;
        let frames = client.read_turn().await;
        let answer = completed(&frames).pop().expect("an answer");
        let last = frames.iter().rposition(|frame| frame["params"]["item_id"] == answer["id"]);
        let end = frames.iter().position(|frame| {
            frame["method"] == "item/completed" && frame["params"]["item"]["id"] == answer["id"]
        });
        assert!(last > end, "{mode} {words}: {:?}", outline(&frames));
        assert_eq!(joined(&frames, &answer["id"]), answer["text"]);
        client.check();
    }
}

#[tokio::test]
async fn the_agent_is_faster_than_the_response() {
    let gateway = fast().await;
    let mut client = gateway.ready_with("Chat", "early-events").await;
    client.send("turn/start", turn(TURN, "reasoning", json!({}))).await;
    let frames = client.read_turn().await;
    assert_eq!(
        outline(&frames)[..6],
        [
            "item/started reasoning",
            "item/agent_message/delta generic",
            "response",
            "turn/started",
            "item/started userMessage",
            "item/completed userMessage",
        ]
    );
    client.check();
}

#[tokio::test]
async fn a_response_is_lost_though_the_turn_runs() {
    let gateway = fast().await;
    let mut client = gateway.ready_with("Chat", "lost-response").await;
    client.send("turn/start", turn(TURN, "plain", json!({}))).await;
    let frames = client.read_turn().await;
    assert!(frames.iter().all(|frame| frame.get("id").is_none()));
    assert_eq!(client.outcome().await.0, "Completed");
}

#[tokio::test]
async fn reasoning_is_completed_twice() {
    let gateway = fast().await;
    let (client, frames) = spoiled(&gateway, "Chat", "double-reasoning", "reasoning").await;
    let items = completed(&frames);
    let reasoning: Vec<&Value> = items.iter().filter(|item| item["type"] == "reasoning").collect();
    assert_eq!(reasoning.len(), 2);
    assert_eq!(reasoning[0]["id"], reasoning[1]["id"]);
    assert!(!reasoning[0]["content"].as_array().expect("a list").is_empty());
    assert_eq!(reasoning[1]["content"], json!([]));
    client.check();
}

#[tokio::test]
async fn markdown_is_left_out_or_huge() {
    let gateway = fast().await;
    let (_, frames) = spoiled(&gateway, "Chat", "no-markdown", "plain").await;
    assert!(frames.iter().all(|frame| frame["params"].get("markdown").is_none()));
    let (client, frames) = spoiled(&gateway, "Chat", "huge-markdown:100000", "plain").await;
    let sizes = frames.iter().filter_map(|frame| Some(frame["params"].get("markdown")?.to_string().len()));
    assert!(sizes.min().expect("some") > 100_000);
    client.check();
    // Long texts go without: the work would grow with their square.
    let (_, frames) = spoiled(&gateway, "Chat", "none", "long 3000").await;
    let with = frames.iter().filter(|frame| frame["params"].get("markdown").is_some()).count();
    assert!((1000..2500).contains(&with), "{with}");
}

#[tokio::test]
async fn there_is_an_unknown_notification() {
    let gateway = fast().await;
    let (client, frames) = spoiled(&gateway, "Chat", "unknown-type", "plain").await;
    assert!(frames.iter().any(|frame| frame["method"] == "turn/mood_changed"));
    let findings = check(&client.jsonl());
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].contains("no schema for notification:turn/mood_changed"));
}

#[tokio::test]
async fn the_model_says_nothing_for_a_while() {
    let gateway = fast().await;
    let started = std::time::Instant::now();
    spoiled(&gateway, "Chat", "silence:200", "plain").await;
    assert!(started.elapsed().as_millis() >= 200);
}

#[tokio::test]
async fn frames_are_repeated_swapped_and_left_out() {
    let gateway = fast().await;
    let mut client = gateway.connect().await;
    client.start_thread(json!({"name": "It has a name, so that none comes later."})).await;
    // Planned faults count from the response to the request, which is the first.
    for (fault, methods) in [
        ("duplicate:2", ["response", "turn/started", "turn/started", "item/started"]),
        ("reorder:1", ["turn/started", "response", "item/started", "item/completed"]),
        ("gap:2:2", ["response", "item/completed", "item/started", "item/completed"]),
        ("giant:1:5000", ["response", "x/giant", "turn/started", "item/started"]),
        ("malformed:2:no-version", ["response", "turn/started", "x/unversioned", "item/started"]),
    ] {
        gateway.plan(THREAD, json!([{"on": "create", "fault": fault}])).await;
        client.send("turn/start", turn(&format!("trn_{fault}"), "plain", json!({}))).await;
        let frames = client.read_turn().await;
        let frames: Vec<&str> =
            frames.iter().map(|frame| frame["method"].as_str().unwrap_or("response")).collect();
        assert_eq!(frames[..4], methods, "{fault}");
    }
}

#[tokio::test]
async fn planned_faults_meet_one_request() {
    let gateway = fast().await;
    let mut client = gateway.ready("Chat").await;
    let schedule = json!([
        {"on": "turn", "fault": "status:503"},
        {"on": "turn", "fault": "late-status:500", "skip": 1},
        {"on": "create", "fault": "late-status:500"},
        {"on": "session", "fault": "slow-head:100"},
    ]);
    gateway.plan(THREAD, schedule).await;
    let (code, message) = client.error("turn/start", turn(TURN, "plain", json!({}))).await;
    assert_eq!((code, message.as_str()), (-32603, "500 Internal Server Error, on purpose"));
    assert_eq!(client.read_turn().await.last().expect("an end")["method"], "turn/completed");
    let get = json!({"thread_id": THREAD, "turn_id": TURN});
    assert_eq!(client.error("turn/get", get.clone()).await.1, "503 Service Unavailable, on purpose");
    assert_eq!(client.outcome().await.0, "Completed");
    assert_eq!(client.error("turn/get", get).await.0, -32603);
    let started = std::time::Instant::now();
    client.call("thread/get", json!({"thread_id": THREAD})).await;
    assert!(started.elapsed().as_millis() >= 100);
}

#[tokio::test]
async fn the_journal_has_what_the_client_sent() {
    let gateway = fast().await;
    let mut client = gateway.ready("Chat").await;
    client.play("plain").await;
    client.error("turn/get", json!({"thread_id": THREAD, "turn_id": "nope"})).await;
    client.send_text("{not json").await;
    client.until(&["thread/updated"]).await;
    client.next().await;
    let read = async |session: &str| {
        let path = format!("/sessions/{session}/requests");
        gateway.control(reqwest::Method::GET, &path, Value::Null).await.as_array().expect("a list").clone()
    };
    let of_thread = read(THREAD).await;
    let methods: Vec<String> = of_thread.iter().map(|entry| text(&entry["method"])).collect();
    assert_eq!(methods, ["thread/start", "turn/start", "turn/get"]);
    assert_eq!(of_thread[1]["frame"]["params"]["turn_id"], TURN);
    assert_eq!((&of_thread[1]["on"], &of_thread[1]["status"]), (&json!("create"), &json!(200)));
    assert_eq!((&of_thread[2]["code"], &of_thread[2]["status"]), (&json!(-32600), &json!(400)));
    let of_sockets = read("turn-rpc").await;
    assert_eq!((&of_sockets[0]["on"], &of_sockets[0]["status"]), (&json!("connect"), &json!(101)));
    let last = of_sockets.last().expect("one");
    assert_eq!((&last["frame"], &last["code"]), (&json!("{not json"), &json!(-32700)));
    assert_eq!(of_sockets.len(), 5);
}
