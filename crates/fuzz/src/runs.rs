//! Target `runs`: the frames of an `AgentEvent` run become the same events however the stream is cut into chunks,
//! and by whichever way they are read; events are numbered on, whatever comes.

use serde_json::Value as Json;
use turnwire::protocol::Protocol;
use turnwire::protocol::agent_event::{AgentEvent, Dialect};
use turnwire::sse::{Frame, FrameDecoder};

use crate::input::Input;
use crate::sink::{self, Sink};

/// Runs the target.
pub fn run(input: &[u8]) {
    let (mut plan, stream) = Input::of(input);
    let protocol = AgentEvent::new([Dialect::Tirea, Dialect::Awaken][plan.below(2)]);
    let whole = events(&protocol, &[stream], &str::to_owned);
    for chunks in [vec![stream], plan.cut(stream), stream.chunks(1).collect()] {
        assert_eq!(events(&protocol, &chunks, &str::to_owned), whole, "in {} chunks", chunks.len());
        assert_eq!(sink::run(protocol.decoder(), &chunks), whole, "in {} chunks, in runs", chunks.len());
    }
    // A frame with a list in it does not take the hot path.
    let general = events(&protocol, &[stream], &with_a_list);
    let (general, hot): (Vec<_>, Vec<_>) =
        (general.iter().map(known).collect(), whole.iter().map(known).collect());
    assert_eq!(general, hot, "the general way and the hot path");
}

/// The events of a stream whose data are changed on the way.
fn events(protocol: &dyn Protocol, chunks: &[&[u8]], change: &dyn Fn(&str) -> String) -> Vec<Json> {
    let (mut decoder, mut frames, mut sink) = (protocol.decoder(), FrameDecoder::default(), Sink::default());
    for chunk in chunks {
        let fed = frames.feed(chunk, &mut |frame| {
            let data = change(frame.data);
            decoder.decode(&Frame { data: &data, ..frame }, &mut sink);
        });
        if fed.is_err() {
            return sink.0;
        }
    }
    decoder.end(&mut sink);
    sink.0
}

fn with_a_list(data: &str) -> String {
    match data.strip_suffix('}') {
        Some(open) if open.len() > 1 => format!("{open},\"fuzzed\":[]}}"),
        _ => data.to_owned(),
    }
}

/// What must stay the same if only that list was added to a frame.
fn known(event: &Json) -> Json {
    if event["type"] == "unknown" { event["type"].clone() } else { event.clone() }
}
