//! JSON-RPC over a WebSocket: threads hold turns, and a turn is told as the life of its items.
//!
//! Two dialects: the gateway protocol, and Codex app-server (section 14). Nothing is numbered on the wire and nothing
//! is replayed; a client that comes back reads what the server keeps, and goes on with what it hears. Section numbers
//! in this folder are those of the protocol note.

mod answer;
mod codex;
mod decision;
mod decoder;
mod gateway;
mod input;
mod kept;
mod markdown;
mod params;
mod record;
mod speaker;
#[cfg(test)]
mod tests;
pub mod wire;

use std::borrow::Cow;

use crate::error::Result;
use crate::json::{Object, Value};
use crate::protocol::options::{input_fields, unsupported};
use crate::protocol::{Call, Capabilities, EventDecoder, Protocol, Request, Resume};
use crate::rpc::Messages;

use decoder::TurnDecoder;

/// What files and approvals take. Other parts are checked by their dialect.
const INPUT_FIELDS: &str = input_fields! {
    "file:type, name, data, file, url"
    "file_upload:type, name, data, file, url"
    ".approval:status, reason, remember, result, cancel"
};

/// Which server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The gateway.
    Gateway,
    /// Codex app-server (section 14).
    Codex,
}

/// The protocol in one of its dialects.
#[derive(Debug, Clone, Copy)]
pub struct TurnRpc {
    dialect: Dialect,
}

impl TurnRpc {
    /// The protocol as `dialect` speaks it.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect }
    }
}

/// The HTTP status that a code amounts to, where it says more than that something is refused.
fn status_of(code: i64) -> Option<u16> {
    match code {
        -32040 => Some(401),
        -32043 => Some(403),
        -32044 => Some(404),
        // Codex: it has too much to do, and did nothing.
        -32001 => Some(503),
        // Something went wrong in the server.
        -32603 => Some(500),
        _ => None,
    }
}

impl Protocol for TurnRpc {
    fn capabilities(&self) -> Capabilities {
        let is_codex = self.dialect == Dialect::Codex;
        Capabilities {
            // Events are numbered here, over all connections of a turn.
            resume: Resume::Cursor,
            cancel: true,
            interrupt: false,
            history: true,
            // What waits for the client are requests of the server's (section 9).
            live_answers: is_codex,
            steer: is_codex,
            discard_pending: false,
            files: true,
            drafts: false,
            search: false,
            sandbox_files: false,
            titles: true,
            rename: is_codex,
            delete: is_codex,
            state: false,
            // A turn runs on, whoever listens.
            detached: true,
            client_ids: !is_codex,
            turn_ids: !is_codex,
            answers_apart: false,
            agents: true,
            images: true,
            native_parts: true,
            unnamed: false,
            whole_answers: false,
            socket: true,
            // Whether the socket lives is asked by pings. A stream says nothing while a long command runs.
            input_fields: INPUT_FIELDS,
            silence: 90_000,
        }
    }

    fn request(&self, _: Call, _: Object<'_>) -> Result<Request> {
        Err(unsupported())
    }

    fn messages(&self, call: Call, params: Object<'_>) -> Result<Messages> {
        match self.dialect {
            Dialect::Gateway => gateway::messages(call, &params),
            Dialect::Codex => codex::messages(call, &params),
        }
    }

    fn readable<'m>(&self, message: &'m str) -> Cow<'m, str> {
        markdown::without_markdown(message)
    }

    fn status_of(&self, call: Call, code: i64) -> Option<u16> {
        match code {
            // The code of everything that goes wrong: of a read it is that there is no such thing (section 2).
            -32600 if matches!(call, Call::GetTurn | Call::GetSession) => Some(404),
            // A thread that has only just got its first turn is not there yet for who comes back to it.
            -32600 | -32601 if call == Call::SubscribeTurn && self.dialect == Dialect::Codex => Some(503),
            code => status_of(code),
        }
    }

    fn local<'a>(&self, call: Call, _: &Object<'a>) -> Option<Value<'a>> {
        (call == Call::ListAgents && self.dialect == Dialect::Gateway).then(gateway::modes)
    }

    fn answer<'a>(&self, call: Call, params: &Object<'_>, body: Value<'a>) -> Result<Value<'a>> {
        answer::normalize(self.dialect, call, params, body)
    }

    fn error_message(&self, _: &str) -> Option<String> {
        // A response's error says it.
        None
    }

    fn decoder(&self) -> Box<dyn EventDecoder> {
        Box::new(TurnDecoder::new(self.dialect))
    }
}
