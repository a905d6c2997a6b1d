//! Events in their wire form: version 1.0 of the protocol, and the 0.x forms of some of them.

use serde::Serialize;
use serde_json::Value;

use super::message::Message;

/// The version that this server declares.
pub(super) const VERSION: &str = "1.0";

/// The id of a message, a call or a run, or a piece of text.
pub(super) type Text = String;

/// One event, without what every event may have.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
pub(super) enum Event {
    RunStarted {
        thread_id: Text,
        run_id: Text,
        #[serde(skip_serializing_if = "Option::is_none")]
        protocol_version: Option<&'static str>,
        /// Repeats the request, with its new messages only.
        #[serde(skip_serializing_if = "Option::is_none")]
        input: Option<Value>,
    },
    RunFinished {
        #[serde(skip_serializing_if = "Option::is_none")]
        thread_id: Option<Text>,
        #[serde(skip_serializing_if = "Option::is_none")]
        run_id: Option<Text>,
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<Outcome>,
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Vec<Usage>>,
    },
    RunError {
        message: Text,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<&'static str>,
    },
    StateSnapshot {
        snapshot: Value,
    },
    StateDelta {
        delta: Value,
    },
    MessagesSnapshot {
        messages: Vec<Message>,
    },
    ActivitySnapshot {
        message_id: Text,
        activity_type: &'static str,
        content: Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        replace: Option<bool>,
    },
    ActivityDelta {
        message_id: Text,
        activity_type: &'static str,
        patch: Value,
    },
    Raw {
        event: Value,
        source: &'static str,
    },
    Custom {
        name: &'static str,
        value: Value,
    },
    /// One of a later version.
    TelemetrySample {
        cpu: f64,
        note: &'static str,
    },
    #[serde(untagged)]
    Step(StepEvent),
    #[serde(untagged)]
    Message(MessageEvent),
    #[serde(untagged)]
    Call(CallEvent),
    #[serde(untagged)]
    Reasoning(ReasoningEvent),
    #[serde(untagged)]
    Subagent(SubagentEvent),
}

/// A step of the server's own work.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub(super) enum StepEvent {
    #[serde(rename = "STEP_STARTED")]
    Started { step_name: &'static str },
    #[serde(rename = "STEP_FINISHED")]
    Finished { step_name: &'static str },
}

/// A piece of a text message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub(super) enum MessageEvent {
    #[serde(rename = "TEXT_MESSAGE_START")]
    Start {
        message_id: Text,
        role: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'static str>,
    },
    #[serde(rename = "TEXT_MESSAGE_CONTENT")]
    Content { message_id: Text, delta: Text },
    #[serde(rename = "TEXT_MESSAGE_END")]
    End { message_id: Text },
    #[serde(rename = "TEXT_MESSAGE_CHUNK")]
    Chunk {
        #[serde(skip_serializing_if = "Option::is_none")]
        message_id: Option<Text>,
        #[serde(skip_serializing_if = "Option::is_none")]
        role: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        delta: Option<Text>,
    },
}

/// A piece of a tool call, or its result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub(super) enum CallEvent {
    #[serde(rename = "TOOL_CALL_START")]
    Start {
        tool_call_id: Text,
        tool_call_name: Text,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_message_id: Option<Text>,
    },
    #[serde(rename = "TOOL_CALL_ARGS")]
    Args { tool_call_id: Text, delta: Text },
    #[serde(rename = "TOOL_CALL_END")]
    End { tool_call_id: Text },
    #[serde(rename = "TOOL_CALL_CHUNK")]
    Chunk {
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<Text>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_name: Option<Text>,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_message_id: Option<Text>,
        #[serde(skip_serializing_if = "Option::is_none")]
        delta: Option<Text>,
    },
    #[serde(rename = "TOOL_CALL_RESULT")]
    Result {
        message_id: Text,
        tool_call_id: Text,
        /// A text, or parts.
        content: Value,
        role: &'static str,
    },
}

/// A piece of what the model thinks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub(super) enum ReasoningEvent {
    #[serde(rename = "REASONING_START")]
    Begin { message_id: Text },
    #[serde(rename = "REASONING_MESSAGE_START")]
    Start { message_id: Text, role: &'static str },
    #[serde(rename = "REASONING_MESSAGE_CONTENT")]
    Content { message_id: Text, delta: Text },
    #[serde(rename = "REASONING_MESSAGE_END")]
    End { message_id: Text },
    #[serde(rename = "REASONING_MESSAGE_CHUNK")]
    Chunk {
        #[serde(skip_serializing_if = "Option::is_none")]
        message_id: Option<Text>,
        #[serde(skip_serializing_if = "Option::is_none")]
        delta: Option<Text>,
    },
    #[serde(rename = "REASONING_ENCRYPTED_VALUE")]
    Encrypted { subtype: &'static str, entity_id: Text, encrypted_value: Text },
    #[serde(rename = "REASONING_END")]
    Finish { message_id: Text },
    #[serde(rename = "THINKING_START")]
    OldBegin,
    #[serde(rename = "THINKING_TEXT_MESSAGE_START")]
    OldStart,
    #[serde(rename = "THINKING_TEXT_MESSAGE_CONTENT")]
    OldContent { delta: Text },
    #[serde(rename = "THINKING_TEXT_MESSAGE_END")]
    OldEnd,
    #[serde(rename = "THINKING_END")]
    OldFinish,
}

/// The life of a sub-agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub(super) enum SubagentEvent {
    #[serde(rename = "SUBAGENT_STARTED")]
    Started {
        subagent_run_id: Text,
        name: Text,
        description: Text,
        parent_tool_call_id: Text,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_message_id: Option<Text>,
    },
    #[serde(rename = "SUBAGENT_FINISHED")]
    Finished {
        subagent_run_id: Text,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Text>,
        outcome: SubagentOutcome,
    },
    #[serde(rename = "SUBAGENT_ERROR")]
    Error { subagent_run_id: Text, message: Text },
}

/// How the run of a sub-agent ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub(super) enum SubagentOutcome {
    Success,
    /// It waits for these interrupts.
    Suspended {
        interrupt_ids: Vec<Text>,
    },
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(super) enum Outcome {
    Success {
        /// The calls that wait for the page.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pending_tool_call_ids: Vec<Text>,
    },
    Interrupt {
        interrupts: Vec<Interrupt>,
    },
    Cancelled,
    /// One of a later version.
    QuotaExhausted,
}

/// What a run waits for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Interrupt {
    pub(super) id: Text,
    pub(super) reason: &'static str,
    pub(super) message: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_schema: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expires_at: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subagent_run_id: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<Value>,
}

/// What a model used up.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Usage {
    pub(super) provider: &'static str,
    pub(super) model: &'static str,
    pub(super) input_tokens: usize,
    pub(super) output_tokens: usize,
    pub(super) total_tokens: usize,
}

/// An event with what every event may have.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Frame {
    #[serde(flatten)]
    pub(super) event: Event,
    /// The sub-agent whose event this is; none is the agent itself.
    #[serde(skip_serializing_if = "Option::is_none", rename = "subagentRunId")]
    pub(super) lane: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) raw_event: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timestamp: Option<i64>,
}

impl Frame {
    /// Writes the frame: one line of JSON, and a blank line.
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        write_json(self, bytes);
    }
}

/// Writes one line of JSON as a frame.
pub(super) fn write_json<T: Serialize>(value: &T, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(b"data: ");
    // Writing our own types into memory cannot fail.
    let _ = serde_json::to_writer(&mut *bytes, value);
    bytes.extend_from_slice(b"\n\n");
}

impl From<Event> for Frame {
    fn from(event: Event) -> Self {
        Self { event, lane: None, metadata: None, raw_event: None, timestamp: None }
    }
}

impl From<StepEvent> for Event {
    fn from(event: StepEvent) -> Self {
        Self::Step(event)
    }
}

impl From<MessageEvent> for Event {
    fn from(event: MessageEvent) -> Self {
        Self::Message(event)
    }
}

impl From<CallEvent> for Event {
    fn from(event: CallEvent) -> Self {
        Self::Call(event)
    }
}

impl From<ReasoningEvent> for Event {
    fn from(event: ReasoningEvent) -> Self {
        Self::Reasoning(event)
    }
}

impl From<SubagentEvent> for Event {
    fn from(event: SubagentEvent) -> Self {
        Self::Subagent(event)
    }
}

impl Event {
    /// Whether the run ends with it.
    pub(super) fn is_end(&self) -> bool {
        matches!(self, Self::RunFinished { .. } | Self::RunError { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(event: impl Into<Event>) -> String {
        serde_json::to_string(&Frame::from(event.into())).expect("JSON")
    }

    #[test]
    fn events_have_their_type_first_and_no_nulls() {
        let start = CallEvent::Start {
            tool_call_id: "c".to_owned(),
            tool_call_name: "t".to_owned(),
            parent_message_id: None,
        };
        assert_eq!(written(start), r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"t"}"#);
        assert_eq!(written(ReasoningEvent::OldBegin), r#"{"type":"THINKING_START"}"#);
        let finished = Event::RunFinished {
            thread_id: Some("t".to_owned()),
            run_id: None,
            outcome: Some(Outcome::Success { pending_tool_call_ids: Vec::new() }),
            usage: None,
        };
        assert_eq!(
            written(finished),
            r#"{"type":"RUN_FINISHED","threadId":"t","outcome":{"type":"success"}}"#
        );
        let delta = Event::StateDelta { delta: serde_json::json!([]) };
        assert_eq!(written(delta), r#"{"type":"STATE_DELTA","delta":[]}"#);
    }
}
