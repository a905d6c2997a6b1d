//! A message of the index, and the tool calls in it.

use crate::event::{
    ModelContent, ModelContentPart, ModelMessage, ToolCall, ToolCallFunction, ToolInfo,
    ToolResponse, Usage, WireFields,
};

/// A model message as far as it has come.
#[derive(Debug, Clone, Default)]
pub struct Message {
    /// The message's id.
    pub id: String,
    /// The slot of its thread in [`EventIndex::threads`](super::EventIndex::threads).
    pub thread: usize,
    /// ISO 8601.
    pub created_at: Option<String>,
    /// A name for the speaker.
    pub name: Option<String>,
    /// Why it ended; it has not, as long as there is none.
    pub finish_reason: Option<String>,
    /// Token counts.
    pub usage: Option<Usage>,
    /// Whether its `model.message` has come, and not only deltas.
    pub has_base: bool,
    /// The text of the content, over all its parts.
    pub(super) text: Text,
    /// The content's parts, if it came in parts.
    pub(super) parts: Option<Vec<ModelContentPart>>,
    pub(super) reasoning: Text,
    pub(super) refusal: Option<String>,
    pub(super) calls: Vec<Option<MessageCall>>,
    pub(super) marks: Marks,
}

/// Text that grows, and how much of it has been taken as a change.
#[derive(Debug, Clone, Default)]
pub(super) struct Text {
    pub(super) text: Option<String>,
    pub(super) taken: usize,
}

/// What has changed in a message since changes were taken.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks {
    pub(super) listed: bool,
    pub(super) head: bool,
    /// Text was replaced, not only appended.
    pub(super) reset: bool,
}

/// A tool call as far as it has come.
#[derive(Debug, Clone, Default)]
pub struct MessageCall {
    /// The call's id; empty until a delta brings it.
    pub id: String,
    /// `"function"`.
    pub r#type: String,
    /// The function's name.
    pub name: String,
    /// What kind of tool it is.
    pub tool_info: Option<ToolInfo>,
    /// Whatever the model's provider adds.
    pub provider_specific_fields: Option<WireFields>,
    /// The result, once there is one.
    pub response: Option<ToolResponse>,
    /// The sub-agent's thread that this call started.
    pub thread_id: Option<String>,
    pub(super) arguments: Text,
}

impl Text {
    pub(super) fn get(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    pub(super) fn push(&mut self, piece: &str) {
        if !piece.is_empty() {
            self.text.get_or_insert_default().push_str(piece);
        }
    }

    /// What was appended since this was last asked.
    pub(super) fn take(&mut self) -> &str {
        let text = self.text.as_deref().unwrap_or_default();
        let start = std::mem::replace(&mut self.taken, text.len());
        text.get(start..).unwrap_or_default()
    }
}

impl MessageCall {
    /// The arguments so far: JSON text, complete when the message is.
    #[must_use]
    pub fn arguments(&self) -> &str {
        self.arguments.get()
    }

    /// The name to show.
    #[must_use]
    pub fn display_name(&self) -> &str {
        self.tool_info
            .as_ref()
            .map(ToolInfo::name)
            .filter(|name| !name.is_empty())
            .unwrap_or(&self.name)
    }
}

impl Message {
    pub(super) fn new(id: &str, thread: usize) -> Self {
        let marks = Marks {
            head: true,
            ..Marks::default()
        };
        Self {
            id: id.to_owned(),
            thread,
            marks,
            ..Self::default()
        }
    }

    /// The text of the content, over all its parts.
    #[must_use]
    pub fn content(&self) -> &str {
        self.text.get()
    }

    /// The reasoning.
    #[must_use]
    pub fn reasoning(&self) -> &str {
        self.reasoning.get()
    }

    /// Why the model declined.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// The tool calls; a hole is one of which nothing has arrived yet.
    #[must_use]
    pub fn calls(&self) -> &[Option<MessageCall>] {
        &self.calls
    }

    /// The call of this id.
    #[must_use]
    pub fn call(&self, id: &str) -> Option<&MessageCall> {
        self.calls.iter().flatten().find(|call| call.id == id)
    }

    pub(super) fn call_mut(&mut self, id: &str) -> Option<&mut MessageCall> {
        self.calls.iter_mut().flatten().find(|call| call.id == id)
    }

    /// The message as the event that a server would list.
    #[must_use]
    pub fn to_event(&self, thread_id: &str) -> ModelMessage {
        let call = |call: &MessageCall| ToolCall {
            id: call.id.clone(),
            r#type: call.r#type.clone(),
            function: ToolCallFunction {
                name: call.name.clone(),
                arguments: call.arguments().to_owned(),
            },
            tool_info: call.tool_info.clone(),
            provider_specific_fields: call.provider_specific_fields.clone(),
        };
        ModelMessage {
            id: self.id.clone(),
            thread_id: thread_id.to_owned(),
            created_at: self.created_at.clone(),
            content: match &self.parts {
                Some(parts) => Some(ModelContent::Parts(parts.clone())),
                None => self.text.text.clone().map(ModelContent::Text),
            },
            name: self.name.clone(),
            refusal: self.refusal.clone(),
            reasoning_content: self.reasoning.text.clone(),
            tool_calls: self
                .calls
                .iter()
                .map(|slot| slot.as_ref().map(call))
                .collect(),
            finish_reason: self.finish_reason.clone(),
            usage: self.usage.clone(),
        }
    }
}
