//! The decoder's output: frames, or the reason why there are no more.

use std::fmt;

/// One dispatched frame, borrowed for the duration of the call that receives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The `event` field; empty if the frame had none, which means `message`.
    pub event: &'a str,
    /// The values of the `data` lines, joined by `\n`.
    pub data: &'a str,
    /// The last event id at this frame; an earlier frame may have set it. `None` until a stream has sent an `id`;
    /// `Some("")` after an `id` without value, which resets it.
    pub id: Option<&'a str>,
    /// Whether this frame itself had an `id` field. In the standard, an id persists over frames that have none; a
    /// sequence number must not.
    pub has_own_id: bool,
}

/// Takes the frames of a stream.
pub trait FrameSink {
    /// Receives a frame.
    fn frame(&mut self, frame: Frame<'_>);

    /// Whether [`run`](Self::run) may accept anything now.
    fn takes_runs(&self) -> bool {
        false
    }

    /// Takes as many whole frames as it can read itself, from the first byte on, which begins a frame. The decoder
    /// reads the rest line by line, up to the end of a frame, and then calls this again.
    fn run(&mut self, bytes: &[u8]) -> Run {
        let _ = bytes;
        Run::default()
    }
}

/// Frames that a [`FrameSink`] took at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Run {
    /// Their length in bytes.
    pub len: usize,
    /// The range of the last id in these bytes, from its first byte to after its last; `None` if no frame had one. It
    /// is UTF-8.
    pub id: Option<(usize, usize)>,
}

/// Why a decoder stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameError {
    /// A frame was larger than the decoder's limit. Earlier frames were delivered; this frame and the rest of the
    /// connection were not.
    TooLarge {
        /// The exceeded limit, in bytes.
        limit: usize,
    },
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { limit } => {
                write!(f, "an event-stream frame is larger than {limit} bytes")
            }
        }
    }
}

impl std::error::Error for FrameError {}
