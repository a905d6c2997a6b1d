//! Tests of the decoder: the events of each kind of frame, in each mode, and of invalid frames. Section numbers are the
//! protocol note's.

mod begins;
mod calls;
mod deltas;
mod endings;
mod hostile;
mod messages;
mod results;
mod same;
mod streams;
mod whole;
mod wire;

use serde_json::{Value as Json, json};

use super::TurnDecoder;
use crate::json::Value;
use crate::protocol::EventDecoder;
use crate::protocol::tests::seen::Seen;
use crate::sse::Frame;

impl Seen {
    /// The state in which the turn ended; `null` if it did not.
    fn state(&self) -> Json {
        let done = self.of("turn.done");
        assert!(done.len() <= 1, "a turn ends once");
        assert!(done.is_empty() || self.last() == done[0], "its end is the last of it");
        done.first().map_or(Json::Null, |done| done["state"].clone())
    }

    /// The whole messages, with their texts.
    fn messages(&self) -> Vec<Json> {
        let messages = self.index.messages().iter().map(|message| {
            let mut message = said(serde_json::from_str(&message.to_json("main")).expect("JSON"));
            let fields = message.as_object_mut().expect("an object");
            assert_eq!(fields.remove("type"), Some("model.message".into()));
            fields.remove("thread_id");
            message
        });
        messages.collect()
    }

    /// What could not be read.
    fn unknown(&self) -> Vec<(&Json, &Json, Option<&str>)> {
        let unknown = self.of("unknown").into_iter();
        unknown.map(|event| (&event["wire_type"], &event["raw"], event["problem"].as_str())).collect()
    }

    /// The pending calls: the kind of action, and their ids.
    fn pending(&self) -> Vec<String> {
        self.index.pending().iter().map(|action| format!("{:?} {}", action.kind, action.id)).collect()
    }
}

/// What says something of a JSON.
fn said(json: Json) -> Json {
    let is_empty = |json: &Json| match json {
        Json::Null => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    };
    match json {
        Json::Array(items) => items.into_iter().map(said).collect(),
        Json::Object(members) => {
            let members = members.into_iter().map(|(name, value)| (name, said(value)));
            members.filter(|(_, value)| !is_empty(value)).collect()
        }
        other => other,
    }
}

/// A frame: its event and its data.
type Wire = (&'static str, Json);

fn frame<'f>(event: &'f str, data: &'f str) -> Frame<'f> {
    Frame { event, data, id: None, has_own_id: false }
}

/// A decoder of the turn `t`, for a client with two tools.
fn decoder() -> TurnDecoder {
    decoder_of(&json!([{"type": "user.message", "content": "Hi"}]))
}

/// A decoder of the turn with this input.
fn decoder_of(input: &Json) -> TurnDecoder {
    let params = json!({"turnId": "t", "input": input, "terms": {"tools": ["mine", "ours"]}}).to_string();
    let mut decoder = TurnDecoder::default();
    decoder.begin(Value::parse(&params).expect("JSON").as_object().expect("an object"));
    decoder
}

fn feed<'f>(decoder: &mut TurnDecoder, frames: impl IntoIterator<Item = &'f Wire>) -> Seen {
    let mut seen = Seen::default();
    for (event, data) in frames {
        decoder.decode(&frame(event, &data.to_string()), &mut seen);
    }
    decoder.end(&mut seen);
    seen
}

/// Decodes the frames of a stream, which ends after them.
fn play<'f>(frames: impl IntoIterator<Item = &'f Wire>) -> Seen {
    feed(&mut decoder(), frames)
}

/// Decodes a whole response.
fn whole(answer: &Json) -> Seen {
    let (mut decoder, mut seen) = (decoder(), Seen::default());
    decoder.body(Value::parse(&answer.to_string()).expect("JSON"), &mut seen);
    decoder.end(&mut seen);
    seen
}

fn start() -> Wire {
    ("turn_start", json!({}))
}

/// A piece of text.
fn says(text: &str) -> Wire {
    ("text_delta", json!({"delta": text}))
}

/// A piece of thinking.
fn thinks(text: &str) -> Wire {
    ("thinking_delta", json!({"delta": text}))
}

fn call(id: &str, name: &str) -> Wire {
    ("tool_call", json!({"toolCallId": id, "name": name, "input": {"of": id}}))
}

fn result(id: &str, content: impl Into<Json>) -> Wire {
    ("tool_result", json!({"toolCallId": id, "content": content.into()}))
}

fn stop(reason: &str) -> Wire {
    ("turn_stop", json!({"stopReason": reason}))
}

/// A call as a whole message has it.
fn called(id: &str, name: &str) -> Json {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": json!({"of": id}).to_string()}})
}
