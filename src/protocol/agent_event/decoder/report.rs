//! The data of an activity report: its call, the call that contains that, and whether the report is complete.

use crate::json::{Object, Value};

/// The prefix of a node's id if the node is a tool call.
pub(super) const CALL_NODE: &str = "tool_call:";

/// The fields of a report before `updated_at_ms`, in their order (`tool-call-progress.v1`).
const SEED: [&str; 15] = [
    "call_id",
    "loaded",
    "message",
    "node_id",
    "parent_call_id",
    "parent_node_id",
    "parent_run_id",
    "progress",
    "run_id",
    "schema",
    "status",
    "thread_id",
    "tool_name",
    "total",
    "type",
];

/// Whether a report is the beginning of one that comes field by field.
pub(super) fn is_beginning(content: &Value<'_>) -> bool {
    let Some(content) = content.as_object() else { return false };
    let is_in_order = content.iter().zip(SEED).all(|((name, _), seed)| name == seed);
    is_in_order && !content.is_empty() && content.len() <= SEED.len()
}

/// The call in the id of a node or a report; empty if there is none.
pub(super) fn call_in(id: &str) -> &str {
    id.strip_prefix(CALL_NODE).unwrap_or_default()
}

/// The call that contains a report's own call.
pub(super) fn parent_of<'o>(content: &'o Object<'_>) -> &'o str {
    let said = content.text("parent_call_id");
    if said.is_empty() { call_in(content.text("parent_node_id")) } else { said }
}
