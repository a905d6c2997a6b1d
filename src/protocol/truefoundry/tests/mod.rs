//! Tests of the protocol: its events and requests as data, the hot path against the general reader.

mod answers;
mod deltas;
mod events;
mod hostile;
mod malformed;
mod requests;
mod runs;
mod sequence_numbers;
mod spellings;

use serde_json::{Value as Json, json};

use super::TurnDecoder;
use crate::event::{EventRef, TextDelta};
use crate::json::Value;
use crate::protocol::tests::seen::delta_json;
use crate::protocol::{EventDecoder, EventSink};
use crate::sse::Frame;

/// What a frame became.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    sequence_number: u64,
    event: Json,
    /// Whether it came by the hot path.
    is_hot: bool,
}

impl EventSink for Vec<Seen> {
    fn delta(&mut self, sequence_number: u64, delta: TextDelta<'_>) {
        self.push(Seen { sequence_number, event: delta_json(&delta), is_hot: true });
    }

    fn event(&mut self, sequence_number: u64, event: EventRef<'_>) {
        let json = Value::Object(event.fields.clone()).to_json();
        let event = serde_json::from_str(&json).expect("an event is JSON");
        self.push(Seen { sequence_number, event, is_hot: false });
    }

    fn mismatch(&mut self, id: u64, sequence_number: u64) {
        self.push(Seen { sequence_number: id, event: json!({"other": sequence_number}), is_hot: false });
    }
}

/// Decodes one frame's data; a frame is always exactly one event.
fn decode(decoder: &mut TurnDecoder, data: &str) -> Seen {
    let mut seen = Vec::new();
    decoder.decode(&Frame { event: "", data, id: Some("1"), has_own_id: true }, &mut seen);
    assert_eq!(seen.len(), 1, "{data}");
    seen.remove(0)
}

/// The event that a frame's data is, to a decoder that has seen nothing else.
fn event_of(data: &str) -> Json {
    decode(&mut TurnDecoder::default(), data).event
}

/// The type of an event.
fn type_of(event: &Json) -> &str {
    event["type"].as_str().expect("every event has a type")
}

/// The event as its Rust type, and back.
fn through_rust(event: &Json) -> Json {
    let text = event.to_string();
    let json = Value::parse(&text).expect("JSON");
    let typed = EventRef::of(json.as_object().expect("an object")).to_event();
    serde_json::to_value(typed).expect("an event is JSON")
}

fn without_nulls(json: Json) -> Json {
    match json {
        Json::Array(items) => items.into_iter().map(without_nulls).collect(),
        Json::Object(members) => {
            let said = members.into_iter().map(|(name, value)| (name, without_nulls(value)));
            said.filter(|(_, value)| !value.is_null()).collect()
        }
        other => other,
    }
}

/// Every type of event with every field that it has by section 3.2, as servers spell them.
#[expect(clippy::too_many_lines, reason = "a table")]
fn complete_events() -> Vec<Json> {
    let head = |kind: &str, thread: Json| json!({"type": kind, "id": "e1", "created_at": "2026-07-01T10:00:00.000Z", "thread_id": thread});
    let event = |kind: &str, thread: Json, fields: Json| {
        let mut event = head(kind, thread);
        let members = event.as_object_mut().expect("an object");
        members.extend(fields.as_object().expect("an object").clone());
        event
    };
    let mcp = json!({"type": "mcp", "server_id": "s1", "server_name": "console", "name": "restart"});
    let system = json!({"type": "truefoundry-system", "name": "ask_user_question"});
    let usage = json!({
        "input_tokens": 10, "output_tokens": 2, "cache_read_tokens": 3, "cache_write_tokens": 4,
        "input_tokens_breakdown":
            {"harness": 1, "skills": 2, "instructions": 3, "tool_definitions": 2, "messages": 2}
    });
    let call = json!({
        "id": "c1", "type": "function", "function": {"name": "restart", "arguments": "{}"},
        "tool_info": mcp, "provider_specific_fields": {"signature": "abc", "nested": {"a": [1]}}
    });
    let message = event(
        "model.message",
        json!("main"),
        json!({
            "content": "Hello", "name": "bot", "refusal": "no", "reasoning_content": "hm", "tool_calls": [call],
            "finish_reason": "tool_calls", "usage": usage
        }),
    );
    let delta_call = json!({
        "index": 0, "id": "c1", "type": "function", "function": {"name": "ask", "arguments": "{"},
        "tool_info": system, "provider_specific_fields": {"signature": "abc"}
    });
    let metrics = json!({
        "total_input_tokens": 1, "total_output_tokens": 2, "total_tokens": 3, "total_cache_read_tokens": 4,
        "total_cache_write_tokens": 5, "total_reasoning_tokens": 6, "total_cost_in_usd": 0.25
    });
    let subject = json!({"subject_id": "u1", "subject_type": "user", "subject_slug": "ada@example.com"});
    let parent = json!({"thread_id": "main", "tool_call_id": "c1"});
    let refs = json!({"tool_calls": [{"id": "c1", "source_event_id": "m1"}]});
    let auth = json!({"mcp_servers": [{"id": "s1", "name": "console", "auth_url": "https://a.example/x"}]});
    let parts = json!([{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "b"}]);
    let done = json!({
        "status": "done", "output": message, "completed_at": "2026-07-01T10:01:00Z", "metrics": metrics,
        "required_actions": [
            event("tool.approval_required", json!("main"), refs.clone()),
            event("tool.response_required", json!("t1"), refs.clone()),
            event("mcp.auth_required", Json::Null, auth.clone()),
        ]
    });
    let cancelled = json!({
        "status": "cancelled", "reason": "client-cancelled", "completed_at": "2026-07-01T10:01:00Z",
        "metrics": metrics
    });
    let failed = json!({
        "status": "error", "message": "out of order", "completed_at": "2026-07-01T10:01:00Z",
        "metrics": metrics
    });
    vec![
        event(
            "turn.created",
            Json::Null,
            json!({
                "turn_id": "u1", "previous_turn_id": "u0", "state": {"status": "running"}, "created_by": subject,
                "input": [
                    {"type": "user.message", "content": "Hi"},
                    {"type": "user.message", "content": [
                        {"type": "text", "text": "see"},
                        {"type": "file", "name": "a.txt", "data": "data:text/plain;base64,YQ=="}
                    ]},
                    {"type": "user.tool_approval", "thread_id": "main", "tool_call_id": "c1",
                     "approval": {"status": "allow"}},
                    {"type": "user.tool_approval", "thread_id": "main", "tool_call_id": "c2",
                     "approval": {"status": "deny", "reason": "no"}},
                    {"type": "user.tool_response", "thread_id": "main", "tool_call_id": "c3", "content": "yes"}
                ]
            }),
        ),
        event("turn.done", Json::Null, json!({"state": done})),
        event("turn.done", Json::Null, json!({"state": cancelled})),
        event("turn.done", Json::Null, json!({"state": failed})),
        message.clone(),
        event("model.message", json!("main"), json!({"content": parts})),
        event(
            "model.message.delta",
            json!("main"),
            json!({
                "content": "Hel", "refusal": "n", "reasoning_content": "h", "tool_calls": [delta_call],
                "finish_reason": "stop", "usage": usage
            }),
        ),
        event("tool.response", json!("main"), json!({"tool_call_id": "c1", "content": "42"})),
        event(
            "thread.created",
            json!("t1"),
            json!({
                "title": "Read the logs", "parent": parent,
                "agent_info": {"type": "dynamic", "name": "reader", "input": "Read", "model": "m-1"}
            }),
        ),
        event(
            "thread.done",
            json!("t1"),
            json!({
                "title": "Read the logs", "parent": parent, "state": {"status": "done", "output": message}
            }),
        ),
        event(
            "thread.done",
            json!("t1"),
            json!({
                "title": "Read the logs", "parent": parent,
                "state": {"status": "error", "error": "refused", "output": message}
            }),
        ),
        event(
            "mcp.initialize",
            json!("main"),
            json!({"mcp_servers": [
                {"id": "s1", "name": "console", "session_id": "x", "transport_type": "streamable-http"}
            ]}),
        ),
        event("mcp.auth_required", Json::Null, auth),
        event("sandbox.created", Json::Null, json!({"sandbox_id": "sbx-1"})),
        event("tool.approval_required", json!("main"), refs.clone()),
        event("tool.response_required", json!("main"), refs),
    ]
}
