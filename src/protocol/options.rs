//! The callers' parameters: their names here and on the wire, and the errors about them.

use crate::error::{Error, ErrorCode};
use crate::json::Object;

/// The parameters that have a value, under their wire names.
pub(super) fn wire<'a>(params: &Object<'a>) -> Object<'a> {
    let mut wire = Object::new();
    for (name, value) in params.iter().filter(|(_, value)| !value.is_null()) {
        wire.insert(wire_name(name), value.clone());
    }
    wire
}

/// `pageToken` → `page_token`. Wire names do not change.
pub(super) fn wire_name(name: &str) -> String {
    let mut wire = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            wire.push('_');
        }
        wire.push(character.to_ascii_lowercase());
    }
    wire
}

/// An error about the option with this wire name. `problem` is the rest of the sentence after the name.
pub(super) fn option_error(wire: &str, problem: &str) -> Error {
    let mut name = String::with_capacity(wire.len());
    let mut upper = false;
    for character in wire.chars() {
        if character == '_' {
            upper = true;
        } else {
            name.push(if upper { character.to_ascii_uppercase() } else { character });
            upper = false;
        }
    }
    Error::of(ErrorCode::InvalidOption, &["`", &name, "`", problem])
}

/// The fields of the items that all inputs have, and of a protocol's own parts and approvals, one line each.
macro_rules! input_fields {
    ($($own:literal)*) => {
        concat!(
            "user.message:type, content\n",
            "user.tool_approval:type, thread_id, tool_call_id, approval\n",
            "user.tool_response:type, thread_id, tool_call_id, content\n",
            ".file:filename, file_data\n",
            $($own, "\n",)*
        )
    };
}
pub(super) use input_fields;

/// The error of a call that a protocol does not support.
pub(super) fn unsupported() -> Error {
    Error::new(ErrorCode::Unsupported, "this protocol does not support it")
}
