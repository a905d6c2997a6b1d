//! Events in turnwire's form: complete ones, and ones that servers may cut short (sections 3.2 and 3.5).

use serde_json::{Value as Json, json};

use super::{complete_events, event_of, through_rust, type_of, without_nulls};

/// Whether `found` says all that `wire` says, and perhaps more.
fn holds(found: &Json, wire: &Json) -> bool {
    match (found, wire) {
        (Json::Object(found), Json::Object(wire)) => {
            wire.iter().all(|(name, value)| found.get(name).is_some_and(|found| holds(found, value)))
        }
        (Json::Array(found), Json::Array(wire)) => {
            found.len() == wire.len() && found.iter().zip(wire).all(|(found, wire)| holds(found, wire))
        }
        _ => found == wire,
    }
}

#[test]
fn section_3_2_every_field_of_every_type_arrives() {
    let events = complete_events();
    let mut types: Vec<&str> = events.iter().map(type_of).collect();
    types.dedup();
    assert_eq!(types.len(), 12, "{types:?}");
    for wire in &events {
        let event = event_of(&wire.to_string());
        assert!(holds(&event, wire), "\n  wire  {wire}\n  event {event}");
    }
}

#[test]
fn section_3_2_every_type_has_its_rust_type() {
    for wire in complete_events() {
        let event = event_of(&wire.to_string());
        let mut typed = through_rust(&event);
        assert_eq!(type_of(&typed), type_of(&wire), "{typed}");
        // An output is not an event to the Rust types, although it has a type on the wire.
        for owner in ["/state/output", "/output"] {
            if let Some(output) = typed.pointer_mut(owner).filter(|output| output.is_object()) {
                output["type"] = "model.message".into();
            }
        }
        assert_eq!(without_nulls(typed), without_nulls(event));
    }
}

#[test]
fn section_1_2_unknown_fields_stay() {
    for mut wire in complete_events() {
        wire["x_new"] = json!({"deep": [1, null, "é"]});
        if wire["state"].is_object() {
            wire["state"]["x_new"] = json!(true);
        }
        if wire["tool_calls"].is_array() {
            wire["tool_calls"][0]["x_new"] = json!(1.50);
        }
        let event = event_of(&wire.to_string());
        assert!(holds(&event, &wire), "\n  wire  {wire}\n  event {event}");
    }
}

/// What may be missing or null, although the vendor's own clients drop the event for it.
#[test]
fn section_3_5_missing_fields_are_forgiven() {
    let required = |kind: &str| -> &[&str] {
        match kind {
            "turn.created" => &["type", "turn_id"],
            "turn.done" | "thread.done" => &["type", "thread_id", "state"],
            "model.message" | "model.message.delta" => &["type", "id"],
            "tool.response" => &["type", "tool_call_id", "content"],
            "thread.created" => &["type", "thread_id"],
            "sandbox.created" => &["type", "sandbox_id"],
            _ => &["type"],
        }
    };
    for wire in complete_events() {
        let kind = type_of(&wire);
        for name in wire.as_object().expect("an object").keys() {
            if required(kind).contains(&&**name) {
                continue;
            }
            let (mut missing, mut null) = (wire.clone(), wire.clone());
            missing.as_object_mut().expect("an object").remove(name);
            null[name] = Json::Null;
            for cut in [missing, null] {
                let event = event_of(&cut.to_string());
                assert_eq!(type_of(&event), kind, "without `{name}`: {event}");
            }
        }
    }
}

#[test]
fn section_3_5_missing_fields_deeper_down_are_forgiven() {
    let cases: &[(&str, &str)] = &[
        ("turn.done", "/state/required_actions"),
        ("turn.done", "/state/output"),
        ("turn.done", "/state/completed_at"),
        ("turn.done", "/state/metrics"),
        ("turn.done", "/state/metrics/total_tokens"),
        ("turn.created", "/created_by/subject_slug"),
        ("model.message", "/usage/input_tokens_breakdown"),
        ("model.message", "/usage/input_tokens_breakdown/skills"),
        ("model.message", "/tool_calls/0/tool_info"),
        ("model.message", "/tool_calls/0/type"),
        ("model.message", "/tool_calls/0/function"),
        ("model.message", "/tool_calls/0/function/arguments"),
        ("model.message.delta", "/tool_calls/0/function"),
        ("model.message.delta", "/tool_calls/0/function/name"),
        ("tool.approval_required", "/tool_calls/0/source_event_id"),
        ("mcp.initialize", "/mcp_servers/0/id"),
        ("mcp.initialize", "/mcp_servers/0/session_id"),
        ("mcp.auth_required", "/mcp_servers/0/id"),
        ("thread.created", "/agent_info/input"),
        ("thread.done", "/state/output"),
    ];
    for (kind, pointer) in cases {
        let mut wire = complete_events().into_iter().find(|event| type_of(event) == *kind).expect("it");
        *wire.pointer_mut(pointer).unwrap_or_else(|| panic!("{kind} has {pointer}")) = Json::Null;
        let event = event_of(&wire.to_string());
        assert_eq!(type_of(&event), *kind, "{pointer}: {event}");
    }
}

/// Defaults where something is missing: the main thread, an empty list, null.
#[test]
fn section_3_5_missing_fields_are_completed() {
    let cases = [
        (json!({"type": "turn.created", "turn_id": "u1"}), "/thread_id", Json::Null),
        (json!({"type": "turn.created", "turn_id": "u1"}), "/previous_turn_id", Json::Null),
        (json!({"type": "turn.created", "turn_id": "u1"}), "/input", json!([])),
        (json!({"type": "turn.created", "turn_id": "u1"}), "/state", json!({"status": "running"})),
        (json!({"type": "model.message", "id": "m1"}), "/thread_id", json!("main")),
        (json!({"type": "model.message.delta", "id": "m1"}), "/thread_id", json!("main")),
        (json!({"type": "model.message.delta", "id": "m1", "thread_id": null}), "/thread_id", json!("main")),
        (json!({"type": "tool.response", "tool_call_id": "c", "content": ""}), "/thread_id", json!("main")),
        (json!({"type": "tool.approval_required", "tool_calls": []}), "/thread_id", json!("main")),
        (json!({"type": "tool.response_required", "tool_calls": []}), "/thread_id", json!("main")),
        (json!({"type": "mcp.initialize", "mcp_servers": []}), "/thread_id", json!("main")),
        (json!({"type": "mcp.auth_required", "mcp_servers": []}), "/thread_id", Json::Null),
        (json!({"type": "sandbox.created", "sandbox_id": "s"}), "/thread_id", Json::Null),
        (json!({"type": "turn.done", "state": {"status": "done"}}), "/thread_id", Json::Null),
        (json!({"type": "turn.done", "state": {"status": "done"}}), "/state/output", Json::Null),
        (json!({"type": "turn.done", "state": {"status": "done"}}), "/state/required_actions", json!([])),
        (json!({"type": "turn.done", "state": {"status": "cancelled"}}), "/state/reason", Json::Null),
    ];
    for (wire, pointer, expected) in cases {
        let event = event_of(&wire.to_string());
        assert_eq!(event["type"], wire["type"]);
        assert_eq!(event.pointer(pointer), Some(&expected), "{pointer} of {event}");
    }
}

/// No caller waits for ever because a turn ended in a way that is newer than this version.
#[test]
fn an_unknown_terminal_status_is_an_error_that_names_it() {
    let wire = json!({"type": "turn.done", "id": "e", "state": {"status": "evicted", "completed_at": "t"}});
    let state = &event_of(&wire.to_string())["state"];
    assert_eq!(state["status"], "error");
    assert_eq!(state["wire_status"], "evicted");
    assert_eq!(state["completed_at"], "t");
    assert!(state["message"].as_str().expect("a message").contains("`evicted`"));

    let wire = json!({"type": "turn.done", "id": "e", "state": {"status": "evicted", "message": "moved"}});
    assert_eq!(event_of(&wire.to_string())["state"]["message"], "moved", "the server's own words stay");
}

#[test]
fn section_1_6_unknown_reasons_and_finish_reasons_pass() {
    let cancelled =
        json!({"type": "turn.done", "id": "e", "state": {"status": "cancelled", "reason": "eclipse"}});
    assert_eq!(event_of(&cancelled.to_string())["state"]["reason"], "eclipse");
    let delta = json!({"type": "model.message.delta", "id": "m", "finish_reason": "eclipse"});
    assert_eq!(event_of(&delta.to_string())["finish_reason"], "eclipse");
}
