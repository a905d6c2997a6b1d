//! Every script comes to its end, in both modes, and all that it says is in order.

use serde_json::{Value, json};

use super::client::{completed, fast, text};

const SHARED: [&str; 26] = [
    "hello",
    "plain",
    "reasoning",
    "markdown",
    "unicode",
    "tools",
    "parallel",
    "approval",
    "question",
    "mixed",
    "page",
    "page rounds 3",
    "page mixed",
    "subagents",
    "subagents approval",
    "mcp-auth",
    "sandbox",
    "file",
    "long 50",
    "error",
    "length",
    "refusal",
    "refusal late",
    "file a ticket",
    "invoice",
    "",
];

const OWN: [&str; 14] = [
    "compact",
    "shell",
    "edit",
    "search",
    "fetch",
    "download",
    "recover",
    "exhaust",
    "stuck",
    "stuck fail",
    "timeout",
    "give-up",
    "budget",
    "task",
];

#[tokio::test]
async fn every_script_ends_in_both_modes() {
    let gateway = fast().await;
    for mode in ["Chat", "Agent"] {
        for words in SHARED.into_iter().chain(OWN) {
            let mut client = gateway.connect().await;
            let thread = format!("thr {mode} {words}");
            let params = json!({"thread_id": thread, "workspace_id": super::client::WORKSPACE, "mode": mode});
            client.call("thread/start", params).await;
            let input = json!([{"type": "text", "text": words}]);
            let params = json!({"thread_id": thread, "turn_id": "trn_1", "input": input});
            client.call("turn/start", params).await;
            let frames = client.read_turn().await;
            let fails = ["error", "length", "exhaust", "stuck fail"].contains(&words);
            let end = if fails { "turn/failed" } else { "turn/completed" };
            assert_eq!(frames.last().expect("an end")["method"], end, "{mode} {words}");
            let params = json!({"thread_id": thread, "turn_id": "trn_1"});
            client.call("turn/items", params.clone()).await;
            client.call("turn/get", params).await;
            client.call("turn/timeline", json!({"threadId": thread, "turnId": "trn_1"})).await;
            client.call("thread/history", json!({"thread_id": thread})).await;
            client.keep(&format!("{mode} {words}"));
            let findings = super::check::check(&client.jsonl());
            assert!(findings.is_empty(), "{mode} {words}: {findings:#?}");
            let open = still_open(&frames);
            let breaks_off = ["error", "recover"].contains(&words) && mode == "Chat";
            assert_eq!(open, usize::from(breaks_off), "{mode} {words}");
        }
    }
}

/// How many items have begun, but not ended.
fn still_open(frames: &[Value]) -> usize {
    let ids = |method: &str| -> std::collections::BTreeSet<String> {
        let frames = frames.iter().filter(|frame| frame["method"] == method);
        frames.map(|frame| text(&frame["params"]["item"]["id"])).collect()
    };
    ids("item/started").difference(&ids("item/completed")).count()
}

#[tokio::test]
async fn no_question_is_asked() {
    let gateway = fast().await;
    let mut client = gateway.ready("Agent").await;
    let items = completed(&client.play("mixed").await);
    let tools: Vec<&Value> = items.iter().filter(|item| item.get("toolName").is_some()).collect();
    assert_eq!(tools.len(), 3);
    assert!(tools.iter().all(|item| item["status"] == "completed"), "{tools:?}");
    let question = tools.iter().find(|item| item["toolName"] == "ask_user_question").expect("one");
    assert_eq!(question["display"]["lines"][0], "Only those on call (Recommended)");
    let answer = text(&items.last().expect("an answer")["text"]);
    assert!(answer.contains("four instances"), "{answer}");
}

#[tokio::test]
async fn native_tools_are_items_of_their_own_types() {
    let gateway = fast().await;
    for (words, kind, method, stream) in [
        ("shell", "commandExecution", "item/command_execution/output_delta", "stderr"),
        ("edit", "fileChange", "item/file_change/output_delta", "file_change"),
        ("search", "webSearch", "item/tool/progress", "tool_progress"),
        ("fetch", "webFetch", "item/tool/progress", "tool_progress"),
        ("download", "download", "item/tool/progress", "tool_progress"),
        ("sandbox", "commandExecution", "", ""),
    ] {
        let mut client = gateway.ready("Agent").await;
        let id = format!("trn_{words}");
        client.call("turn/start", super::client::turn(&id, words, json!({}))).await;
        let frames = client.read_turn().await;
        let items = completed(&frames);
        let tool =
            items.iter().find(|item| item["type"] == kind).unwrap_or_else(|| panic!("{words}: {items:?}"));
        assert_eq!(tool["success"], true);
        let delta = frames
            .iter()
            .find(|frame| frame["params"]["stream"] == stream && frame["params"]["item_id"] == tool["id"]);
        assert_eq!(delta.map_or("", |frame| frame["method"].as_str().expect("text")), method, "{words}");
    }
}

#[tokio::test]
async fn a_cancel_ends_what_is_under_repair() {
    let gateway = super::client::paced(200).await;
    let mut client = gateway.ready("Chat").await;
    client.start_turn("recover").await;
    client.until(&["item/recovery_opened"]).await;
    let params = json!({"thread_id": super::client::THREAD, "turn_id": super::client::TURN});
    let id = client.send("turn/cancel", params).await;
    let frames = client.read_turn().await;
    let before = &frames[frames.len() - 2];
    assert_eq!(before["method"], "item/recovery_exhausted");
    assert_eq!(before["params"]["status"], "cancelled");
    assert_eq!(client.response(&id).await["result"]["turn"]["error"], "turn cancelled by user");
    client.check();
}

#[tokio::test]
async fn a_cancel_ends_the_turns_of_sub_agents() {
    let gateway = super::client::paced(100).await;
    let mut client = gateway.ready("Agent").await;
    client.start_turn("subagents").await;
    let frames = client.until(&["turn/timeline/changed"]).await;
    let child = &frames.last().expect("one")["params"];
    let get = json!({"thread_id": child["childThreadId"], "turn_id": child["childTurnId"]});
    let params = json!({"thread_id": super::client::THREAD, "turn_id": super::client::TURN});
    client.call("turn/cancel", params).await;
    // The agent notices at its next beat.
    for _ in 0..2000 {
        let turn = client.call("turn/get", get.clone()).await["turn"].clone();
        if turn["status"] != "InProgress" {
            assert_eq!(turn["status"], "Interrupted");
            return client.check();
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("the sub-agent works on");
}

#[tokio::test]
async fn a_turn_that_takes_too_long_fails() {
    let turn_limit = std::time::Duration::from_millis(100);
    let config = turnwire_gateway::Config { turn_limit, ..turnwire_gateway::Config::default() };
    let gateway = super::client::Gateway::start(config).await;
    let mut client = gateway.ready("Chat").await;
    let end = client.play("slow").await.pop().expect("an end");
    assert_eq!(end["method"], "turn/failed");
    assert_eq!(end["params"]["turn"]["error"], "the turn took longer than it may");
    client.check();
}
