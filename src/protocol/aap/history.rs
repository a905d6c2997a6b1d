//! A session's history → turns (section 6). It is a list of messages, in which a turn is what follows a user's
//! message, with the rounds of tools in it.

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

/// A turn, as far as a history tells.
pub(super) struct Turn<'h, 'a> {
    /// The number of its beginning, from 1 on; 0 for what stands before the first one.
    pub(super) number: u64,
    /// What the user said.
    pub(super) said: Vec<&'h Object<'a>>,
    /// What followed.
    pub(super) messages: &'h [Value<'a>],
}

/// The turns of a history, oldest first. User's messages without an answer between them begin one turn together.
pub(super) fn turns<'h, 'a>(history: &'h [Value<'a>]) -> Vec<Turn<'h, 'a>> {
    let mut turns: Vec<Turn<'h, 'a>> = Vec::new();
    let mut rest = history;
    let mut number = 0;
    while !rest.is_empty() {
        let (beginning, others) = split(rest, |role| matches!(role, "user" | "system"));
        let (messages, others) = split(others, |role| role != "user");
        let said: Vec<_> = beginning.iter().filter_map(of_user).collect();
        number += u64::from(!said.is_empty());
        // What agents are told before anything is said is no turn.
        if !said.is_empty() || !messages.is_empty() {
            turns.push(Turn { number, said, messages });
        }
        rest = others;
    }
    turns
}

/// Where messages of these roles end.
fn split<'h, 'a>(messages: &'h [Value<'a>], is_one: fn(&str) -> bool) -> (&'h [Value<'a>], &'h [Value<'a>]) {
    let end = messages.iter().position(|message| !is_one(role(message)));
    messages.split_at_checked(end.unwrap_or(messages.len())).unwrap_or_default()
}

/// Who speaks; empty if that is not known.
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

/// How many messages a history has of the user.
pub(super) fn count_said(history: &[Value<'_>]) -> usize {
    history.iter().filter(|message| role(message) == "user").count()
}

/// What the user said, as the item of a turn's input. A message that is a text is one here, too.
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
