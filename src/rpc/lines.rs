//! Bytes → messages: each line is one. JSON has no line ends of its own outside of texts.

use crate::sse::{Frame, FrameError, line_len};

/// Cuts a stream into its lines, which are frames that have only data.
#[derive(Debug)]
pub struct LineDecoder {
    limit: usize,
    /// The unfinished line.
    line: Vec<u8>,
    failed: bool,
}

impl LineDecoder {
    /// A decoder whose lines may have up to `limit` bytes.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self { limit, line: Vec::new(), failed: false }
    }

    /// Takes bytes, cut anywhere. Lends each line, unless it is blank, to `sink`. After an error nothing is taken.
    pub fn feed(&mut self, chunk: &[u8], sink: &mut dyn FnMut(Frame<'_>)) -> Result<(), FrameError> {
        let mut rest = chunk;
        while !self.failed {
            let end = line_len(rest);
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            if self.line.len() + part.len() > self.limit {
                self.failed = true;
                break;
            }
            if end.is_none() {
                self.line.extend_from_slice(part);
                return Ok(());
            }
            if self.line.is_empty() {
                lend(part, sink);
            } else {
                self.line.extend_from_slice(part);
                lend(&self.line, sink);
                self.line.clear();
            }
            rest = after.get(1..).unwrap_or_default();
        }
        Err(FrameError::TooLarge { limit: self.limit })
    }

    /// What was left of a connection is forgotten.
    pub fn reset(&mut self) {
        self.line = Vec::new();
        self.failed = false;
    }
}

fn lend(line: &[u8], sink: &mut dyn FnMut(Frame<'_>)) {
    let line = line.trim_ascii();
    if !line.is_empty() {
        // Sockets bring nothing but UTF-8; anything else is a message that cannot be read.
        let data = str::from_utf8(line).unwrap_or("\u{fffd}");
        sink(Frame { event: "", data, id: None, has_own_id: false });
    }
}
