//! The native types against frames of the real servers, and those of the serializer of tirea-contract 0.5.0.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::super::super::wire::{AgentEvent, AwakenEvent, RelayError};

fn frames(dialect: &str) -> Vec<Json> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agent-event").join(dialect);
    let mut frames = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the fixtures are there") {
        let path = entry.expect("a file").path();
        if path.extension().is_some_and(|extension| extension == "sse") {
            let stream = std::fs::read_to_string(path).expect("text");
            let data = stream.split("\n\n").filter_map(|frame| frame.strip_prefix("data: "));
            frames.extend(data.map(|data| serde_json::from_str::<Json>(data).expect("JSON")));
        }
    }
    frames
}

#[test]
fn frames_of_tirea_have_their_types() {
    let frames = frames("tirea");
    assert!(frames.len() > 500);
    for frame in frames {
        let typed: AgentEvent = serde_json::from_value(frame.clone()).expect("a known frame");
        assert_eq!(serde_json::to_value(typed).expect("JSON"), frame);
    }
}

#[test]
fn frames_of_awaken_have_their_types() {
    let frames = frames("awaken");
    assert!(frames.len() > 80);
    for frame in frames {
        let typed: AwakenEvent = serde_json::from_value(frame.clone()).expect("a known frame");
        assert_eq!(serde_json::to_value(typed).expect("JSON"), frame);
    }
}

/// Sections 1.2 and 1.3: envelopes are optional, empty payloads are left out.
#[test]
fn frames_of_the_serializer_have_their_types() {
    let ops = json!([
        {"op": "set", "path": ["user", "name"], "value": "Al"}, {"op": "delete", "path": ["tmp"]},
        {"op": "append", "path": ["list"], "value": 1}, {"op": "merge_object", "path": ["cfg"], "value": {"a": 1}},
        {"amount": 2, "op": "increment", "path": ["n"]}, {"amount": 0.5, "op": "decrement", "path": ["f"]},
        {"index": 0, "op": "insert", "path": ["list"], "value": "x"}, {"op": "remove", "path": ["list"], "value": 1},
        {"op": "lattice_merge", "path": ["crdt"], "value": {"_": 3}}, {"op": "set", "path": ["arr", 0], "value": null}]);
    let suspension = json!({"suspension": {"action": "tool:PermissionConfirm", "id": "fc_call_1", "message": "ok?",
        "parameters": {"a": 1}, "response_schema": {"type": "object"}}, "resume_mode": "replay_tool_call",
        "pending": {"arguments": {"tool_args": {}}, "id": "fc_call_1", "name": "PermissionConfirm"}});
    let data = [
        ("run_finish", json!({"termination": {"type": "stopped", "value": {"code": "max_rounds_reached"}}})),
        ("run_finish", json!({"result": {"response": "hi"}, "termination": {"type": "natural_end"}})),
        ("run_finish", json!({"termination": {"type": "error", "value": "boom"}})),
        (
            "tool_call_done",
            json!({"id": "call_1", "message_id": "m1", "outcome": "succeeded",
            "patch": {"description": "d", "id": "patch-1", "patch": {"ops": ops}, "source": "tool:search", "timestamp": 1_760_000_000_000_u64},
            "result": {"data": {"hits": 2}, "message": null, "metadata": {"k": 1}, "status": "success", "tool_name": "search"}}),
        ),
        (
            "tool_call_done",
            json!({"id": "call_1", "message_id": "m1", "outcome": "suspended", "result": {"data": null,
            "message": "awaiting", "metadata": {}, "status": "pending", "suspension": suspension, "tool_name": "search"}}),
        ),
        ("reasoning_encrypted_value", json!({"encrypted_value": "b64=="})),
        ("inference_complete", json!({"duration_ms": 12, "model": "gpt", "usage": {"prompt_tokens": 1}})),
        ("state_delta", json!({"delta": [{"op": "replace", "path": "/a", "value": 2}]})),
        ("messages_snapshot", json!({"messages": [{"content": "hi", "id": "m1", "role": "user"}]})),
        (
            "activity_snapshot",
            json!({"activity_type": "progress", "content": {"progress": 0.1}, "message_id": "x"}),
        ),
        (
            "activity_delta",
            json!({"activity_type": "tool-call-progress", "message_id": "tool_call:call_1",
            "patch": [{"op": "replace", "path": "/progress", "value": 0.5}]}),
        ),
        ("error", json!({"message": "boom"})),
    ];
    let mut frames: Vec<Json> =
        data.into_iter().map(|(kind, data)| json!({"type": kind, "data": data})).collect();
    frames.extend([
        json!({"type": "step_end"}),
        json!({"type": "run_start", "run_id": "run-1", "thread_id": "thread-1"}),
    ]);
    for frame in frames {
        let typed: AgentEvent = serde_json::from_value(frame.clone()).expect("a known frame");
        assert_eq!(serde_json::to_value(typed).expect("JSON"), frame);
    }
    for frame in [
        json!({"type": "step_start"}),
        json!({"type": "step_end", "data": null}),
        json!({"type": "step_end", "data": {"x": 1}}),
    ] {
        serde_json::from_value::<AgentEvent>(frame).expect("a known frame");
    }
}

#[test]
fn what_the_relay_says_has_its_type() {
    let frame = json!({"type": "error", "message": "relay", "code": "RELAY_ERROR"});
    let typed: RelayError = serde_json::from_value(frame.clone()).expect("a relay's error");
    assert_eq!(serde_json::to_value(typed).expect("JSON"), frame);
    serde_json::from_value::<AgentEvent>(frame).expect_err("no native frame");
}

#[test]
fn awakens_own_frames_have_their_types() {
    let frames = [
        json!({"event_type": "tool_call_cancel", "id": "c", "name": "t", "reason": "idle stall"}),
        json!({"event_type": "tool_call_stream_delta", "id": "c", "name": "t", "delta": "a"}),
        json!({"event_type": "stream_reset", "reason": "idle stall"}),
    ];
    for frame in frames {
        let typed: AwakenEvent = serde_json::from_value(frame.clone()).expect("a known frame");
        assert_eq!(serde_json::to_value(typed).expect("JSON"), frame);
    }
}
