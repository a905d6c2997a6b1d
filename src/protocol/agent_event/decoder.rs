//! Frames → events.

use crate::protocol::{EventDecoder, EventSink};
use crate::sse::Frame;

use super::Dialect;

/// Reads the frames of one run's stream.
#[derive(Debug)]
pub(super) struct RunDecoder {
    dialect: Dialect,
}

impl RunDecoder {
    /// A reader of what `dialect` sends.
    #[must_use]
    pub(super) fn new(dialect: Dialect) -> Self {
        Self { dialect }
    }
}

impl EventDecoder for RunDecoder {
    fn decode(&mut self, frame: &Frame<'_>, sink: &mut dyn EventSink) {
        let _ = (self.dialect, frame, sink);
    }
}
