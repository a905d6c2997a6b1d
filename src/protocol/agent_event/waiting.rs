//! Waiting calls → questions to the client, in the form of a stream's events (sections 2.2 and 5).

use crate::index::MAIN_THREAD;
use crate::json::{Object, Value};
use crate::protocol::fields::event;

/// The waiting calls in a thread's state.
pub(super) fn in_state<'a>(state: &Value<'a>) -> Vec<Value<'a>> {
    let scopes = state.get("__tool_call_scope").and_then(Value::as_object);
    let mut actions = Vec::new();
    for (call_id, scope) in scopes.into_iter().flat_map(Object::iter) {
        let Some(call) = scope.get("suspended_call").and_then(Value::as_object) else {
            continue;
        };
        let suspension = call.object("suspension").unwrap_or(const { &Object::new() });
        let call_id = call.get("call_id").and_then(Value::as_str).unwrap_or(call_id);
        actions.push(action(call_id, call, suspension));
    }
    actions
}

/// The calls for which a run waits, in awaken's form.
pub(super) fn of_tickets<'a>(tickets: &[Value<'a>]) -> Vec<Value<'a>> {
    let action = |ticket: &Object<'a>| {
        let mut suspension = Object::new();
        suspension.set("id", ticket.text("ticket_id").to_owned().into());
        suspension.set("action", ticket.text("reason").to_owned().into());
        action(ticket.text("tool_call_id"), ticket, &suspension)
    };
    tickets.iter().filter_map(Value::as_object).map(action).collect()
}

/// The question for one call. Replaying a call means allowing it; every other mode needs data from the client.
pub(super) fn action<'a>(call_id: &str, call: &Object<'a>, asked: &Object<'a>) -> Value<'a> {
    let resume_mode = match call.text("resume_mode") {
        "" => "replay_tool_call",
        mode => mode,
    };
    let kind = match resume_mode {
        "replay_tool_call" => "tool.approval_required",
        _ => "tool.response_required",
    };
    let mut waiting = Object::new();
    waiting.set("id", call_id.to_owned().into());
    waiting.set("source_event_id", "".into());
    waiting.set("event_id", "".into());
    waiting.set("name", call.text("tool_name").to_owned().into());
    if call.contains("arguments") {
        waiting.set("arguments", call.json("arguments").into());
    }
    waiting.set("suspension", suspension(call_id, asked, resume_mode).into());
    let mut event = event(kind, String::new(), MAIN_THREAD);
    event.set("tool_calls", vec![waiting.into()].into());
    event.into()
}

/// Why a call waits. Leaves out fields of the wrong type.
fn suspension<'a>(call_id: &str, asked: &Object<'a>, resume_mode: &str) -> Object<'a> {
    let id = match asked.text("id") {
        "" => call_id,
        id => id,
    };
    let mut suspension = Object::new();
    suspension.set("id", id.to_owned().into());
    suspension.set("action", asked.text("action").to_owned().into());
    if !asked.text("message").is_empty() {
        suspension.set("message", asked.text("message").to_owned().into());
    }
    for name in ["parameters", "response_schema"] {
        if let Some(value) = asked.get(name).filter(|value| !value.is_null()) {
            suspension.set(name, value.clone());
        }
    }
    suspension.set("resume_mode", resume_mode.to_owned().into());
    suspension
}
