//! Whether an input fits the turn that it follows: all that is pending is answered, nothing else.

use std::collections::BTreeMap;

use axum::http::StatusCode;

use super::caller::Dialect;
use super::input::InputItem;
use crate::agents::{Answers, Attachment, MAIN};
use crate::error::ApiError;
use crate::store::{Pending, PendingCall};

/// Why an input is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It could never be right.
    Malformed(String),
    /// It does not fit the state of the conversation.
    Unfit(String),
}

impl Refusal {
    /// The two dialects differ in the status of an unfit input.
    pub(crate) fn into_error(self, dialect: Dialect) -> ApiError {
        match (self, dialect) {
            (Self::Unfit(message), Dialect::TrueForge) => {
                ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_input", message)
            }
            (Self::Malformed(message) | Self::Unfit(message), _) => ApiError::invalid(message),
        }
    }
}

/// The outcome of an accepted input.
#[derive(Debug, Default)]
pub(crate) struct Accepted {
    pub(crate) text: String,
    pub(crate) files: Vec<Attachment>,
    pub(crate) answers: Answers,
}

/// Checks the items against what the previous turn left pending.
pub(crate) fn check(items: &[InputItem], pending: &Pending) -> Result<Accepted, Refusal> {
    let is_message = |item: &InputItem| matches!(item, InputItem::Message { .. });
    let messages = items.iter().filter(|item| is_message(item)).count();
    if messages > 0 && messages < items.len() {
        return Err(Refusal::Malformed(
            "input must not mix user messages with approval decisions or client-side tool responses"
                .to_owned(),
        ));
    }
    if let (true, Some(waiting)) = (messages > 0, pending.calls.first()) {
        return Err(Refusal::Unfit(format!(
            "thread {}: user message cannot be sent while approvals or questions are pending",
            waiting.thread
        )));
    }
    let mut accepted = Accepted::default();
    let mut texts = Vec::new();
    for (index, item) in items.iter().enumerate().filter(|(_, item)| is_message(item)) {
        if let InputItem::Message { content } = item {
            if content.is_empty() {
                return Err(Refusal::Unfit(format!(
                    "thread {MAIN}: messages[{index}] user message has empty content"
                )));
            }
            texts.push(content.text());
            let files = content.files();
            let prefixed = |error| Refusal::Malformed(format!("input[{index}]: {error}"));
            accepted.files.extend(files.map_err(prefixed)?);
        }
    }
    accepted.text = texts.join("\n\n");
    if messages == 0 {
        accepted.answers = answers(items, &pending.calls)?;
    }
    Ok(accepted)
}

/// Reads approvals and responses: each must belong to a pending call, and none may be missing.
fn answers(items: &[InputItem], pending: &[PendingCall]) -> Result<Answers, Refusal> {
    let mut answers = Answers::default();
    let mut open: Vec<&PendingCall> = pending.iter().collect();
    // Positions are counted within each thread.
    let mut positions: BTreeMap<&str, usize> = BTreeMap::new();
    for item in items {
        let (thread, call, approval) = match item {
            InputItem::Message { .. } => continue,
            InputItem::Approval { thread_id, tool_call_id, .. } => (thread_id, tool_call_id, true),
            InputItem::Response { thread_id, tool_call_id, content } => {
                if content.is_empty() {
                    return Err(Refusal::Malformed(format!(
                        "content of the tool response for '{tool_call_id}' must not be empty"
                    )));
                }
                (thread_id, tool_call_id, false)
            }
        };
        if thread != MAIN && !pending.iter().any(|waiting| waiting.thread == *thread) {
            return Err(Refusal::Unfit(format!("unknown thread_id: {thread}")));
        }
        let position = positions.entry(thread).or_default();
        let found = open.iter().position(|waiting| {
            waiting.thread == *thread && waiting.call == *call && waiting.approval == approval
        });
        let Some(found) = found else {
            let what = if approval { "pending approval" } else { "open tool call" };
            return Err(Refusal::Unfit(format!(
                "thread {thread}: messages[{position}] no {what} for tool_call_id '{call}'"
            )));
        };
        open.swap_remove(found);
        *position += 1;
        match item {
            InputItem::Approval { approval, .. } => {
                answers.approvals.insert(call.clone(), approval.into());
            }
            InputItem::Response { content, .. } => {
                answers.responses.insert(call.clone(), content.clone());
            }
            InputItem::Message { .. } => {}
        }
    }
    let unanswered = |thread: &str| {
        let missing = pending.iter().filter(|waiting| waiting.thread == thread && open.contains(waiting));
        missing.map(|waiting| waiting.call.as_str()).collect::<Vec<_>>().join(", ")
    };
    match pending.iter().find(|waiting| open.contains(waiting)) {
        None => Ok(answers),
        Some(PendingCall { thread, .. }) => Err(Refusal::Unfit(format!(
            "thread {thread}: Send batch must resolve all pending tool calls awaiting user input. \
             Missing: {}",
            unanswered(thread)
        ))),
    }
}
