//! How a stream is split into frames: bytes follow the event-stream format; each message of a socket is a frame.

use crate::features::Http;
use crate::sse::{Frame, FrameDecoder, FrameError, FrameSink};

/// The decoder of a stream.
#[derive(Debug)]
pub(super) struct Frames {
    events: FrameDecoder,
    /// The size of the largest message, in bytes.
    limit: usize,
}

impl Frames {
    /// A decoder for frames of at most this many bytes.
    pub(super) fn with_limit(max_frame_bytes: usize) -> Self {
        Self { events: FrameDecoder::with_limit(max_frame_bytes), limit: max_frame_bytes }
    }

    /// Takes bytes, cut anywhere, and lends each frame to `sink`.
    pub(super) fn feed(&mut self, bytes: &[u8], sink: &mut dyn FrameSink) -> Result<(), FrameError> {
        // The condition lets the compiler remove the decoder.
        if Http::EXISTS { self.events.feed_runs(bytes, sink) } else { Ok(()) }
    }

    /// Takes a socket message: a frame that has only data.
    pub(super) fn take(&mut self, message: &str, sink: &mut dyn FrameSink) -> Result<(), FrameError> {
        if message.len() > self.limit {
            return Err(FrameError::TooLarge { limit: self.limit });
        }
        sink.frame(Frame { event: "", data: message, id: None, has_own_id: false });
        Ok(())
    }

    /// Prepares for a new connection.
    pub(super) fn reset(&mut self) {
        if Http::EXISTS {
            self.events.reset();
        }
    }

    /// Whether the input so far ends within a frame.
    pub(super) fn is_unfinished(&self) -> bool {
        Http::EXISTS && self.events.is_unfinished()
    }

    /// How long the stream asks to wait before the next connection (`retry:`), in milliseconds.
    pub(super) fn retry(&self) -> u64 {
        self.events.retry().unwrap_or_default()
    }
}
