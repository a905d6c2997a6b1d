//! The one vocabulary that every wire protocol is turned into.
//!
//! [`Event`] is what a turn's stream and its event lists hand out. The field names are those of the
//! `TrueFoundry` agent protocol, the richest of the protocols that turnwire speaks; another protocol's
//! folder translates its own words into these. Where that vendor's reference pages and its shipped
//! clients spell a field differently, an event carries both spellings, so that code written from either
//! document works; the docs of such a field name its twin.
//!
//! The TypeScript declarations of the npm package are derived from these types.

mod input;
mod message;
mod session;
mod thread;
mod tool;
mod turn;

pub use input::{Approval, ContentPart, FileUpload, TurnInputItem, UserContent};
pub use message::{
    ModelContent, ModelContentPart, ModelMessage, ModelMessageDelta, ToolCall, ToolCallDelta,
    ToolCallFunction, ToolCallFunctionDelta, ToolInfo, Usage, UsageBreakdown, WireFields,
};
pub use session::{SessionEvent, SessionRecord, TurnRecord};
pub use thread::{AgentInfo, ParentCall, ThreadCreated, ThreadDone, ThreadState};
pub use tool::{
    McpAuthRequired, McpInitialize, McpServer, McpServerAuth, SandboxCreated, ToolCallRef,
    ToolResponse, ToolsRequired,
};
pub use turn::{
    CreatedBy, RequiredActionEvent, RunningState, Subject, TerminalState, TurnCreated, TurnDone,
    TurnMetrics, TurnState,
};

use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// One event of a turn, told apart by `type`.
///
/// The stream delivers all of these. The event list of a finished turn holds neither
/// `turn.created`, `turn.done` nor deltas; a session's event list holds all but deltas.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "type")]
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
    /// Something that this version does not know, or could not read; never dropped, never fatal.
    #[serde(rename = "unknown")]
    Unknown(UnknownEvent),
}

/// An event of a type that this version does not know, or a malformed one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct UnknownEvent {
    /// The `type` on the wire, where there was one.
    pub wire_type: Option<String>,
    /// The JSON that came, parsed; the text itself where it was not JSON.
    #[tsify(type = "unknown")]
    pub raw: String,
    /// Why it could not be read as the type it names. Absent for a type that is merely new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Event {
    /// The event's `type` as its docs and TypeScript have it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::TurnCreated(_) => "turn.created",
            Self::TurnDone(_) => "turn.done",
            Self::ModelMessage(_) => "model.message",
            Self::ModelMessageDelta(_) => "model.message.delta",
            Self::ToolResponse(_) => "tool.response",
            Self::ThreadCreated(_) => "thread.created",
            Self::ThreadDone(_) => "thread.done",
            Self::McpInitialize(_) => "mcp.initialize",
            Self::McpAuthRequired(_) => "mcp.auth_required",
            Self::SandboxCreated(_) => "sandbox.created",
            Self::ToolApprovalRequired(_) => "tool.approval_required",
            Self::ToolResponseRequired(_) => "tool.response_required",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// A delta that carries one piece of text and nothing else: nearly every event of a stream.
///
/// It borrows from the network chunk, so that the common case copies nothing before the text
/// reaches its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextDelta<'a> {
    /// The message's id.
    pub id: &'a str,
    /// The thread that the message belongs to.
    pub thread_id: &'a str,
    /// When it was made, as the server wrote it; many servers stamp only a message's first delta.
    pub created_at: Option<&'a str>,
    /// Where the text belongs.
    pub field: TextField,
    /// The text to append.
    pub text: &'a str,
}

/// The field of a message that a [`TextDelta`] extends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextField {
    /// `content`
    Content,
    /// `reasoning_content`
    Reasoning,
    /// `tool_calls[index].function.arguments`
    Arguments(u32),
}

impl TextDelta<'_> {
    /// The same delta as the event that the wire names.
    #[must_use]
    pub fn to_event(&self) -> ModelMessageDelta {
        let mut delta = ModelMessageDelta {
            id: self.id.into(),
            thread_id: self.thread_id.into(),
            created_at: self.created_at.map(Into::into),
            ..ModelMessageDelta::default()
        };
        match self.field {
            TextField::Content => delta.content = Some(self.text.into()),
            TextField::Reasoning => delta.reasoning_content = Some(self.text.into()),
            TextField::Arguments(index) => {
                delta.tool_calls = vec![ToolCallDelta::arguments(index, self.text)]
            }
        }
        delta
    }
}
