//! An event as JSON, told apart by its kind.

use crate::json::Object;

use super::{Event, UnknownEvent};

/// The types of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// `turn.created`
    TurnCreated,
    /// `turn.done`
    TurnDone,
    /// `model.message`
    ModelMessage,
    /// `model.message.delta`
    ModelMessageDelta,
    /// `tool.response`
    ToolResponse,
    /// `tool.output`
    ToolOutput,
    /// `thread.created`
    ThreadCreated,
    /// `thread.done`
    ThreadDone,
    /// `mcp.initialize`
    McpInitialize,
    /// `mcp.auth_required`
    McpAuthRequired,
    /// `sandbox.created`
    SandboxCreated,
    /// `tool.approval_required`
    ToolApprovalRequired,
    /// `tool.response_required`
    ToolResponseRequired,
    /// `tool.resumed`
    ToolResumed,
    /// `tool.cancelled`
    ToolCancelled,
    /// `message.reset`
    MessageReset,
    /// `state.snapshot`
    StateSnapshot,
    /// `state.delta`
    StateDelta,
    /// `messages.snapshot`
    MessagesSnapshot,
    /// `activity.snapshot`
    ActivitySnapshot,
    /// `activity.delta`
    ActivityDelta,
    /// `server.error`
    Error,
    /// `notice`
    Notice,
    /// `unknown`: something that could not be read.
    Unknown,
}

impl EventKind {
    const NAMES: [(&'static str, Self); 23] = [
        ("turn.created", Self::TurnCreated),
        ("turn.done", Self::TurnDone),
        ("model.message", Self::ModelMessage),
        ("model.message.delta", Self::ModelMessageDelta),
        ("tool.response", Self::ToolResponse),
        ("tool.output", Self::ToolOutput),
        ("thread.created", Self::ThreadCreated),
        ("thread.done", Self::ThreadDone),
        ("mcp.initialize", Self::McpInitialize),
        ("mcp.auth_required", Self::McpAuthRequired),
        ("sandbox.created", Self::SandboxCreated),
        ("tool.approval_required", Self::ToolApprovalRequired),
        ("tool.response_required", Self::ToolResponseRequired),
        ("tool.resumed", Self::ToolResumed),
        ("tool.cancelled", Self::ToolCancelled),
        ("message.reset", Self::MessageReset),
        ("state.snapshot", Self::StateSnapshot),
        ("state.delta", Self::StateDelta),
        ("messages.snapshot", Self::MessagesSnapshot),
        ("activity.snapshot", Self::ActivitySnapshot),
        ("activity.delta", Self::ActivityDelta),
        ("server.error", Self::Error),
        ("notice", Self::Notice),
    ];

    /// The kind of this name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let known = Self::NAMES.iter().find(|(known, _)| *known == name);
        known.map_or(Self::Unknown, |(_, kind)| *kind)
    }
}

/// An event in turnwire's form, lent as its JSON.
#[derive(Debug, Clone, Copy)]
pub struct EventRef<'e> {
    /// Its type.
    pub kind: EventKind,
    /// Its fields, both spellings filled in; of the types that [`Event`] says.
    pub fields: &'e Object<'e>,
}

impl<'e> EventRef<'e> {
    /// The event that a JSON object is, in turnwire's form.
    #[must_use]
    pub fn of(fields: &'e Object<'_>) -> Self {
        Self { kind: EventKind::of(fields.text("type")), fields }
    }

    /// The event as its Rust type.
    #[must_use]
    pub fn to_event(&self) -> Event {
        let json = self.fields.to_json();
        serde_json::from_str(&json).unwrap_or_else(|error| {
            Event::Unknown(UnknownEvent {
                wire_type: Some(self.fields.text("type").to_owned()),
                raw: serde_json::from_str(&json).unwrap_or_default(),
                problem: Some(error.to_string()),
            })
        })
    }
}
