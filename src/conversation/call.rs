//! A call that waits, and its answer.

use super::{Text, Who};

/// A call of a turn that waits, or has waited.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: Text,
    pub(super) who: Who,
    pub(super) answer: Answer,
}

/// The answer to a call. It leaves for the server once, unless the server says that it does not have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum AnswerState {
    /// There is none.
    #[default]
    Missing,
    /// A tool of the page makes it.
    Running,
    /// The tool was stopped: a person must let it run again.
    Halted,
    /// It is kept here.
    Kept,
    /// It is kept here until the turn has ended: while it runs, it does not take it.
    Refused,
    /// It is on its way.
    Going,
    /// It may have arrived.
    Unknown,
    /// The server has it.
    Sent,
}

/// An answer: its text is empty while there is none.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) state: AnswerState,
    pub(super) text: Text,
}

impl Answer {
    pub(super) fn kept(text: Text) -> Self {
        Self { state: AnswerState::Kept, text }
    }

    /// It has left, or may have.
    pub(super) fn is_out(&self) -> bool {
        matches!(self.state, AnswerState::Going | AnswerState::Unknown | AnswerState::Sent)
    }

    /// It has left, and it is not known that the server has it.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, AnswerState::Going | AnswerState::Unknown)
    }
}
