//! What the decoder hands out: a frame, or the reason why there will be no more.

use std::fmt;

/// One dispatched frame, lent for the length of the call that receives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The `event` field; empty when the frame named none, which means `message`.
    pub event: &'a str,
    /// The values of the `data` lines, joined by `\n`.
    pub data: &'a str,
    /// The last event id as of this frame, which may have been set by an earlier one. `None` until
    /// a stream has sent an `id`; `Some("")` after an `id` without value, which resets it.
    pub id: Option<&'a str>,
    /// Whether this frame itself had an `id` field. The standard lets an id persist over frames that
    /// have none; a sequence number must not.
    pub has_own_id: bool,
}

/// Takes the frames of a stream.
pub trait FrameSink {
    /// Takes a frame.
    fn frame(&mut self, frame: Frame<'_>);

    /// Whether [`run`](Self::run) may take anything now.
    fn takes_runs(&self) -> bool {
        false
    }

    /// Takes as many whole frames as it can read by itself, from the first byte on, which is a frame's first.
    /// What it leaves is read line by line, up to the end of a frame; then it is asked again.
    fn run(&mut self, bytes: &[u8]) -> Run {
        let _ = bytes;
        Run::default()
    }
}

/// Frames that a [`FrameSink`] took at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Run {
    /// How many bytes they have.
    pub len: usize,
    /// Where in them the last id stands, from its first byte to behind its last; `None` if no frame had one. It is
    /// UTF-8.
    pub id: Option<(usize, usize)>,
}

/// Why a decoder stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameError {
    /// A frame outgrew the decoder's limit. Frames before it were delivered; it, and the rest of
    /// the connection, were not.
    TooLarge {
        /// The limit in bytes that was passed.
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
