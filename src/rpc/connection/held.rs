//! A socket to the server that a relay holds, by the relay's subprotocol (`docs/relay.md`, "Sockets").
//!
//! The relay numbers what the server says. After a broken connection the client names the last number it has, and gets what
//! came after it: calls and streams go on as if nothing had happened. A request without a response is sent again under its
//! old id, under which it reaches the server once.
//!
//! That has a limit in time. Then everything fails that was on its way, as on any lost connection, and the next connection
//! begins anew; so it does if the relay lacks something that was missed. Only what was responded to the server cannot fail any
//! more: it is sent again as long as the relay has the same socket, in which the ids of its requests hold.

use crate::error::{Error, ErrorCode};
use crate::json::{ObjectWriter, Value, parse_u64, write_u64};
use crate::rpc::{Message, Speaker};
use crate::text::cut;

use super::calls::Phase;
use super::{Connection, Link, NEVER, Output, network};

/// What a client has to ask for, as the subprotocol of its WebSocket.
pub const SUBPROTOCOL: &str = "turnwire.v1";

/// How long a connection that broke is made again, and how long one of these may take to open, in milliseconds.
pub(super) const LONGEST: u64 = 10_000;
/// The first pause before that, in milliseconds, about. Each other one is as long as all before it.
const PAUSE: u64 = 200;
/// A connection that has lasted for so long is made again without a pause.
const SETTLED: u64 = 500;
/// The code with which the relay closes the connection of a client when another one of the same name has come.
const SUPERSEDED: u16 = 4003;

/// What is known of the held socket.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// The id of the relay's journal that was read last.
    log: String,
    /// Whether something was read of it that another connection can go on with.
    is_begun: bool,
    /// The number of the last message.
    after: u64,
    /// Whether the present connection has brought one.
    has_come: bool,
    /// When the relay let it in last.
    attached_at: u64,
    /// When the last connection broke that was of use.
    broken_at: u64,
    /// When the next one is made.
    dial_at: u64,
    /// What was responded to requests of the server's, and the relay has not confirmed.
    answers: Vec<Message>,
}

impl Held {
    /// Whether another connection can go on with what is on its way, and there is something.
    fn can_go_on(&self, is_awaited: bool) -> bool {
        self.is_begun && (is_awaited || !self.answers.is_empty())
    }

    /// What remains when no connection can go on.
    pub(super) fn lost(self) -> Self {
        Self { log: self.log, answers: self.answers, ..Self::default() }
    }

    /// Keeps a message that was sent and is no request, if it has to be sent again on another connection.
    pub(super) fn keep(held: &mut Option<Self>, message: &Message) {
        if let Some(held) = held
            && request_of(message).is_some()
        {
            held.answers.push(message.clone());
        }
    }

    /// The first message to the relay, for a client of this name.
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
    /// Whether the connection broke, and another one is to go on in its place.
    pub(super) fn is_interrupted(&self) -> bool {
        self.dials_at() < NEVER
    }

    /// Whether the connection that is being made takes the place of one that broke.
    pub(super) fn is_made_again(&self) -> bool {
        self.held.as_ref().is_some_and(|held| held.is_begun)
    }

    /// When a connection is made in place of the one that broke.
    pub(super) fn dials_at(&self) -> u64 {
        let held = self.held.as_ref().filter(|held| self.line.link == Link::Down && held.is_begun);
        held.map_or(NEVER, |held| held.dial_at)
    }

    /// The connection is gone. What was sent on it goes on on the next one, if that can be.
    pub(super) fn interrupt(&mut self, error: &Error) {
        if self.line.link == Link::Down {
            return;
        }
        let (now, is_open) = (self.clock.now, self.line.link == Link::Open);
        let is_awaited = self.calls.iter().any(|call| !matches!(call.phase, Phase::Waiting | Phase::Ended));
        if let Some(held) = self.held.as_mut().filter(|held| held.can_go_on(is_awaited)) {
            let lasted = if is_open { now - held.attached_at } else { 0 };
            // A server that gives no sign of life gives none on the next connection either.
            let was_well = error.code == ErrorCode::Network && lasted >= LONGEST;
            if std::mem::take(&mut held.has_come) || was_well {
                held.broken_at = now;
            }
            let elapsed = now - held.broken_at;
            if elapsed < LONGEST {
                // Not all clients of a relay that starts again come at the same time.
                let jitter = self.outbox.id_prefix.bytes().next().map_or(0, u64::from);
                held.dial_at = now + if lasted >= SETTLED { 0 } else { elapsed.max(PAUSE + jitter) };
                self.line.link = Link::Down;
                self.is_unsettled = true;
                return self.outbox.push(Output::Close);
            }
        }
        self.lose(error);
    }

    /// The server, or its relay, has closed the connection with this code.
    pub(super) fn left(&mut self, code: u16, error: &Error) {
        match code {
            SUPERSEDED if self.held.is_some() => self.superseded(error),
            // The attachment was wrong, the socket has ended, there are too many readers: it is no use to go on.
            4000 | 4001 | 4005 => self.lose(error),
            _ => self.interrupt(error),
        }
    }

    /// The relay prefers another connection of this name. Soon after one broke, that is most likely the broken one, whose
    /// beginning arrived late. To come again at any other time would only drive another client away.
    fn superseded(&mut self, error: &Error) {
        let now = self.clock.now;
        match self.held.as_mut().filter(|held| held.dial_at > 0 && now - held.broken_at < LONGEST) {
            Some(held) => {
                // Two that drive each other away do not begin to count anew.
                held.has_come = false;
                self.interrupt(error);
            }
            None => self.lose(&Error::new(ErrorCode::Rpc, &error.message)),
        }
    }

    /// The connection to the relay is open.
    pub(super) fn attach(&mut self) {
        self.line.link = Link::Attaching;
        if let Some(held) = &self.held {
            self.outbox.push(Output::Send(held.attach(&self.outbox.id_prefix)));
        }
    }

    /// What the server says in a message that came: all of it, or behind a number of the relay's. `None` if only the relay
    /// says something.
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
        // A request of the server's is answered, by this client or another one, or it was before.
        let confirmed = Value::parse(text).unwrap_or_default();
        held.answers.retain(|answer| {
            request_of(answer).and_then(|id| Value::parse(id).ok()).as_ref() != confirmed.get("id")
        });
        None
    }

    /// The relay's first message.
    fn attached(&mut self, message: &str) {
        let said = Value::parse(message).unwrap_or_default();
        let text = |name| said.get(name).and_then(Value::as_str).unwrap_or_default();
        let (Some(held), "attached") = (&mut self.held, text("turnwire")) else {
            let problem = "the server is no relay: leave out `relay`";
            return self.lose(&Error::new(ErrorCode::UnexpectedResponse, problem));
        };
        let is_known = std::mem::replace(&mut held.is_begun, true);
        if held.log != text("log") {
            // The ids of another socket's requests name others.
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

    /// Nothing was missed. What may not have arrived is sent again.
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

    /// Sends again what was responded, and the relay has not confirmed.
    pub(super) fn answer_again(&mut self) {
        for answer in self.held.iter().flat_map(|held| &held.answers) {
            self.outbox.repeat(answer, 0);
        }
    }
}

/// The request of the server's that a message responds to, by its id.
fn request_of(message: &Message) -> Option<&str> {
    match message {
        Message::Response { id, .. } | Message::Refusal { id, .. } => Some(id),
        _ => None,
    }
}
