//! What real servers do that the specification does not allow, or that is easily overlooked.

use serde_json::{Value, json};

use crate::client::{gateway, interrupts, of, only, outline, resolved, text, words};

const TOOLS: &str = "RUN_STARTED TEXT_START TEXT_CONTENT TEXT_END CALL_START CALL_ARGS CALL_END CALL_RESULT \
    TEXT_START TEXT_CONTENT TEXT_END CALL_START CALL_ARGS CALL_END CALL_RESULT \
    TEXT_START TEXT_CONTENT TEXT_END RUN_FINISHED";

#[tokio::test]
async fn order_is_broken_as_by_real_servers() {
    let gateway = gateway(0).await;
    for (fault, words, expected) in [
        ("none", "tools", TOOLS.to_owned()),
        // Agent Framework: its capture `clients-two`.
        (
            "duplicate-start",
            "parallel",
            "RUN_STARTED TEXT_START TEXT_CONTENT TEXT_END CALL_START CALL_ARGS CALL_START CALL_END CALL_RESULT \
             TEXT_START TEXT_CONTENT TEXT_END RUN_FINISHED"
                .to_owned(),
        ),
        // Agent Framework: its capture `tool`.
        (
            "open-text",
            "tools",
            "RUN_STARTED TEXT_START TEXT_CONTENT CALL_START CALL_ARGS CALL_END CALL_RESULT TEXT_END \
             TEXT_START TEXT_CONTENT CALL_START CALL_ARGS CALL_END CALL_RESULT TEXT_END \
             TEXT_START TEXT_CONTENT TEXT_END RUN_FINISHED"
                .to_owned(),
        ),
        // ADK: its capture `think`.
        (
            "repeat-reasoning",
            "reasoning",
            "RUN_STARTED REASONING_START REASONING_MESSAGE_START REASONING_MESSAGE_CONTENT REASONING_MESSAGE_END \
             REASONING_ENCRYPTED_VALUE REASONING_END TEXT_START TEXT_CONTENT REASONING_START \
             REASONING_MESSAGE_START REASONING_MESSAGE_CONTENT REASONING_MESSAGE_END REASONING_END TEXT_END \
             RUN_FINISHED"
                .to_owned(),
        ),
        // LlamaIndex.
        (
            "chunks",
            "tools",
            "RUN_STARTED TEXT_CHUNK CALL_CHUNK CALL_RESULT TEXT_CHUNK CALL_CHUNK CALL_RESULT TEXT_CHUNK RUN_FINISHED"
                .to_owned(),
        ),
        (
            "thinking",
            "reasoning",
            "RUN_STARTED THINKING_START THINKING_TEXT_START THINKING_TEXT_CONTENT THINKING_TEXT_END THINKING_END \
             TEXT_START TEXT_CONTENT TEXT_END RUN_FINISHED"
                .to_owned(),
        ),
        ("late-error", "plain", "RUN_STARTED TEXT_START TEXT_CONTENT TEXT_END RUN_FINISHED RUN_ERROR".to_owned()),
        (
            "unknown-type",
            "plain",
            "RUN_STARTED TELEMETRY_SAMPLE TEXT_START TEXT_CONTENT TEXT_END RUN_FINISHED".to_owned(),
        ),
        (
            "steps",
            "tools",
            TOOLS
                .replacen("TEXT_START", "STEP_STARTED TEXT_START", 1)
                .replace("CALL_RESULT TEXT_START", "STEP_FINISHED STEP_STARTED CALL_RESULT STEP_FINISHED STEP_STARTED TEXT_START")
                .replace("RUN_FINISHED", "STEP_FINISHED RUN_FINISHED"),
        ),
        ("no-text", "plain", "RUN_STARTED MESSAGES_SNAPSHOT RUN_FINISHED".to_owned()),
        (
            "bad-patch",
            "plain",
            "RUN_STARTED STATE_DELTA TEXT_START TEXT_CONTENT TEXT_END RUN_FINISHED".to_owned(),
        ),
    ] {
        let thread = format!("{fault} {words}");
        assert_eq!(outline(&gateway.say(&thread, words, fault).await), expected, "{fault}");
    }
}

#[tokio::test]
async fn calls_are_reported_wrongly() {
    let gateway = gateway(0).await;
    let doubled = gateway.say("a", "parallel", "duplicate-start+messages-snapshot").await;
    assert_eq!((of(&doubled, "TOOL_CALL_START").len(), of(&doubled, "TOOL_CALL_END").len()), (6, 6));
    let snapshot = only(&doubled, "MESSAGES_SNAPSHOT")["messages"].as_array().expect("messages");
    assert!(
        snapshot.iter().any(|message| message["toolCalls"].as_array().is_some_and(|calls| calls.len() == 6))
    );
    let lost = gateway.say("b", "tools", "lost-parent").await;
    let known: Vec<_> =
        of(&lost, "TEXT_MESSAGE_START").iter().map(|start| start["messageId"].clone()).collect();
    for start in of(&lost, "TOOL_CALL_START") {
        assert!(start["parentMessageId"].is_string() && !known.contains(&start["parentMessageId"]));
    }
    let none = gateway.say("c", "tools", "no-parent").await;
    assert!(of(&none, "TOOL_CALL_START").iter().all(|start| start.get("parentMessageId").is_none()));
    let whole = gateway.say("d", "parallel", "whole-arguments").await;
    assert_eq!(of(&whole, "TOOL_CALL_ARGS").len(), 3);
    let ids = gateway.say("e", "tools", "result-ids").await;
    assert!(of(&ids, "TOOL_CALL_RESULT").iter().all(|result| result["messageId"] == result["toolCallId"]));
}

#[tokio::test]
async fn runs_that_continue_end_or_start_calls_of_the_run_before() {
    let gateway = gateway(0).await;
    for (fault, expected) in [
        ("none", "RUN_STARTED CALL_RESULT TEXT_START TEXT_CONTENT TEXT_END RUN_FINISHED"),
        ("stray-end", "RUN_STARTED CALL_END CALL_RESULT TEXT_START TEXT_CONTENT TEXT_END RUN_FINISHED"),
    ] {
        let asked = interrupts(&gateway.say(fault, "approval", "none").await);
        let resume = resolved(&asked, &json!({"approved": true}));
        assert_eq!(outline(&gateway.go_on(fault, &json!({"resume": resume}), fault).await), expected);
    }
    // The client brings the call along, so its name and arguments are known.
    let events = gateway.say("t", "approval", "none").await;
    let resume = resolved(&interrupts(&events), &json!({"approved": true}));
    let start = only(&events, "TOOL_CALL_START");
    let arguments: String = of(&events, "TOOL_CALL_ARGS").iter().map(|piece| text(&piece["delta"])).collect();
    let function = json!({"name": start["toolCallName"], "arguments": arguments});
    let calls = json!([{"id": start["toolCallId"], "type": "function", "function": function}]);
    let message = json!({"id": start["parentMessageId"], "role": "assistant", "toolCalls": calls});
    let again = gateway.go_on("t", &json!({"resume": resume, "messages": [message]}), "restart-calls").await;
    assert_eq!(
        outline(&again),
        "RUN_STARTED CALL_START CALL_ARGS CALL_END CALL_RESULT TEXT_START TEXT_CONTENT TEXT_END RUN_FINISHED"
    );
    assert_eq!(only(&again, "TOOL_CALL_ARGS")["delta"], json!(arguments));
}

#[tokio::test]
async fn snapshots_have_other_ids_or_lack_something() {
    let gateway = gateway(0).await;
    let events = gateway.say("a", "tools", "new-ids").await;
    let snapshots = of(&events, "MESSAGES_SNAPSHOT");
    assert_eq!(snapshots.len(), 3);
    let ids = |snapshot: &Value| {
        let messages = snapshot["messages"].as_array().expect("messages");
        messages.iter().skip(1).map(|message| text(&message["id"])).collect::<Vec<_>>()
    };
    let streamed: Vec<_> =
        of(&events, "TEXT_MESSAGE_START").iter().map(|start| text(&start["messageId"])).collect();
    let mut all: Vec<_> = snapshots.iter().flat_map(|snapshot| ids(snapshot)).chain(streamed).collect();
    let total = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), total, "no id comes twice");
    assert!(snapshots.iter().all(|snapshot| snapshot["messages"][0]["id"] == "said-tools"));

    let dropped = gateway.say("b", "plain", "dropped-messages").await;
    assert_eq!(only(&dropped, "MESSAGES_SNAPSHOT")["messages"].as_array().map(Vec::len), Some(1));
    let no_results = gateway.say("c", "tools", "no-results").await;
    assert_eq!(of(&no_results, "TOOL_CALL_RESULT").len(), 0);
    let last = of(&no_results, "MESSAGES_SNAPSHOT").pop().expect("a snapshot").to_string();
    assert_eq!(last.matches("\"role\":\"tool\"").count(), 2);
    let partial = gateway.say("d", "tools", "partial-state").await;
    let states: Vec<_> =
        of(&partial, "STATE_SNAPSHOT").into_iter().map(|state| state["snapshot"].clone()).collect();
    assert_eq!((states.len(), &states[2]), (3, &json!({})));
    assert!(states[0]["last_result"].is_object());
}

#[tokio::test]
async fn versions_and_ends_differ() {
    let gateway = gateway(0).await;
    let legacy = gateway.say("a", "subagents", "legacy").await;
    assert_eq!(legacy[0], json!({"type": "RUN_STARTED", "threadId": "a", "runId": "run-subagents"}));
    assert_eq!(
        legacy.last(),
        Some(&json!({"type": "RUN_FINISHED", "threadId": "a", "runId": "run-subagents"}))
    );
    assert!(legacy.iter().all(|event| !text(&event["type"]).starts_with("SUBAGENT")));
    assert_eq!(of(&legacy, "TOOL_CALL_RESULT").len(), 3);
    assert_eq!(interrupts(&gateway.say("b", "approval", "legacy").await).len(), 1);
    let no_version = gateway.say("c", "plain", "no-version").await;
    assert!(no_version[0].get("protocolVersion").is_none());
    assert!(no_version.last().expect("events").get("outcome").is_none());
    let bare = gateway.say("d", "plain", "bare-finish").await;
    assert!(
        ["threadId", "runId", "outcome"].iter().all(|name| bare.last().expect("events").get(name).is_none())
    );
    for (fault, outcome) in [("cancelled", "cancelled"), ("unknown-termination", "quota_exhausted")] {
        let events = gateway.say("e", "plain", fault).await;
        assert_eq!(events.last().expect("events")["outcome"]["type"], outcome);
    }
    let nulls = gateway.say("f", "plain", "nulls+legacy").await;
    assert_eq!((&nulls[0]["timestamp"], &nulls[1]["name"]), (&Value::Null, &Value::Null));
    assert!(nulls[1].as_object().expect("an event").contains_key("name"));
    let seconds = gateway.say("g", "plain", "seconds").await;
    assert!(seconds[0]["timestamp"].as_i64().is_some_and(|time| time < 100_000_000_000));
    let raw = gateway.say("h", "tools", "raw").await;
    assert!(!of(&raw, "RAW").is_empty());
    assert!(raw.iter().all(|event| event["type"] == "RAW" || event["rawEvent"].is_object()));
    assert!(words(&raw).contains("runs out of memory"));
}
