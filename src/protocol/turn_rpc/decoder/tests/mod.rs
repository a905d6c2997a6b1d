//! Tests of the decoder: what messages become, and what becomes of messages that are none.

#![expect(clippy::needless_pass_by_value, reason = "payloads are written where they are passed")]

mod agents;
mod deltas;
mod endings;
mod hostile;
mod items;
mod order;
mod requests;
mod resumes;
mod tasks;

use serde_json::{Value as Json, json};

use super::TurnDecoder;
use crate::event::{Event, EventRef, TextDelta};
use crate::index::EventIndex;
use crate::json::{Object, Value};
use crate::protocol::turn_rpc::Dialect;
use crate::protocol::{EventDecoder, EventSink};
use crate::sse::Frame;

/// What came of messages.
#[derive(Debug, Default)]
struct Seen {
    events: Vec<Json>,
    /// How many of them came by the hot path, or could have.
    deltas: usize,
    index: EventIndex,
}

impl Seen {
    fn take(&mut self, sequence_number: u64, event: Json) {
        self.events.push(event);
        assert_eq!(sequence_number, self.events.len() as u64, "events are numbered from 1 on");
    }

    /// The types of the events behind `turn.created`.
    fn types(&self) -> Vec<&str> {
        self.events.iter().skip(1).map(|event| event["type"].as_str().expect("a type")).collect()
    }

    fn of<'s>(&'s self, kind: &'s str) -> Vec<&'s Json> {
        self.events.iter().filter(|event| event["type"] == kind).collect()
    }

    fn last(&self) -> &Json {
        self.events.last().expect("an event")
    }
}

impl EventSink for Seen {
    fn delta(&mut self, sequence_number: u64, delta: TextDelta<'_>) {
        self.deltas += 1;
        self.index.append(&delta);
        let event = serde_json::to_value(Event::ModelMessageDelta(delta.to_event())).expect("JSON");
        self.take(sequence_number, event);
    }

    fn event(&mut self, sequence_number: u64, event: EventRef<'_>) {
        let json: Json = serde_json::from_str(&event.fields.to_json()).expect("JSON");
        let is_unknown = matches!(event.to_event(), Event::Unknown(_));
        assert_eq!(is_unknown, json["type"] == "unknown", "{json} is no event: {:?}", event.to_event());
        self.index.apply(event);
        self.take(sequence_number, json);
    }
}

/// A turn of thread `t` that is being read.
struct Reading {
    decoder: TurnDecoder,
    seen: Seen,
}

impl Reading {
    /// Turn `u` of the gateway has been asked for.
    fn gateway() -> Self {
        Self::begun(Dialect::Gateway, &json!({"sessionId": "t", "turnId": "u"}))
    }

    /// Turn `u` of Codex has begun.
    fn codex() -> Self {
        let mut reading = Self::begun(Dialect::Codex, &json!({"sessionId": "t"}));
        reading.hear(&json!({"response_to": "turn/start", "result": {"turn": {"id": "u"}}}));
        reading
    }

    fn begun(dialect: Dialect, params: &Json) -> Self {
        let mut decoder = TurnDecoder::new(dialect);
        with(params, |params| decoder.begin(params));
        Self { decoder, seen: Seen::default() }
    }

    fn resume(&mut self, params: &Json) {
        with(params, |params| self.decoder.resume(params));
    }

    fn hear(&mut self, message: &Json) {
        // Maps have no order here, and a response begins with what it responds to.
        match message.get("response_to") {
            Some(method) => {
                let mut rest = message.clone();
                rest.as_object_mut().expect("an object").remove("response_to");
                self.line(&format!("{{\"response_to\":{method},{}", &rest.to_string()[1..]));
            }
            None => self.line(&message.to_string()),
        }
    }

    fn line(&mut self, data: &str) {
        self.decoder.decode(&Frame { event: "", data, id: None, has_own_id: false }, &mut self.seen);
    }

    /// A notification of the turn, in the spelling of its dialect.
    fn notify(&mut self, method: &str, params: Json) {
        let mut params = params;
        let names = if self.decoder.dialect == Dialect::Gateway {
            ["thread_id", "turn_id"]
        } else {
            ["threadId", "turnId"]
        };
        for (name, id) in names.into_iter().zip(["t", "u"]) {
            if params.get(name).is_none() {
                params[name] = json!(id);
            }
        }
        self.hear(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn item(&mut self, what: &str, item: Json) {
        self.notify(&format!("item/{what}"), json!({"item": item}));
    }

    fn delta(&mut self, item: &str, text: &str, stream: &str) {
        self.notify("item/agent_message/delta", json!({"item_id": item, "delta": text, "stream": stream}));
    }
}

fn with(params: &Json, then: impl FnOnce(&Object<'_>)) {
    let text = params.to_string();
    then(Value::parse(&text).expect("JSON").as_object().expect("an object"));
}
