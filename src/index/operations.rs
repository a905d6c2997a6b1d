//! The operations of tool calls on the agent's state (protocol note of `AgentEvent`, section 1.3, `TrackedPatch`). They
//! are not JSON Patch: paths are lists of names and indexes, and missing objects on a path are created.

use crate::error::sentence;
use crate::json::{MAX_DEPTH, Object, Value, is_same};

use super::decimal;

/// Applies one operation. On an error the state may be partly changed.
pub(super) fn apply_operation(state: &mut Value<'static>, operation: &Object<'_>) -> Result<(), String> {
    let path = operation.get("path").and_then(Value::as_array).ok_or("it has no `path`")?;
    // Operations must not build a state that is too deep to be read.
    if path.len() > MAX_DEPTH as usize {
        return Err("its `path` is too deep".to_owned());
    }
    let value = || operation.get("value").cloned().unwrap_or_default().into_owned();
    match operation.text("op") {
        // Without the server's merge rules, both set the value.
        "set" | "lattice_merge" => value_at_or_new(state, path).map(|target| *target = value()),
        "delete" => {
            delete(state, path);
            Ok(())
        }
        "append" => match value_at_or(state, path, Value::Array(Vec::new()))? {
            Value::Array(items) => {
                items.push(value());
                Ok(())
            }
            _ => Err(wrong_type(path, "an array")),
        },
        "merge_object" => match (value_at_or(state, path, Value::Object(Object::new()))?, value()) {
            (Value::Object(members), Value::Object(more)) => {
                for (name, value) in more {
                    members.insert(name, value);
                }
                Ok(())
            }
            _ => Err(wrong_type(path, "an object")),
        },
        "increment" => {
            add(value_at(state, path)?, operation, false).ok_or_else(|| wrong_type(path, "a number in range"))
        }
        "decrement" => {
            add(value_at(state, path)?, operation, true).ok_or_else(|| wrong_type(path, "a number in range"))
        }
        "insert" => {
            let items = value_at(state, path)?.as_array_mut().ok_or_else(|| wrong_type(path, "an array"))?;
            let index = operation.get("index").and_then(index_of).filter(|index| *index <= items.len());
            items.insert(index.ok_or_else(|| missing_path(path))?, value());
            Ok(())
        }
        "remove" => {
            let items = value_at(state, path)?.as_array_mut().ok_or_else(|| wrong_type(path, "an array"))?;
            let removed = value();
            if let Some(at) = items.iter().position(|item| is_same(item, &removed)) {
                items.remove(at);
            }
            Ok(())
        }
        _ => Err("the operation is unknown".to_owned()),
    }
}

/// The value at a path.
fn value_at<'s>(state: &'s mut Value<'static>, path: &[Value<'_>]) -> Result<&'s mut Value<'static>, String> {
    path.iter().try_fold(state, step).ok_or_else(|| missing_path(path))
}

fn step<'s>(parent: &'s mut Value<'static>, key: &Value<'_>) -> Option<&'s mut Value<'static>> {
    match key {
        Value::String(name) => parent.as_object_mut()?.get_mut(name),
        key => parent.as_array_mut()?.get_mut(index_of(key)?),
    }
}

/// The value at a path. Objects on the path are created, in place of values of other types; elements of arrays are
/// not.
fn value_at_or_new<'s>(
    state: &'s mut Value<'static>,
    path: &[Value<'_>],
) -> Result<&'s mut Value<'static>, String> {
    let mut target = state;
    for key in path {
        if let Value::String(name) = key {
            if target.as_object().is_none() {
                *target = Value::Object(Object::new());
            }
            let members = target.as_object_mut().ok_or_else(|| missing_path(path))?;
            if !members.contains(name) {
                members.insert(name.to_string(), Value::Null);
            }
        }
        target = step(target, key).ok_or_else(|| missing_path(path))?;
    }
    Ok(target)
}

/// The same. A value that is missing or `null` becomes `start`.
fn value_at_or<'s>(
    state: &'s mut Value<'static>,
    path: &[Value<'_>],
    start: Value<'static>,
) -> Result<&'s mut Value<'static>, String> {
    let target = value_at_or_new(state, path)?;
    if target.is_null() {
        *target = start;
    }
    Ok(target)
}

/// Deletes a value, if it exists.
fn delete(state: &mut Value<'static>, path: &[Value<'_>]) {
    let Some((last, way)) = path.split_last() else {
        *state = Value::Null;
        return;
    };
    match (way.iter().try_fold(state, step), last) {
        (Some(Value::Object(members)), Value::String(name)) => {
            members.remove(name);
        }
        (Some(Value::Array(items)), key) => {
            if let Some(index) = index_of(key).filter(|index| *index < items.len()) {
                items.remove(index);
            }
        }
        _ => {}
    }
}

fn add(target: &mut Value<'static>, operation: &Object<'_>, is_negative: bool) -> Option<()> {
    let amount = operation.get("amount")?.number_text()?;
    let sum = decimal::add(target.number_text()?, amount, is_negative)?;
    *target = Value::Number(sum.into());
    Some(())
}

fn index_of(key: &Value<'_>) -> Option<usize> {
    key.as_u64().and_then(|index| usize::try_from(index).ok())
}

fn missing_path(path: &[Value<'_>]) -> String {
    sentence(&["there is nothing at ", &Value::Array(path.to_vec()).to_json()])
}

fn wrong_type(path: &[Value<'_>], what: &str) -> String {
    sentence(&["the value at ", &Value::Array(path.to_vec()).to_json(), " is not ", what])
}
