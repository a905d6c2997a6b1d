//! The one vocabulary that every wire protocol is turned into.
//!
//! An event is JSON in one form, whatever protocol it came by: an [`EventRef`], told apart by its
//! [`EventKind`]. The rest of turnwire and the browser read that JSON where they need it. For Rust, the
//! same event is [`Event`] and its types, by [`EventRef::to_event`]; from these types the TypeScript
//! declarations of the npm package are derived.
//!
//! The names of fields are those of the `TrueFoundry` agent protocol, the richest of the protocols that
//! turnwire speaks; another protocol's folder translates its own words into these. Where that vendor's
//! reference pages and its servers spell a field differently, an event carries both spellings, so that
//! code written from either document works; the docs of such a field name its twin.

mod delta;
mod input;
mod kind;
mod message;
mod notice;
mod outcome;
mod session;
mod state;
mod thread;
mod tool;
mod turn;

pub use delta::{TextDelta, TextField};
pub use input::{Approval, ByteRange, ContentPart, FileUpload, TextElement, TurnInputItem, UserContent};
pub use kind::{EventKind, EventRef};
pub use message::{
    ModelContent, ModelContentPart, ModelMessage, ModelMessageDelta, ToolCall, ToolCallDelta,
    ToolCallFunction, ToolCallFunctionDelta, ToolInfo, Usage, UsageBreakdown,
};
pub use notice::Notice;
pub use outcome::{
    MessageReset, ServerError, StopReason, Suspension, Termination, ToolCancelled, ToolResult, ToolResumed,
};
pub use session::{SessionEvent, SessionRecord, TurnRecord};
pub use state::{
    ActivityDelta, ActivitySnapshot, MessagesSnapshot, PatchOperation, StateDelta, StateKey, StateOperation,
    StateOperations, StateSnapshot, ThreadMessage, ThreadToolCall, ToolProgress, TrackedPatch,
};
pub use thread::{AgentInfo, ParentCall, ThreadCreated, ThreadDone, ThreadState};
pub use tool::{
    McpAuthRequired, McpInitialize, McpServer, McpServerAuth, SandboxCreated, ToolCallRef, ToolOutput,
    ToolResponse, ToolsRequired,
};
pub use turn::{
    CreatedBy, RequiredActionEvent, RunningState, Subject, TerminalState, TurnCreated, TurnDone, TurnMetrics,
    TurnState,
};

use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// One event of a turn, told apart by `type`.
///
/// The stream delivers all of these. The event list of a finished turn holds neither
/// `turn.created`, `turn.done` nor deltas; a session's event list holds all but deltas.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "type")]
#[expect(clippy::large_enum_variant, reason = "events of the largest type are among the rarest")]
pub enum Event {
    /// The first event of a stream.
    #[serde(rename = "turn.created")]
    TurnCreated(TurnCreated),
    /// The last event of a stream, with the turn's terminal state.
    #[serde(rename = "turn.done")]
    TurnDone(TurnDone),
    /// A model message: on a stream its (usually empty) beginning, in a list the whole of it.
    #[serde(rename = "model.message")]
    ModelMessage(ModelMessage),
    /// A piece of a model message.
    #[serde(rename = "model.message.delta")]
    ModelMessageDelta(ModelMessageDelta),
    /// The result of a tool call.
    #[serde(rename = "tool.response")]
    ToolResponse(ToolResponse),
    /// What a tool call puts out while it runs.
    #[serde(rename = "tool.output")]
    ToolOutput(ToolOutput),
    /// A sub-agent's thread began.
    #[serde(rename = "thread.created")]
    ThreadCreated(ThreadCreated),
    /// A sub-agent's thread ended.
    #[serde(rename = "thread.done")]
    ThreadDone(ThreadDone),
    /// MCP servers were initialized for a thread.
    #[serde(rename = "mcp.initialize")]
    McpInitialize(McpInitialize),
    /// MCP servers need the user's authorization before the agent can go on.
    #[serde(rename = "mcp.auth_required")]
    McpAuthRequired(McpAuthRequired),
    /// A sandbox was made for the turn.
    #[serde(rename = "sandbox.created")]
    SandboxCreated(SandboxCreated),
    /// Tool calls wait for a human's approval.
    #[serde(rename = "tool.approval_required")]
    ToolApprovalRequired(ToolsRequired),
    /// Tool calls wait for a result that the client supplies.
    #[serde(rename = "tool.response_required")]
    ToolResponseRequired(ToolsRequired),
    /// An answer has reached the call that waited for it. The `AgentEvent` protocols have this and the
    /// following types.
    #[serde(rename = "tool.resumed")]
    ToolResumed(ToolResumed),
    /// A call that had begun will not be made.
    #[serde(rename = "tool.cancelled")]
    ToolCancelled(ToolCancelled),
    /// What a message said so far does not count.
    #[serde(rename = "message.reset")]
    MessageReset(MessageReset),
    /// The agent's whole state.
    #[serde(rename = "state.snapshot")]
    StateSnapshot(StateSnapshot),
    /// A change of the agent's state.
    #[serde(rename = "state.delta")]
    StateDelta(StateDelta),
    /// The session's messages.
    #[serde(rename = "messages.snapshot")]
    MessagesSnapshot(MessagesSnapshot),
    /// A report of what is going on, such as a tool's progress.
    #[serde(rename = "activity.snapshot")]
    ActivitySnapshot(ActivitySnapshot),
    /// A change of an earlier report.
    #[serde(rename = "activity.delta")]
    ActivityDelta(ActivityDelta),
    /// Something went wrong on the server.
    #[serde(rename = "server.error")]
    Error(ServerError),
    /// News of the turn that are no part of the conversation.
    #[serde(rename = "notice")]
    Notice(Notice),
    /// Something that this version does not know, or could not read; never dropped, never fatal.
    #[serde(rename = "unknown")]
    Unknown(UnknownEvent),
}

/// An event of a type that this version does not know, or a malformed one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct UnknownEvent {
    /// The `type` on the wire, where there was one.
    pub wire_type: Option<String>,
    /// The JSON that came, parsed; the text itself where it was not JSON.
    #[tsify(type = "unknown")]
    pub raw: serde_json::Value,
    /// Why it could not be read as the type it names. Absent for a type that is merely new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}
