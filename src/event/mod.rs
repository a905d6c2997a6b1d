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
mod event_ref;
mod input;
mod message;
mod notice;
mod outcome;
mod session;
mod state;
mod thread;
mod tool;
mod turn;
mod types;

pub use delta::{TextDelta, TextField};
pub use event_ref::EventRef;
pub use input::{Approval, ByteRange, ContentPart, FileUpload, TextElement, TurnInputItem, UserContent};
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
pub use types::{Event, EventKind};

use serde::{Deserialize, Serialize};
use tsify::Tsify;

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
