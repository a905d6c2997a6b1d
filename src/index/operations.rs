//! The operations that tool calls do on the agent's state (protocol note of `AgentEvent`, section 1.3, `TrackedPatch`).
//! They are not JSON Patch: paths are lists of names and indexes, and objects on the way are made.

use serde_json::{Map, Number, Value};

/// Does one operation. After an error the state may be changed in part.
pub(super) fn operate(state: &mut Value, operation: &Value) -> Result<(), String> {
    let path = operation.get("path").and_then(Value::as_array).ok_or("it has no `path`")?;
    let value = || operation.get("value").cloned().unwrap_or_default();
    match operation.get("op").and_then(Value::as_str).unwrap_or_default() {
        // Without the server's rules, the two are the same.
        "set" | "lattice_merge" => made(state, path).map(|target| *target = value()),
        "delete" => {
            delete(state, path);
            Ok(())
        }
        "append" => match made_as(state, path, Value::Array(Vec::new()))? {
            Value::Array(items) => {
                items.push(value());
                Ok(())
            }
            _ => Err(not(path, "an array")),
        },
        "merge_object" => match (made_as(state, path, Value::Object(Map::new()))?, value()) {
            (Value::Object(members), Value::Object(more)) => {
                members.extend(more);
                Ok(())
            }
            _ => Err(not(path, "an object")),
        },
        "increment" => add(there(state, path)?, operation, 1).ok_or_else(|| not(path, "a number in range")),
        "decrement" => add(there(state, path)?, operation, -1).ok_or_else(|| not(path, "a number in range")),
        "insert" => {
            let items = there(state, path)?.as_array_mut().ok_or_else(|| not(path, "an array"))?;
            let index = operation.get("index").and_then(index_of).filter(|index| *index <= items.len());
            items.insert(index.ok_or_else(|| missing(path))?, value());
            Ok(())
        }
        "remove" => {
            let items = there(state, path)?.as_array_mut().ok_or_else(|| not(path, "an array"))?;
            let removed = value();
            if let Some(at) = items.iter().position(|item| *item == removed) {
                items.remove(at);
            }
            Ok(())
        }
        _ => Err("it is an unknown operation".to_owned()),
    }
}

/// What is at a path.
fn there<'s>(state: &'s mut Value, path: &[Value]) -> Result<&'s mut Value, String> {
    path.iter().try_fold(state, step).ok_or_else(|| missing(path))
}

fn step<'s>(parent: &'s mut Value, key: &Value) -> Option<&'s mut Value> {
    match key {
        Value::String(name) => parent.get_mut(name.as_str()),
        key => parent.get_mut(index_of(key)?),
    }
}

/// What is at a path; objects on the way are made, in place of whatever else is there, and elements of arrays
/// are not.
fn made<'s>(state: &'s mut Value, path: &[Value]) -> Result<&'s mut Value, String> {
    let mut target = state;
    for key in path {
        if let Value::String(name) = key {
            if !target.is_object() {
                *target = Value::Object(Map::new());
            }
            let members = target.as_object_mut().ok_or_else(|| missing(path))?;
            target = members.entry(name.as_str()).or_insert(Value::Null);
        } else {
            target = step(target, key).ok_or_else(|| missing(path))?;
        }
    }
    Ok(target)
}

/// The same; if there is nothing, or `null`, this is put there.
fn made_as<'s>(state: &'s mut Value, path: &[Value], start: Value) -> Result<&'s mut Value, String> {
    let target = made(state, path)?;
    if target.is_null() {
        *target = start;
    }
    Ok(target)
}

/// What is not there need not be taken away.
fn delete(state: &mut Value, path: &[Value]) {
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

/// Whole numbers stay whole; with any other the sum is a fraction.
fn add(target: &mut Value, operation: &Value, sign: i64) -> Option<()> {
    let amount = operation.get("amount")?;
    let sum = match (target.as_i64(), amount.as_i64()) {
        (Some(number), Some(amount)) => number.checked_add(amount.checked_mul(sign)?)?.into(),
        #[expect(clippy::cast_precision_loss, reason = "it is 1 or -1")]
        _ => Number::from_f64(target.as_f64()? + amount.as_f64()? * sign as f64)?,
    };
    *target = Value::Number(sum);
    Some(())
}

fn index_of(key: &Value) -> Option<usize> {
    key.as_u64().and_then(|index| usize::try_from(index).ok())
}

fn missing(path: &[Value]) -> String {
    ["there is nothing at ", &Value::from(path).to_string()].concat()
}

fn not(path: &[Value], what: &str) -> String {
    ["what is at ", &Value::from(path).to_string(), " is not ", what].concat()
}
