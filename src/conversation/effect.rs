//! Effects: what the carrier must do, in this order. Each is carried out once; what comes of it is told as a fact.

use super::{Key, Text};

/// Something to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Create the session; then `SessionReady` or `SessionFailed`.
    CreateSession,
    /// Start a turn: `Named` or `Refused` or `Lost`, then what it does and how it ends.
    Start {
        /// The turn.
        turn: Key,
        /// Which turn it follows.
        after: After,
        /// What it says.
        input: StartInput,
        /// It throws away what waits for an answer.
        discard: bool,
    },
    /// Send a message to the running turn; then `Steered`.
    Steer {
        /// The turn.
        turn: Key,
        /// The message's key.
        key: Key,
        /// The message (JSON).
        input: Text,
    },
    /// Cancel the turn on the server, as soon as it has begun; a failure is `CancelFailed`.
    Cancel {
        /// The turn.
        turn: Key,
    },
    /// Answer a call of the running turn; then `Answered`.
    Answer {
        /// The turn.
        turn: Key,
        /// The call.
        call: Text,
        /// The answer (JSON).
        answer: Text,
    },
    /// Run a tool of the page; then `ToolEnded`.
    RunTool {
        /// The turn.
        turn: Key,
        /// The call.
        call: Text,
    },
    /// Stop all tools of the page. Nothing is told of them.
    StopTools,
    /// Read the turn to its end, from where it was left; then what it does and how it ends.
    Watch {
        /// The turn.
        turn: Key,
    },
    /// Stop reading the turn, which continues.
    Leave {
        /// The turn.
        turn: Key,
    },
    /// Read a page of turns; then `Page` or `PageFailed`. One at a time.
    Load {
        /// The page before the one that begins with this turn; else the newest.
        before: Option<Key>,
    },
    /// Keep this for the next page in place of what was kept; empty for nothing.
    Store {
        /// What is kept.
        text: Text,
    },
    /// Hand a text back to the person: it is nowhere else.
    GiveBack {
        /// The key that it had.
        key: Key,
        /// The input (JSON).
        input: Text,
    },
    /// What the plan shows has changed.
    Publish,
}

/// Which turn a new one follows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum After {
    /// The session's newest.
    #[default]
    Newest,
    /// None: it is a first turn.
    Nothing,
    /// The turn with this id.
    Turn(Text),
}

/// What a turn starts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartInput {
    /// A person's input (JSON).
    Message(Text),
    /// Answers to calls of this turn: each call, and its answer (JSON).
    Answers(Key, Vec<(Text, Text)>),
    /// Nothing: the agent goes on, after a sign-in.
    Nothing,
}
