//! How a stream's bytes are cut into frames: by the event-stream format, or by lines.

use crate::protocol::Capabilities;
#[cfg(feature = "turn-rpc")]
use crate::rpc::LineDecoder;
use crate::sse::{Frame, FrameDecoder, FrameError};

/// The decoder of a stream.
#[derive(Debug)]
pub(super) enum Frames {
    Events(FrameDecoder),
    #[cfg(feature = "turn-rpc")]
    Lines(LineDecoder),
}

impl Frames {
    /// The decoder of streams of a protocol that can do this, for frames of up to so many bytes.
    pub(super) fn of(capabilities: Capabilities, max_frame_bytes: usize) -> Self {
        #[cfg(feature = "turn-rpc")]
        if capabilities.has_socket() {
            return Self::Lines(LineDecoder::with_limit(max_frame_bytes));
        }
        let _ = capabilities;
        Self::Events(FrameDecoder::with_limit(max_frame_bytes))
    }

    /// Takes bytes, cut anywhere, and lends each frame to `sink`.
    pub(super) fn feed(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Frame<'_>)) -> Result<(), FrameError> {
        match self {
            Self::Events(decoder) => decoder.feed(bytes, sink),
            #[cfg(feature = "turn-rpc")]
            Self::Lines(decoder) => decoder.feed(bytes, sink),
        }
    }

    /// A new connection begins.
    pub(super) fn reset(&mut self) {
        match self {
            Self::Events(decoder) => decoder.reset(),
            #[cfg(feature = "turn-rpc")]
            Self::Lines(decoder) => decoder.reset(),
        }
    }

    /// What the stream last said of the time to wait before it is asked for again, in milliseconds.
    pub(super) fn retry(&self) -> u64 {
        match self {
            Self::Events(decoder) => decoder.retry().unwrap_or_default(),
            #[cfg(feature = "turn-rpc")]
            Self::Lines(_) => 0,
        }
    }
}
