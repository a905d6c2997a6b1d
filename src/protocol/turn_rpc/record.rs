//! Threads and turns of the servers → records (sections 3, 4 and 14).

use crate::error::Result;
use crate::event::MAIN_THREAD;
use crate::iso::iso;
use crate::json::{Object, Value};
use crate::protocol::body::unexpected;
use crate::protocol::fields::with_text;

use super::Dialect;
use super::decoder::{EndReport, state_of};
use super::fields::objects;
use super::input::input_of;

/// A session is a thread. Its agent is its mode, or its model.
pub(super) fn session<'a>(dialect: Dialect, thread: &Object<'a>) -> Result<Object<'a>> {
    if thread.text("id").is_empty() {
        return Err(unexpected("a thread has no `id`"));
    }
    let text = |name: &str| {
        thread.get(name).filter(|text| text.as_str().is_some_and(|text| !text.is_empty())).cloned()
    };
    let (agent, created, updated) = match dialect {
        Dialect::Gateway => ("mode", "created_at", "updated_at"),
        Dialect::Codex => ("model", "createdAt", "updatedAt"),
    };
    let mut session = with_text("type", "session");
    session.set("id", text("id").unwrap_or_default());
    session.set("agent_name", text(agent).unwrap_or_default());
    session.set("title", text("name").or_else(|| text("preview")).unwrap_or_default());
    if let Some(workspace) = text("workspace_id") {
        session.set("workspace_id", workspace);
    }
    // A thread without a preview has no turns.
    if dialect == Dialect::Codex && thread.get("preview").and_then(Value::as_str) == Some("") {
        session.set("is_new", true.into());
    }
    session.set("created_by_subject", Value::Null);
    session.set("created_at", time(thread.get(created)));
    session.set("updated_at", time(thread.get(updated)));
    Ok(session)
}

/// A turn. Codex records its input with it; the gateway does not.
pub(super) fn turn<'a>(session_id: &str, previous: Value<'a>, turn: &Object<'a>) -> Result<Object<'a>> {
    if turn.text("id").is_empty() {
        return Err(unexpected("a turn has no `id`"));
    }
    let items = objects(turn, "items");
    let message = items.clone().find(|item| item.text("type") == "userMessage");
    let mut state = state_of(turn, EndReport::Record);
    if state.text("status") == "done"
        && let Some(answer) = items.filter(|item| item.text("type") == "agentMessage").last()
    {
        let mut output = with_text("type", "model.message");
        output.set("id", answer.text("id").to_owned().into());
        output.set("thread_id", MAIN_THREAD.into());
        output.set("content", answer.text("text").to_owned().into());
        output.set("finish_reason", "stop".into());
        state.set("output", output.into());
    }
    let mut record = Object::new();
    record.set("id", turn.get("id").cloned().unwrap_or_default());
    record.set("session_id", session_id.to_owned().into());
    record.set("previous_turn_id", previous);
    record.set("input", message.map_or_else(|| Vec::new().into(), input_of));
    record.set("state", state.into());
    record.set("created_by_subject", Value::Null);
    record.set("created_at", time(turn.get("startedAt")));
    Ok(record)
}

/// The turns of a thread, oldest first.
pub(super) fn turns<'a>(session_id: &str, thread: &Object<'a>) -> Result<Vec<Value<'a>>> {
    let mut previous = Value::Null;
    let mut records = Vec::new();
    for known in objects(thread, "turns") {
        let id = known.get("id").cloned().unwrap_or_default();
        records.push(turn(session_id, std::mem::replace(&mut previous, id), known)?.into());
    }
    Ok(records)
}

/// Seconds since 1970 as ISO 8601.
fn time<'a>(seconds: Option<&Value<'_>>) -> Value<'a> {
    let seconds = seconds.and_then(Value::as_u64);
    seconds.map_or(Value::Null, |seconds| iso(seconds.saturating_mul(1000)).into())
}
