//! Which part of a history is a turn's answer (section 6). The server knows the turn by no name, so it is found by
//! what it said: a user's message that is the last one, or calls that it answered.

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};

use super::Aap;
use super::blocks::{Block, blocks, content};
use super::history::{count_said, of_agent, of_user, role};
use super::input;
use super::terms::History;

/// A turn's part of a history.
pub(super) struct Part<'h, 'a> {
    /// What followed the turn's input, or the calls that it answers.
    pub(super) messages: &'h [Value<'a>],
    /// The calls that it answers; nothing if it was given a user's messages.
    pub(super) answered: Option<Vec<String>>,
    /// Whether another turn has begun since.
    pub(super) is_followed: bool,
}

/// Finds the turn that was started with these parameters.
pub(super) fn part<'h, 'a>(aap: Aap, params: &Object<'_>, history: &'h [Value<'a>]) -> Result<Part<'h, 'a>> {
    let sent = input::messages(aap, params)?;
    let answered: Vec<String> = sent.iter().filter_map(answered_call).map(str::to_owned).collect();
    if answered.is_empty() {
        said(aap, params, &sent, history)
    } else {
        answers(answered, history).ok_or_else(not_found)
    }
}

/// The call that a message answers.
fn answered_call<'v>(message: &'v Value<'_>) -> Option<&'v str> {
    message.get("toolCallId").and_then(Value::as_str)
}

/// What follows the user's messages that were sent.
fn said<'h, 'a>(
    aap: Aap,
    params: &Object<'_>,
    sent: &[Value<'_>],
    history: &'h [Value<'a>],
) -> Result<Part<'h, 'a>> {
    let last = history.iter().rposition(|message| role(message) == "user").ok_or_else(not_found)?;
    let (before, messages) = history.split_at_checked(last + 1).unwrap_or_default();
    // Messages without an answer between them: those of this turn are the last.
    let group = before.iter().rev().take_while(|message| matches!(role(message), "user" | "system"));
    let mut group = group.filter_map(of_user);
    let are_last = sent.iter().rev().filter_map(Value::as_object).all(|sent| {
        let known = group.next();
        known.is_some_and(|known| Words::of(sent) == Words::of(known))
    });
    if !are_last {
        return Err(not_found());
    }
    // The same may have been said before: then what follows is the answer to that.
    let said = params.get("said").and_then(Value::as_u64).filter(|_| aap.history == Some(History::Full));
    let is_new = match said {
        Some(said) => {
            let count = u64::try_from(count_said(history)).unwrap_or_default();
            count >= said.saturating_add(u64::try_from(sent.len()).unwrap_or_default())
        }
        None if params.get("is_begun").and_then(Value::as_bool) == Some(true) => true,
        None => {
            let problem = "the session's last message is the same as this turn's, and whether it is this turn's \
                           cannot be told";
            return Err(Error::new(ErrorCode::Incomplete, problem));
        }
    };
    if is_new { Ok(Part { messages, answered: None, is_followed: false }) } else { Err(not_found()) }
}

/// What follows the message whose calls were answered, if anything shows that they were.
fn answers<'h, 'a>(answered: Vec<String>, history: &'h [Value<'a>]) -> Option<Part<'h, 'a>> {
    let makes = |message: &Value<'_>, id: &String| {
        let blocks = of_agent(message).map(|message| blocks(content(message)));
        blocks
            .into_iter()
            .flatten()
            .any(|block| matches!(block, Block::Call(call) if call.text("toolCallId") == id))
    };
    let all = history.iter().rposition(|message| answered.iter().all(|id| makes(message, id)));
    // Calls of several rounds can wait together.
    let any = || history.iter().rposition(|message| answered.iter().any(|id| makes(message, id)));
    let asking = all.or_else(any)?;
    let behind = history.get(asking + 1..)?;
    let end = behind.iter().position(|message| role(message) == "user");
    let messages = behind.get(..end.unwrap_or(behind.len()))?;
    let is_taken = messages.iter().any(|message| {
        role(message) == "assistant"
            || answered_call(message).is_some_and(|id| answered.iter().any(|known| known == id))
    });
    is_taken.then_some(Part { messages, answered: Some(answered), is_followed: end.is_some() })
}

/// What a message says, however it is put into blocks.
#[derive(Default, PartialEq)]
struct Words<'v> {
    text: String,
    images: Vec<&'v str>,
}

impl<'v> Words<'v> {
    fn of(message: &'v Object<'_>) -> Self {
        let mut words = Self::default();
        for block in blocks(content(message)) {
            match block {
                Block::Text(text) => words.text.push_str(text),
                Block::Image(url, _) => words.images.push(url),
                _ => {}
            }
        }
        words
    }
}

/// A turn that is not there is told as servers tell it that know turns.
fn not_found() -> Error {
    Error::new(ErrorCode::Http, "the session's history does not have this turn").with_status(Some(404))
}
