//! A session's history → turns (section 6). A history is a list of messages. A turn is everything after a user's
//! message, including its rounds of tools.

use crate::error::Result;
use crate::json::{Object, Value};
use crate::protocol::body::{object, take_list, unexpected};

use super::Aap;
use super::blocks::{Block, blocks, content};
use super::terms::History;

/// The messages of an answer, oldest first.
pub(super) fn messages(aap: Aap, answer: Value<'_>) -> Result<Vec<Value<'_>>> {
    let kind = aap.history.unwrap_or(History::Full).as_str();
    match object(answer)?.remove("history") {
        Some(Value::Object(mut history)) => take_list(&mut history, kind),
        _ => Err(unexpected("the answer has no `history`")),
    }
}

/// A turn in a history.
pub(super) struct Turn<'h, 'a> {
    /// The number of the turn, from 1 on; 0 for the messages before the first one.
    pub(super) number: u64,
    /// The user's messages.
    pub(super) said: Vec<&'h Object<'a>>,
    /// The messages after them.
    pub(super) messages: &'h [Value<'a>],
}

/// The turns of a history, oldest first. Messages of the user without an answer between them begin one turn together.
pub(super) fn turns<'h, 'a>(history: &'h [Value<'a>]) -> Vec<Turn<'h, 'a>> {
    let mut turns: Vec<Turn<'h, 'a>> = Vec::new();
    let mut rest = history;
    let mut number = 0;
    while !rest.is_empty() {
        let (beginning, others) = split(rest, |role| matches!(role, "user" | "system"));
        let (messages, others) = split(others, |role| role != "user");
        let said: Vec<_> = beginning.iter().filter_map(of_user).collect();
        number += u64::from(!said.is_empty());
        // Instructions to the agent before the first message are not a turn.
        if !said.is_empty() || !messages.is_empty() {
            turns.push(Turn { number, said, messages });
        }
        rest = others;
    }
    turns
}

/// The index where messages of these roles end.
fn split<'h, 'a>(messages: &'h [Value<'a>], is_one: fn(&str) -> bool) -> (&'h [Value<'a>], &'h [Value<'a>]) {
    let end = messages.iter().position(|message| !is_one(role(message)));
    messages.split_at_checked(end.unwrap_or(messages.len())).unwrap_or_default()
}

/// The role of the sender; empty if it is unknown.
pub(super) fn role<'v>(message: &'v Value<'_>) -> &'v str {
    message.as_object().map_or("", |message| message.text("role"))
}

/// A message of the user.
pub(super) fn of_user<'v, 'a>(message: &'v Value<'a>) -> Option<&'v Object<'a>> {
    message.as_object().filter(|message| message.text("role") == "user")
}

/// A message of the agent.
pub(super) fn of_agent<'v, 'a>(message: &'v Value<'a>) -> Option<&'v Object<'a>> {
    message.as_object().filter(|message| message.text("role") == "assistant")
}

/// The number of the user's messages in a history.
pub(super) fn count_user_messages(history: &[Value<'_>]) -> usize {
    history.iter().filter(|message| role(message) == "user").count()
}

/// The user's message as an item of a turn's input. A message may also be a plain text here.
pub(super) fn item<'a>(message: &Object<'a>) -> Value<'a> {
    let said = content(message);
    let parts = blocks(said).filter_map(|block| {
        let (kind, name, value) = match block {
            Block::Text(text) => ("text", "text", text),
            Block::Image(url, _) => ("image", "url", url),
            _ => return None,
        };
        let mut part = Object::new();
        part.set("type", kind.into());
        part.set(name, value.to_owned().into());
        Some(Value::Object(part))
    });
    let content = if said.is_string() { said.clone() } else { parts.collect::<Vec<_>>().into() };
    let mut item = Object::new();
    item.set("type", "user.message".into());
    item.set("content", content);
    item.into()
}
