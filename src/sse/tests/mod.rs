//! Tests of the decoder: the standard's rules as data, properties against a simple decoder, limits.

mod conformance;
mod limits;
mod properties;
mod reference;

use super::{Frame, FrameDecoder, FrameError};

/// A frame, kept.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    event: String,
    data: String,
    id: Option<String>,
}

impl From<Frame<'_>> for Seen {
    fn from(frame: Frame<'_>) -> Self {
        Self { event: frame.event.to_owned(), data: frame.data.to_owned(), id: frame.id.map(str::to_owned) }
    }
}

/// All that a stream leaves behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Outcome {
    frames: Vec<Seen>,
    last_event_id: Option<String>,
    retry: Option<u64>,
    /// Whether an unterminated frame was discarded at the end.
    cut: bool,
}

/// Decodes the chunks of a stream that keeps the limit.
fn decode<'c>(chunks: impl IntoIterator<Item = &'c [u8]>) -> Outcome {
    let mut decoder = FrameDecoder::default();
    let mut frames = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk, &mut |frame| frames.push(frame.into())).expect("the stream keeps the limit");
    }
    Outcome {
        frames,
        last_event_id: decoder.last_event_id().map(str::to_owned),
        retry: decoder.retry(),
        cut: decoder.finish(),
    }
}

/// Cuts a stream into chunks of the given sizes, over and over; zero makes an empty chunk.
pub(crate) fn cut<'c>(stream: &'c [u8], sizes: &[usize]) -> Vec<&'c [u8]> {
    let mut chunks = Vec::new();
    let mut rest = stream;
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (chunk, tail) = rest.split_at((*size).min(rest.len()));
        chunks.push(chunk);
        rest = tail;
    }
    chunks
}
