//! AG-UI, versions 1.0 and 0.x.
//!
//! There is one request: a run, with the whole conversation in it. (One server has two more, to read a run again, and to
//! stop it.) The server answers with a stream of events, and need
//! not remember anything. So the client keeps the conversation: the decoder puts together what the
//! next request repeats. Section numbers in this folder are those of the protocol note.

mod conversation;
mod decoder;
mod errors;
mod history;
mod input;
mod parts;
mod reconcile;
mod routes;
#[cfg(test)]
mod tests;
mod waiting;

use std::borrow::Cow;

use crate::error::Result;
use crate::json::{Object, Value};
use crate::protocol::capabilities::Capability::{
    Cancel, ClientConversation, ClientIds, Documents, Files, History, Images, PageTools,
};
use crate::protocol::options::{input_fields, unsupported};
use crate::protocol::{Call, Capabilities, EventDecoder, Protocol, Request, Resume};

use decoder::RunDecoder;

/// The fields of parts and approvals.
const INPUT_FIELDS: &str = input_fields! {
    "text:type, text"
    "image:type, url"
    "file:type, name, data, file"
    "file_upload:type, name, data, file"
    ".approval:status, reason, result"
};

/// A run is cancelled by closing its stream. Most servers send no heartbeats.
const CAPABILITIES: Capabilities = Capabilities {
    input_fields: INPUT_FIELDS,
    silence: 300_000,
    ..Capabilities::of(&[Cancel, History, Files, Documents, Images, PageTools, ClientIds, ClientConversation])
};

/// The protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AgUi {
    /// Whether the server is `CopilotKit`'s runtime, which repeats a thread's runs (section 7). Nothing on the wire says so;
    /// the terms of a session do.
    repeats: bool,
}

impl AgUi {
    /// The protocol of a server that keeps nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { repeats: false }
    }

    fn of_terms(terms: &Object<'_>) -> Self {
        Self { repeats: terms.text("recovery") == "connect" }
    }
}

impl Protocol for AgUi {
    fn capabilities(&self) -> Capabilities {
        Capabilities { resume: if self.repeats { Resume::History } else { Resume::None }, ..CAPABILITIES }
    }

    fn with_terms(self, terms: &str) -> Self {
        Value::parse(terms).unwrap_or_default().as_object().map_or_else(Self::new, Self::of_terms)
    }

    fn request(&self, call: Call, params: Object<'_>) -> Result<Request> {
        routes::request(call, &params)
    }

    fn readable<'m>(&self, message: &'m str) -> Cow<'m, str> {
        errors::without_input(message)
    }

    fn local<'a>(&self, call: Call, params: &Object<'a>) -> Option<Value<'a>> {
        routes::local(call, params)
    }

    fn answer<'a>(&self, call: Call, _: &Object<'_>, _: Value<'a>) -> Result<Value<'a>> {
        // Whether a run was there to be stopped is no news: it has ended then.
        if call == Call::CancelTurn { Ok(Value::Null) } else { Err(unsupported()) }
    }

    fn error_message(&self, body: &str) -> Option<String> {
        errors::message(body)
    }

    fn decoder(&self) -> Box<dyn EventDecoder> {
        Box::<RunDecoder>::default()
    }
}
