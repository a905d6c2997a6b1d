//! Receives the events of decoders that number them themselves.

use serde_json::Value as Json;
use turnwire::event::{EventKind, EventRef, TextDelta};
use turnwire::json::Value;
use turnwire::protocol::{EventDecoder, EventSink};
use turnwire::sse::{Frame, FrameDecoder, FrameSink, Run};

use crate::plain;

/// The events, as they can be compared. They must be numbered from 1 on.
#[derive(Debug, Default)]
pub struct Sink(pub Vec<Json>);

impl Sink {
    fn take(&mut self, number: u64, event: Json) {
        self.0.push(event);
        assert_eq!(number, self.0.len() as u64);
    }
}

impl EventSink for Sink {
    fn delta(&mut self, number: u64, delta: TextDelta<'_>) {
        self.take(number, plain::of_delta(&delta));
    }

    fn event(&mut self, number: u64, event: EventRef<'_>) {
        let EventRef { kind, fields } = event;
        assert_eq!(kind, EventKind::of(fields.text("type")));
        let _ = event.to_event();
        self.take(number, plain::of(&Value::from(fields.clone())));
    }
}

/// Reads a stream as turns do: runs of frames at once where the decoder can.
struct Running {
    decoder: Box<dyn EventDecoder>,
    sink: Sink,
}

impl FrameSink for Running {
    fn frame(&mut self, frame: Frame<'_>) {
        self.decoder.decode(&frame, &mut self.sink);
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn run(&mut self, bytes: &[u8]) -> Run {
        self.decoder.run(bytes, &mut self.sink)
    }
}

/// The events of a stream that comes in these chunks.
pub fn run(decoder: Box<dyn EventDecoder>, chunks: &[&[u8]]) -> Vec<Json> {
    let (mut frames, mut running) = (FrameDecoder::default(), Running { decoder, sink: Sink::default() });
    for chunk in chunks {
        if frames.feed_runs(chunk, &mut running).is_err() {
            return running.sink.0;
        }
    }
    running.decoder.end(&mut running.sink);
    running.sink.0
}
