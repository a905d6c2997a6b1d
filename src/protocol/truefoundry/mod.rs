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
mod slots;
mod spelling;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::event::EventRef;
use crate::json::{Object, Value, parse_u64};
use crate::protocol::capabilities::Capability::{
    Cancel, CancelSession, Delete, Detached, Documents, Drafts, Files, Fork, History, Interrupt,
    ListSessions, NewestFirst, PageTools, Pages, SandboxFiles, Search, SessionInfo, Titles, TurnIds,
};
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

/// What both dialects support.
const SHARED: Capabilities = Capabilities {
    resume: Resume::Cursor,
    input_fields: INPUT_FIELDS,
    ..Capabilities::of(&[
        Cancel,
        Interrupt,
        CancelSession,
        History,
        Pages,
        TurnIds,
        Fork,
        Detached,
        Files,
        Documents,
        PageTools,
        ListSessions,
        SessionInfo,
        Drafts,
        SandboxFiles,
    ])
};
const GATEWAY: Capabilities = SHARED.and(&[NewestFirst, Titles, Search]);
const TRUEFORGE: Capabilities = SHARED.and(&[Delete]);

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
        match self.dialect {
            Dialect::Gateway => GATEWAY,
            Dialect::TrueForge => TRUEFORGE,
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
        if self.deltas.read(frame.data, id, sink) {
            return;
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
