//! Completes an event's JSON: adds both spellings of every field that the vendor's reference pages and its servers name
//! differently (section 3.6), and the fields that servers may leave out.
//!
//! It works on the JSON, not on the typed event, so that unknown fields stay in place.

use crate::error::sentence;
use crate::event::EventKind;
use crate::json::{Object, Value};

/// Completes an event, in place.
pub(super) fn complete(kind: EventKind, event: &mut Object<'_>) {
    match kind {
        EventKind::ModelMessage | EventKind::ModelMessageDelta => message(event),
        EventKind::ToolResponse => default_text(event, "thread_id", "main"),
        EventKind::ToolApprovalRequired | EventKind::ToolResponseRequired => tools_required(event),
        EventKind::ThreadDone => thread_done(event),
        EventKind::McpInitialize => mcp_initialize(event),
        EventKind::McpAuthRequired => mcp_auth_required(event),
        EventKind::TurnCreated => turn_created(event),
        EventKind::TurnDone => turn_done(event),
        EventKind::SandboxCreated => default_null(event, "thread_id"),
        _ => {}
    }
}

/// Completes a message, or a turn's or thread's `output`.
fn message(message: &mut Object<'_>) {
    default_text(message, "thread_id", "main");
    for call in objects(message, "tool_calls") {
        if let Some(info) = object(call, "tool_info") {
            both(info, "server_id", "mcp_server_id");
            both(info, "server_name", "mcp_server_name");
        }
    }
}

fn tools_required(event: &mut Object<'_>) {
    default_text(event, "thread_id", "main");
    default_list(event, "tool_calls");
    for call in objects(event, "tool_calls") {
        // The reference pages can be read either way.
        if let Some(id) = call.get("tool_call_id").cloned() {
            default(call, "id", id);
        }
        both(call, "source_event_id", "event_id");
        default_text(call, "source_event_id", "");
        default_text(call, "event_id", "");
    }
}

/// Servers nest the outcome in `state`; the reference pages have flat fields.
fn thread_done(event: &mut Object<'_>) {
    if let Some(state) = object(event, "state") {
        ended_unknown(state, "error");
        if let Some(output) = object(state, "output") {
            message(output);
        }
        let state = state.clone();
        for (flat, nested) in &FLAT_STATE {
            if let Some(value) = state.get(nested) {
                default(event, flat, value.clone());
            }
        }
    } else if event.contains("status") {
        if let Some(output) = object(event, "output") {
            message(output);
        }
        let mut state = Object::new();
        for (flat, nested) in &FLAT_STATE {
            if let Some(value) = event.get(flat) {
                state.set(nested, value.clone());
            }
        }
        event.set("state", state.into());
    }
}

/// The fields of a thread's outcome: their flat names, and their names in `state`.
const FLAT_STATE: [(&str, &str); 3] = [("status", "status"), ("output", "output"), ("message", "error")];

fn mcp_initialize(event: &mut Object<'_>) {
    default_text(event, "thread_id", "main");
    servers(event, "mcp_servers", "content");
}

fn mcp_auth_required(event: &mut Object<'_>) {
    default_null(event, "thread_id");
    for name in &["mcp_servers", "servers"] {
        for server in objects(event, name) {
            default(server, "thread_ids", Value::Array(Vec::new()));
        }
    }
    servers(event, "mcp_servers", "servers");
}

/// Completes a list of MCP servers that has two names.
fn servers(event: &mut Object<'_>, wire: &'static str, reference: &'static str) {
    for name in &[wire, reference] {
        for server in objects(event, name) {
            both(server, "name", "mcp_server_name");
            // The reference pages have no id; the name then identifies a server.
            if let Some(name) = server.get("name").cloned() {
                default(server, "id", name);
            }
        }
    }
    both(event, wire, reference);
    default_list(event, wire);
    default_list(event, reference);
}

fn turn_created(event: &mut Object<'_>) {
    default_null(event, "thread_id");
    default_null(event, "previous_turn_id");
    created_by(event);
    input(event);
    let mut running = Object::new();
    running.set("status", "running".into());
    default(event, "state", running.into());
}

/// Completes a turn's `input`.
pub(super) fn input(owner: &mut Object<'_>) {
    for item in objects(owner, "input") {
        for part in objects(item, "content") {
            file_part(part);
        }
    }
    default(owner, "input", Value::Array(Vec::new()));
}

/// Adds to a file part the fields of the other spelling.
fn file_part(part: &mut Object<'_>) {
    if let Some(file) = part.get("file").and_then(Value::as_object) {
        let (name, data) = (file.get("filename").cloned(), file.get("file_data").cloned());
        if let (Some(name), Some(data)) = (name, data) {
            default(part, "name", name);
            default(part, "data", data);
        }
    } else if let (Some(name), Some(data)) = (part.get("name").cloned(), part.get("data").cloned()) {
        let mut file = Object::new();
        file.set("filename", name);
        file.set("file_data", data);
        part.set("file", file.into());
    }
}

/// `created_by` is a subject on the wire, a name in the reference pages; `created_by_subject` is always a subject, if
/// one is known.
pub(super) fn created_by(owner: &mut Object<'_>) {
    if let Some(subject) = owner.get("created_by").filter(|by| by.as_object().is_some()).cloned() {
        default(owner, "created_by_subject", subject);
    } else if let Some(subject) = owner.get("created_by_subject").filter(|by| !by.is_null()).cloned() {
        default(owner, "created_by", subject);
    }
}

/// Whatever else is wrong with it, the turn has ended: no code may wait for it any longer.
fn turn_done(event: &mut Object<'_>) {
    default_null(event, "thread_id");
    if let Some(state) = object(event, "state") {
        ended_unknown(state, "message");
        turn_state(state);
    }
}

/// Reads the end of a turn or a thread with an unknown status as an error that names the status.
fn ended_unknown(state: &mut Object<'_>, reason: &'static str) {
    let status = state.text("status").to_owned();
    if matches!(&*status, "done" | "cancelled" | "error" | "running" | "") {
        return;
    }
    let message = sentence(&["it ended with the unknown status `", &status, "`"]);
    default(state, reason, message.into());
    state.set("wire_status", status.into());
    state.set("status", "error".into());
}

/// Completes the state of a turn.
pub(super) fn turn_state(state: &mut Object<'_>) {
    match state.get("status").and_then(Value::as_str) {
        Some("done") => {
            match object(state, "output") {
                Some(output) => message(output),
                None => drop(state.insert("output", Value::Null)),
            }
            if state.get("required_actions").is_none_or(|actions| actions.as_array().is_none()) {
                state.insert("required_actions", Vec::new());
            }
            default_list(state, "required_actions");
            for action in objects(state, "required_actions") {
                complete(EventKind::of(action.text("type")), action);
            }
        }
        Some("cancelled") => default_null(state, "reason"),
        Some("error") => default_text(state, "message", ""),
        _ => {}
    }
}

/// Copies the value between two names if only one of them is present.
fn both(owner: &mut Object<'_>, one: &'static str, other: &'static str) {
    if let Some(value) = owner.get(one).cloned() {
        default(owner, other, value);
    } else if let Some(value) = owner.get(other).cloned() {
        default(owner, one, value);
    }
}

pub(super) fn default<'a>(owner: &mut Object<'a>, name: &'static str, value: Value<'a>) {
    if owner.get(name).is_none_or(Value::is_null) {
        owner.set(name, value);
    }
}

/// Adds a missing list, and removes holes.
fn default_list(owner: &mut Object<'_>, name: &'static str) {
    default(owner, name, Value::Array(Vec::new()));
    if let Some(items) = owner.get_mut(name).and_then(Value::as_array_mut) {
        for item in std::mem::take(items) {
            if !item.is_null() {
                items.push(item);
            }
        }
    }
}

fn default_text(owner: &mut Object<'_>, name: &'static str, text: &'static str) {
    default(owner, name, Value::from(text));
}

fn default_null(owner: &mut Object<'_>, name: &'static str) {
    default(owner, name, Value::Null);
}

pub(super) fn default_nulls(owner: &mut Object<'_>, names: &[&'static str]) {
    for name in names {
        default_null(owner, name);
    }
}

fn object<'v, 'a>(owner: &'v mut Object<'a>, name: &str) -> Option<&'v mut Object<'a>> {
    owner.get_mut(name)?.as_object_mut()
}

fn objects<'v, 'a>(owner: &'v mut Object<'a>, name: &str) -> impl Iterator<Item = &'v mut Object<'a>> {
    let list = owner.get_mut(name).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}
