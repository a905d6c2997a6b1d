//! AG-UI, versions 1.0 and 0.x.
//!
//! There is one request: a run, with the whole conversation in it. (Some servers have more, to read a run again, and to
//! stop it.) The server responds with a stream of events, and need not remember anything. So the client keeps the
//! conversation: the decoder collects the parts that the next request repeats. Section numbers in this folder refer to
//! the protocol note.

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

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};
use crate::protocol::capabilities::Capability::{
    Cancel, ClientConversation, ClientIds, Documents, Files, History, Images, MayAnswerWhole, PageTools,
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
    ..Capabilities::of(&[
        Cancel,
        History,
        Files,
        Documents,
        Images,
        PageTools,
        ClientIds,
        ClientConversation,
        MayAnswerWhole,
    ])
};

/// The protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AgUi {
    recovery: Recovery,
}

/// How to read a run again after its stream broke (section 7). The wire does not show what a server supports; the
/// session's terms do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Recovery {
    /// Not at all.
    #[default]
    None,
    /// `CopilotKit`'s runtime repeats a thread's runs.
    Connect,
    /// Agent Framework with a store answers a run without messages with a snapshot of the thread.
    Snapshot,
    /// ADK returns a thread's messages and state as JSON.
    State,
}

impl Recovery {
    fn of_terms(terms: &Object<'_>) -> Self {
        match terms.text("recovery") {
            "connect" => Self::Connect,
            "snapshot" => Self::Snapshot,
            "state" => Self::State,
            _ => Self::None,
        }
    }

    /// Whether the server returns the current thread, and not the thread's runs.
    fn tells_threads(self) -> bool {
        matches!(self, Self::Snapshot | Self::State)
    }
}

impl AgUi {
    /// The protocol of a server that keeps nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { recovery: Recovery::None }
    }
}

impl Protocol for AgUi {
    fn capabilities(&self) -> Capabilities {
        let resume = if self.recovery == Recovery::None { Resume::None } else { Resume::History };
        // Responses are read without a session's terms. Servers that repeat runs respond with streams.
        Capabilities { resume, ..CAPABILITIES }.only_if(self.recovery != Recovery::Connect, MayAnswerWhole)
    }

    fn with_terms(self, terms: &str) -> Self {
        let terms = Value::parse(terms).unwrap_or_default();
        Self { recovery: terms.as_object().map_or(Recovery::None, Recovery::of_terms) }
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

    fn answer<'a>(&self, call: Call, _: &Object<'_>, body: Value<'a>) -> Result<Value<'a>> {
        match call {
            // Whether there was a run to stop does not matter: it has ended now.
            Call::CancelTurn => Ok(Value::Null),
            Call::SubscribeTurn
                if body.get("messages").is_some_and(|messages| messages.as_array().is_some()) =>
            {
                Ok(body)
            }
            Call::SubscribeTurn | Call::CreateTurnStream => {
                Err(Error::new(ErrorCode::UnexpectedResponse, "the response is not an event stream"))
            }
            _ => Err(unsupported()),
        }
    }

    fn error_message(&self, body: &str) -> Option<String> {
        errors::message(body)
    }

    fn decoder(&self) -> Box<dyn EventDecoder> {
        Box::<RunDecoder>::default()
    }
}
