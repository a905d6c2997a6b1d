//! The Agent Application Protocol, version 3.
//!
//! A session is a conversation that the server keeps. A turn is one answer to it, streamed or whole. The server has no
//! ids for turns and messages: turnwire makes them, and finds a turn whose answer was lost by its input in the
//! session's history. Section numbers in this folder are those of the protocol note.

mod agents;
mod answer;
mod blocks;
mod decoder;
mod find;
mod history;
mod ids;
mod input;
mod record;
mod results;
mod routes;
mod story;
mod terms;
#[cfg(test)]
mod tests;
mod waiting;

use crate::error::Result;
use crate::json::{Object, Value};
use crate::protocol::body::error_message;
use crate::protocol::capabilities::Capability::{
    self, AgentCapabilities, Agents, Cancel, ClientIds, ClientTurnIds, Delete, Files, Images, ListSessions,
    MayAnswerWhole, Messages, PageTools, WholeAnswers,
};
use crate::protocol::options::input_fields;
use crate::protocol::{Call, Capabilities, EventDecoder, Protocol, Request, Resume};

use decoder::TurnDecoder;
use terms::{History, Mode};

/// The fields of parts and approvals. A decision to remember goes into the session's settings, and not into the
/// message.
const INPUT_FIELDS: &str = input_fields! {
    "text:type, text"
    "image:type, url"
    "file:type, name, data, file"
    "file_upload:type, name, data, file"
    ".approval:status, reason, remember"
};

/// What an agent can support. Turns are cancelled by closing their stream. Servers send no heartbeats, and a turn that is
/// not streamed sends nothing until it has ended.
const ALL: Capabilities = Capabilities {
    input_fields: INPUT_FIELDS,
    silence: 120_000,
    ..Capabilities::of(&[
        Cancel,
        Capability::History,
        Messages,
        Files,
        Images,
        PageTools,
        Agents,
        AgentCapabilities,
        ListSessions,
        Delete,
        ClientIds,
        ClientTurnIds,
        MayAnswerWhole,
        WholeAnswers,
    ])
};

/// The protocol, with an agent's capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aap {
    history: Option<History>,
    mode: Mode,
    /// Images as data URIs.
    data: bool,
    /// Images by URL.
    http: bool,
    /// Tools of the page.
    page_tools: bool,
}

impl Aap {
    /// The protocol for an agent about which nothing is known: with the whole history, in deltas, with tools
    /// of the page, without images.
    #[must_use]
    pub const fn new() -> Self {
        Self { history: Some(History::Full), mode: Mode::Delta, data: false, http: false, page_tools: true }
    }
}

impl Default for Aap {
    fn default() -> Self {
        Self::new()
    }
}

impl Protocol for Aap {
    fn capabilities(&self) -> Capabilities {
        let has_history = self.history.is_some();
        Capabilities { resume: if has_history { Resume::History } else { Resume::None }, ..ALL }
            .only_if(has_history, Capability::History)
            .only_if(has_history, Messages)
            .only_if(self.page_tools, PageTools)
            .only_if(self.data, Files)
            .only_if(self.http, Images)
            .only_if(self.mode == Mode::None, WholeAnswers)
    }

    fn with_terms(self, terms: &str) -> Self {
        let terms = Value::parse(terms).unwrap_or_default();
        terms.as_object().map_or_else(Self::new, Self::of_terms)
    }

    fn request(&self, call: Call, params: Object<'_>) -> Result<Request> {
        routes::request(*self, call, &params)
    }

    fn answer<'a>(&self, call: Call, params: &Object<'_>, body: Value<'a>) -> Result<Value<'a>> {
        answer::normalize(*self, call, params, body)
    }

    fn error_message(&self, body: &str) -> Option<String> {
        error_message(body)
    }

    fn decoder(&self) -> Box<dyn EventDecoder> {
        Box::<TurnDecoder>::default()
    }
}
