//! How turns end (sections 6, 7 and 14).

use serde_json::{Value as Json, json};

use super::Reading;

fn end(turn: &mut Reading, method: &str, own: Json) -> Json {
    turn.notify(method, json!({"turn": own}));
    assert_eq!(turn.seen.last()["type"], "turn.done");
    turn.seen.last()["state"].clone()
}

#[test]
fn states_are_those_of_the_server() {
    let done = json!({"status": "done", "output": null, "required_actions": []});
    for (method, own, expected) in [
        ("turn/completed", json!({"id": "u", "status": "Completed"}), done.clone()),
        ("turn/completed", json!({"id": "u", "status": "Newer"}), done.clone()),
        ("turn/completed", json!({"id": "u", "status": "InProgress"}), done),
        (
            "turn/failed",
            json!({"id": "u", "status": "Failed", "error": "no"}),
            json!({"status": "error", "message": "no"}),
        ),
        ("turn/failed", json!({"id": "u"}), json!({"status": "error", "message": "the turn failed"})),
        (
            "turn/failed",
            json!({"id": "u", "status": "Interrupted", "error": "stop"}),
            json!({"status": "cancelled", "reason": "stop"}),
        ),
    ] {
        assert_eq!(end(&mut Reading::gateway(), method, own), expected);
    }
    let failed = json!({"id": "u", "status": "failed", "error": {"message": "busy", "codexErrorInfo": {"http": 500}}, "completedAt": 1});
    assert_eq!(
        end(&mut Reading::codex(), "turn/completed", failed),
        json!({"status": "error", "message": "busy", "code": r#"{"http":500}"#, "completed_at": "1970-01-01T00:00:01.000Z"})
    );
    assert_eq!(
        end(&mut Reading::codex(), "turn/completed", json!({"id": "u", "status": "interrupted"}))["reason"],
        "interrupted"
    );
}

#[test]
fn whatever_is_open_is_closed() {
    let mut turn = Reading::gateway();
    turn.delta("a", "Hel", "agent_message");
    turn.item("started", json!({"type": "reasoning", "id": "r", "summary": [], "content": []}));
    turn.item("started", json!({"type": "download", "id": "c", "toolName": "download_url", "arguments": {}, "status": "in_progress"}));
    let state = end(&mut turn, "turn/failed", json!({"id": "u", "status": "Interrupted", "error": "stop"}));
    assert_eq!(state["status"], "cancelled");
    assert_eq!(turn.seen.index.message("a").expect("a message").finish_reason(), "interrupted");
    assert!(
        turn.seen.index.message("r").expect("a message").calls()[0].as_ref().expect("a call").is_cancelled
    );
    let count = turn.seen.events.len();
    turn.delta("a", "lo", "agent_message");
    turn.line("no JSON");
    assert_eq!(turn.seen.events.len(), count, "it is over");
}

#[test]
fn the_last_answer_is_the_output_and_tokens_are_counted() {
    let mut turn = Reading::codex();
    turn.item("completed", json!({"type": "agentMessage", "id": "a", "text": "One"}));
    for (total, last) in [(115, 15), (130, 15), (150, 20)] {
        let counts = |tokens: u64| json!({"totalTokens": tokens, "inputTokens": tokens - 5, "outputTokens": 5, "cachedInputTokens": 0});
        turn.notify(
            "thread/tokenUsage/updated",
            json!({"tokenUsage": {"total": counts(total), "last": counts(last)}}),
        );
    }
    let items = json!([{"type": "agentMessage", "id": "b", "text": "Two"}]);
    let state = end(&mut turn, "turn/completed", json!({"id": "u", "status": "completed", "items": items}));
    assert_eq!((&state["output"]["id"], &state["output"]["content"]), (&json!("b"), &json!("Two")));
    assert_eq!(state["metrics"]["total_tokens"], 50);
}

#[test]
fn a_manifest_is_news() {
    let mut turn = Reading::gateway();
    let manifest =
        json!({"compiler_version": "1", "diagnostics": [{"code": "missing_file", "message": "m"}]});
    end(&mut turn, "turn/completed", json!({"id": "u", "status": "Completed", "prompt_manifest": manifest}));
    let notice = turn.seen.of("notice")[0].clone();
    assert_eq!(
        (&notice["code"], &notice["level"], &notice["details"]),
        (&json!("prompt_manifest"), &json!("warning"), &manifest)
    );
}
