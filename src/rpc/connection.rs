//! The client of a server that speaks JSON-RPC over a WebSocket, sans-IO.
//!
//! A carrier owns the socket and the timers. It hands in what happens ([`Connection::handle_input`]), and then carries
//! out what [`Connection::poll_output`] returns, until that is nothing. All decisions are made here: when to connect,
//! what to send first, which request a message responds to, which streams it belongs to, and when a connection is
//! given up.
//!
//! All calls share one connection, which is made when a call needs it. A call that is not a stream ends with
//! [`Output::Respond`]. A stream that was opened ends with [`Output::End`], unless the carrier forgets it before.

mod call;
mod clock;
mod created;
mod line;
mod outbox;
mod received;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use crate::error::{Error, ErrorCode, Result};
use crate::json::Object;
use crate::protocol::{Call, Protocol};

use super::Messages;
use call::{PendingCall, Phase};
use clock::Clock;
use created::CreationTimes;
use line::{Line, Purpose};
use outbox::Outbox;

/// How long an unused connection stays open, in milliseconds.
const LINGER: f64 = 60_000.0;
/// The same after the front end has closed its client, which is not expected to go on.
const LINGER_CLOSED: f64 = 1000.0;
/// How long a response is waited for where no clock was set, in milliseconds.
const PATIENCE: f64 = 30_000.0;
/// How long follow-up requests are gathered, in milliseconds: what causes them often comes in quick succession.
const FOLLOW_UP_DELAY: f64 = 200.0;

/// What happened.
#[derive(Debug)]
pub enum Input<'a> {
    /// The connection that [`Output::Connect`] asked for is open.
    Opened,
    /// A text message came.
    Message(&'a str),
    /// A binary message came. It only shows that the server is alive.
    Binary,
    /// The connection was closed, or could not be made: the code and the reason of the socket's `close` event.
    Closed(u16, &'a str),
    /// The connection broke, or could not be made.
    Broken,
    /// No connection can be made, for this reason. Calls that wait for one fail with it.
    Failed(Error),
    /// A front end makes a call.
    Ask {
        /// The name of the call from now on. The carrier numbers its calls.
        id: u32,
        /// What is asked.
        call: Call,
        /// Its parameters: a JSON object.
        params: &'a str,
        /// How long it may take until the response to its first request, in milliseconds; 0 for any time.
        timeout: f64,
        /// How long nothing may come while it streams, in milliseconds; 0 for any time.
        idle_timeout: f64,
    },
    /// The front end reads the stream of this call from now on: what came so far is delivered.
    Read(u32),
    /// The reader of this stream has follow-up requests.
    FollowUp(u32),
    /// The follow-up requests of this stream, after [`Output::Gather`].
    Say(u32, Messages),
    /// The front end does not wait for this call any more.
    Forget {
        /// The call.
        id: u32,
        /// Whether it took too long, so that the connection may be dead.
        is_overdue: bool,
    },
    /// The page was away or without a network: its connection may be dead although nothing says so.
    Away,
    /// The time of [`Output::WakeIn`] has come, or time may have passed unnoticed.
    Tick,
    /// The front end closes the connection.
    Close,
}

/// What the carrier is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Make a connection.
    Connect,
    /// Send this text.
    Send(String),
    /// Hand these messages to the reader of a stream. If there are none, it is the message that was handed in last.
    Deliver(u32, Vec<String>),
    /// A call is answered, or has failed. Of a call that streams it only says that its stream has begun.
    Respond {
        /// The call.
        id: u32,
        /// The answer as JSON, in turnwire's form; empty where a stream has begun.
        answer: Result<String>,
        /// Whether there was no connection, so that nothing was sent.
        is_unsent: bool,
    },
    /// A stream has ended.
    End {
        /// The call.
        id: u32,
        /// Why, unless the server ended it in good order.
        error: Option<Error>,
        /// How long nothing had come, in milliseconds, if that was too long; otherwise 0.
        silence: f64,
    },
    /// Ask the reader of this stream for its follow-up requests, and hand them in as [`Input::Say`].
    Gather(u32),
    /// Hand in [`Input::Tick`] after so many milliseconds. It takes the place of an earlier wake-up.
    WakeIn(f64),
    /// Close the socket, and ignore whatever it still says.
    Close,
}

/// What holds for all calls of a client.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long making a connection may take, and how long a stream waits for a response, in milliseconds; 0 for any time.
    pub connect_timeout: f64,
    /// The size of the largest response to a single call, in bytes. Streams are limited by their readers.
    pub largest_response: usize,
}

/// A client. Times are in milliseconds by the clock on the wall, which goes on while the machine sleeps.
#[derive(Debug)]
pub struct Connection<P> {
    protocol: Rc<P>,
    limits: Limits,
    clock: Clock,
    link: Link,
    calls: Vec<PendingCall>,
    created: CreationTimes,
    outbox: Outbox,
    /// Whether something has happened after which there may be more to do.
    is_unsettled: bool,
    /// When the carrier wakes this up.
    wake_at: f64,
    is_closed: bool,
}

/// Whether there is a connection.
#[derive(Debug)]
enum Link {
    Down,
    /// It is being made, and has to be greeted by this time.
    Dialling(f64),
    Open(Line),
}

impl<P: Protocol> Connection<P> {
    /// A client that is not connected. `id_prefix` has [`ID_PREFIX_LENGTH`](super::ID_PREFIX_LENGTH) random letters: the ids of all
    /// its requests begin with it.
    pub fn new(protocol: Rc<P>, limits: Limits, id_prefix: String) -> Self {
        Self {
            protocol,
            limits,
            clock: Clock::default(),
            link: Link::Down,
            calls: Vec::new(),
            created: CreationTimes::default(),
            outbox: Outbox::new(id_prefix),
            is_unsettled: false,
            wake_at: f64::INFINITY,
            is_closed: false,
        }
    }

    /// Whether nothing of a call was sent yet, since there is no connection.
    pub fn is_unsent(&self, id: u32) -> bool {
        self.calls.iter().any(|call| call.id == id && matches!(call.phase, Phase::Waiting))
    }

    /// How many calls wait for a response, or stream.
    pub fn call_count(&self) -> usize {
        self.calls.len()
    }

    /// Takes what happened, at this time.
    pub fn handle_input(&mut self, input: Input<'_>, now: f64) {
        self.clock.advance(now);
        match input {
            // By far the most frequent one; in most cases nothing else follows from it.
            Input::Message(text) => return self.received(Some(text)),
            Input::Binary => return self.received(None),
            Input::Opened => self.greet(),
            Input::Closed(code, reason) => self.lose(&self.closed(code, reason)),
            Input::Broken => self.lose(&self.closed(0, "")),
            Input::Failed(error) => self.lose(&error),
            Input::Ask { id, call, params, timeout, idle_timeout } => {
                self.ask(id, call, params, timeout, idle_timeout);
            }
            Input::Read(id) => self.read(id),
            Input::FollowUp(id) => {
                let at = self.clock.now() + FOLLOW_UP_DELAY;
                if let Some(call) = self.call(id) {
                    call.follow_up_at = call.follow_up_at.min(at);
                }
            }
            Input::Say(id, messages) => {
                if let Some(call) = self.call(id) {
                    call.later.extend(messages.list);
                }
            }
            Input::Forget { id, is_overdue } => self.forget(id, is_overdue),
            Input::Away => {
                if self.calls.iter().any(PendingCall::is_open) {
                    self.lose(&network("the page was away, or without a network"));
                }
            }
            Input::Tick => self.wake_at = f64::INFINITY,
            Input::Close => {
                self.is_closed = true;
                self.lose(&network("the client was closed"));
            }
        }
        self.is_unsettled = true;
    }

    /// Whether there may be something for [`poll_output`](Self::poll_output).
    pub fn has_output(&self) -> bool {
        self.is_unsettled || !self.outbox.is_empty()
    }

    /// What follows from the last message by itself, before anything else is looked at.
    pub fn take_output(&mut self) -> Option<Output> {
        self.outbox.pop()
    }

    /// What is to be done next. `buffered` is how many bytes wait in the socket to be sent; nothing if it cannot send, since it is
    /// not open, or not any more.
    pub fn poll_output(&mut self, buffered: Option<f64>) -> Option<Output> {
        while self.outbox.is_empty() && std::mem::take(&mut self.is_unsettled) {
            self.outbox.buffered = buffered;
            self.expire();
            self.send_what_is_ready();
            self.ping();
            self.arm();
        }
        self.outbox.pop()
    }

    /// The connection is open: what is said first.
    fn greet(&mut self) {
        let Link::Dialling(until) = self.link else { return };
        match self.protocol.messages(Call::Connect, Object::new()) {
            Ok(hello) => {
                let mut line = Line::new(self.clock.now(), until);
                self.outbox.buffered = Some(0.0);
                let sent = hello.list.iter().try_for_each(|message| {
                    line.send(message, Purpose::Greeting, None, f64::INFINITY, &mut self.outbox)
                });
                self.link = Link::Open(line);
                if let Err(error) = sent {
                    self.lose(&error);
                }
            }
            Err(error) => self.lose(&error),
        }
    }

    /// Asks the carrier for a connection.
    fn dial(&mut self) {
        let limit = self.limits.connect_timeout;
        let until = if limit > 0.0 { self.clock.now() + limit } else { f64::INFINITY };
        self.link = Link::Dialling(until);
        self.outbox.push(Output::Connect);
    }

    /// Ends the connection. Whatever was sent on it fails. A call that waits for a connection fails only if this is the one
    /// that it waits for.
    fn lose(&mut self, error: &Error) {
        let (was_greeted, silence) = match &self.link {
            Link::Down => return,
            Link::Dialling(_) => (false, 0.0),
            Link::Open(line) => (line.facts.is_some(), self.clock.now() - line.heard),
        };
        self.link = Link::Down;
        self.is_unsettled = true;
        self.outbox.push(Output::Close);
        for call in std::mem::take(&mut self.calls) {
            if matches!(call.phase, Phase::Waiting) && was_greeted {
                self.calls.push(call);
            } else if call.is_open() {
                let is_silent = is_over(call.idle_timeout, silence);
                let id = call.id;
                self.calls.push(call);
                self.end_stream(id, Some(error.clone()), if is_silent { silence } else { 0.0 });
            } else if call.phase == Phase::Ended {
                self.calls.push(call);
            } else {
                let is_unsent = call.is_unsent_by(error);
                self.outbox.push(Output::Respond { id: call.id, answer: Err(error.clone()), is_unsent });
            }
        }
    }

    /// Why there is no connection any more, or none at all.
    fn closed(&self, code: u16, reason: &str) -> Error {
        match &self.link {
            Link::Open(_) if code > 0 => {
                let code = super::wire::decimal(code.into());
                let colon = if reason.is_empty() { "" } else { ": " };
                let parts = ["the server closed the connection (", &code, colon, reason, ")"];
                Error::of(ErrorCode::Network, &parts)
            }
            Link::Open(_) => network("the connection broke"),
            _ => network("the connection was refused, or did not get through"),
        }
    }

    /// Gives up whatever has taken too long.
    fn expire(&mut self) {
        let now = self.clock.now();
        for id in self.ids_of(|call| call.due <= now) {
            self.fail_late(id);
        }
        for call in &mut self.calls {
            if call.follow_up_at <= now {
                call.follow_up_at = f64::INFINITY;
                self.outbox.push(Output::Gather(call.id));
            }
        }
        if let Some(error) = self.reason_to_lose(now) {
            self.lose(&error);
        }
    }

    /// Why the connection is given up now, if it is.
    fn reason_to_lose(&mut self, now: f64) -> Option<Error> {
        let (is_unused, linger, patience) = (self.is_unused(), self.linger(), self.patience());
        let line = match &mut self.link {
            Link::Open(line) if line.greet_by > now => line,
            Link::Dialling(until) if *until > now => return None,
            Link::Down => return None,
            _ => return Some(no_answer(self.limits.connect_timeout)),
        };
        if line.is_dead(now) {
            return Some(no_answer(patience));
        }
        if line.is_response_late(now) {
            return Some(timeout(&["a request had no response within ", &millis(patience), " ms"]));
        }
        if is_unused && line.facts.is_some() && line.used + linger <= now {
            return Some(network("it was not used"));
        }
        let silence = now - line.heard;
        let mut open = self.calls.iter().filter(|call| call.is_open());
        let limit = open.find(|call| is_over(call.idle_timeout, silence))?.idle_timeout;
        Some(timeout(&["nothing came for ", &millis(limit), " ms (`idleTimeout`)"]))
    }

    /// Asks for a sign of life where a stream has heard nothing for long.
    fn ping(&mut self) {
        let now = self.clock.now();
        let Self { link: Link::Open(line), calls, protocol, outbox, .. } = self else { return };
        let is_due = |call: &&PendingCall| {
            call.is_open() && call.idle_timeout > 0.0 && line.ping_at(call.idle_timeout) <= now
        };
        let Some(idle_timeout) = calls.iter().find(is_due).map(|call| call.idle_timeout) else { return };
        if let Ok(ping) = protocol.messages(Call::Ping, Object::new()) {
            line.ping(&ping.list, now + idle_timeout / 4.0, outbox);
        }
    }

    /// Sets the next wake-up, unless there is an earlier one.
    fn arm(&mut self) {
        let mut at =
            self.calls.iter().fold(f64::INFINITY, |at, call| at.min(call.due).min(call.follow_up_at));
        match &self.link {
            Link::Down => {}
            Link::Dialling(until) => at = at.min(*until),
            Link::Open(line) => {
                at = at.min(line.next_deadline());
                for call in self.calls.iter().filter(|call| call.is_open() && call.idle_timeout > 0.0) {
                    at = at.min(line.heard + call.idle_timeout).min(line.ping_at(call.idle_timeout));
                }
                if self.is_unused() && line.facts.is_some() {
                    at = at.min(line.used + self.linger());
                }
            }
        }
        if at < self.wake_at {
            self.wake_at = at;
            self.outbox.push(Output::WakeIn((at - self.clock.now()).max(0.0)));
        }
    }

    /// Whether no call needs the connection.
    fn is_unused(&self) -> bool {
        self.calls.iter().all(|call| call.phase == Phase::Ended)
    }

    fn linger(&self) -> f64 {
        if self.is_closed { LINGER_CLOSED } else { LINGER }
    }

    /// How long a connection that says nothing to a request is believed in.
    fn patience(&self) -> f64 {
        if self.limits.connect_timeout > 0.0 { self.limits.connect_timeout } else { PATIENCE }
    }
}

fn is_over(limit: f64, time: f64) -> bool {
    limit > 0.0 && time >= limit
}

fn network(problem: &str) -> Error {
    Error::new(ErrorCode::Network, problem)
}

fn timeout(parts: &[&str]) -> Error {
    Error::of(ErrorCode::Timeout, parts)
}

fn no_answer(limit: f64) -> Error {
    timeout(&["no answer within ", &millis(limit), " ms (`connectTimeout`)"])
}

/// A time in digits.
fn millis(time: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "a cast saturates")]
    let whole = time as i64;
    super::wire::decimal(whole)
}
