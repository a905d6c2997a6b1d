//! Calls that wait for the client (section 5): the client's own tools for a result, any other tool for permission.

use crate::index::MAIN_THREAD;
use crate::json::Object;
use crate::protocol::fields::{event, put};

use super::blocks::ToolUse;
use super::ids::{self, Maker};

/// The event that asks for an answer to a call.
pub(super) fn question<'a>(turn_id: &str, maker: Maker, call: &ToolUse, own_tools: &[String]) -> Object<'a> {
    let message_id = maker.map(|number| ids::message(turn_id, number)).unwrap_or_default();
    let mut waiting = Object::new();
    put(&mut waiting, "id", &call.id);
    put(&mut waiting, "source_event_id", &message_id);
    put(&mut waiting, "event_id", &message_id);
    put(&mut waiting, "name", &call.name);
    put(&mut waiting, "arguments", &call.arguments);
    let kind =
        if own_tools.contains(&call.name) { "tool.response_required" } else { "tool.approval_required" };
    let mut event = event(kind, ids::question(turn_id, maker, &call.id), MAIN_THREAD);
    event.set("tool_calls", vec![waiting.into()].into());
    event
}
