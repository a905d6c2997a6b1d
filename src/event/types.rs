//! The types of events, one row each. The table generates [`Event`], [`EventKind`], the wire names, and through the
//! golden test the package's union and its topics.

use serde::{Deserialize, Serialize};
use tsify::Tsify;

use super::{
    ActivityDelta, ActivitySnapshot, McpAuthRequired, McpInitialize, MessageReset, MessagesSnapshot,
    ModelMessage, ModelMessageDelta, Notice, SandboxCreated, ServerError, StateDelta, StateSnapshot,
    ThreadCreated, ThreadDone, ToolCancelled, ToolOutput, ToolResponse, ToolResumed, ToolsRequired,
    TurnCreated, TurnDone, UnknownEvent,
};

macro_rules! event_types {
    ($($(#[$doc:meta])+ $kind:ident($fields:ident) = $name:literal,)+) => {
        /// One event of a turn; `type` tells the variants apart.
        ///
        /// The stream delivers all of these. The event list of a finished turn has no `turn.created`, no `turn.done`
        /// and no deltas; a session's event list has all but deltas.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
        #[serde(tag = "type")]
        #[expect(clippy::large_enum_variant, reason = "events of the largest type are among the rarest")]
        pub enum Event {
            $($(#[$doc])+ #[serde(rename = $name)] $kind($fields),)+
        }

        /// The types of events.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum EventKind {
            $(#[doc = concat!("`", $name, "`")] $kind,)+
        }

        impl EventKind {
            /// All types with their wire names.
            pub const ALL: &[(&'static str, Self)] = &[$(($name, Self::$kind),)+];
        }
    };
}

event_types! {
    /// The first event of a stream.
    TurnCreated(TurnCreated) = "turn.created",
    /// The last event of a stream, with the turn's terminal state.
    TurnDone(TurnDone) = "turn.done",
    /// A model message: on a stream its (usually empty) beginning, in a list the whole message.
    ModelMessage(ModelMessage) = "model.message",
    /// A piece of a model message.
    ModelMessageDelta(ModelMessageDelta) = "model.message.delta",
    /// The result of a tool call.
    ToolResponse(ToolResponse) = "tool.response",
    /// Output of a running tool call.
    ToolOutput(ToolOutput) = "tool.output",
    /// A sub-agent's thread began.
    ThreadCreated(ThreadCreated) = "thread.created",
    /// A sub-agent's thread ended.
    ThreadDone(ThreadDone) = "thread.done",
    /// MCP servers were initialized for a thread.
    McpInitialize(McpInitialize) = "mcp.initialize",
    /// MCP servers need the user's authorization before the agent can continue.
    McpAuthRequired(McpAuthRequired) = "mcp.auth_required",
    /// A sandbox was created for the turn.
    SandboxCreated(SandboxCreated) = "sandbox.created",
    /// Tool calls wait for a human's approval.
    ToolApprovalRequired(ToolsRequired) = "tool.approval_required",
    /// Tool calls wait for a result that the client supplies.
    ToolResponseRequired(ToolsRequired) = "tool.response_required",
    /// An answer has reached the call that waited for it. The `AgentEvent` protocols have this and the
    /// following types.
    ToolResumed(ToolResumed) = "tool.resumed",
    /// A call that had begun will not be made.
    ToolCancelled(ToolCancelled) = "tool.cancelled",
    /// Discards the message's content so far.
    MessageReset(MessageReset) = "message.reset",
    /// The agent's whole state.
    StateSnapshot(StateSnapshot) = "state.snapshot",
    /// A change of the agent's state.
    StateDelta(StateDelta) = "state.delta",
    /// The session's messages.
    MessagesSnapshot(MessagesSnapshot) = "messages.snapshot",
    /// A report of an activity, such as a tool's progress.
    ActivitySnapshot(ActivitySnapshot) = "activity.snapshot",
    /// A change of an earlier report.
    ActivityDelta(ActivityDelta) = "activity.delta",
    /// Something went wrong on the server.
    Error(ServerError) = "server.error",
    /// A notice about the turn. Not part of the conversation.
    Notice(Notice) = "notice",
    /// An event that this version does not know or could not read. It is never dropped and never fatal.
    Unknown(UnknownEvent) = "unknown",
}

impl EventKind {
    /// The type with this name; [`Unknown`](Self::Unknown) if there is none.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let known = Self::ALL.iter().find(|(known, _)| *known == name);
        known.map_or(Self::Unknown, |(_, kind)| *kind)
    }
}
