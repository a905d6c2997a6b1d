//! Reads the fields of frames and events with checks, and writes them in one form.

use crate::error::sentence;
use crate::json::{Object, Value};

/// Why a frame does not fit its type.
pub(super) type Problem = String;

/// A required text.
pub(super) fn text<'o>(fields: &'o Object<'_>, name: &str) -> Result<&'o str, Problem> {
    optional_text(fields, name)?.ok_or_else(|| missing(name))
}

/// A text that may be missing, or `null`.
pub(super) fn optional_text<'o>(fields: &'o Object<'_>, name: &str) -> Result<Option<&'o str>, Problem> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(wrong(name, "a string")),
    }
}

/// The problem of a missing field.
pub(super) fn missing(name: &str) -> Problem {
    sentence(&["`", name, "` is missing"])
}

/// The problem of a field of the wrong type.
pub(super) fn wrong(name: &str, expected: &str) -> Problem {
    sentence(&["`", name, "` is not ", expected])
}

/// Joins texts with a separator. `join` is four times as large.
pub(super) fn joined(texts: &[&str], between: &str) -> String {
    let mut joined = String::new();
    for (at, text) in texts.iter().enumerate() {
        joined.push_str(if at > 0 { between } else { "" });
        joined.push_str(text);
    }
    joined
}

/// The beginning of an event. An empty `thread_id` means the whole turn.
pub(super) fn event<'a>(kind: &'static str, id: String, thread_id: &str) -> Object<'a> {
    let mut event = Object::new();
    event.set("type", kind.into());
    event.set("id", id.into());
    event.set("thread_id", text_or_null(thread_id));
    event
}

/// The event for data that is unknown, or could not be read.
pub(super) fn unknown<'a>(wire_type: Value<'a>, raw: Value<'a>, problem: Option<Problem>) -> Object<'a> {
    let mut event = with_text("type", "unknown");
    event.set("wire_type", wire_type);
    event.set("raw", raw);
    if let Some(problem) = problem {
        event.set("problem", problem.into());
    }
    event
}

/// A text; `null` if it is empty.
pub(super) fn text_or_null(text: &str) -> Value<'static> {
    if text.is_empty() { Value::Null } else { text.to_owned().into() }
}

/// Sets a text. Not inlined: copying a text into a value is much code, at many places.
#[inline(never)]
pub(super) fn put(event: &mut Object<'_>, name: &'static str, text: &str) {
    event.set(name, text.to_owned().into());
}

/// An object with one text.
pub(super) fn with_text<'a>(name: &'static str, text: &str) -> Object<'a> {
    let mut object = Object::new();
    put(&mut object, name, text);
    object
}

/// An object with one member.
pub(super) fn object<'a>(name: &'static str, value: Value<'a>) -> Object<'a> {
    let mut object = Object::new();
    object.set(name, value);
    object
}
