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
use crate::event::{Event, EventRef, TextDelta, TextField};
use crate::protocol::{EventDecoder, EventSink};
use crate::sse::Frame;

/// What came of frames.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    events: Vec<Json>,
    /// How many of them came by the hot path.
    hot: usize,
}

impl EventSink for Seen {
    fn delta(&mut self, sequence_number: u64, delta: TextDelta<'_>) {
        self.hot += 1;
        self.take(sequence_number, delta_json(&delta));
    }

    fn event(&mut self, sequence_number: u64, event: EventRef<'_>) {
        let text = event.fields.to_json();
        let json: Json = serde_json::from_str(&text).unwrap_or_else(|error| {
            // A number that no float can hold is kept as it is written; the crate refuses it.
            assert!(error.to_string().contains("number out of range"), "an event is JSON: {error}");
            serde_json::json!({"type": event.fields.text("type"), "text": text})
        });
        let is_unknown = matches!(event.to_event(), Event::Unknown(_));
        assert_eq!(is_unknown, json["type"] == "unknown", "{json} is no event: {:?}", event.to_event());
        self.take(sequence_number, json);
    }
}

impl Seen {
    fn take(&mut self, sequence_number: u64, event: Json) {
        self.events.push(event);
        assert_eq!(sequence_number, self.events.len() as u64, "events are numbered from 1 on");
    }

    /// The events of a type.
    fn of<'s>(&'s self, kind: &'s str) -> Vec<&'s Json> {
        self.events.iter().filter(|event| event["type"] == kind).collect()
    }

    fn types(&self) -> Vec<&str> {
        self.events.iter().map(|event| event["type"].as_str().expect("a type")).collect()
    }

    fn last(&self) -> &Json {
        self.events.last().expect("an event")
    }

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

/// A text delta as the event that the wire names.
fn delta_json(delta: &TextDelta<'_>) -> Json {
    let mut event = json!({"type": "model.message.delta", "id": delta.id, "thread_id": delta.thread_id});
    match delta.field {
        TextField::Content => event["content"] = delta.text.into(),
        TextField::Reasoning => event["reasoning_content"] = delta.text.into(),
        TextField::Arguments(index) => {
            event["tool_calls"] = json!([{"index": index, "function": {"arguments": delta.text}}]);
        }
    }
    event
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
