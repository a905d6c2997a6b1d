//! A thread's messages → a session's events (sections 2, 2.2, 2.3 and 5).

use crate::error::{Result, sentence};
use crate::json::{Object, Value};

use crate::event::MAIN_THREAD;
use crate::protocol::body::object;
use crate::protocol::fields::{event, unknown};

/// An event of a session.
pub(super) struct Entry<'a> {
    /// The turn that it belongs to, if the messages show it; else empty.
    pub(super) turn_id: String,
    pub(super) event: Object<'a>,
}

/// The events of a page of messages, in its order.
pub(super) fn entries(messages: Vec<Value<'_>>) -> Result<Vec<Entry<'_>>> {
    let mut messages: Vec<Object<'_>> = messages.into_iter().map(object).collect::<Result<_>>()?;
    let is_newest_first = is_newest_first(&messages);
    if is_newest_first {
        messages.reverse();
    }
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut turn_id = String::new();
    let mut messages = messages.into_iter().peekable();
    while let Some(message) = messages.next() {
        let run_id = run_of(&message);
        if message.text("visibility") == "internal" {
            continue;
        }
        let event = match message.text("role") {
            "system" => continue,
            "user" if is_servers_own(&text(&message)) => continue,
            "user" => {
                // The next message is its answer.
                let next = messages.peek().map_or("", run_of);
                turn_id = turn_of_input(&message, if run_id.is_empty() { next } else { run_id });
                if let Some(begun) = entries.last_mut().filter(|last| last.is_beginning_of(&turn_id)) {
                    begun.add_input(&message);
                    continue;
                }
                turn_created(&message, &turn_id)
            }
            "assistant" => model_message(&message),
            "tool" => match tool_response(&message) {
                Some(event) => event,
                None => continue,
            },
            _ => unknown_message(&message),
        };
        let turn_id = if run_id.is_empty() { turn_id.clone() } else { run_id.to_owned() };
        entries.push(Entry { turn_id, event });
    }
    if is_newest_first {
        entries.reverse();
    }
    Ok(entries)
}

impl Entry<'_> {
    fn is_beginning_of(&self, turn_id: &str) -> bool {
        self.event.text("type") == "turn.created" && self.event.text("turn_id") == turn_id
    }

    /// A turn's input can have several messages.
    fn add_input(&mut self, message: &Object<'_>) {
        if let Some(input) = self.event.get_mut("input").and_then(Value::as_array_mut) {
            input.push(user_message(message));
        }
    }
}

/// tirea numbers messages; awaken's ids sort as texts (UUID version 7).
fn is_newest_first(messages: &[Object<'_>]) -> bool {
    let (Some(first), Some(last)) = (messages.first(), messages.last()) else {
        return false;
    };
    let cursor = |message: &Object<'_>| message.get("cursor").and_then(Value::as_u64);
    match (cursor(first), cursor(last)) {
        (Some(first), Some(last)) => first > last,
        _ => first.text("id") > last.text("id"),
    }
}

/// The run that made a message, if the server says so.
fn run_of<'v>(message: &'v Object<'_>) -> &'v str {
    message.object("metadata").map_or("", |metadata| metadata.text("run_id"))
}

/// Whether the server itself wrote a user's message, after a cancelled run (section 2.3).
fn is_servers_own(text: &str) -> bool {
    text.starts_with("The previous run was interrupted ")
        && text.ends_with(". Please continue from the current context.")
}

/// The id of a message, or one made from its index.
fn id_of(message: &Object<'_>) -> String {
    let mut id = message.text("id").to_owned();
    if id.is_empty() {
        id.push_str("message:");
        id.push_str(message.get("cursor").and_then(Value::number_text).unwrap_or_default());
    }
    id
}

/// The turn that a message begins: this client names messages after their turn, as `<turn>:<number>`.
fn turn_of_input(message: &Object<'_>, run_id: &str) -> String {
    let id = message.text("id");
    let digits = id.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (turn_id, number) = id.split_at_checked(id.len() - digits).unwrap_or_default();
    match turn_id.strip_suffix(':') {
        _ if !run_id.is_empty() => run_id.to_owned(),
        Some(turn_id) if !turn_id.is_empty() && !number.is_empty() => turn_id.to_owned(),
        _ if id.is_empty() => id_of(message),
        _ => sentence(&["message:", id]),
    }
}

fn turn_created<'a>(message: &Object<'_>, turn_id: &str) -> Object<'a> {
    let mut running = Object::new();
    running.set("status", "running".into());
    let mut event = event("turn.created", id_of(message), MAIN_THREAD);
    event.set("turn_id", turn_id.to_owned().into());
    event.set("previous_turn_id", Value::Null);
    // The event belongs to the whole turn.
    event.set("thread_id", Value::Null);
    event.set("input", vec![user_message(message)].into());
    event.set("state", running.into());
    event
}

fn user_message<'a>(message: &Object<'_>) -> Value<'a> {
    let mut item = Object::new();
    item.set("type", "user.message".into());
    item.set("content", text(message).into());
    item.into()
}

fn model_message<'a>(message: &Object<'a>) -> Object<'a> {
    let mut event = event("model.message", id_of(message), MAIN_THREAD);
    event.set("content", text(message).into());
    let reasoning = blocks(message, "thinking");
    if !reasoning.is_empty() {
        event.set("reasoning_content", reasoning.into());
    }
    let calls: Vec<Value<'_>> =
        message.array("tool_calls").iter().filter_map(Value::as_object).map(tool_call).collect();
    event.set("finish_reason", if calls.is_empty() { "stop" } else { "tool_calls" }.into());
    if !calls.is_empty() {
        event.set("tool_calls", calls.into());
    }
    event
}

fn tool_call<'a>(call: &Object<'a>) -> Value<'a> {
    let mut function = Object::new();
    function.set("name", call.text("name").to_owned().into());
    function.set("arguments", call.json("arguments").into());
    let mut event_call = Object::new();
    event_call.set("id", call.text("id").to_owned().into());
    event_call.set("type", "function".into());
    event_call.set("function", function.into());
    event_call.into()
}

/// The result of a call. A message that only says that the call waits is not a result.
///
/// tirea keeps a result with all of the tool's data, awaken only its text (section 5): a list of blocks.
fn tool_response<'a>(message: &Object<'a>) -> Option<Object<'a>> {
    let content = text(message);
    let mut event = event("tool.response", id_of(message), MAIN_THREAD);
    event.set("tool_call_id", message.text("tool_call_id").to_owned().into());
    if let Some(Value::Array(_)) = message.get("content") {
        let waits = content.starts_with("Tool '")
            && (content.ends_with("' suspended: awaiting approval")
                || content.ends_with("' suspended: awaiting decision"));
        event.set("content", content.into());
        return (!waits).then_some(event);
    }
    let result = Value::parse(&content).ok()?.into_owned();
    let outcome = match result.as_object().filter(|result| result.contains("tool_name"))?.text("status") {
        "success" | "warning" => "succeeded",
        "error" => "failed",
        _ => return None,
    };
    event.set("content", content.into());
    event.set("outcome", outcome.into());
    event.set("result", result);
    Some(event)
}

fn unknown_message<'a>(message: &Object<'a>) -> Object<'a> {
    let role = message.get("role").filter(|role| role.is_string());
    unknown(role.cloned().unwrap_or_default(), message.clone().into(), None)
}

/// A message's text: from tirea a string, from awaken the text of its blocks.
fn text(message: &Object<'_>) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.to_string(),
        _ => blocks(message, "text"),
    }
}

/// The text of all blocks of one type.
fn blocks(message: &Object<'_>, kind: &str) -> String {
    let mut said = String::new();
    for block in message.array("content").iter().filter_map(Value::as_object) {
        if block.text("type") == kind {
            said.push_str(block.text(kind));
        }
    }
    said
}
