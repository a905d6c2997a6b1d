//! Which frame ends a turn. Pages decide the same with the protocol's decoder; a test compares the two.

use turnwire::json::Value;
use turnwire::sse::Frame;

use super::Protocol;

/// What a frame shows about its turn's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The turn continues.
    Middle,
    /// The turn has ended if the stream ends now.
    MayBeLast,
    /// The turn has ended.
    Last,
}

impl Protocol {
    /// What this frame shows about the end of its turn.
    pub(crate) fn mark(self, frame: &Frame<'_>) -> Mark {
        match self {
            Self::Aap if frame.event == "turn_stop" => Mark::Last,
            // Most frames are pieces of text, and need no parsing.
            Self::Tirea if frame.data.contains("run_finish") || frame.data.contains("error") => {
                match kind(frame) {
                    Some(kind) if kind == "run_finish" => Mark::Last,
                    Some(kind) if kind == "error" => Mark::MayBeLast,
                    _ => Mark::Middle,
                }
            }
            Self::TrueFoundry | Self::TrueForge if frame.data.contains("turn.done") => match kind(frame) {
                Some(kind) if kind == "turn.done" => Mark::Last,
                _ => Mark::Middle,
            },
            _ => Mark::Middle,
        }
    }
}

fn kind(frame: &Frame<'_>) -> Option<String> {
    let value = Value::parse(frame.data).ok()?;
    value.get("type")?.as_str().map(str::to_owned)
}
