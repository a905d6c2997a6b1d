//! How a stream comes to frames: bytes are cut by the event-stream format, messages of a socket are frames.

use crate::protocol::HAS_HTTP;
#[cfg(feature = "socket")]
use crate::sse::Frame;
use crate::sse::{FrameDecoder, FrameError, FrameSink};

/// Whether this build has a protocol whose decoder takes runs of frames.
const HAS_RUNS: bool = cfg!(feature = "frame-runs");

/// The decoder of a stream.
#[derive(Debug)]
pub(super) struct Frames {
    events: FrameDecoder,
    /// The size of the largest message, in bytes.
    #[cfg(feature = "socket")]
    limit: usize,
}

impl Frames {
    /// A decoder for frames of up to so many bytes.
    pub(super) fn with_limit(max_frame_bytes: usize) -> Self {
        Self {
            events: FrameDecoder::with_limit(max_frame_bytes),
            #[cfg(feature = "socket")]
            limit: max_frame_bytes,
        }
    }

    /// Takes bytes, cut anywhere, and lends each frame to `sink`.
    pub(super) fn feed(&mut self, bytes: &[u8], sink: &mut dyn FrameSink) -> Result<(), FrameError> {
        // So that the compiler removes the decoder.
        if !HAS_HTTP {
            return Ok(());
        }
        if HAS_RUNS {
            self.events.feed_runs(bytes, sink)
        } else {
            self.events.feed(bytes, &mut |frame| sink.frame(frame))
        }
    }

    /// Takes a message of a socket, which is a frame that has only data.
    #[cfg(feature = "socket")]
    pub(super) fn take(&mut self, message: &str, sink: &mut dyn FrameSink) -> Result<(), FrameError> {
        if !self.fits(message.len()) {
            return Err(FrameError::TooLarge { limit: self.limit });
        }
        sink.frame(Frame { event: "", data: message, id: None, has_own_id: false });
        Ok(())
    }

    /// Whether a message of so many bytes is not too large.
    #[cfg(feature = "socket")]
    pub(super) fn fits(&self, size: usize) -> bool {
        size <= self.limit
    }

    /// A new connection begins.
    pub(super) fn reset(&mut self) {
        if HAS_HTTP {
            self.events.reset();
        }
    }

    /// How long the stream asks to wait before the next connection (`retry:`), in milliseconds.
    pub(super) fn retry(&self) -> u64 {
        self.events.retry().unwrap_or_default()
    }
}
