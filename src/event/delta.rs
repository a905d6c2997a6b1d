//! The hot path's view of an event: one piece of text.

use crate::json::{Object, Value};

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
    /// The fields that this version does not know, if the event has any.
    pub others: Option<OtherFields<'a>>,
    /// Deltas with the same number usually have the same id and thread. That makes both faster to look up.
    pub source: u32,
}

/// An event with fields that this version does not know, as its difference from an earlier event: most of these fields
/// do not change from event to event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherFields<'a> {
    /// The JSON of an earlier event with the same fields in the same order, id and thread. Its text and its number are
    /// those of that event.
    pub outline: &'a str,
    /// The other fields that differ from the outline's, as a JSON object; empty if none does.
    pub changed: &'a str,
}

impl OtherFields<'_> {
    /// The event's JSON, with this piece of text, and without its number.
    #[must_use]
    pub fn to_json(&self, field: TextField, text: &str) -> String {
        let changed = members(self.changed);
        let mut event = members(self.outline);
        for (name, value) in changed.iter() {
            event.insert(name.to_owned(), value.clone());
        }
        match field {
            TextField::Content => event.set("content", text.into()),
            TextField::Reasoning => event.set("reasoning_content", text.into()),
            TextField::Arguments(index) => {
                let mut function = Object::new();
                function.set("arguments", text.into());
                let mut call = Object::new();
                call.set("index", u64::from(index).into());
                call.set("function", function.into());
                event.set("tool_calls", Value::Array(vec![call.into()]));
            }
        }
        event.remove("sequence_number");
        event.to_json()
    }
}

/// The members of JSON that the decoder has checked.
fn members(json: &str) -> Object<'_> {
    match Value::parse(json) {
        Ok(Value::Object(object)) => object,
        _ => Object::new(),
    }
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
