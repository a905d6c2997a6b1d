//! Pending actions (section 5): calls of the page's tools need a result, interrupts need an answer.

use crate::json::{Object, Value};
use crate::protocol::fields::{event, put, with_text};

/// The custom event with which one server asks, in place of an outcome. It becomes the suspension's `action`.
pub(super) const LEGACY: &str = "on_interrupt";

/// The call that an event asks about.
pub(super) struct Asked<'c> {
    pub(super) id: &'c str,
    pub(super) name: &'c str,
    pub(super) arguments: &'c str,
    pub(super) message_id: &'c str,
    pub(super) thread_id: &'c str,
}

/// The event that asks for the result or the approval of a call. `suspension` is the reason.
pub(super) fn question(
    kind: &'static str,
    event_id: String,
    call: &Asked<'_>,
    suspension: Option<Object<'static>>,
) -> Object<'static> {
    let mut waiting = with_text("id", call.id);
    put(&mut waiting, "source_event_id", call.message_id);
    put(&mut waiting, "event_id", call.message_id);
    if !call.name.is_empty() {
        put(&mut waiting, "name", call.name);
        put(&mut waiting, "arguments", call.arguments);
    }
    if let Some(suspension) = suspension {
        waiting.set("suspension", suspension.into());
    }
    let mut event = event(kind, event_id, call.thread_id);
    event.set("tool_calls", vec![waiting.into()].into());
    event
}

/// The reason of an interrupt.
pub(super) fn suspension(interrupt: &Object<'_>) -> Object<'static> {
    let mut suspension = with_text("id", interrupt.text("id"));
    put(&mut suspension, "action", interrupt.text("reason"));
    let texts = [("message", "message"), ("expires_at", "expiresAt")];
    for (name, from) in texts.into_iter().filter(|(_, from)| !interrupt.text(from).is_empty()) {
        put(&mut suspension, name, interrupt.text(from));
    }
    for (name, from) in [("parameters", "metadata"), ("response_schema", "responseSchema")] {
        if let Some(value) = interrupt.get(from).filter(|value| !value.is_null()) {
            suspension.set(name, value.clone().into_owned());
        }
    }
    suspension
}

/// The reason of a run that waits with a custom event. Its value is JSON, or JSON in a text.
pub(super) fn legacy_suspension(id: &str, value: &Value<'_>) -> Object<'static> {
    let parsed = value.as_str().and_then(|text| Value::parse(text).ok()).map(Value::into_owned);
    let value = parsed.unwrap_or_else(|| value.clone().into_owned());
    let mut suspension = with_text("id", id);
    put(&mut suspension, "action", LEGACY);
    if let Some(said) = value.as_object() {
        if !said.text("message").is_empty() {
            put(&mut suspension, "message", said.text("message"));
        }
        if let Some(schema) = said.get("responseSchema").filter(|schema| !schema.is_null()) {
            suspension.set("response_schema", schema.clone());
        }
    }
    suspension.set("parameters", value);
    suspension
}
