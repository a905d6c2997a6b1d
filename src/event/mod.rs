//! The common vocabulary of all wire protocols. It knows JSON, and no protocol.
//!
//! An event is JSON in one form, whichever protocol it came from: an [`EventRef`] with its [`EventKind`]. The rest of
//! turnwire and the browser read that JSON where they need it. In Rust, [`EventRef::to_event`] converts it to [`Event`]
//! and its types. The TypeScript declarations of the npm package are derived from these types.
//!
//! The names of fields are those of the `TrueFoundry` agent protocol, the richest of the protocols that turnwire
//! speaks. The folders of other protocols translate their fields into these. If that vendor's reference pages and its
//! servers spell a field differently, an event has both spellings, so that code written from either document works. The
//! docs of such a field name the other spelling.

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

pub use delta::{OtherFields, TextDelta, TextField};
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
pub use thread::{AgentInfo, MAIN_THREAD, ParentCall, ThreadCreated, ThreadDone, ThreadState};
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

/// An event that is malformed, or of a type that this version does not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct UnknownEvent {
    /// The `type` on the wire, if there was one.
    pub wire_type: Option<String>,
    /// The received JSON, parsed; the text itself if it is not JSON.
    #[tsify(type = "unknown")]
    pub raw: serde_json::Value,
    /// Why it could not be read as its type. Absent for an unknown type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}
