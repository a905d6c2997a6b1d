//! Reads the fields of frames, with checks that only this family needs.

use crate::json::{Object, Value};

pub(super) use crate::protocol::fields::{
    Problem, event, missing, object, optional_text, put, text, unknown, with_text, wrong,
};

/// A required value, moved out of its frame.
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

/// Checks a JSON Patch (RFC 6902).
pub(super) fn check_patch(fields: &Object<'_>, name: &str) -> Result<(), Problem> {
    let is_operation = |operation: &Value<'_>| {
        let Some(operation) = operation.as_object() else { return false };
        let has_text = |name| operation.get(name).is_some_and(Value::is_string);
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
