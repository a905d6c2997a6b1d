//! Fields of frames and events: read with a demand, written in one form.

use crate::error::sentence;
use crate::json::{Object, Value};

/// Why a frame is not what its type says.
pub(super) type Problem = String;

/// A text that must be there.
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

/// A value that must be there, moved out of its frame.
pub(super) fn take<'a>(fields: &mut Object<'a>, name: &str) -> Result<Value<'a>, Problem> {
    fields.get_mut(name).map(std::mem::take).ok_or_else(|| missing(name))
}

/// Checks that a field is an object, if it is there.
pub(super) fn check_object(fields: &Object<'_>, name: &str) -> Result<(), Problem> {
    match fields.get(name) {
        None | Some(Value::Null | Value::Object(_)) => Ok(()),
        Some(_) => Err(wrong(name, "an object")),
    }
}

/// The problem of a field that is not there.
pub(super) fn missing(name: &str) -> Problem {
    sentence(&["`", name, "` is missing"])
}

/// The problem of a field of another type.
pub(super) fn wrong(name: &str, expected: &str) -> Problem {
    sentence(&["`", name, "` is not ", expected])
}

/// Checks a JSON Patch (RFC 6902).
pub(super) fn check_patch(fields: &Object<'_>, name: &str) -> Result<(), Problem> {
    let is_operation = |operation: &Value<'_>| {
        let Some(operation) = operation.as_object() else { return false };
        let has_text = |name| operation.get(name).is_some_and(|path| path.as_str().is_some());
        has_text("path")
            && match operation.text("op") {
                "remove" => true,
                "add" | "replace" | "test" => operation.contains("value"),
                "move" | "copy" => has_text("from"),
                _ => false,
            }
    };
    check_list(fields, name, is_operation, "a list of RFC 6902 operations")
}

/// Checks a list's elements.
pub(super) fn check_list(
    fields: &Object<'_>,
    name: &str,
    is_element: fn(&Value<'_>) -> bool,
    expected: &str,
) -> Result<(), Problem> {
    match fields.get(name).and_then(Value::as_array) {
        Some(elements) if elements.iter().all(is_element) => Ok(()),
        _ => Err(wrong(name, expected)),
    }
}

/// An event's beginning. `thread_id` is empty for what concerns the whole turn.
pub(super) fn event<'a>(kind: &'static str, id: String, thread_id: &str) -> Object<'a> {
    let mut event = Object::new();
    event.set("type", kind.into());
    event.set("id", id.into());
    event.set("thread_id", if thread_id.is_empty() { Value::Null } else { thread_id.to_owned().into() });
    event
}

/// Sets a text. Not inlined: that a text is copied into a value is much code, at many places.
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
