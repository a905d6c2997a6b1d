//! What calls put out while they run.

use crate::json::{Object, ObjectWriter, Value};

use super::EventIndex;
use super::message::MessageCall;

/// How much of a stream is kept, in bytes: its end. It is written anew with every change of its message.
const MOST: usize = 32 * 1024;
/// How many streams of a call are told apart.
const MOST_STREAMS: usize = 8;

/// The ends of a call's streams, by their names.
#[derive(Debug, Clone, Default)]
pub(super) struct Output(Vec<(String, String)>);

impl Output {
    fn push(&mut self, stream: &str, piece: &str, replaces: bool) {
        let at = self.0.iter().position(|(name, _)| name == stream).unwrap_or_else(|| {
            self.0.truncate(MOST_STREAMS - 1);
            self.0.push((stream.to_owned(), String::new()));
            self.0.len() - 1
        });
        let Some((_, text)) = self.0.get_mut(at) else { return };
        if replaces {
            text.clear();
        }
        text.push_str(piece);
        // Twice as much before it is cut, so that not every piece moves the rest.
        if text.len() > 2 * MOST {
            let mut start = text.len() - MOST;
            while !text.is_char_boundary(start) {
                start += 1;
            }
            text.drain(..start);
        }
    }

    /// Writes `{ stream: text, … }`, if there is anything.
    pub(super) fn write(&self, call: &mut ObjectWriter<'_>) {
        if self.0.is_empty() {
            return;
        }
        let mut streams = ObjectWriter::new(call.member("output"));
        for (name, text) in &self.0 {
            streams.str(name, text);
        }
        streams.end();
    }
}

impl MessageCall {
    /// The end of what the call has put out on this stream.
    #[must_use]
    pub fn output(&self, stream: &str) -> Option<&str> {
        let known = self.output.0.iter().find(|(name, _)| name == stream);
        known.map(|(_, text)| &**text)
    }
}

impl EventIndex {
    /// A call has put out more.
    pub(super) fn tool_output(&mut self, event: &Object<'_>) {
        let call_id = event.text("tool_call_id");
        let Some(slot) = self.newest_call(event.text("thread_id"), call_id) else { return };
        if let Some(call) = self.messages.get_mut(slot).and_then(|message| message.call_mut(call_id)) {
            let replaces = event.get("replace").and_then(Value::as_bool) == Some(true);
            call.output.push(event.text("stream"), event.text("delta"), replaces);
        }
        self.changes.message(slot, &mut self.messages, true);
    }
}
