//! Messages while they stream: what the steps so far have added to them.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::step::{MessageKey, Step, Tool};

/// A message that streams, with additional data of its protocol.
#[derive(Debug, Clone)]
pub(crate) struct Draft<T> {
    pub(crate) own: T,
    pub(crate) thread: String,
    pub(crate) reasoning: String,
    pub(crate) text: String,
    pub(crate) calls: Vec<DraftCall>,
}

/// A call of such a message.
#[derive(Debug, Clone)]
pub(crate) struct DraftCall {
    pub(crate) id: String,
    pub(crate) tool: Tool,
    /// As JSON text.
    pub(crate) arguments: String,
}

/// The messages that stream, on all threads.
#[derive(Debug, Clone)]
pub(crate) struct Drafts<T>(HashMap<MessageKey, Draft<T>>);

impl DraftCall {
    /// The arguments, once they are complete.
    pub(crate) fn input(&self) -> Map<String, Value> {
        // Scripts write whole objects.
        serde_json::from_str(&self.arguments).unwrap_or_default()
    }
}

impl<T> Default for Drafts<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> Drafts<T> {
    pub(crate) fn begin(&mut self, key: MessageKey, thread: String, own: T) {
        let draft = Draft { own, thread, reasoning: String::new(), text: String::new(), calls: Vec::new() };
        self.0.insert(key, draft);
    }

    /// Adds the content of a step to its message, and returns the message. Returns `None` for a step without content,
    /// and if the message does not stream.
    pub(crate) fn add(&mut self, step: &Step) -> Option<&mut Draft<T>> {
        let (Step::Text { message, .. }
        | Step::Reasoning { message, .. }
        | Step::BeginCall { message, .. }
        | Step::Arguments { message, .. }) = step
        else {
            return None;
        };
        let draft = self.0.get_mut(message)?;
        match step {
            Step::Text { text, .. } => draft.text += text,
            Step::Reasoning { text, .. } => draft.reasoning += text,
            Step::BeginCall { call, tool, .. } => {
                draft.calls.push(DraftCall { id: call.clone(), tool: *tool, arguments: String::new() });
            }
            Step::Arguments { index, text, .. } => draft.calls.get_mut(*index)?.arguments += text,
            _ => {}
        }
        Some(draft)
    }

    pub(crate) fn end(&mut self, key: MessageKey) -> Option<Draft<T>> {
        self.0.remove(&key)
    }

    /// The message that streams on a thread.
    pub(crate) fn on(&self, thread: &str) -> Option<(MessageKey, &Draft<T>)> {
        self.0.iter().find(|(_, draft)| draft.thread == thread).map(|(key, draft)| (*key, draft))
    }

    /// Ends the message that streams on a thread.
    pub(crate) fn end_on(&mut self, thread: &str) -> Option<Draft<T>> {
        let (key, _) = self.on(thread)?;
        self.end(key)
    }
}
