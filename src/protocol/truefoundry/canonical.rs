//! Wire JSON → events in turnwire's form: completed, checked, or wrapped as unknown.

use crate::event::EventKind;
use crate::json::{Object, Value};

use crate::protocol::fields::unknown;

use super::{schema, spelling};

/// The event in a frame's data, and its number; 0 if it has none.
pub(super) fn event_of(data: &str) -> (u64, Object<'_>) {
    match Value::parse(data) {
        Ok(json) => event(json),
        Err(error) => (0, unknown(Value::Null, Value::from(data), Some(error.message()))),
    }
}

/// The event in a JSON value, and its number. The number is removed from the event: it belongs to the stream, and an
/// `id` may override it.
pub(super) fn event(json: Value<'_>) -> (u64, Object<'_>) {
    let said = json.get(NUMBER).map(|number| sequence_number(number.as_u64()));
    let mut event = typed(json);
    if said.is_some() {
        event.remove(NUMBER);
    }
    (said.unwrap_or(0), event)
}

/// The number if it is valid: from 1 to 2^53 - 1, the largest exact integer in JavaScript. Otherwise 0.
pub(super) fn sequence_number(number: Option<u64>) -> u64 {
    number.filter(|number| *number < 1 << 53).unwrap_or(0)
}

/// The field with an event's number.
pub(super) const NUMBER: &str = "sequence_number";

fn typed(json: Value<'_>) -> Object<'_> {
    let mut event = match json {
        Value::Object(event) => event,
        other => return unknown(Value::Null, other, Some("it is not an object".to_owned())),
    };
    let Some(wire_type) = event.get("type").and_then(Value::as_str).map(str::to_owned) else {
        return unknown(Value::Null, event.into(), Some("it has no `type`".to_owned()));
    };
    let kind = known(&wire_type);
    spelling::complete(kind, &mut event);
    match schema::check(kind, &event) {
        Ok(()) if kind == EventKind::Unknown => unknown(wire_type.into(), event.into(), None),
        Ok(()) => event,
        Err(problem) => unknown(wire_type.into(), event.into(), Some(problem)),
    }
}

/// The kind of a type that this protocol has.
fn known(wire_type: &str) -> EventKind {
    match EventKind::of(wire_type) {
        kind if kind as u8 <= EventKind::ToolResponseRequired as u8 => kind,
        _ => EventKind::Unknown,
    }
}
