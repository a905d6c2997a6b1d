//! In which order things are told.

use serde_json::{Value, json};

use super::client::{TURN, completed, fast, joined, outline, paced};

#[tokio::test]
async fn in_chats_answers_come_as_they_are_made() {
    let gateway = fast().await;
    let mut client = gateway.ready("Chat").await;
    let frames = client.play("reasoning").await;
    assert_eq!(
        outline(&frames),
        [
            "turn/started",
            "item/started userMessage",
            "item/completed userMessage",
            "item/started reasoning",
            "item/agent_message/delta generic",
            "item/completed reasoning",
            "item/started agentMessage",
            "item/agent_message/delta agent_message",
            "item/completed agentMessage",
            "turn/completed",
        ]
    );
    let items = completed(&frames);
    assert_eq!(items[0]["id"], format!("user_{TURN}"));
    assert_eq!(items[0]["text"], "reasoning");
    assert_eq!(joined(&frames, &items[1]["id"]), items[1]["content"][0]);
    assert_eq!(joined(&frames, &items[2]["id"]), items[2]["text"]);
    let id = items[1]["id"].as_str().expect("an id");
    assert_eq!(id.len(), 21);
    client.check();
}

#[tokio::test]
async fn every_delta_has_the_whole_text_as_markdown() {
    let gateway = fast().await;
    let mut client = gateway.ready("Chat").await;
    let frames = client.play("plain").await;
    let mut whole = String::new();
    for frame in frames.iter().filter(|frame| frame["method"] == "item/agent_message/delta") {
        whole += frame["params"]["delta"].as_str().expect("a text");
        assert_eq!(frame["params"]["markdown_version"], 1);
        let shown = frame["params"]["markdown"]["blocks"][0]["text"].as_str().expect("a paragraph");
        assert!(shown.starts_with(&whole[..3.min(whole.len())]), "{shown} of {whole}");
    }
    client.check();
}

#[tokio::test]
async fn agents_answer_at_once_after_their_tools() {
    let gateway = fast().await;
    let mut client = gateway.ready("Agent").await;
    let frames = client.play("parallel").await;
    let tool = |what: &str| format!("{what} dynamicToolCall");
    assert_eq!(
        outline(&frames),
        [
            "turn/started".to_owned(),
            "item/started userMessage".to_owned(),
            "item/completed userMessage".to_owned(),
            "item/started reasoning".to_owned(),
            "item/completed reasoning".to_owned(),
            tool("item/started"),
            "item/tool/progress tool_progress".to_owned(),
            tool("item/completed"),
            "item/tool/progress tool_progress".to_owned(),
            tool("item/completed"),
            "item/tool/progress tool_progress".to_owned(),
            tool("item/completed"),
            "item/started reasoning".to_owned(),
            "item/completed reasoning".to_owned(),
            "item/started agentMessage".to_owned(),
            "item/agent_message/delta agent_message".to_owned(),
            "item/completed agentMessage".to_owned(),
            "turn/completed".to_owned(),
        ]
    );
    let deltas = frames.iter().filter(|frame| frame["params"]["stream"] == "agent_message").count();
    assert_eq!(deltas, 1);
    let last = frames.last().expect("an end");
    assert_eq!(last["params"]["turn"]["prompt_manifest"]["profile"], "assistant_full");
    client.check();
}

#[tokio::test]
async fn a_cancel_is_announced_before_it_is_answered() {
    let gateway = paced(100).await;
    let mut client = gateway.ready("Chat").await;
    client.start_turn("slow").await;
    client.until(&["item/agent_message/delta"]).await;
    let params = json!({"thread_id": super::client::THREAD, "turn_id": TURN, "reason": "user clicked stop"});
    let id = client.send("turn/cancel", params.clone()).await;
    let frames = client.read_turn().await;
    assert!(frames.iter().all(|frame| frame.get("id").is_none()), "{frames:?}");
    let turn = &frames.last().expect("an end")["params"]["turn"];
    assert_eq!((&turn["status"], &turn["error"]), (&json!("Interrupted"), &json!("user clicked stop")));
    assert_eq!(client.response(&id).await["result"]["turn"], *turn);
    // Afterwards it stays unchanged, and nothing is sent.
    let again = client.call("turn/cancel", params).await;
    assert_eq!(again["turn"], *turn);
    assert_eq!(client.next().await["method"], "thread/updated");
    assert!(client.is_silent().await);
    client.check();
}

#[tokio::test]
async fn durable_events_are_numbered_and_kept() {
    let gateway = fast().await;
    let mut client = gateway.ready("Agent").await;
    let frames = client.play("tools").await;
    let events = client.items().await;
    let numbers: Vec<u64> = events.iter().filter_map(|event| event["sequence"].as_u64()).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    let told = frames.iter().filter(|frame| frame["params"].get("item").is_some());
    let told: Vec<&Value> = told.map(|frame| &frame["params"]["item"]).collect();
    let kept: Vec<&Value> = events.iter().map(|event| &event["payload"]["item"]).collect();
    assert_eq!(told, kept);
    client.check();
}
