//! Tests of the decoder: what each kind of frame becomes, in both dialects, and what becomes of frames that are
//! none.

#![expect(clippy::needless_pass_by_value, reason = "payloads are written where they are passed")]

mod activities;
mod calls;
mod deltas;
mod endings;
mod hostile;
mod messages;
mod nesting;
mod results;
mod runs;
mod streams;
mod waits;
mod wire;

use serde_json::{Value as Json, json};

use super::RunDecoder;
use crate::protocol::EventDecoder;
use crate::protocol::tests::seen::Seen;
use crate::sse::Frame;

impl Seen {
    /// The text that deltas gave to a field of a message.
    fn text(&self, id: &str, field: &str) -> String {
        let of_message =
            self.events.iter().filter(|event| event["id"] == id && event["type"] == "model.message.delta");
        of_message.filter_map(|event| event[field].as_str()).collect()
    }

    /// The arguments that deltas gave to a call of a message.
    fn arguments(&self, id: &str, index: u64) -> String {
        let of_message =
            self.events.iter().filter(|event| event["id"] == id && event["type"] == "model.message.delta");
        let calls = of_message.flat_map(|event| event["tool_calls"].as_array().into_iter().flatten());
        calls
            .filter(|call| call["index"] == index)
            .filter_map(|call| call["function"]["arguments"].as_str())
            .collect()
    }
}

fn frame(data: &str) -> Frame<'_> {
    Frame { event: "", data, id: None, has_own_id: false }
}

/// Decodes frames of a stream that does not end yet.
fn begin<'f>(frames: impl IntoIterator<Item = &'f Json>) -> Seen {
    let (mut decoder, mut seen) = (RunDecoder::default(), Seen::default());
    for json in frames {
        decoder.decode(&frame(&json.to_string()), &mut seen);
    }
    seen
}

/// Decodes frames of a stream that ends.
fn play<'f>(frames: impl IntoIterator<Item = &'f Json>) -> Seen {
    let (mut decoder, mut seen) = (RunDecoder::default(), Seen::default());
    for json in frames {
        decoder.decode(&frame(&json.to_string()), &mut seen);
    }
    decoder.end(&mut seen);
    seen
}

/// A frame of tirea: payload apart, and an envelope that is another run's.
fn tirea(kind: &str, data: Json) -> Json {
    let mut frame =
        json!({"type": kind, "run_id": "another", "thread_id": "else", "seq": 7, "timestamp_ms": 1});
    if data != json!({}) {
        frame["data"] = data;
    }
    frame
}

/// A frame of awaken: flat.
fn awaken(kind: &str, mut data: Json) -> Json {
    data["event_type"] = kind.into();
    data
}

type Dialect = fn(&str, Json) -> Json;

const DIALECTS: [Dialect; 2] = [tirea, awaken];

/// The beginning of run `r`.
fn run_start() -> Json {
    json!({"type": "run_start", "run_id": "r", "thread_id": "s", "seq": 0, "timestamp_ms": 1_795_255_327_046_u64})
}

fn run_finish(data: Json) -> Json {
    json!({"type": "run_finish", "run_id": "r", "thread_id": "s", "timestamp_ms": 1_795_255_327_144_u64, "data": data})
}

/// The end of run `r`, of this kind.
fn finish(kind: &str) -> Json {
    run_finish(json!({"termination": {"type": kind}}))
}

fn step(id: &str) -> Json {
    tirea("step_start", json!({"message_id": id}))
}

fn text(delta: &str) -> Json {
    tirea("text_delta", json!({"delta": delta}))
}

fn complete() -> Json {
    tirea("inference_complete", json!({"model": "mock-1", "duration_ms": 3}))
}

fn step_end() -> Json {
    tirea("step_end", json!({}))
}

fn call_start(id: &str) -> Json {
    tirea("tool_call_start", json!({"id": id, "name": "search"}))
}

fn call_delta(id: &str, piece: &str) -> Json {
    tirea("tool_call_delta", json!({"id": id, "args_delta": piece}))
}

fn call_ready(id: &str, arguments: Json) -> Json {
    tirea("tool_call_ready", json!({"id": id, "name": "search", "arguments": arguments}))
}

fn call_done(id: &str) -> Json {
    let result =
        json!({"data": 1, "message": null, "metadata": {}, "status": "success", "tool_name": "search"});
    tirea(
        "tool_call_done",
        json!({"id": id, "message_id": format!("of-{id}"), "outcome": "succeeded", "result": result}),
    )
}

/// A step that makes one call, which is ready.
fn calling(message: &str, call: &str) -> Vec<Json> {
    vec![
        step(message),
        call_start(call),
        call_delta(call, "{}"),
        complete(),
        step_end(),
        call_ready(call, json!({})),
    ]
}

/// The JSON that a text is.
fn parsed(text: &Json) -> Json {
    serde_json::from_str(text.as_str().expect("a text")).expect("JSON")
}
