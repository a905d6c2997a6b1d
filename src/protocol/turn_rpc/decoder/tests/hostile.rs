//! Whatever comes: no panic, no hang, and nothing is lost in silence.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::Reading;

#[test]
fn what_cannot_be_read_is_told_with_its_problem() {
    for (line, wire_type, problem) in [
        ("no JSON", Json::Null, true),
        ("[]", Json::Null, true),
        (r#"{"a":1}"#, Json::Null, true),
        (r#"{"method":1}"#, Json::Null, true),
        (r#"{"method":"thread/newer","params":{"thread_id":"t"}}"#, json!("thread/newer"), false),
        (r#"{"method":"item/newer","params":{"thread_id":"t","turn_id":"u"}}"#, json!("item/newer"), false),
        (
            r#"{"method":"item/started","params":{"thread_id":"t","turn_id":"u"}}"#,
            json!("item/started"),
            true,
        ),
        (
            r#"{"method":"item/started","params":{"thread_id":"t","turn_id":"u","item":{"id":1,"type":"task"}}}"#,
            json!("item/started"),
            true,
        ),
        (
            r#"{"method":"item/completed","params":{"thread_id":"t","turn_id":"u","item":{"id":"x","type":"newer"}}}"#,
            json!("item/completed"),
            false,
        ),
        (
            r#"{"method":"item/agent_message/delta","params":{"thread_id":"t","turn_id":"u","item_id":"a"}}"#,
            json!("item/agent_message/delta"),
            true,
        ),
        (
            r#"{"method":"item/agent_message/delta","params":{"thread_id":"t","turn_id":"u","delta":"a"}}"#,
            json!("item/agent_message/delta"),
            true,
        ),
        (
            r#"{"method":"turn/completed","params":{"thread_id":"t","turn_id":"u"}}"#,
            json!("turn/completed"),
            true,
        ),
        (r#"{"response_to":"newer/call","result":{}}"#, json!("newer/call"), false),
    ] {
        let mut turn = Reading::gateway();
        turn.line(line);
        let last = turn.seen.last();
        assert_eq!((&last["type"], &last["wire_type"]), (&json!("unknown"), &wire_type), "{line}");
        assert_eq!(last.get("problem").is_some(), problem, "{line}");
    }
}

#[test]
fn what_is_of_others_says_nothing() {
    let mut turn = Reading::gateway();
    turn.line(r#"{"method":"item/newer","params":{"thread_id":"o","turn_id":"u"}}"#);
    turn.line(
        r#"{"method":"turn/completed","params":{"thread_id":"t","turn":{"id":"o","status":"Completed"}}}"#,
    );
    turn.line(
        r#"{"jsonrpc":"2.0","method":"thread/updated","params":{"thread":{"id":"t"},"thread_id":"t"}}"#,
    );
    assert!(turn.seen.events.is_empty());
}

#[test]
fn items_have_a_limit_and_those_beyond_it_are_told() {
    let mut turn = Reading::gateway();
    for number in 0..=super::super::items::MOST {
        turn.delta(&format!("a{number}"), "x", "agent_message");
    }
    let last = turn.seen.last();
    assert_eq!((&last["type"], &last["problem"]), (&json!("unknown"), &json!("the turn has too many items")));
}

const ITEMS: [&str; 12] = [
    "agentMessage",
    "reasoning",
    "userMessage",
    "systemEvent",
    "task",
    "commandExecution",
    "dynamicToolCall",
    "mcpToolCall",
    "fileChange",
    "webSearch",
    "plan",
    "newer",
];
const METHODS: [&str; 20] = [
    "item/started",
    "item/updated",
    "item/completed",
    "item/agent_message/delta",
    "item/agentMessage/delta",
    "item/reasoning/summaryPartAdded",
    "item/command_execution/output_delta",
    "item/tool/progress",
    "turn/started",
    "turn/failed",
    "turn/timeline/changed",
    "item/retry_scheduled",
    "item/tool/call",
    "item/commandExecution/requestApproval",
    "serverRequest/resolved",
    "thread/tokenUsage/updated",
    "error",
    "context/compressed",
    "thread/status/changed",
    "newer",
];

/// Values of every kind in place of one that is expected.
fn odd() -> impl Strategy<Value = Json> {
    let ids = prop_oneof![Just(json!("a")), Just(json!("b")), Just(json!("calls:a"))];
    prop_oneof![6 => ids, 1 => Just(Json::Null), 1 => Just(json!(7)), 1 => Just(json!([1, "x"])), 1 => Just(json!({"a": {"b": []}}))]
}

fn message() -> impl Strategy<Value = Json> {
    let item = (0..ITEMS.len(), odd(), odd(), odd(), odd()).prop_map(|(kind, id, text, list, other)| {
        json!({"type": ITEMS[kind], "id": id, "text": text, "summary": list, "content": [text], "toolName": other, "taskId": id,
            "arguments": other, "display": list, "status": text, "success": other, "attachments": [list]})
    });
    (0..METHODS.len(), item, odd(), odd(), odd(), proptest::bool::ANY, 0..4_u8).prop_map(|(method, item, id, text, other, is_child, response)| {
        if response == 0 {
            let kind = ["itemStarted", "itemCompleted", "itemRetryScheduled"][usize::from(is_child)];
            let event = json!({"payload": {"type": kind, "item": item, "reason": text}});
            let origin = json!({"kind": if is_child { "child_turn" } else { "parent_turn" }, "taskId": id, "childTurnId": other});
            let timeline = json!({"id": id, "origin": origin, "payload": {"kind": "turn_item_event", "event": event}});
            return json!({"response_to": "turn/timeline", "result": {"items": [timeline, other]}});
        }
        let mut message = json!({"method": METHODS[method], "params": {
            "thread_id": "t", "turn_id": "u", "item": item, "item_id": id, "itemId": id, "delta": text, "stream": other, "payload": other,
            "turn": {"id": "u", "status": text, "items": [item]}, "tokenUsage": {"total": {"inputTokens": other}, "last": other},
            "requestId": id, "reason": other, "callId": text,
        }});
        if METHODS[method].contains("request") || METHODS[method] == "item/tool/call" {
            message["id"] = id;
        }
        message
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn whatever_comes_is_told_in_order(messages in proptest::collection::vec(message(), 0..40), is_codex: bool, back in 0..40_usize) {
        let mut turn = if is_codex { Reading::codex() } else { Reading::gateway() };
        for (at, message) in messages.iter().enumerate() {
            if at == back && !turn.decoder.turn.is_over() {
                turn.resume(&json!({"sessionId": "t", "turnId": "u", "afterSequenceNumber": turn.seen.events.len()}));
            }
            turn.hear(message);
        }
        prop_assert!(turn.seen.of("turn.created").len() <= 1);
        prop_assert!(turn.seen.of("turn.done").len() <= 1);
    }
}
