//! Section 3.6: where the vendor's reference pages and its servers spell a field differently, an event
//! carries both spellings, whichever arrived.

use serde_json::{Value as Json, json};

use super::{event_of, through_rust, type_of};

/// An event on the wire, and what turnwire's form adds to it.
struct Case {
    name: &'static str,
    wire: Json,
    adds: Vec<(&'static str, Json)>,
}

fn case<const N: usize>(name: &'static str, wire: Json, adds: [(&'static str, Json); N]) -> Case {
    Case { name, wire, adds: adds.into() }
}

/// Sets what a JSON pointer points to, in an object.
fn set(json: &mut Json, pointer: &str, value: Json) {
    let (owner, name) = pointer.rsplit_once('/').expect("a pointer");
    json.pointer_mut(owner).expect("the owner is there")[name] = value;
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn cases() -> Vec<Case> {
    let message = |info: Json| {
        json!({"type": "model.message", "id": "m", "thread_id": "main", "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": ""}, "tool_info": info}
        ]})
    };
    let delta = |info: Json| {
        json!({"type": "model.message.delta", "id": "m", "thread_id": "main",
               "tool_calls": [{"index": 0, "id": "c", "tool_info": info}]})
    };
    let shipped_info = json!({"type": "mcp", "server_id": "s", "server_name": "n", "name": "f"});
    let reference_info = json!({"type": "mcp", "mcp_server_id": "s", "mcp_server_name": "n", "name": "f", "is_deferred": true});
    let info = |pointers: [&'static str; 2]| [(pointers[0], json!("s")), (pointers[1], json!("n"))];
    let required = |kind: &str, name: &str| json!({"type": kind, "id": "e", "thread_id": "t", "tool_calls": [{"id": "c", name: "m"}]});
    let subject = json!({"subject_id": "u", "subject_type": "user", "subject_slug": "ada"});
    let created = |name: &str, by: Json| {
        json!({"type": "turn.created", "id": "e", "turn_id": "u", "previous_turn_id": null, "thread_id": null,
               "input": [], "state": {"status": "running"}, name: by})
    };
    let with_part = |part: Json| {
        let mut event = created("created_by", json!("ada"));
        event["input"] = json!([{"type": "user.message", "content": [part]}]);
        event
    };
    let server = json!({"id": "s", "name": "n", "mcp_server_name": "n", "session_id": "x"});
    let auth = json!({"id": "n", "name": "n", "mcp_server_name": "n", "auth_url": "u", "thread_ids": ["t"]});
    let output = json!({"type": "model.message", "id": "m", "thread_id": "t", "content": "a"});
    let thread_done = |fields: Json| {
        let mut event = json!({"type": "thread.done", "id": "e", "thread_id": "t", "title": "T"});
        event.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
        event
    };
    let state_error = json!({"status": "error", "error": "refused"});
    vec![
        case(
            "tool_info, shipped",
            message(shipped_info.clone()),
            info(["/tool_calls/0/tool_info/mcp_server_id", "/tool_calls/0/tool_info/mcp_server_name"]),
        ),
        case(
            "tool_info, reference",
            message(reference_info.clone()),
            info(["/tool_calls/0/tool_info/server_id", "/tool_calls/0/tool_info/server_name"]),
        ),
        case(
            "a delta's tool_info, shipped",
            delta(shipped_info),
            info(["/tool_calls/0/tool_info/mcp_server_id", "/tool_calls/0/tool_info/mcp_server_name"]),
        ),
        case(
            "a delta's tool_info, reference",
            delta(reference_info),
            info(["/tool_calls/0/tool_info/server_id", "/tool_calls/0/tool_info/server_name"]),
        ),
        case(
            "approval, shipped",
            required("tool.approval_required", "source_event_id"),
            [("/tool_calls/0/event_id", json!("m"))],
        ),
        case(
            "approval, reference",
            required("tool.approval_required", "event_id"),
            [("/tool_calls/0/source_event_id", json!("m"))],
        ),
        case(
            "approval, reference: \"each with a tool_call_id (id)\"",
            json!({"type": "tool.approval_required", "id": "e", "thread_id": "t",
                   "tool_calls": [{"tool_call_id": "c", "event_id": "m"}]}),
            [("/tool_calls/0/id", json!("c")), ("/tool_calls/0/source_event_id", json!("m"))],
        ),
        case(
            "response, shipped",
            required("tool.response_required", "source_event_id"),
            [("/tool_calls/0/event_id", json!("m"))],
        ),
        case(
            "response, reference",
            required("tool.response_required", "event_id"),
            [("/tool_calls/0/source_event_id", json!("m"))],
        ),
        case(
            "created_by as a subject",
            created("created_by", subject.clone()),
            [("/created_by_subject", subject.clone())],
        ),
        case(
            "created_by_subject",
            created("created_by_subject", subject.clone()),
            [("/created_by", subject)],
        ),
        case("created_by as a name", created("created_by", json!("ada")), []),
        case(
            "a file, shipped",
            with_part(json!({"type": "file", "name": "a", "data": "data:x;base64,"})),
            [("/input/0/content/0/file", json!({"filename": "a", "file_data": "data:x;base64,"}))],
        ),
        case(
            "a file, reference",
            with_part(
                json!({"type": "file_upload", "file": {"filename": "a", "file_data": "data:x;base64,"}}),
            ),
            [("/input/0/content/0/name", json!("a")), ("/input/0/content/0/data", json!("data:x;base64,"))],
        ),
        case(
            "mcp.initialize, shipped",
            json!({"type": "mcp.initialize", "id": "e", "thread_id": "t",
                   "mcp_servers": [{"id": "s", "name": "n", "session_id": "x"}]}),
            [("/mcp_servers", json!([server])), ("/content", json!([server]))],
        ),
        case(
            "mcp.initialize, reference",
            json!({"type": "mcp.initialize", "id": "e", "thread_id": "t",
                   "content": [{"id": "s", "mcp_server_name": "n", "session_id": "x"}]}),
            [("/mcp_servers", json!([server])), ("/content", json!([server]))],
        ),
        case(
            "mcp.auth_required, shipped",
            json!({"type": "mcp.auth_required", "id": "e", "thread_id": null,
                   "mcp_servers": [{"id": "n", "name": "n", "auth_url": "u", "thread_ids": ["t"]}]}),
            [("/mcp_servers", json!([auth])), ("/servers", json!([auth]))],
        ),
        case(
            "mcp.auth_required, reference: the name serves as id",
            json!({"type": "mcp.auth_required", "id": "e", "thread_id": null,
                   "servers": [{"mcp_server_name": "n", "auth_url": "u", "thread_ids": ["t"]}]}),
            [("/mcp_servers", json!([auth])), ("/servers", json!([auth]))],
        ),
        case(
            "thread.done, shipped: done",
            thread_done(json!({"state": {"status": "done", "output": output}})),
            [("/status", json!("done")), ("/output", output.clone())],
        ),
        case(
            "thread.done, reference: done",
            thread_done(json!({"status": "done", "output": output})),
            [("/state", json!({"status": "done", "output": output}))],
        ),
        case(
            "thread.done, shipped: error",
            thread_done(json!({"state": state_error})),
            [("/status", json!("error")), ("/message", json!("refused"))],
        ),
        case(
            "thread.done, reference: error",
            thread_done(json!({"status": "error", "message": "refused"})),
            [("/state", state_error)],
        ),
        case(
            "a required action inside turn.done",
            json!({"type": "turn.done", "id": "e", "thread_id": null, "state": {
                "status": "done", "output": null,
                "required_actions": [required("tool.approval_required", "event_id")]}}),
            [("/state/required_actions/0/tool_calls/0/source_event_id", json!("m"))],
        ),
    ]
}

#[test]
fn either_spelling_brings_both() {
    for Case { name, wire, adds } in cases() {
        let mut expected = wire.clone();
        for (pointer, value) in adds {
            set(&mut expected, pointer, value);
        }
        assert_eq!(event_of(&wire.to_string()), expected, "{name}");
    }
}

#[test]
fn either_spelling_has_its_rust_type() {
    for Case { name, wire, .. } in cases() {
        let typed = through_rust(&event_of(&wire.to_string()));
        assert_eq!(type_of(&typed), type_of(&wire), "{name}: {typed}");
    }
}

/// Completing what is complete changes nothing: listed events may pass through more than once.
#[test]
fn completing_twice_is_completing_once() {
    for Case { name, wire, .. } in cases() {
        let once = event_of(&wire.to_string());
        assert_eq!(event_of(&once.to_string()), once, "{name}");
    }
}

/// A server that sends both keeps both.
#[test]
fn spellings_that_differ_are_left_alone() {
    let wire = json!({"type": "tool.approval_required", "id": "e", "thread_id": "t",
                      "tool_calls": [{"id": "c", "source_event_id": "one", "event_id": "other"}]});
    assert_eq!(event_of(&wire.to_string()), wire);
}
