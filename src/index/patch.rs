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
use crate::json::{MAX_DEPTH, Object, Value};

/// What a text begins with that stands for a number, and doubled what begins so by itself.
const MARK: char = '\0';

/// What the copies of one patch may weigh together, in bytes: as much as a frame. A few copies of the whole into
/// itself would otherwise fill all memory.
const MOST_COPIED: usize = 8 << 20;

/// Applies a patch, all of it or nothing; or says why it does not fit.
pub(super) fn patch(document: &mut Value<'static>, delta: &[Value<'_>]) -> Result<(), String> {
    let mut carried = carry(document);
    let mut copied = 0;
    for operation in delta {
        let operation = read(operation).ok_or("it is not a JSON Patch")?;
        copied += weight_of_copy(&carried, &operation);
        if copied > MOST_COPIED {
            return Err("a JSON Patch copies too much".to_owned());
        }
        // The crate need not undo what it did: what is carried is dropped when an operation fails.
        json_patch::patch_unsafe(&mut carried, std::slice::from_ref(&operation))
            .map_err(|error| sentence(&["a JSON Patch does not fit at `", error.path.as_str(), "`"]))?;
    }
    *document = bring(carried);
    Ok(())
}

/// What an operation adds that the patch itself does not hold.
fn weight_of_copy(document: &Carried, operation: &PatchOperation) -> usize {
    match operation {
        PatchOperation::Copy(copy) => document.pointer(copy.from.as_str()).map_or(0, weight),
        _ => 0,
    }
}

fn weight(value: &Carried) -> usize {
    const NODE: usize = 32;
    NODE + match value {
        Carried::Null | Carried::Bool(_) | Carried::Number(_) => 0,
        Carried::String(text) => text.len(),
        Carried::Array(items) => items.iter().map(weight).sum(),
        Carried::Object(members) => members.iter().map(|(name, value)| name.len() + weight(value)).sum(),
    }
}

fn read(operation: &Value<'_>) -> Option<PatchOperation> {
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
    let pointer = PointerBuf::parse(operation.get(name)?.as_str()?.to_owned()).ok()?;
    // What could not be read at once is not built up piece by piece either.
    (pointer.count() <= MAX_DEPTH as usize).then_some(pointer)
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
