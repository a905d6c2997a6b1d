//! The data that all states of a driver share.

use crate::error::{Error, ErrorCode};
use crate::features::{Relays, SeparateAnswers, TurnReads};
use crate::json::Object;
use crate::turn::conventions::{Answers, Conventions};
use crate::turn::{StreamEnd, TurnMachine, TurnReader};

use super::request::TurnRequest;
use super::retry::RetryBudget;

/// The data that all states share.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) request: TurnRequest,
    pub(super) reader: TurnReader,
    pub(super) retry: RetryBudget,
    pub(super) answers: AnswerProgress,
    /// The last message in a list, for servers whose records lack it (a JSON object).
    pub(super) output: String,
    /// The state in the record that ended the turn (a JSON object); empty if no record did.
    pub(super) found: String,
    /// The terminal state in a record (a JSON object), while the stream may still bring the rest; empty if no record
    /// since the last event had one.
    pub(super) ended: String,
    /// Whether the caller wants the turn's events, and not only its start.
    pub(super) wants_stream: bool,
    /// When the head of the stream's response came.
    pub(super) opened_at: Option<f64>,
    /// Whether the stream was lost, so that the next one resumes it.
    pub(super) is_resuming: bool,
    /// Whether leaving the stream cancels the turn.
    pub(super) cancels_by_disconnect: bool,
}

/// How many of a paused turn's calls were answered.
#[derive(Debug, Default)]
pub(super) struct AnswerProgress {
    /// How many answers the server has accepted.
    pub(super) taken: usize,
    /// When the turn paused, by the server's clock.
    pub(super) paused_at: String,
    /// How often in a row the turn was read while it still waited for answered calls.
    pub(super) stale_reads: u32,
}

/// An `incomplete` error for this cause. `before` says what it means, `after` what is kept or can be done.
pub(super) fn incomplete(before: &str, cause: &Error, after: &str) -> Error {
    Error::of(ErrorCode::Incomplete, &[before, &cause.message, after]).with_status(cause.status)
}

impl Context {
    pub(super) fn conventions(&self) -> Conventions {
        self.reader.conventions()
    }

    pub(super) fn machine(&self) -> &TurnMachine {
        self.reader.machine()
    }

    pub(super) fn is_started(&self) -> bool {
        self.machine().id().is_some()
    }

    /// The marker of servers that can report the status of a turn. They cannot if the client keeps the conversation.
    pub(super) fn turn_reads(&self) -> Option<TurnReads> {
        TurnReads::when(!self.reader.capabilities().has_client_conversation())
    }

    /// The marker of separate answers, if the input consists of such answers.
    pub(super) fn separate_answers(&self) -> Option<SeparateAnswers> {
        match self.conventions().answers {
            Answers::OneByOne(by) if self.request.input.answer_count() > 0 => Some(by),
            _ => None,
        }
    }

    /// Whether the server has accepted a separate answer.
    pub(super) fn has_answered(&self) -> bool {
        self.separate_answers().is_some() && self.answers.taken > 0
    }

    /// Applies the turn's state from a record.
    pub(super) fn take_state(&mut self, state: &Object<'_>) {
        if self.reader.apply_state(state) {
            self.found = state.to_json();
        }
    }

    /// Changes the turn's id after a start that began nothing. A relay stores the refusal under the old id, so the next
    /// start needs another one.
    pub(super) fn renew_turn(&mut self) {
        if Relays::EXISTS && self.conventions().relay.is_some() {
            self.request.turn_id.push('x');
        }
    }

    /// How the turn ends after a failure without recovery.
    pub(super) fn end_of(&self, error: Error) -> StreamEnd {
        match error.code {
            // A resumed stream would bring the same event again.
            ErrorCode::FrameTooLarge => StreamEnd::Lost(error),
            ErrorCode::Http | ErrorCode::Rpc | ErrorCode::UnexpectedResponse if self.is_resuming => {
                StreamEnd::Lost(error)
            }
            ErrorCode::Http | ErrorCode::Rpc | ErrorCode::UnexpectedResponse => StreamEnd::Rejected(error),
            _ => StreamEnd::Failed(error),
        }
    }
}
