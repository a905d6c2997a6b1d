//! JSON Patch (RFC 6902), by the `json-patch` crate.
//!
//! The crate works on `serde_json`'s values. Only these are used of it, and neither its reading nor its writing,
//! which would double the module: values are carried over one by one. Numbers go as texts, so that none of their
//! digits is lost.

use json_patch::jsonptr::PointerBuf;
use json_patch::{
    AddOperation, CopyOperation, MoveOperation, PatchOperation, RemoveOperation, ReplaceOperation,
    TestOperation,
};
use serde_json::{Map, Value as Carried};

use crate::error::sentence;
use crate::json::{Object, Value};

/// What a text begins with that stands for a number, and doubled what begins so by itself.
const MARK: char = '\0';

/// Applies a patch, all of it or nothing; or says why it does not fit.
pub(super) fn patch(document: &mut Value<'static>, delta: &[Value<'_>]) -> Result<(), String> {
    let operations: Option<Vec<PatchOperation>> = delta.iter().map(operation).collect();
    let operations = operations.ok_or("it is not a JSON Patch")?;
    let mut carried = carry(document);
    json_patch::patch(&mut carried, &operations)
        .map_err(|error| sentence(&["a JSON Patch does not fit at `", error.path.as_str(), "`"]))?;
    *document = bring(carried);
    Ok(())
}

fn operation(operation: &Value<'_>) -> Option<PatchOperation> {
    let operation = operation.as_object()?;
    let path = pointer(operation, "path")?;
    let value = || operation.get("value").map(carry);
    Some(match operation.text("op") {
        "add" => PatchOperation::Add(AddOperation { path, value: value()? }),
        "remove" => PatchOperation::Remove(RemoveOperation { path }),
        "replace" => PatchOperation::Replace(ReplaceOperation { path, value: value()? }),
        "move" => PatchOperation::Move(MoveOperation { from: pointer(operation, "from")?, path }),
        "copy" => PatchOperation::Copy(CopyOperation { from: pointer(operation, "from")?, path }),
        "test" => PatchOperation::Test(TestOperation { path, value: value()? }),
        _ => return None,
    })
}

fn pointer(operation: &Object<'_>, name: &str) -> Option<PointerBuf> {
    PointerBuf::parse(operation.get(name)?.as_str()?.to_owned()).ok()
}

/// Whether two values are the same: the names of an object have no order.
pub(super) fn is_same(one: &Value<'_>, other: &Value<'_>) -> bool {
    carry(one) == carry(other)
}

fn carry(value: &Value<'_>) -> Carried {
    match value {
        Value::Null => Carried::Null,
        Value::Bool(value) => Carried::Bool(*value),
        Value::Number(digits) => Carried::String(marked(digits)),
        Value::String(text) if text.starts_with(MARK) => Carried::String(marked(text)),
        Value::String(text) => Carried::String(text.clone().into_owned()),
        Value::Array(items) => Carried::Array(items.iter().map(carry).collect()),
        Value::Object(members) => {
            let mut carried = Map::new();
            for (name, value) in members.iter() {
                carried.insert(name.to_owned(), carry(value));
            }
            Carried::Object(carried)
        }
    }
}

fn marked(text: &str) -> String {
    sentence(&["\0", text])
}

fn bring(carried: Carried) -> Value<'static> {
    match carried {
        Carried::Null | Carried::Number(_) => Value::Null,
        Carried::Bool(value) => Value::Bool(value),
        Carried::String(text) => match text.strip_prefix(MARK) {
            Some(text) if text.starts_with(MARK) => Value::String(text.to_owned().into()),
            Some(digits) => Value::Number(digits.to_owned().into()),
            None => Value::String(text.into()),
        },
        Carried::Array(items) => Value::Array(items.into_iter().map(bring).collect()),
        Carried::Object(members) => {
            let mut object = Object::new();
            for (name, value) in members {
                object.add(name, bring(value));
            }
            Value::Object(object)
        }
    }
}
