//! Finds a turn's answer in a history (section 6). The server has no ids for turns, so a turn is found by its input:
//! user messages after which nothing of the user follows, or calls that it answered.

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};

use super::Aap;
use super::blocks::{Block, blocks, content};
use super::history::{of_agent, of_user, role};
use super::input;
use super::terms::History;

/// A turn's part of a history.
#[derive(Default)]
pub(super) struct Part<'h, 'a> {
    /// The messages after the turn's input, or after the calls that it answers.
    pub(super) messages: &'h [Value<'a>],
    /// The calls that it answers; `None` if its input is messages of the user.
    pub(super) answered: Option<Vec<String>>,
    /// Whether another turn has begun since.
    pub(super) is_followed: bool,
}

/// Finds the turn that was started with these parameters.
pub(super) fn part<'h, 'a>(aap: Aap, params: &Object<'_>, history: &'h [Value<'a>]) -> Result<Part<'h, 'a>> {
    let sent = input::messages(aap, params)?;
    let answered: Vec<String> = sent.iter().filter_map(answered_call).map(str::to_owned).collect();
    if answered.is_empty() { said(aap, params, &sent, history) } else { answers(params, answered, history) }
}

/// The call that a message answers.
fn answered_call<'v>(message: &'v Value<'_>) -> Option<&'v str> {
    message.get("toolCallId").and_then(Value::as_str)
}

/// The messages after the user's messages that were sent.
fn said<'h, 'a>(
    aap: Aap,
    params: &Object<'_>,
    sent: &[Value<'_>],
    history: &'h [Value<'a>],
) -> Result<Part<'h, 'a>> {
    let sent: Vec<_> = sent.iter().filter_map(Value::as_object).map(Words::of).collect();
    let users = history.iter().enumerate().filter_map(|(at, message)| Some((at, of_user(message)?)));
    let users: Vec<_> = users.map(|(at, message)| (at, Words::of(message))).collect();
    // The messages of one turn have no answer between them.
    let is_ours = |run: &&[(usize, Words<'_>)]| {
        let (first, last) = (run.first().map_or(0, |run| run.0), run.last().map_or(0, |run| run.0));
        let between = history.get(first..=last).unwrap_or_default();
        between.iter().all(|message| is_beginning(role(message)))
            && run.iter().map(|(_, words)| words).eq(&sent)
    };
    let mut runs = users.windows(sent.len().max(1));
    let said = params.get("said").and_then(Value::as_u64).filter(|_| aap.history == Some(History::Full));
    let ours = match said {
        // The same message may have been sent before, and other clients may have sent messages since.
        Some(said) => runs.skip(usize::try_from(said).unwrap_or(usize::MAX)).find(is_ours),
        None => runs.next_back().filter(is_ours),
    };
    let (end, _) = ours.and_then(<[_]>::last).ok_or_else(not_found)?;
    if said.is_none() && params.get("is_begun").and_then(Value::as_bool) != Some(true) {
        let problem = "the session's last message is the same as this turn's, and whether it is this turn's \
                       cannot be told";
        return Err(Error::new(ErrorCode::Incomplete, problem));
    }
    let behind = history.get(end + 1..).unwrap_or_default();
    let answer = behind.iter().position(|message| !is_beginning(role(message)));
    let behind = behind.get(answer.unwrap_or(behind.len())..).unwrap_or_default();
    let (messages, is_followed) = until_user(behind);
    Ok(Part { messages, answered: None, is_followed })
}

/// Whether a message of this role belongs to a turn's beginning.
fn is_beginning(role: &str) -> bool {
    matches!(role, "user" | "system")
}

/// The messages before the next one of the user, and whether there is one.
fn until_user<'h, 'a>(messages: &'h [Value<'a>]) -> (&'h [Value<'a>], bool) {
    let end = messages.iter().position(|message| role(message) == "user");
    (messages.get(..end.unwrap_or(messages.len())).unwrap_or_default(), end.is_some())
}

/// The messages after the one whose calls were answered, if the history shows that they were.
fn answers<'h, 'a>(
    params: &Object<'_>,
    answered: Vec<String>,
    history: &'h [Value<'a>],
) -> Result<Part<'h, 'a>> {
    let makes = |message: &Value<'_>, id: &String| {
        let blocks = of_agent(message).map(|message| blocks(content(message)));
        blocks
            .into_iter()
            .flatten()
            .any(|block| matches!(block, Block::Call(call) if call.text("toolCallId") == id))
    };
    let all = |message: &Value<'_>| answered.iter().all(|id| makes(message, id));
    let places = history.iter().enumerate().filter(|(_, message)| all(message));
    let mut asking: Vec<_> = places.map(|(at, _)| at).collect();
    if asking.is_empty() {
        // Calls of several rounds can wait together.
        asking.extend(history.iter().rposition(|message| answered.iter().any(|id| makes(message, id))));
    }
    let behind = |at: usize| until_user(history.get(at + 1..).unwrap_or_default());
    let is_taken = |at: usize| {
        behind(at).0.iter().any(|message| {
            role(message) == "assistant"
                || answered_call(message).is_some_and(|id| answered.iter().any(|known| known == id))
        })
    };
    let taken = asking.iter().rev().copied().find(|at| is_taken(*at)).ok_or_else(not_found)?;
    // Some models number their calls again in every message: these calls may wait, or may be those that were answered.
    let is_begun = params.get("is_begun").and_then(Value::as_bool) == Some(true);
    if asking.last() != Some(&taken) && !is_begun {
        let problem = "a call of the same id waits in the session, and whether this turn answered it or an earlier \
                       one cannot be told";
        return Err(Error::new(ErrorCode::Incomplete, problem));
    }
    let (messages, is_followed) = behind(taken);
    Ok(Part { messages, answered: Some(answered), is_followed })
}

/// A message's content, independent of its division into blocks.
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

/// The error of a missing turn, in the form of servers that have ids for turns.
fn not_found() -> Error {
    Error::new(ErrorCode::Http, "the session's history does not have this turn").with_status(Some(404))
}
