//! The hot path's view of an event: one piece of text.

use super::{ModelMessageDelta, ToolCallDelta};

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
    /// The time of creation, as the server wrote it. Many servers write it only in a message's first delta.
    pub created_at: Option<&'a str>,
    /// The field that the text extends.
    pub field: TextField,
    /// The text to append.
    pub text: &'a str,
    /// The event's own JSON, if it has fields that this version does not know.
    pub json: Option<&'a str>,
    /// Deltas with the same number usually have the same id and thread. That makes both faster to look up.
    pub source: u32,
}

/// The field of a message that a [`TextDelta`] extends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TextField {
    /// `content`
    #[default]
    Content,
    /// `reasoning_content`
    Reasoning,
    /// `tool_calls[index].function.arguments`
    Arguments(u32),
}

impl TextDelta<'_> {
    /// The same delta as an event.
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
                delta.tool_calls = vec![ToolCallDelta::arguments(index, self.text)];
            }
        }
        delta
    }
}
