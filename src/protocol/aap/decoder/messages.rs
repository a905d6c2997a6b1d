//! Messages. Nothing in the stream begins one: the first text or call opens a message, and a tool's result closes it
//! (section 4).

use crate::event::{MAIN_THREAD, TextDelta, TextField};
use crate::json::Object;
use crate::protocol::EventSink;
use crate::protocol::fields::{event, put};

use super::super::ids;
use super::Turn;

/// The last message that began.
#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) id: String,
    /// Its text, which the turn's end repeats.
    pub(super) content: String,
    /// The number of its calls so far: the index of the next one.
    pub(super) calls: u32,
    pub(super) is_closed: bool,
}

impl Turn {
    /// A piece of text: the hot path. An empty one has no effect.
    pub(super) fn piece(&mut self, field: TextField, text: &str, sink: &mut dyn EventSink) {
        if self.is_over {
            return;
        }
        self.created(sink);
        if text.is_empty() {
            return;
        }
        self.open(sink);
        let sequence_number = self.next_number();
        if let Some(message) = &mut self.message {
            if field == TextField::Content {
                message.content.push_str(text);
            }
            let (id, thread_id) = (&*message.id, MAIN_THREAD);
            sink.delta(
                sequence_number,
                TextDelta { id, thread_id, created_at: None, field, text, others: None, source: 0 },
            );
        }
    }

    /// Opens a message, unless one is open.
    pub(super) fn open(&mut self, sink: &mut dyn EventSink) {
        if self.message.as_ref().is_some_and(|message| !message.is_closed) {
            return;
        }
        let id = ids::message(&self.start.turn_id, self.messages);
        self.messages += 1;
        self.emit(&event("model.message", id.clone(), MAIN_THREAD), sink);
        self.message = Some(Message { id, ..Message::default() });
    }

    /// The beginning of a delta of the open message.
    pub(super) fn message_delta<'a>(&self) -> Object<'a> {
        let id = self.message.as_ref().map(|message| message.id.clone()).unwrap_or_default();
        event("model.message.delta", id, MAIN_THREAD)
    }

    /// Closes the open message, if there is one. The reason is `reason`, or that it makes calls.
    pub(super) fn close(&mut self, reason: &'static str, sink: &mut dyn EventSink) {
        let Some(message) = self.message.as_mut().filter(|message| !message.is_closed) else { return };
        message.is_closed = true;
        let reason = if reason == "stop" && message.calls > 0 { "tool_calls" } else { reason };
        let mut delta = self.message_delta();
        put(&mut delta, "finish_reason", reason);
        self.emit(&delta, sink);
    }
}
