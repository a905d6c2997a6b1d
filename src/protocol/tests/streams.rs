//! Reads streams in pieces, as they may come from a network.

use proptest::sample::Index;

use crate::protocol::{EventDecoder, EventSink};
use crate::sse::tests::cut;
use crate::sse::{Frame, FrameDecoder, FrameSink, Run};

/// A decoder, and what came of a stream. Frames that are no part of a run take the general way.
#[derive(Debug)]
pub(crate) struct Reading<D, S> {
    decoder: D,
    pub(crate) seen: S,
    takes_runs: bool,
    /// The bytes that were taken as runs.
    pub(crate) taken: usize,
}

impl<D: EventDecoder, S: EventSink + Default> Reading<D, S> {
    /// Reads a stream that is cut into chunks of these sizes, over and over.
    pub(crate) fn of(decoder: D, stream: &[u8], sizes: &[usize], takes_runs: bool) -> Self {
        let mut reading = Self { decoder, seen: S::default(), takes_runs, taken: 0 };
        feed(stream, sizes, &mut reading);
        reading
    }
}

impl<D: EventDecoder, S: EventSink> FrameSink for Reading<D, S> {
    fn frame(&mut self, frame: Frame<'_>) {
        self.decoder.decode(&frame, &mut self.seen);
    }

    fn takes_runs(&self) -> bool {
        self.takes_runs
    }

    fn run(&mut self, bytes: &[u8]) -> Run {
        let run = self.decoder.run(bytes, &mut self.seen);
        self.taken += run.len;
        run
    }
}

/// Feeds a stream that is cut into chunks of these sizes, over and over.
pub(crate) fn feed(stream: &[u8], sizes: &[usize], sink: &mut dyn FrameSink) -> FrameDecoder {
    let mut frames = FrameDecoder::default();
    for chunk in cut(stream, sizes) {
        frames.feed_runs(chunk, sink).expect("small frames");
    }
    frames
}

/// The bytes of a stream, one of them changed if `broken` says so.
pub(crate) fn damaged(stream: String, broken: Option<(Index, u8)>) -> Vec<u8> {
    let mut stream = stream.into_bytes();
    if let Some((at, byte)) = broken {
        let at = at.index(stream.len());
        stream[at] = byte;
    }
    stream
}
