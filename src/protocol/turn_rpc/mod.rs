//! JSON-RPC over a WebSocket: threads contain turns, and turns consist of items. This folder knows the wire format of
//! both dialects, and nothing else does: the gateway protocol, and Codex app-server (section 14).
//!
//! Messages have no numbers, and servers replay none. After a reconnect, the client reads the server's record of the
//! turn, and continues with the notifications. A relay that holds the socket numbers them, and replays them. Section
//! numbers in this folder are those of the protocol note.

mod answer;
mod codex;
mod decision;
mod decoder;
mod fields;
mod gateway;
mod input;
mod lists;
mod markdown;
mod params;
mod record;
#[cfg(test)]
mod tests;
pub mod wire;

use std::borrow::Cow;

use crate::error::Result;
use crate::json::{Object, Value};
use crate::protocol::capabilities::Capability::{
    Agents, Cancel, ClientIds, ClientTurnIds, Delete, Detached, Documents, Files, Held, History, Images,
    ListSessions, LiveAnswers, NativeParts, NewestFirst, Rename, SessionInfo, Socket, Steer, Titles,
    ToolRecords, TurnIds,
};
use crate::protocol::options::{input_fields, unsupported};
use crate::protocol::{Call, Capabilities, EventDecoder, Protocol, Request, Resume};
use crate::rpc::Messages;

use decoder::TurnDecoder;

/// The fields of files and approvals. Each dialect checks the other parts itself.
const INPUT_FIELDS: &str = input_fields! {
    "file:type, name, data, file, url"
    "file_upload:type, name, data, file, url"
    ".approval:status, reason, remember, result, cancel"
};

/// What both dialects support. The decoder numbers the events of a turn, over all its connections, and a turn runs on
/// without a listener. Pings show whether the socket is alive; a stream is silent while a long command runs.
const SHARED: Capabilities = Capabilities {
    resume: Resume::Cursor,
    input_fields: INPUT_FIELDS,
    silence: 90_000,
    ..Capabilities::of(&[
        Cancel,
        History,
        NewestFirst,
        TurnIds,
        Detached,
        Files,
        Images,
        ToolRecords,
        Agents,
        SessionInfo,
        Titles,
        Socket,
        NativeParts,
    ])
};
const GATEWAY: Capabilities = SHARED.and(&[Documents, ClientIds, ClientTurnIds]);

/// Waiting calls are requests of the server (section 9).
const CODEX: Capabilities = SHARED.and(&[LiveAnswers, Steer, ListSessions, Rename, Delete]);

/// The server's dialect.
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
    is_held: bool,
}

impl TurnRpc {
    /// The protocol as `dialect` speaks it.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect, is_held: false }
    }
}

/// The HTTP status for an error code, if it is more than a refusal.
fn status_of(code: i64) -> Option<u16> {
    match code {
        -32040 => Some(401),
        -32043 => Some(403),
        -32044 => Some(404),
        // Codex is overloaded, or too many requests wait at the relay: nothing was done.
        -32001 | -32050 => Some(503),
        // An internal error of the server.
        -32603 => Some(500),
        _ => None,
    }
}

impl Protocol for TurnRpc {
    fn capabilities(&self) -> Capabilities {
        let direct = match self.dialect {
            Dialect::Gateway => GATEWAY,
            Dialect::Codex => CODEX,
        };
        direct.and(&[Held]).only_if(self.is_held, Held)
    }

    fn behind_relay(self) -> Result<Self> {
        Ok(Self { is_held: true, ..self })
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
            // The code of all the gateway's own errors. For a read it means that the object does not exist (section
            // 2).
            -32600 if matches!(call, Call::GetTurn | Call::GetSession) => Some(404),
            // A thread whose first turn has only just begun is not available to another connection yet.
            -32600 | -32601 if call == Call::SubscribeTurn && self.dialect == Dialect::Codex => Some(503),
            code => status_of(code),
        }
    }

    fn is_for_all(&self, method: &str) -> bool {
        // Turns that begin, and what became of the server's requests (section 9).
        matches!(method, "turn/started" | "serverRequest/resolved")
    }

    fn unloaded(&self, method: &str, message: &str) -> Option<String> {
        if method != "thread/closed" {
            return None;
        }
        let message = Value::parse(message).unwrap_or_default();
        let thread = fields::inner(fields::members(&message), "params").text("threadId");
        (!thread.is_empty()).then(|| thread.to_owned())
    }

    fn local<'a>(&self, call: Call, _: &Object<'a>) -> Option<Value<'a>> {
        (call == Call::ListAgents && self.dialect == Dialect::Gateway).then(gateway::modes)
    }

    fn answer<'a>(&self, call: Call, params: &Object<'_>, body: Value<'a>) -> Result<Value<'a>> {
        answer::normalize(self.dialect, call, params, body)
    }

    fn error_message(&self, _: &str) -> Option<String> {
        // The error of a response has its message.
        None
    }

    fn decoder(&self) -> Box<dyn EventDecoder> {
        Box::new(TurnDecoder::new(self.dialect))
    }
}
