//! The `TrueFoundry` agent protocol, and the dialect of its open-source sibling.
//!
//! Sessions hold turns; a turn is streamed as server-sent events whose `id` is the sequence number, a
//! decimal that starts at 1 and grows by 1. Section numbers in this folder are those of the protocol
//! note.

mod answer;
mod decode;
mod delta;
mod routes;
mod spelling;

use crate::error::{Error, ErrorCode, Result, sentence};
use crate::event::{Event, TurnState, UnknownEvent};
use crate::json::{Object, Value};
use crate::protocol::{Call, Capabilities, EventDecoder, EventSink, Protocol, Request};
use crate::sse::Frame;

use delta::DeltaReader;

/// Which server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The hosted gateway.
    Gateway,
    /// The open-source sibling (section 7).
    TrueForge,
}

/// The protocol in one of its dialects.
#[derive(Debug, Clone, Copy)]
pub struct TrueFoundry {
    dialect: Dialect,
}

impl TrueFoundry {
    /// The protocol as `dialect` speaks it.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect }
    }
}

impl Protocol for TrueFoundry {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            resume: true,
            cancel: true,
            history: true,
        }
    }

    fn request(&self, call: Call, params: &Object<'_>) -> Result<Request> {
        routes::request(self.dialect, call, params)
    }

    fn answer(&self, call: Call, body: Value<'static>) -> Result<Value<'static>> {
        answer::normalize(call, body)
    }

    fn event(&self, json: &Value<'_>) -> Event {
        decode::event(json)
    }

    fn turn_state(&self, json: &Value<'_>) -> Result<TurnState> {
        decode::turn_state(json).map_err(|problem| {
            Error::new(
                ErrorCode::UnexpectedResponse,
                sentence(&["a turn's state cannot be read: ", &problem]),
            )
        })
    }

    fn error_message(&self, body: &str) -> Option<String> {
        let body = Value::parse(body).ok()?;
        let error = body.get("error")?;
        let message = error
            .get("message")
            .and_then(Value::as_str)
            .or_else(|| error.as_str())?;
        (!message.is_empty()).then(|| message.to_owned())
    }

    fn decoder(&self) -> Box<dyn EventDecoder> {
        Box::new(TurnDecoder::default())
    }
}

/// Reads the frames of one turn's stream.
#[derive(Debug, Default)]
pub struct TurnDecoder {
    deltas: DeltaReader,
}

impl EventDecoder for TurnDecoder {
    fn decode(&mut self, frame: &Frame<'_>, sink: &mut dyn EventSink) {
        let sequence_number = sequence_number(frame);
        if let Some(delta) = self.deltas.read(frame.data) {
            return sink.delta(sequence_number, delta);
        }
        match Value::parse(frame.data) {
            Ok(mut json) => {
                spelling::complete(&mut json);
                match decode::event(&json) {
                    Event::Unknown(unknown) => {
                        deliver_unknown(sequence_number, unknown, json, sink)
                    }
                    event => sink.event(sequence_number, event, &json),
                }
            }
            Err(error) => {
                let unknown = UnknownEvent {
                    wire_type: None,
                    raw: frame.data.to_owned(),
                    problem: Some(error.to_string()),
                };
                deliver_unknown(sequence_number, unknown, Value::from(frame.data), sink);
            }
        }
    }
}

/// The frame's own `id`. 0 when it has none, or one that is not a decimal up to 2^53 - 1, the largest
/// that JavaScript can count.
fn sequence_number(frame: &Frame<'_>) -> u64 {
    const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
    let id = frame.id.filter(|_| frame.has_own_id);
    id.and_then(|id| id.parse().ok())
        .filter(|number| *number <= MAX_SAFE_INTEGER)
        .unwrap_or(0)
}

/// Hands out an event that could not be read, in its own JSON form.
fn deliver_unknown(
    sequence_number: u64,
    unknown: UnknownEvent,
    raw: Value<'_>,
    sink: &mut dyn EventSink,
) {
    let mut json = Object::new();
    json.insert("type", "unknown");
    json.insert(
        "wire_type",
        unknown.wire_type.clone().map_or(Value::Null, Value::from),
    );
    json.insert("raw", raw);
    if let Some(problem) = &unknown.problem {
        json.insert("problem", problem.clone());
    }
    sink.event(
        sequence_number,
        Event::Unknown(unknown),
        &Value::Object(json),
    );
}
