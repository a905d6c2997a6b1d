//! The relay before a server: `docs/relay.md`. It keeps the streams of turns, so that each of them can be read from any place,
//! by any number of clients, and a start that is sent again reaches the server once.
//!
//! [`Relayable`] is a server's protocol with the relay's own requests; `gate` reads the relay's streams.
//! All else of turnwire knows only that there may be a relay.

pub(crate) mod gate;
#[cfg(test)]
mod tests;

#[cfg(target_arch = "wasm32")]
use crate::error::{Error, ErrorCode};
use crate::error::{Result, sentence};
use crate::features::Relays;
use crate::json::{Object, Value};

use super::options::{unsupported, wire};
use super::route::percent_encode;
use super::{Call, Capabilities, Capability, EventDecoder, Method, Protocol, Request, Resume};

/// Says to the relay that the client knows it; each answer of a relay has it as well.
pub(crate) const RELAY: &str = "turnwire-relay";
/// The header with the id of a turn.
const TURN: &str = "turnwire-turn";
/// The header with the id of a turn's log.
#[cfg(target_arch = "wasm32")]
pub(crate) const LOG: &str = "turnwire-log";

#[cfg(target_arch = "wasm32")]
/// What the head of a stream's response says, as its first frame.
pub(crate) fn head_of(log: &str) -> String {
    sentence(&["event: ", gate::LOG, "\ndata: ", log, "\n\n"])
}

#[cfg(target_arch = "wasm32")]
/// The error of a response without the header [`RELAY`].
pub(crate) fn is_none() -> Error {
    let problem = "the server is no relay: leave out `relay`";
    Error::new(ErrorCode::UnexpectedResponse, problem)
}

/// The relay's own request for this call, if it is one. `place` is where a stream begins, as the gate writes it.
fn own(call: Call, params: &Object<'_>) -> Option<Request> {
    let (method, before, id, after) = match call {
        Call::ListOpenTurns => (Method::Get, "?state=open&session=", "session_id", ""),
        Call::SubscribeTurn => (Method::Get, "/", "turn_id", "/events?"),
        Call::CancelTurn => (Method::Delete, "/", "turn_id", ""),
        _ => return None,
    };
    let params = wire(params);
    let mut path = sentence(&["_turnwire/v1/turns", before]);
    percent_encode(params.text(id), &mut path);
    path.push_str(after);
    path.push_str(params.text("place"));
    Some(Request { method, path, headers: vec![("accept", "*/*".to_owned())], body: None })
}

/// A protocol whose server may stand behind a relay.
#[derive(Debug, Clone, Copy)]
pub struct Relayable<P> {
    server: P,
    relay: Option<Relays>,
}

impl<P> Relayable<P> {
    /// The protocol without a relay.
    #[must_use]
    pub const fn direct(server: P) -> Self {
        Self { server, relay: None }
    }
}

impl<P: Protocol> Protocol for Relayable<P> {
    fn capabilities(&self) -> Capabilities {
        let server = self.server.capabilities();
        match self.relay {
            Some(_) => Capabilities { resume: Resume::Cursor, ..server.and(&[Capability::Relayed]) },
            None => server,
        }
    }

    fn behind_relay(self) -> Result<Self> {
        // The relay keeps the turns of servers that take the turn's id from the client.
        let relay = Relays::when(self.server.capabilities().has(Capability::ClientTurnIds));
        if relay.is_some() { Ok(Self { relay, ..self }) } else { Err(unsupported()) }
    }

    fn with_terms(self, terms: &str) -> Self {
        Self { server: self.server.with_terms(terms), ..self }
    }

    fn request(&self, call: Call, params: Object<'_>) -> Result<Request> {
        if self.relay.is_none() {
            return self.server.request(call, params);
        }
        let turn = params.text("turn_id").to_owned();
        let mut request = match own(call, &params) {
            Some(request) => request,
            None => self.server.request(call, params)?,
        };
        request.headers.push((RELAY, "1".to_owned()));
        if call == Call::CreateTurnStream {
            request.headers.push((TURN, turn));
        }
        Ok(request)
    }

    fn local<'a>(&self, call: Call, params: &Object<'a>) -> Option<Value<'a>> {
        self.server.local(call, params)
    }

    fn answer<'a>(&self, call: Call, params: &Object<'_>, body: Value<'a>) -> Result<Value<'a>> {
        match call {
            _ if self.relay.is_none() => self.server.answer(call, params, body),
            // The whole answer of a turn, where the server does not stream it.
            Call::SubscribeTurn => self.server.answer(Call::CreateTurnStream, params, body),
            Call::CancelTurn | Call::ListOpenTurns => Ok(body),
            _ => self.server.answer(call, params, body),
        }
    }

    fn error_message(&self, body: &str) -> Option<String> {
        self.server.error_message(body)
    }

    fn decoder(&self) -> Box<dyn EventDecoder> {
        self.server.decoder()
    }
}
