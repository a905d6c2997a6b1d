//! The relay before a server: `docs/relay.md`. It keeps the streams of turns, so that each of them can be read from any place,
//! by any number of clients, and a start that is sent again reaches the server once.
//!
//! [`Relayable`] is a server's protocol with the relay's own requests; [`Gate`](gate::Gate) reads the relay's streams.
//! All else of turnwire knows only that there may be a relay.

pub(crate) mod gate;
#[cfg(test)]
mod tests;

use crate::error::{Error, ErrorCode, Result};
use crate::features::Relays;
use crate::json::{Object, Value, write_u64};

use super::calls::{Calls, calls};
use super::options::wire;
use super::route::Route;
use super::{Call, Capabilities, Capability, EventDecoder, Protocol, Request, Resume};

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
    crate::error::sentence(&["event: ", gate::LOG, "\ndata: ", log, "\n\n"])
}

#[cfg(target_arch = "wasm32")]
/// The error of a response without the header [`RELAY`].
pub(crate) fn is_none() -> Error {
    let problem = "the server is no relay: leave out `relay`, or set the relay's own URL";
    Error::new(ErrorCode::UnexpectedResponse, problem)
}

/// The relay's own requests.
const CALLS: Calls = calls! {
    SubscribeTurn "GET _turnwire/v1/turns/{turn_id}/events log | session_id input said is_begun is_awaited terms last_frame",
    CancelTurn "DELETE _turnwire/v1/turns/{turn_id} | session_id input is_begun terms",
    ListOpenTurns "GET _turnwire/v1/turns !session_id>session state=\"open\" | terms",
};

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
        let problem = "no relay keeps the turns of this protocol: leave out `relay`";
        relay.ok_or_else(|| Error::new(ErrorCode::Unsupported, problem))?;
        Ok(Self { relay, ..self })
    }

    fn with_terms(self, terms: &str) -> Self {
        Self { server: self.server.with_terms(terms), ..self }
    }

    fn request(&self, call: Call, params: Object<'_>) -> Result<Request> {
        if self.relay.is_none() {
            return self.server.request(call, params);
        }
        let named = wire(&params);
        let mut request = match call {
            Call::SubscribeTurn | Call::CancelTurn | Call::ListOpenTurns => {
                let route = Route::of(CALLS, call)?;
                let (path, sent) = route.fill(&named)?;
                route.request(path, &sent, route.headers(call))
            }
            _ => self.server.request(call, params)?,
        };
        request.headers.push((RELAY, "1".to_owned()));
        match call {
            Call::CreateTurnStream => request.headers.push((TURN, named.text("turn_id").to_owned())),
            Call::SubscribeTurn => {
                let mut last = String::new();
                write_u64(&mut last, named.get("last_frame").and_then(Value::as_u64).unwrap_or_default());
                request.headers.push(("last-event-id", last));
            }
            _ => {}
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
