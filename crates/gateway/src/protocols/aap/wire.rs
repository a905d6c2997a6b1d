//! Events in their wire form.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::message::{Call, Content};
use crate::http::write_frame;
use crate::store::EventLog;

/// The stream mode of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Events with pieces of text.
    Delta,
    /// Events with whole texts.
    Message,
    /// No events: one JSON answer.
    None,
}

impl Mode {
    /// The mode that a turn asks for. Unknown modes count as none, as on the real server.
    pub(super) fn of(wanted: Option<&Value>) -> Self {
        let wanted = wanted.and_then(Value::as_str);
        [Self::Delta, Self::Message]
            .into_iter()
            .find(|mode| wanted == Some(mode.as_str()))
            .unwrap_or(Self::None)
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Delta => "delta",
            Self::Message => "message",
            Self::None => "none",
        }
    }
}

/// Why a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StopReason {
    EndTurn,
    /// Calls wait for the client.
    ToolUse,
    MaxTokens,
    Refusal,
    Error,
    /// One of a later version.
    QuotaExhausted,
}

/// One event.
#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum Event<'a> {
    TurnStart {},
    TextDelta {
        delta: &'a str,
    },
    ThinkingDelta {
        delta: &'a str,
    },
    Text {
        text: &'a str,
    },
    Thinking {
        thinking: &'a str,
    },
    ToolCall(&'a Call),
    ToolResult {
        tool_call_id: &'a str,
        content: &'a Content,
    },
    TurnStop {
        stop_reason: StopReason,
    },
    /// One of a later version.
    Progress {
        percent: u8,
    },
}

impl Event<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::TurnStart {} => "turn_start",
            Self::TextDelta { .. } => "text_delta",
            Self::ThinkingDelta { .. } => "thinking_delta",
            Self::Text { .. } => "text",
            Self::Thinking { .. } => "thinking",
            Self::ToolCall(_) => "tool_call",
            Self::ToolResult { .. } => "tool_result",
            Self::TurnStop { .. } => "turn_stop",
            Self::Progress { .. } => "progress",
        }
    }

    /// Writes the event as a frame with its name.
    fn write(&self, bytes: &mut Vec<u8>) {
        write_frame(bytes, &format!("event: {}\n", self.name()), self, "");
    }

    pub(super) fn frame(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes
    }
}

/// Where the events of one turn go.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) mode: Mode,
    log: Arc<EventLog>,
    /// Whether the last writes get lost.
    lost_end: bool,
    /// What is lost unless a tool's result follows.
    held: Vec<u8>,
}

impl Wire {
    pub(super) fn new(mode: Mode, log: Arc<EventLog>, lost_end: bool) -> Self {
        Self { mode, log, lost_end, held: Vec::new() }
    }

    pub(super) fn send(&mut self, event: &Event<'_>) {
        if self.mode == Mode::None || (self.lost_end && self.is_lost(event)) {
            return;
        }
        self.log.append(|_, bytes| event.write(bytes));
    }

    /// Loses an event as the released server does: it closes the stream before its last writes are sent. With whole
    /// messages, those are all of the last round.
    fn is_lost(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::TurnStop { .. } => true,
            Event::TurnStart {} => false,
            Event::ToolResult { .. } => {
                let held = std::mem::take(&mut self.held);
                self.log.append(|_, bytes| bytes.extend_from_slice(&held));
                false
            }
            event => {
                let lost = self.mode == Mode::Message;
                if lost {
                    event.write(&mut self.held);
                }
                lost
            }
        }
    }

    pub(super) fn close(&self) {
        self.log.close();
    }
}
