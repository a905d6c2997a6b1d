//! What all states of a driver share.

use crate::error::{Error, ErrorCode};
use crate::features::{Relays, SeparateAnswers, TurnReads};
use crate::json::Object;
use crate::turn::conventions::{Answers, Conventions};
use crate::turn::{StreamEnd, TurnMachine, TurnReader};

use super::request::TurnRequest;
use super::retry::RetryBudget;

/// What all states share.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) request: TurnRequest,
    pub(super) reader: TurnReader,
    pub(super) retry: RetryBudget,
    pub(super) answers: AnswerProgress,
    /// The last message that a list had, if records lack it (a JSON object).
    pub(super) output: String,
    /// How the turn ended, by the record that ended it (a JSON object); empty if no record did.
    pub(super) found: String,
    /// How the turn ended, by a record (a JSON object), while its stream may still bring the rest; empty if no record
    /// said so since the last event.
    pub(super) ended: String,
    /// Whether the caller wants the turn's events, and not only its start.
    pub(super) wants_stream: bool,
    /// When the head of the stream's answer came.
    pub(super) opened_at: Option<f64>,
    /// Whether the stream was lost, so that the next one resumes it.
    pub(super) is_resuming: bool,
    /// Whether the turn is cancelled when its stream is left.
    pub(super) cancels_by_disconnect: bool,
}

/// How far a paused turn was answered.
#[derive(Debug, Default)]
pub(super) struct AnswerProgress {
    /// How many answers the server has taken.
    pub(super) taken: usize,
    /// When the turn paused, by the server's clock.
    pub(super) paused_at: String,
    /// How often in a row the turn was read while it waited for what was answered.
    pub(super) stale_reads: u32,
}

/// What `cause` leaves incomplete: its message between what that means and what is kept or can be done.
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

    /// The marker of servers that can be asked how a turn stands. Those whose client keeps the conversation cannot.
    pub(super) fn turn_reads(&self) -> Option<TurnReads> {
        TurnReads::when(!self.reader.capabilities().has_client_conversation())
    }

    /// The marker of separate answers, if the input is such.
    pub(super) fn separate_answers(&self) -> Option<SeparateAnswers> {
        match self.conventions().answers {
            Answers::OneByOne(by) if self.request.input.answer_count() > 0 => Some(by),
            _ => None,
        }
    }

    /// Whether the server has taken an answer.
    pub(super) fn has_answered(&self) -> bool {
        self.separate_answers().is_some() && self.answers.taken > 0
    }

    /// Takes how a record says that the turn stands.
    pub(super) fn take_state(&mut self, state: &Object<'_>) {
        if self.reader.apply_state(state) {
            self.found = state.to_json();
        }
    }

    /// Nothing has begun under the turn's id. A relay keeps a refusal as the answer to it, so the next start gets another one.
    pub(super) fn renew_turn(&mut self) {
        if Relays::EXISTS && self.conventions().relay.is_some() {
            self.request.turn_id.push('x');
        }
    }

    /// What a failure that cannot be recovered from means for the turn.
    pub(super) fn end_of(&self, error: Error) -> StreamEnd {
        match error.code {
            // A stream that went on would bring the same event again.
            ErrorCode::FrameTooLarge => StreamEnd::Lost(error),
            ErrorCode::Http | ErrorCode::Rpc | ErrorCode::UnexpectedResponse if self.is_resuming => {
                StreamEnd::Lost(error)
            }
            ErrorCode::Http | ErrorCode::Rpc | ErrorCode::UnexpectedResponse => StreamEnd::Rejected(error),
            _ => StreamEnd::Failed(error),
        }
    }
}
