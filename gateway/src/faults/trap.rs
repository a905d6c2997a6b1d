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
    /// One that only the Agent Application Protocol knows.
    Aap(AapTrap),
    /// One that only turn-rpc knows.
    Rpc(RpcTrap),
}

/// What a turn of turn-rpc does, or suffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RpcTrap {
    /// Every so-manieth delta is lost; 1 loses all of them.
    DropDeltas(u64),
    /// The last delta of a text comes after the item is complete.
    LateDelta,
    /// The agent's first events come before the response that starts the turn.
    EarlyEvents,
    /// The response that starts the turn never comes.
    LostResponse,
    /// Each reasoning item is completed a second time, with nothing in it.
    DoubleReasoning,
    /// Deltas do not carry the whole text as Markdown.
    NoMarkdown,
    /// The Markdown of each delta has at least so many bytes.
    HugeMarkdown(usize),
}

/// What the released server of the Agent Application Protocol does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AapTrap {
    /// What is written last gets lost.
    LostEnd,
    /// The model fails after so many deltas, and nobody is prepared for it.
    Throw(u64),
    /// A stream without events, for a turn that was not even begun.
    Nothing,
    /// A granted call has a result, but nobody is told.
    SilentGrant,
    /// Results of trusted tools are stored twice.
    TwiceStored,
    /// Text comes before the thinking that led to it.
    TextFirst,
    /// The turn ends with its reader.
    Abandon,
    /// Denials in other words than the specification's.
    UseDenied,
    /// Messages of text alone have a string for content.
    PlainContent,
    /// Results have blocks for content.
    BlockResults,
    /// Another version of the protocol is told.
    OtherVersion,
}
