//! The `TrueFoundry` agent protocol, and the dialect of its open-source sibling, `TrueForge`.
//!
//! Sessions contain turns; a turn is streamed as server-sent events. Each event has a sequence number, which starts at
//! 1 and grows by 1: servers write it as the frame's `id`, the reference pages have it in the event's JSON. Section
//! numbers in this folder are those of the protocol note.

mod answer;
mod canonical;
mod delta;
mod routes;
mod schema;
mod spelling;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::event::EventRef;
use crate::json::{Object, Value, parse_u64};
use crate::protocol::options::input_fields;
use crate::protocol::{Call, Capabilities, EventDecoder, EventSink, Protocol, Request, Resume};
use crate::sse::{Frame, Run};

use delta::DeltaReader;

/// The fields of parts and approvals (section 3.6). Only a denial has a reason.
const INPUT_FIELDS: &str = input_fields! {
    "text:type, text"
    "file:type, name, data, file"
    "file_upload:type, name, data, file"
    ".allow:status"
    ".deny:status, reason"
};

/// The server's dialect.
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
    /// The protocol in this dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect }
    }
}

impl Protocol for TrueFoundry {
    fn capabilities(&self) -> Capabilities {
        let is_gateway = self.dialect == Dialect::Gateway;
        Capabilities {
            resume: Resume::Cursor,
            cancel: true,
            interrupt: true,
            history: true,
            live_answers: false,
            steer: false,
            discard_pending: false,
            files: true,
            drafts: true,
            search: is_gateway,
            sandbox_files: true,
            titles: is_gateway,
            rename: false,
            delete: !is_gateway,
            state: false,
            detached: true,
            client_ids: false,
            turn_ids: false,
            answers_apart: false,
            agents: false,
            images: false,
            native_parts: false,
            unnamed: false,
            whole_answers: false,
            socket: false,
            input_fields: INPUT_FIELDS,
            silence: 60_000,
        }
    }

    fn request(&self, call: Call, params: Object<'_>) -> Result<Request> {
        routes::request(self.dialect, call, &params)
    }

    fn answer<'a>(&self, call: Call, params: &Object<'_>, body: Value<'a>) -> Result<Value<'a>> {
        answer::normalize(self.dialect, call, params, body)
    }

    fn error_message(&self, body: &str) -> Option<String> {
        let body = Value::parse(body).ok()?;
        let error = body.get("error")?;
        let message = error.get("message").and_then(Value::as_str).or_else(|| error.as_str())?;
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
        // An id persists over frames that have none; a number must not.
        let id = frame.id.filter(|_| frame.has_own_id);
        let id = canonical::sequence_number(id.and_then(|id| parse_u64(id.as_bytes())));
        if let Some((said, delta)) = self.deltas.read(frame.data) {
            let number = counting(id, said, sink);
            return sink.delta(number, delta);
        }
        let (said, event) = canonical::event_of(frame.data);
        let number = counting(id, said, sink);
        sink.event(number, EventRef::of(&event));
    }

    fn run(&mut self, bytes: &[u8], sink: &mut dyn EventSink) -> Run {
        self.deltas.run(bytes, sink)
    }
}

/// Which of two numbers counts: the frame's `id`, or else the number in its JSON. 0 means none.
#[inline]
fn counting(id: u64, said: u64, sink: &mut dyn EventSink) -> u64 {
    if id == 0 {
        return said;
    }
    if said > 0 && said != id {
        sink.mismatch(id, said);
    }
    id
}
