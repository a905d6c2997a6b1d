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
use crate::protocol::capabilities::Capability::{
    Cancel, CancelSession, ClientIds, ClientTurnIds, Delete, DiscardPending, Fork, History, Interrupt,
    ListSessions, LiveAnswers, Messages, PageTools, Pages, Rename, SeparateAnswers, SessionInfo, State,
    TurnIds,
};
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

/// What both dialects support.
const SHARED: Capabilities = Capabilities {
    input_fields: INPUT_FIELDS,
    ..Capabilities::of(&[
        Cancel,
        Interrupt,
        CancelSession,
        History,
        Messages,
        Pages,
        TurnIds,
        Fork,
        LiveAnswers,
        DiscardPending,
        PageTools,
        ListSessions,
        SessionInfo,
        Rename,
        Delete,
        State,
        ClientIds,
    ])
};

/// tirea abandons a run whose reader has left (section 2.4). A model that sends nothing for 90 s is normal (section
/// 1.1), and to disconnect would lose the run.
const TIREA: Capabilities = Capabilities { silence: 300_000, ..SHARED.and(&[ClientTurnIds]) };

/// awaken finishes such a run, and has heartbeats (section 5).
const AWAKEN: Capabilities = Capabilities { resume: Resume::History, ..SHARED.and(&[SeparateAnswers]) };

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
        match self.dialect {
            Dialect::Tirea => TIREA,
            Dialect::Awaken => AWAKEN,
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
