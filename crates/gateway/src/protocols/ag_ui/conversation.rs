//! The messages of a thread, as a client has them after each event.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::event::{CallEvent, Event, Frame, MessageEvent, ReasoningEvent};
use super::message::{Call, Message};

/// The messages of a thread as a client has them after the events so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Conversation {
    pub(super) messages: Vec<Message>,
}

impl Conversation {
    pub(super) fn message(&mut self, id: &str) -> Option<&mut Value> {
        self.messages.iter_mut().rev().find(|message| message.id() == id).map(|message| &mut message.0)
    }

    /// The call of this id.
    pub(super) fn call(&self, id: &str) -> Option<Call<'_>> {
        self.messages.iter().rev().flat_map(Message::calls).find(|call| call.id == id)
    }

    /// The messages among these that are new, by id.
    pub(super) fn new_of(&self, messages: &[Message]) -> Vec<Message> {
        let mut known: HashSet<&str> = self.messages.iter().map(Message::id).collect();
        messages.iter().filter(|message| known.insert(message.id())).cloned().collect()
    }

    /// Applies an event as the specification says.
    pub(super) fn apply(&mut self, frame: &Frame) {
        let known = self.messages.len();
        match &frame.event {
            Event::Message(event) => self.apply_text(event),
            Event::Call(event) => self.apply_call(event),
            Event::Reasoning(event) => self.apply_reasoning(event),
            _ => {}
        }
        if let (Some(lane), Some(new)) = (&frame.lane, self.messages.get_mut(known)) {
            new.0["subagentRunId"] = json!(lane);
        }
    }

    fn apply_text(&mut self, event: &MessageEvent) {
        match event {
            MessageEvent::Start { message_id, role, name } => {
                if self.message(message_id).is_none() {
                    let mut message = json!({"id": message_id, "role": role, "content": ""});
                    if let Some(name) = name {
                        message["name"] = json!(name);
                    }
                    self.messages.push(Message(message));
                }
            }
            MessageEvent::Content { message_id, delta } => self.append(message_id, delta),
            MessageEvent::End { .. } | MessageEvent::Chunk { .. } => {}
        }
    }

    fn append(&mut self, id: &str, delta: &str) {
        if let Some(Value::String(text)) = self.message(id).and_then(|message| message.get_mut("content")) {
            text.push_str(delta);
        }
    }

    fn apply_call(&mut self, event: &CallEvent) {
        match event {
            CallEvent::Start { tool_call_id, tool_call_name, parent_message_id } => {
                let function = json!({"name": tool_call_name, "arguments": ""});
                let call = json!({"id": tool_call_id, "type": "function", "function": function});
                let parent = parent_message_id.as_deref().unwrap_or(tool_call_id);
                if self.message(parent).is_none() {
                    self.messages.push(Message(json!({"id": parent, "role": "assistant"})));
                }
                let calls = self.message(parent).and_then(|message| {
                    let calls = message.as_object_mut()?.entry("toolCalls").or_insert_with(|| json!([]));
                    calls.as_array_mut()
                });
                if let Some(calls) = calls {
                    calls.push(call);
                }
            }
            CallEvent::Args { tool_call_id, delta } => {
                let calls = self.messages.iter_mut().rev().filter_map(|message| {
                    message
                        .0
                        .get_mut("toolCalls")?
                        .as_array_mut()?
                        .iter_mut()
                        .find(|call| call["id"] == **tool_call_id)
                });
                let arguments = calls.into_iter().next().map(|call| &mut call["function"]["arguments"]);
                if let Some(Value::String(text)) = arguments {
                    text.push_str(delta);
                }
            }
            CallEvent::Result { message_id, tool_call_id, content, .. } => {
                self.messages.push(Message(json!({
                    "id": message_id, "role": "tool", "toolCallId": tool_call_id, "content": content,
                })));
            }
            CallEvent::End { .. } | CallEvent::Chunk { .. } => {}
        }
    }

    fn apply_reasoning(&mut self, event: &ReasoningEvent) {
        match event {
            ReasoningEvent::Start { message_id, .. } => {
                self.messages.push(Message(json!({"id": message_id, "role": "reasoning", "content": ""})));
            }
            ReasoningEvent::Content { message_id, delta } => self.append(message_id, delta),
            ReasoningEvent::Encrypted { entity_id, encrypted_value, .. } => {
                if let Some(message) = self.message(entity_id) {
                    message["encryptedValue"] = json!(encrypted_value);
                }
            }
            _ => {}
        }
    }
}
