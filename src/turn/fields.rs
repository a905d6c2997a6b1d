//! Which fields an input item may have, and the message about any other field.

use crate::error::sentence;
use crate::json::{Object, Value};
use crate::protocol::Capabilities;
use crate::text::{cut, is_among};

/// Sets `rule` if the item has a field or a part that the protocol does not take. An answer may be built from a
/// snapshot's required action: everything that is not part of the answer is removed.
pub(super) fn note_stray_field(capabilities: &Capabilities, item: &mut Object<'_>, rule: &mut String) {
    if item.text("type") != "user.message" {
        for name in ["name", "arguments", "tool_info", "suspension"] {
            item.remove(name);
        }
    }
    note_stray(capabilities, "", item.text("type"), item, rule);
}

/// `of` is the type of an item or part, or the name of a member if `mark` is set.
fn note_stray(capabilities: &Capabilities, mark: &str, mut of: &str, object: &Object<'_>, rule: &mut String) {
    let (mut fields, mut rest) = ("", capabilities.input_fields);
    while !rest.is_empty() {
        let (line, others) = cut(rest, b'\n');
        let (found, own) = cut(line, b':');
        if let Some(name) = found.strip_prefix(mark)
            && (name == of || !mark.is_empty() && name == object.text("status"))
        {
            (of, fields) = (name, own);
        }
        rest = others;
    }
    if fields.is_empty() && !capabilities.takes_native_parts() && mark.is_empty() && !of.is_empty() {
        *rule = sentence(&["`type` cannot be `", of, "` with this protocol"]);
    }
    for (name, value) in object.iter() {
        if !fields.is_empty() && !is_among(name, fields) {
            *rule = sentence(&["`", of, "` takes no `", name, "`: it takes ", fields]);
        }
        match value {
            Value::Object(member) => note_stray(capabilities, ".", name, member, rule),
            Value::Array(parts) => {
                for part in parts.iter().filter_map(Value::as_object) {
                    note_stray(capabilities, "", part.text("type"), part, rule);
                }
            }
            _ => {}
        }
    }
}
