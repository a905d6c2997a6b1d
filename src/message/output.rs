//! The output of a call while it runs.

use crate::json::ObjectWriter;

use super::MessageCall;

/// The most bytes of a stream that are kept, from its end. They are written again with each change of the message.
const MOST: usize = 32 * 1024;
/// The most streams of a call.
const MOST_STREAMS: usize = 8;

/// The last output of a call, by the names of its streams.
#[derive(Debug, Clone, Default)]
pub(crate) struct Output(Vec<(String, String)>);

impl Output {
    pub(crate) fn push(&mut self, stream: &str, piece: &str, replaces: bool) {
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
        // Cut only at twice the size, so that not every piece moves the text.
        if text.len() > 2 * MOST {
            let mut start = text.len() - MOST;
            while !text.is_char_boundary(start) {
                start += 1;
            }
            text.drain(..start);
        }
    }

    /// Writes `{ stream: text, … }`, unless it is empty.
    pub(crate) fn write(&self, call: &mut ObjectWriter<'_>) {
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
    /// The last output of the call on this stream.
    #[must_use]
    pub fn output(&self, stream: &str) -> Option<&str> {
        let known = self.output.get()?.0.iter().find(|(name, _)| name == stream);
        known.map(|(_, text)| &**text)
    }
}
