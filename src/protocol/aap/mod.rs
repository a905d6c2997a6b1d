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

/// The protocol, with an agent's capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aap {
    history: Option<History>,
    mode: Mode,
    /// Images as data URIs.
    data: bool,
    /// Images by URL.
    http: bool,
}

impl Aap {
    /// The protocol for an agent about which nothing is known: with the whole history, in deltas, without images.
    #[must_use]
    pub const fn new() -> Self {
        Self { history: Some(History::Full), mode: Mode::Delta, data: false, http: false }
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
        Capabilities {
            resume: if has_history { Resume::History } else { Resume::None },
            // By closing the stream.
            cancel: true,
            interrupt: false,
            history: has_history,
            live_answers: false,
            steer: false,
            discard_pending: false,
            files: self.data,
            drafts: false,
            search: false,
            sandbox_files: false,
            titles: false,
            rename: false,
            delete: true,
            state: false,
            detached: false,
            client_ids: true,
            turn_ids: true,
            answers_apart: false,
            agents: true,
            images: self.http,
            native_parts: false,
            unnamed: true,
            whole_answers: self.mode == Mode::None,
            socket: false,
            // Servers send no heartbeats, and a turn that is not streamed sends nothing until it has ended.
            input_fields: INPUT_FIELDS,
            silence: 120_000,
        }
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
