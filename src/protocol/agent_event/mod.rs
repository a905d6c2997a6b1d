//! The `AgentEvent` protocols: run streams of tirea 0.5 and, as a dialect, awaken 0.6.
//!
//! Threads contain runs. A run is streamed as the response to the request that starts it. Section numbers in this
//! folder are those of the protocol note.

mod answer;
mod decoder;
mod input;
mod messages;
mod pages;
mod record;
mod routes;
#[cfg(test)]
mod tests;
mod waiting;
pub mod wire;

use crate::error::Result;
use crate::json::{Object, Value};
use crate::protocol::body::error_message;
use crate::protocol::options::input_fields;
use crate::protocol::{Call, Capabilities, EventDecoder, Protocol, Request, Resume};

use decoder::RunDecoder;

/// The fields of parts and approvals.
const INPUT_FIELDS: &str = input_fields! {
    "text:type, text"
    "file:type, name, data, file"
    "file_upload:type, name, data, file"
    ".approval:status, reason, remember, result"
};

/// The server's dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// tirea 0.5.
    Tirea,
    /// awaken 0.6 (section 5).
    Awaken,
}

/// The protocol in one of its dialects.
#[derive(Debug, Clone, Copy)]
pub struct AgentEvent {
    dialect: Dialect,
}

impl AgentEvent {
    /// The protocol in this dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect }
    }
}

impl Protocol for AgentEvent {
    fn capabilities(&self) -> Capabilities {
        let is_tirea = self.dialect == Dialect::Tirea;
        Capabilities {
            // tirea abandons a run whose reader has left (section 2.4); awaken finishes it (section 5).
            resume: if is_tirea { Resume::None } else { Resume::History },
            cancel: true,
            interrupt: true,
            history: true,
            live_answers: true,
            steer: false,
            discard_pending: true,
            files: false,
            drafts: false,
            search: false,
            sandbox_files: false,
            titles: false,
            rename: true,
            delete: true,
            state: true,
            detached: false,
            client_ids: true,
            turn_ids: is_tirea,
            answers_apart: !is_tirea,
            agents: false,
            images: false,
            native_parts: false,
            unnamed: false,
            whole_answers: false,
            socket: false,
            // A model that sends nothing for 90 s is normal (section 1.1), and disconnecting would lose the run; awaken
            // has heartbeats.
            input_fields: INPUT_FIELDS,
            silence: if is_tirea { 300_000 } else { 60_000 },
        }
    }

    fn request(&self, call: Call, params: Object<'_>) -> Result<Request> {
        routes::request(self.dialect, call, &params)
    }

    fn local<'a>(&self, call: Call, params: &Object<'a>) -> Option<Value<'a>> {
        routes::local(call, params)
    }

    fn answer<'a>(&self, call: Call, params: &Object<'_>, body: Value<'a>) -> Result<Value<'a>> {
        answer::normalize(self.dialect, call, params, body)
    }

    fn error_message(&self, body: &str) -> Option<String> {
        error_message(body)
    }

    fn decoder(&self) -> Box<dyn EventDecoder> {
        Box::<RunDecoder>::default()
    }
}
