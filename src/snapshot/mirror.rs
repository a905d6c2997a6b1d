//! Follows the changes of an index, and keeps what snapshots share.

use std::sync::Arc;

use serde::Deserialize;

use crate::event::TextField;
use crate::index::EventIndex;

use super::{MessageSnapshot, Parts, ThreadSnapshot};

/// Mirrors a turn's index. The cost depends on what changed, not on the length of the history.
#[derive(Debug, Default)]
pub struct Mirror {
    messages: Vec<Arc<MessageSnapshot>>,
    threads: Vec<Arc<ThreadSnapshot>>,
    parts: Arc<Parts>,
}

/// The document of [`EventIndex::take_changes`].
#[derive(Deserialize)]
struct Changes {
    #[serde(default)]
    restart: bool,
    turn: Option<Parts>,
    threads: Option<Vec<ThreadSnapshot>>,
    #[serde(default)]
    messages: Vec<ChangedMessage>,
}

/// A message whose fields other than texts have changed.
#[derive(Deserialize)]
struct ChangedMessage {
    slot: usize,
    reset: bool,
    #[serde(default)]
    content_reset: bool,
    #[serde(default)]
    arguments_reset: bool,
    #[serde(flatten)]
    message: MessageSnapshot,
}

impl Mirror {
    /// The threads: the main thread first.
    #[must_use]
    pub fn threads(&self) -> &[Arc<ThreadSnapshot>] {
        &self.threads
    }

    /// What is known of the turn besides its threads.
    #[must_use]
    pub fn parts(&self) -> &Arc<Parts> {
        &self.parts
    }

    /// Takes the changes of the index. Returns whether there were any.
    pub fn follow(&mut self, index: &mut EventIndex) -> bool {
        let mut appended = Vec::new();
        let document =
            index.take_changes(&mut |slot, field, text| appended.push((slot, field, text.to_owned())));
        let Some(changes) = document.and_then(|document| serde_json::from_str::<Changes>(&document).ok())
        else {
            return false;
        };
        if changes.restart {
            self.messages.clear();
            self.threads.clear();
        }
        let mut touched: Vec<usize> = Vec::new();
        for head in changes.messages {
            touched.push(head.slot);
            self.set_head(head);
        }
        for (slot, field, text) in appended {
            touched.push(slot);
            if let Some(message) = self.messages.get_mut(slot) {
                append(Arc::make_mut(message), field, &text);
            }
        }
        if let Some(parts) = changes.turn {
            self.parts = Arc::new(parts);
        }
        if let Some(threads) = changes.threads {
            let known = std::mem::take(&mut self.threads);
            self.threads = threads.into_iter().map(Arc::new).collect();
            for thread in &mut self.threads {
                if let Some(known) = known.iter().find(|known| known.id == thread.id) {
                    Arc::make_mut(thread).messages.clone_from(&known.messages);
                }
            }
        }
        self.arrange(&touched);
        true
    }

    fn set_head(&mut self, head: ChangedMessage) {
        let ChangedMessage { slot, reset, content_reset, arguments_reset, mut message } = head;
        let known = self.messages.get(slot).filter(|_| !reset);
        for (index, call) in message.tool_calls.iter_mut().enumerate() {
            call.index = index;
            let known = known.and_then(|known| known.tool_calls.get(index)).filter(|_| !arguments_reset);
            call.arguments = known.map(|known| known.arguments.clone()).unwrap_or_default();
        }
        if let Some(known) = known {
            if !content_reset {
                message.content.clone_from(&known.content);
            }
            message.reasoning_content.clone_from(&known.reasoning_content);
        }
        match self.messages.get_mut(slot) {
            Some(known) => *known = Arc::new(message),
            // The index lists a new message in the order of its slot.
            None => self.messages.push(Arc::new(message)),
        }
    }

    /// Puts the changed messages into their threads.
    fn arrange(&mut self, touched: &[usize]) {
        let messages = &self.messages;
        for thread in &mut self.threads {
            let is_own = |message: &Arc<MessageSnapshot>| message.thread_id == thread.id;
            if touched.iter().filter_map(|slot| messages.get(*slot)).any(is_own) {
                let own = messages.iter().filter(|message| is_own(message)).cloned().collect();
                Arc::make_mut(thread).messages = own;
            }
        }
    }
}

fn append(message: &mut MessageSnapshot, field: TextField, text: &str) {
    match field {
        TextField::Content => message.content.push_str(text),
        TextField::Reasoning => message.reasoning_content.push_str(text),
        TextField::Arguments(call) => {
            if let Some(call) = message.tool_calls.get_mut(call as usize) {
                call.arguments.push_str(text);
            }
        }
    }
}
