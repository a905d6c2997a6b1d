//! JSON objects that are put together.

use serde::Serialize;
use serde_json::{Value, json};

/// Adds the members that have a value.
pub(crate) fn add<T: Serialize>(
    object: &mut Value,
    members: impl IntoIterator<Item = (&'static str, Option<T>)>,
) {
    for (name, value) in members {
        if let Some(value) = value {
            object[name] = json!(value);
        }
    }
}
