//! Cuts a stream's bytes into frames: by the event-stream format, or by lines.

use crate::protocol::Capabilities;
#[cfg(feature = "socket")]
use crate::protocol::HAS_HTTP;
#[cfg(feature = "socket")]
use crate::rpc::LineDecoder;
use crate::sse::{FrameDecoder, FrameError, FrameSink};

/// Whether this build has a protocol whose decoder takes runs of frames.
const HAS_RUNS: bool = cfg!(feature = "frame-runs");

/// The decoder of a stream.
#[derive(Debug)]
pub(super) struct Frames {
    events: FrameDecoder,
    /// The decoder for sockets, used in place of the other one.
    #[cfg(feature = "socket")]
    lines: Option<LineDecoder>,
}

impl Frames {
    /// The decoder of streams of a protocol that can do this, for frames of up to so many bytes.
    pub(super) fn of(capabilities: Capabilities, max_frame_bytes: usize) -> Self {
        let _ = capabilities;
        Self {
            events: FrameDecoder::with_limit(max_frame_bytes),
            #[cfg(feature = "socket")]
            lines: capabilities.has_socket().then(|| LineDecoder::with_limit(max_frame_bytes)),
        }
    }

    /// Takes bytes, cut anywhere, and lends each frame to `sink`.
    pub(super) fn feed(&mut self, bytes: &[u8], sink: &mut dyn FrameSink) -> Result<(), FrameError> {
        #[cfg(feature = "socket")]
        match &mut self.lines {
            Some(lines) => return lines.feed(bytes, &mut |frame| sink.frame(frame)),
            // So that the compiler leaves the other decoder out.
            None if !HAS_HTTP => return Ok(()),
            None => {}
        }
        if HAS_RUNS {
            self.events.feed_runs(bytes, sink)
        } else {
            self.events.feed(bytes, &mut |frame| sink.frame(frame))
        }
    }

    /// A new connection begins.
    pub(super) fn reset(&mut self) {
        #[cfg(feature = "socket")]
        if let Some(lines) = &mut self.lines {
            lines.reset();
        }
        self.events.reset();
    }

    /// How long the stream asks to wait before the next connection (`retry:`), in milliseconds.
    pub(super) fn retry(&self) -> u64 {
        // Lines say nothing of it.
        self.events.retry().unwrap_or_default()
    }
}
