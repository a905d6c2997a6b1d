//! Each script in each mode: the same conversation, on the stream and in the history.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::client::{MODES, fast, outline, user};
use super::conversation::{Outcome, calls, numbered};

#[tokio::test]
async fn every_mode_tells_the_same_and_the_history_agrees() {
    let gateway = fast().await;
    for (script, stop_reason) in [
        ("Hello", "end_turn"),
        ("plain", "end_turn"),
        ("reasoning", "end_turn"),
        ("markdown", "end_turn"),
        ("unicode", "end_turn"),
        ("tools", "end_turn"),
        ("parallel", "end_turn"),
        ("approval", "tool_use"),
        ("question", "tool_use"),
        ("mixed", "tool_use"),
        ("page", "tool_use"),
        ("page mixed", "tool_use"),
        ("subagents", "end_turn"),
        ("subagents approval", "tool_use"),
        ("mcp-auth", "end_turn"),
        ("file", "end_turn"),
        ("long 300", "end_turn"),
        ("slow", "end_turn"),
        ("error", "error"),
        ("length", "max_tokens"),
        ("refusal", "refusal"),
        ("refusal late", "refusal"),
        ("Is the shop down?", "end_turn"),
    ] {
        let mut told = Vec::new();
        for mode in MODES {
            let session = gateway.session().await;
            let outcome = gateway.outcome(&session, mode, script).await;
            assert_eq!(outcome.stop_reason, stop_reason, "{script} in {mode}");
            let history = gateway.history(&session).await;
            assert_eq!(history[0], user(script)[0], "{script} in {mode}");
            assert_eq!(history[1..], outcome.messages, "{script} in {mode}");
            told.push(numbered(&outcome.messages));
        }
        assert_eq!(told[0], told[1], "{script}");
        assert_eq!(told[0], told[2], "{script}");
    }
}

#[tokio::test]
async fn deltas_are_pieces_and_messages_are_whole() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let deltas = gateway.say(&session, "delta", "reasoning").await.frames();
    assert_eq!(outline(&deltas), ["turn_start", "thinking_delta", "text_delta", "turn_stop"]);
    assert!(deltas.len() > 100, "{}", deltas.len());
    let messages = gateway.say(&session, "message", "reasoning").await.frames();
    let names: Vec<&str> = messages.iter().map(|frame| frame.event.as_str()).collect();
    assert_eq!(names, ["turn_start", "thinking", "text", "turn_stop"]);
}

#[tokio::test]
async fn tools_that_were_not_switched_on_run_inline() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let frames = gateway.say(&session, "delta", "tools").await.frames();
    let round = ["text_delta", "tool_call", "tool_result"];
    let expected: Vec<&str> =
        ["turn_start"].into_iter().chain(round).chain(round).chain(["text_delta", "turn_stop"]).collect();
    assert_eq!(outline(&frames), expected);
    let parallel = gateway.outcome(&session, "none", "parallel").await;
    let asked: Vec<_> = calls(&parallel.messages).iter().map(|call| call["toolCallId"].clone()).collect();
    let answered: Vec<_> =
        parallel.messages[1..4].iter().map(|message| message["toolCallId"].clone()).collect();
    assert_eq!(answered, [asked[1].clone(), asked[0].clone(), asked[2].clone()], "in another order");
}

#[tokio::test]
async fn sub_agents_are_tools_of_the_server() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let outcome = gateway.outcome(&session, "delta", "subagents").await;
    assert_eq!(calls(&outcome.messages).len(), 3);
    let results: Vec<String> =
        outcome.messages[1..4].iter().map(|message| message["content"].to_string()).collect();
    assert!(results.iter().any(|result| result.contains("connection refused")), "{results:?}");
    assert!(results.iter().any(|result| result.contains("out of memory")), "{results:?}");
    assert!(!outcome.said().contains("Measuring from Lisbon"), "its own words stay behind its call");
}

#[tokio::test]
async fn a_refusal_leaves_nothing_behind() {
    let gateway = fast().await;
    let session = gateway.session().await;
    for mode in MODES {
        assert!(gateway.outcome(&session, mode, "refusal").await.messages.is_empty());
    }
    assert_eq!(gateway.history(&session).await.len(), 3, "only the words of the user");
}

#[tokio::test]
async fn images_reach_the_agent() {
    let gateway = fast().await;
    let session = gateway.session().await;
    let messages = json!([{"role": "user", "content": [
        {"type": "text", "text": "file"},
        {"type": "image", "url": "data:image/png;base64,AAEC"},
        {"type": "image", "url": "https://example.com/cat.png"},
    ]}]);
    let outcome = Outcome::of("delta", &gateway.turn(&session, "delta", messages.clone()).await);
    let said = outcome.said();
    assert!(said.contains("`image-1`, type `image/png`, 3 bytes"), "{said}");
    assert!(said.contains("https://example.com/cat.png"), "{said}");
    assert_eq!(gateway.history(&session).await[0], messages[0], "as it was sent");
}

#[tokio::test]
async fn a_session_remembers() {
    let gateway = fast().await;
    let session = gateway.session().await;
    assert!(gateway.outcome(&session, "none", "hi").await.said().starts_with("Hello! I am Wren"));
    assert!(gateway.outcome(&session, "none", "hi").await.said().starts_with("Hello again!"));
}

#[tokio::test]
async fn the_agent_calls_its_tools_as_they_are_declared() {
    let gateway = fast().await;
    let meta = gateway.get("/meta").await.json();
    let tools = meta["agents"][0]["tools"].as_array().expect("tools").clone();
    let mut seen = BTreeSet::new();
    let one_each = ["tools", "parallel", "approval", "mixed", "file a ticket"];
    for words in one_each.into_iter().chain(["Why was I charged?", "Where do gulls sleep?"]) {
        let session = gateway.session().await;
        let outcome = gateway.outcome(&session, "none", words).await;
        for call in calls(&outcome.messages) {
            let Some(tool) = tools.iter().find(|tool| tool["name"] == call["name"]) else {
                continue;
            };
            let keys =
                |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
            assert_eq!(keys(&call["input"]), keys(&tool["parameters"]["properties"]), "{call}");
            seen.insert(call["name"].to_string());
        }
    }
    assert_eq!(seen.len(), tools.len(), "{seen:?}");
}
