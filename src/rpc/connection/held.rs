//! A socket to the server that a relay holds, through the relay's subprotocol (`docs/relay.md`, "Sockets").
//!
//! The relay numbers the server's messages. After a broken connection the client sends the last number it received, and
//! gets the messages after it: calls and streams continue as if nothing had happened. A request without a response is
//! sent again under its old id, and the relay passes it to the server only once.
//!
//! This works for a limited time. After that, or if the relay lacks a missed message, everything in flight fails, as on
//! any lost connection, and the next connection starts over. Responses to the server's requests cannot fail any more,
//! so they are sent again while the relay has the same socket: only there are the ids of its requests valid.

use crate::error::{Error, ErrorCode};
use crate::json::{ObjectWriter, Value, parse_u64, write_u64};
use crate::rpc::{Message, Speaker};
use crate::text::cut;

use super::calls::Phase;
use super::{Connection, Link, NEVER, Output, network};

/// The subprotocol that a client requests for its WebSocket.
pub const SUBPROTOCOL: &str = "turnwire.v1";

/// How long a broken connection may take to be replaced, and how long each attempt may take to open, in milliseconds.
pub(super) const LONGEST: u64 = 10_000;
/// The approximate first pause between attempts, in milliseconds. Each further one is as long as all before it
/// together.
const PAUSE: u64 = 200;
/// A connection that lasted this long is replaced without a pause, in milliseconds.
const SETTLED: u64 = 500;
/// The code with which the relay closes a connection when another one with the same name attaches.
const SUPERSEDED: u16 = 4003;

/// The state of the held socket.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// The id of the relay's journal that was last read.
    log: String,
    /// Whether another connection can continue from what was read of it.
    is_begun: bool,
    /// The number of the last message.
    after: u64,
    /// Whether the present connection has brought a message.
    has_come: bool,
    /// When the relay last accepted the client.
    attached_at: u64,
    /// When the last useful connection broke.
    broken_at: u64,
    /// When to open the next one.
    dial_at: u64,
    /// Responses to the server's requests that the relay has not confirmed.
    answers: Vec<Message>,
}

impl Held {
    /// Whether anything is in flight, and another connection can continue with it.
    fn can_go_on(&self, is_awaited: bool) -> bool {
        self.is_begun && (is_awaited || !self.answers.is_empty())
    }

    /// What remains when no connection can continue.
    pub(super) fn lost(self) -> Self {
        Self { log: self.log, answers: self.answers, ..Self::default() }
    }

    /// Keeps a sent response to the server, which may have to be sent again on another connection.
    pub(super) fn keep(held: &mut Option<Self>, message: &Message) {
        if let Some(held) = held
            && request_of(message).is_some()
        {
            held.answers.push(message.clone());
        }
    }

    /// The first message to the relay, from a client with this name.
    fn attach(&self, name: &str) -> String {
        let mut text = String::new();
        let mut object = ObjectWriter::new(&mut text);
        object.str("turnwire", "attach").str("reader", name);
        if self.is_begun {
            object.str("log", &self.log);
            write_u64(object.member("after"), self.after);
        }
        object.end();
        text
    }
}

impl<S: Speaker> Connection<S> {
    /// Whether the connection broke and will be replaced.
    pub(super) fn is_interrupted(&self) -> bool {
        self.dials_at() < NEVER
    }

    /// Whether the connection being opened replaces a broken one.
    pub(super) fn is_made_again(&self) -> bool {
        self.held.as_ref().is_some_and(|held| held.is_begun)
    }

    /// When to replace the broken connection.
    pub(super) fn dials_at(&self) -> u64 {
        let held = self.held.as_ref().filter(|held| self.line.link == Link::Down && held.is_begun);
        held.map_or(NEVER, |held| held.dial_at)
    }

    /// Ends the connection. If possible, the next one continues with what is in flight.
    pub(super) fn interrupt(&mut self, error: &Error) {
        if self.line.link == Link::Down {
            return;
        }
        let (now, is_open) = (self.clock.now, self.line.link == Link::Open);
        let is_awaited =
            self.calls.iter().any(|call| !matches!(call.phase, Phase::Waiting | Phase::Ended { .. }));
        if let Some(held) = self.held.as_mut().filter(|held| held.can_go_on(is_awaited)) {
            let lasted = if is_open { now - held.attached_at } else { 0 };
            // If a server is silent, another connection does not help.
            let was_well = error.code == ErrorCode::Network && lasted >= LONGEST;
            if std::mem::take(&mut held.has_come) || was_well {
                held.broken_at = now;
            }
            let elapsed = now - held.broken_at;
            if elapsed < LONGEST {
                // The clients of a restarted relay should not reconnect all at once.
                let jitter = self.outbox.id_prefix.bytes().next().map_or(0, u64::from);
                held.dial_at = now + if lasted >= SETTLED { 0 } else { elapsed.max(PAUSE + jitter) };
                self.line.link = Link::Down;
                self.is_unsettled = true;
                return self.outbox.push(Output::Close);
            }
        }
        self.lose(error);
    }

    /// Handles a connection that the server, or its relay, closed with this code.
    pub(super) fn left(&mut self, code: u16, error: &Error) {
        match code {
            SUPERSEDED if self.held.is_some() => self.superseded(error),
            // A wrong attachment, an ended socket, or too many readers: reconnecting is useless.
            4000 | 4001 | 4005 => self.lose(error),
            _ => self.interrupt(error),
        }
    }

    /// The relay prefers another connection with this name. Soon after a break, that is most likely the broken one,
    /// whose first message arrived late. At any other time, reconnecting would only displace another client.
    fn superseded(&mut self, error: &Error) {
        let now = self.clock.now;
        match self.held.as_mut().filter(|held| held.dial_at > 0 && now - held.broken_at < LONGEST) {
            Some(held) => {
                // Two clients that displace each other do not reset the time limit.
                held.has_come = false;
                self.interrupt(error);
            }
            None => self.lose(&Error::new(ErrorCode::Rpc, &error.message)),
        }
    }

    /// Attaches to the relay on the open connection.
    pub(super) fn attach(&mut self) {
        self.line.link = Link::Attaching;
        if let Some(held) = &self.held {
            self.outbox.push(Output::Send(held.attach(&self.outbox.id_prefix)));
        }
    }

    /// The server's message in a message from the relay, without the relay's number. Without a relay, the whole
    /// message. `None` if the message is only the relay's.
    pub(super) fn taken_out<'m>(&mut self, message: &'m str) -> Option<&'m str> {
        let Some(held) = &mut self.held else { return Some(message) };
        if self.line.link == Link::Attaching {
            self.attached(message);
            return None;
        }
        let (number, text) = cut(message, b' ');
        let Some(number) = parse_u64(number.as_bytes()) else {
            let reason = Value::parse(message).unwrap_or_default();
            let reason = reason.get("reason").and_then(Value::as_str).unwrap_or_default();
            let parts = ["the relay's connection to the server has ended: ", reason];
            self.lose(&Error::of(ErrorCode::Network, &parts));
            return None;
        };
        if number <= held.after {
            return None;
        }
        (held.after, held.has_come) = (number, true);
        if !text.starts_with(r#"{"turnwire":"#) {
            return Some(text);
        }
        // A request of the server's was answered, now or earlier, by this client or another one.
        let confirmed = Value::parse(text).unwrap_or_default();
        held.answers.retain(|answer| {
            request_of(answer).and_then(|id| Value::parse(id).ok()).as_ref() != confirmed.get("id")
        });
        None
    }

    /// Takes the relay's first message.
    fn attached(&mut self, message: &str) {
        let said = Value::parse(message).unwrap_or_default();
        let text = |name| said.get(name).and_then(Value::as_str).unwrap_or_default();
        let (Some(held), "attached") = (&mut self.held, text("turnwire")) else {
            let problem = "the server is no relay: leave out `relay`";
            return self.lose(&Error::new(ErrorCode::UnexpectedResponse, problem));
        };
        let is_known = std::mem::replace(&mut held.is_begun, true);
        if held.log != text("log") {
            // On another socket the same ids name other requests.
            held.answers.clear();
            text("log").clone_into(&mut held.log);
        }
        held.after = said.get("after").and_then(Value::as_u64).unwrap_or_default();
        held.attached_at = self.clock.now;
        if is_known && said.get("whole").and_then(Value::as_bool) == Some(true) {
            return self.go_on();
        }
        if is_known {
            self.give_up(&network("the relay does not have all that was missed"), true);
        }
        self.greet();
    }

    /// Continues after a reconnect that missed nothing. Requests that may not have arrived are sent again.
    fn go_on(&mut self) {
        let (now, due) = (self.clock.now, self.clock.after(self.patience()));
        let Self { line, calls, outbox, .. } = self;
        (line.link, line.used) = (Link::Open, now);
        for call in calls {
            call.go_on(line.messages, now, due);
            for (number, message) in call.unanswered() {
                outbox.repeat(message, number);
            }
        }
        self.answer_again();
        self.is_unsettled = true;
    }

    /// Sends the unconfirmed responses again.
    pub(super) fn answer_again(&mut self) {
        for answer in self.held.iter().flat_map(|held| &held.answers) {
            self.outbox.repeat(answer, 0);
        }
    }
}

/// The id of the server's request that a message responds to.
fn request_of(message: &Message) -> Option<&str> {
    match message {
        Message::Response { id, .. } | Message::Refusal { id, .. } => Some(id),
        _ => None,
    }
}
