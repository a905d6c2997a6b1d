//! Traps: what some real servers do to a turn itself, for protocols whose recorders know them.

use std::time::Duration;

/// One thing that a turn is to do, or to suffer. N counts from 1 what its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trap {
    /// Frames carry ids and numbers of other turns.
    Leak,
    /// After so many frames comes an error, and the stream ends.
    ErrorEof(u64),
    /// The same with an error of another form.
    RelayError(u64),
    /// The model's connection breaks after so many deltas, and another attempt goes on.
    RetryStep { after: u64, call: bool },
    /// The model's provider fails again and again.
    Retries,
    /// The model says nothing for so long.
    Silence(Duration),
    /// Another call goes on while one waits for an answer.
    SuspendLive,
    /// After an answer comes a snapshot of the time before it.
    StaleSnapshot,
    /// After so many deltas all of them are void.
    StreamReset(u64),
    /// A call is begun and taken back.
    ToolCancel,
    /// An event of a type that nobody knows.
    UnknownType,
    /// A reason of the end that nobody knows.
    UnknownTermination,
    /// Progress in an older form.
    LegacyProgress,
    /// A change of the state as a patch.
    StateDelta,
    /// All messages at once.
    MessagesSnapshot,
    /// A change of an activity as a patch.
    ActivityDelta,
}
