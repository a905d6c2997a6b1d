//! Which fields an item of an input takes, and what is said of any other.

use crate::error::sentence;
use crate::json::{Object, Value};
use crate::text::{cut, is_among};

/// The table of items and of parts that every protocol has, and of more parts.
macro_rules! types {
    ($($part:literal)*) => {
        concat!(
            "user.message:type, content\n",
            "user.tool_approval:type, thread_id, tool_call_id, approval\n",
            "user.tool_response:type, thread_id, tool_call_id, content\n",
            $($part, "\n",)*
        )
    };
}

/// The fields of items and parts by their types. A part that is not among them is the protocol's own to check.
const TYPES: &str = if cfg!(feature = "turn-rpc") {
    types!("file:type, name, data, file, url" "file_upload:type, name, data, file, url")
} else if cfg!(feature = "aap") {
    types!("text:type, text" "image:type, url" "file:type, name, data, file" "file_upload:type, name, data, file")
} else {
    types!("text:type, text" "file:type, name, data, file" "file_upload:type, name, data, file")
};

/// Whether all protocols of this build take a reason with a denial only.
const BY_VERDICT: bool = !cfg!(any(feature = "agent-event", feature = "aap", feature = "turn-rpc"));

/// The fields of objects in them as the protocols of this build take them: by the name of the member, and of an approval
/// by its verdict where they differ.
const MEMBERS: &str = if cfg!(feature = "turn-rpc") {
    "file:filename, file_data\napproval:status, reason, remember, result, cancel\n"
} else if cfg!(feature = "agent-event") {
    "file:filename, file_data\napproval:status, reason, remember, result\n"
} else if cfg!(feature = "aap") {
    "file:filename, file_data\napproval:status, reason, remember\n"
} else {
    "file:filename, file_data\nallow:status\ndeny:status, reason\n"
};

/// The rule that an item breaks by a field that it does not take; empty if it has none. An answer may be made of the
/// required action in a snapshot: what that has besides the call is removed.
pub(super) fn note_stray_field(item: &mut Object<'_>, rule: &mut String) {
    if item.text("type") != "user.message" {
        for name in ["name", "arguments", "tool_info", "suspension"] {
            item.remove(name);
        }
    }
    check(TYPES, item.text("type"), item, rule);
}

fn check(mut table: &str, of: &str, object: &Object<'_>, rule: &mut String) {
    let mut fields = "";
    while fields.is_empty() {
        if table.is_empty() {
            return;
        }
        let (line, others) = cut(table, b'\n');
        let (name, own) = cut(line, b':');
        if name == of {
            fields = own;
        }
        table = others;
    }
    for (name, value) in object.iter() {
        if !is_among(name, fields) {
            *rule = sentence(&["`", of, "` takes no `", name, "`: it takes ", fields]);
        }
        match value {
            Value::Object(member) => {
                let by_verdict = BY_VERDICT && name == "approval";
                check(MEMBERS, if by_verdict { member.text("status") } else { name }, member, rule);
            }
            Value::Array(parts) => {
                for part in parts.iter().filter_map(Value::as_object) {
                    check(TYPES, part.text("type"), part, rule);
                }
            }
            _ => {}
        }
    }
}
