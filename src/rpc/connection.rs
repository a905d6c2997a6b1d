//! The sans-IO client of a server that speaks JSON-RPC over a WebSocket.
//!
//! A carrier owns the socket and the timers. It passes in each event ([`Connection::handle_input`]), and then carries
//! out what [`Connection::poll_output`] returns, until that is `None`. All decisions are made here: when to connect,
//! what to send first, which request a message responds to, which streams it belongs to, and when to give up a
//! connection.
//!
//! All calls share one connection, which is opened when a call needs it. A call without a stream ends with
//! [`Output::Respond`]. A stream that was opened ends with [`Output::End`], unless the carrier forgets it first. Times
//! are in whole milliseconds.
//!
//! If a relay [holds](Speaker::is_held) the socket to the server, a broken connection is replaced, and the calls in
//! flight continue.

mod answers;
mod calls;
mod clock;
mod held;
mod outbox;
mod received;
#[cfg(test)]
mod tests;
mod threads;

use crate::error::{Error, ErrorCode, Result};

use super::{Messages, Speaker};
#[cfg(test)]
pub(super) use answers::is_undone;
use calls::{PendingCall, Phase};
use clock::{Clock, NEVER, limit_of};
pub use held::SUBPROTOCOL;
use held::{Held, LONGEST};
use outbox::Outbox;
use threads::Threads;

/// How long an unused connection stays open, in milliseconds.
const LINGER: u64 = 60_000;
/// The same after the front end has closed its client.
const LINGER_CLOSED: u64 = 1000;
/// How long to wait for a response if the front end sets no time limit, in milliseconds.
const PATIENCE: u64 = 30_000;
/// How long to gather follow-up requests, in milliseconds: their causes often come in quick succession.
const FOLLOW_UP_DELAY: u64 = 200;

/// What happened. `C` is the type of [calls](Speaker::Call).
#[derive(Debug)]
pub enum Input<'a, C> {
    /// The connection that [`Output::Connect`] asked for is open.
    Opened,
    /// A text message arrived.
    Message(&'a str),
    /// A binary message arrived. It only shows that the server is alive.
    Binary,
    /// The connection was closed, or could not be opened: the code and the reason of the socket's `close` event.
    Closed(u16, &'a str),
    /// The connection broke, or could not be opened.
    Broken,
    /// No connection can be opened, for this reason. Calls that wait for one fail with it.
    Failed(Error),
    /// A front end makes a call.
    Ask {
        /// The call's id from now on. The carrier numbers its calls.
        id: u32,
        /// The kind of call.
        call: C,
        /// Its parameters: a JSON object.
        params: &'a str,
        /// The time limit for the response to its first request, in milliseconds; 0 for none.
        timeout: u64,
        /// The longest silence allowed while it streams, in milliseconds; 0 for no limit.
        idle_timeout: u64,
    },
    /// The front end reads the stream of this call from now on. The messages kept so far are delivered.
    Read(u32),
    /// The reader of this stream has follow-up requests.
    FollowUp(u32),
    /// The follow-up requests of this stream, after [`Output::Gather`].
    Say(u32, Messages),
    /// The front end no longer waits for this call: it fails as [`Aborted`](ErrorCode::Aborted).
    Forget {
        /// The call.
        id: u32,
        /// Whether it took too long, so that the connection may be dead.
        is_overdue: bool,
    },
    /// The page was away or without a network: its connection may be dead without an error.
    Away,
    /// The time of [`Output::WakeIn`] has come, or time may have passed unnoticed.
    Tick,
    /// The front end closes the connection.
    Close,
}

/// What the carrier must do.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Open a connection.
    Connect,
    /// Send this text.
    Send(String),
    /// Deliver these messages to the reader of a stream. An empty list stands for the last [`Input::Message`].
    Deliver(u32, Vec<String>),
    /// A call has its response, or has failed. For a call with a stream, success only means that its stream has begun.
    Respond {
        /// The call.
        id: u32,
        /// The response as JSON, in turnwire's form; empty if a stream has begun.
        answer: Result<String>,
        /// Whether there was no connection, so that nothing was sent.
        is_unsent: bool,
    },
    /// A stream has ended.
    End {
        /// The call.
        id: u32,
        /// The reason, unless the server ended it normally.
        error: Option<Error>,
        /// The length of the silence that ended it, in milliseconds, or 0.
        silence: u64,
    },
    /// Ask the reader of this stream for its follow-up requests, and pass them in as [`Input::Say`].
    Gather(u32),
    /// Pass in [`Input::Tick`] after this time, in milliseconds. It replaces an earlier wake-up.
    WakeIn(u64),
    /// Close the socket, and ignore everything that still comes from it.
    Close,
}

/// The limits for all calls of a client.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The time limit for opening a connection, and for each response that a stream needs, in milliseconds; 0 for none.
    pub connect_timeout: u64,
    /// The size of the largest response to a single call, in bytes. Streams are limited by their readers.
    pub largest_response: usize,
}

/// A client.
#[derive(Debug)]
pub struct Connection<S: Speaker> {
    speaker: S,
    limits: Limits,
    clock: Clock,
    line: Line,
    held: Option<Held>,
    calls: Vec<Box<PendingCall<S::Call>>>,
    threads: Threads,
    outbox: Outbox,
    /// Whether an input may have caused more outputs.
    is_unsettled: bool,
    /// When the carrier is due to wake this client up.
    wake_at: u64,
    is_closed: bool,
}

/// The state of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Default)]
enum Link {
    #[default]
    Down,
    Dialling,
    /// Waiting for the relay to accept the socket and position named by this client.
    Attaching,
    Greeting,
    Open,
}

/// One connection.
#[derive(Debug, Default)]
struct Line {
    link: Link,
    /// When opening it is given up.
    open_by: u64,
    /// The number of the request that greets the server.
    greeting: u32,
    /// The server's response to the greeting, as JSON.
    facts: String,
    /// When the last message came.
    heard: u64,
    /// The number of messages so far. Two messages may have the same time.
    messages: u32,
    /// When it was last used.
    used: u64,
    /// The earliest time of the next ping: `NEVER` while a ping is unanswered.
    ping_from: u64,
    /// When it counts as dead, if no message comes before.
    dead_at: u64,
}

/// An action that is due at a time.
#[derive(Debug, Clone, Copy)]
enum Due {
    Nothing,
    /// This call has exceeded its time limit.
    Call(u32),
    /// Gather the follow-up requests of this call.
    FollowUp(u32),
    /// A stream that allows this much silence needs a sign of life.
    Ping(u64),
    /// Replace a broken connection.
    Dialling,
    /// The connection did not open in time.
    Opening,
    /// The connection is dead.
    Death,
    /// A stream lacks a response.
    Response,
    /// The connection was unused for too long.
    Unused,
    /// A stream exceeded this limit of silence.
    Silence(u64),
}

impl<S: Speaker> Connection<S> {
    /// A client that is not connected. `id_prefix` has [`ID_PREFIX_LENGTH`](super::ID_PREFIX_LENGTH) random letters,
    /// and begins the ids of all its requests.
    pub fn new(speaker: S, limits: Limits, id_prefix: String) -> Self {
        Self {
            held: speaker.is_held().then(Held::default),
            speaker,
            limits,
            clock: Clock::default(),
            line: Line::default(),
            calls: Vec::new(),
            threads: Threads::default(),
            outbox: Outbox::new(id_prefix),
            is_unsettled: false,
            wake_at: NEVER,
            is_closed: false,
        }
    }

    /// The number of calls that wait for a response or stream.
    pub fn call_count(&self) -> usize {
        self.calls.len()
    }

    /// Takes an event, at this time of the wall clock.
    pub fn handle_input(&mut self, input: Input<'_, S::Call>, now: u64) {
        self.clock.advance(now);
        match input {
            // By far the most frequent event; usually it needs no other action.
            Input::Message(text) => return self.received(Some(text)),
            Input::Binary => return self.received(None),
            Input::Opened => self.opened(),
            Input::Closed(code, reason) => self.left(code, &self.closed(code, reason)),
            Input::Broken => self.interrupt(&self.closed(0, "")),
            // Without a network, neither a token nor a connection is available.
            Input::Failed(error) => match error.code {
                ErrorCode::Token | ErrorCode::Network => self.interrupt(&error),
                _ => self.lose(&error),
            },
            Input::Ask { id, call, params, timeout, idle_timeout } => {
                // After the machine slept, the connection is probably dead.
                self.expire();
                self.ask(id, call, params, (timeout, idle_timeout));
            }
            Input::Read(id) => self.read(id),
            Input::FollowUp(id) => {
                let at = self.clock.after(FOLLOW_UP_DELAY);
                if let Some(follow_up_at) = self.follow_up_at(id) {
                    *follow_up_at = at.min(*follow_up_at);
                }
            }
            Input::Say(id, messages) => {
                if let Some(call) = self.call(id) {
                    call.messages.list.extend(messages.list);
                }
            }
            Input::Forget { id, is_overdue } => {
                if is_overdue {
                    self.doubt(id);
                }
                self.respond(id, Err(Error::new(ErrorCode::Aborted, "the call was aborted")));
            }
            Input::Away => {
                if self.calls.iter().any(|call| call.is_open()) {
                    self.interrupt(&network("the page was away, or without a network"));
                }
            }
            Input::Tick => self.wake_at = NEVER,
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

    /// Takes the first output if it delivers messages to the reader of a stream, as in [`Output::Deliver`].
    pub fn take_delivery(&mut self) -> Option<(u32, Vec<String>)> {
        match self.outbox.pop_if(|output| matches!(output, Output::Deliver(..))) {
            Some(Output::Deliver(id, messages)) => Some((id, messages)),
            _ => None,
        }
    }

    /// The next output. `buffered` is the number of bytes that the socket has not sent yet; `None` if it is not open.
    pub fn poll_output(&mut self, buffered: Option<u64>) -> Option<Output> {
        while self.outbox.is_empty() && std::mem::take(&mut self.is_unsettled) {
            self.outbox.buffered = buffered;
            self.expire();
            self.end_streams();
            self.send_what_is_ready();
            let (at, _) = self.next_due();
            if at < self.wake_at {
                self.wake_at = at;
                self.outbox.push(Output::WakeIn(at.saturating_sub(self.clock.now)));
            }
        }
        self.outbox.pop_if(|_| true)
    }

    /// Asks the carrier for a connection.
    fn dial(&mut self) {
        let mut open_by = self.clock.after(self.limits.connect_timeout);
        if self.is_made_again() {
            open_by = open_by.min(self.clock.now + LONGEST);
        }
        let (facts, heard) = (std::mem::take(&mut self.line.facts), self.line.heard);
        self.line = Line { link: Link::Dialling, open_by, facts, heard, dead_at: NEVER, ..Line::default() };
        self.outbox.push(Output::Connect);
    }

    /// Continues on an open connection.
    fn opened(&mut self) {
        if self.line.link == Link::Dialling {
            self.line.heard = self.clock.now;
            self.outbox.buffered = Some(0);
            if self.held.is_some() { self.attach() } else { self.greet() }
        }
    }

    /// Greets the server.
    fn greet(&mut self) {
        self.line.link = Link::Greeting;
        match self.say(S::GREETING) {
            Ok(number) => self.line.greeting = number,
            Err(error) => self.lose(&error),
        }
    }

    /// Sends the messages of a call about the connection itself. Returns the number of the first one.
    fn say(&mut self, call: S::Call) -> Result<u32> {
        let messages = self.speaker.messages(call, "{}", "")?;
        let first = self.outbox.count.wrapping_add(1);
        messages.list.iter().try_for_each(|message| self.outbox.send(message).map(|_| ()))?;
        Ok(first)
    }

    /// Ends the connection. The calls sent on it fail. A call that waits for a connection fails only if it waits for
    /// this one.
    fn lose(&mut self, error: &Error) {
        if self.line.link == Link::Down && !self.is_interrupted() {
            return;
        }
        let was_open = self.line.link == Link::Open;
        self.line.link = Link::Down;
        self.held = self.held.take().map(Held::lost);
        self.outbox.push(Output::Close);
        self.give_up(error, was_open);
    }

    /// Fails the calls in flight, and with them the waiting calls, unless these can be sent on this connection or the
    /// next one.
    fn give_up(&mut self, error: &Error, can_wait: bool) {
        self.is_unsettled = true;
        self.threads.unsubscribe(None);
        // While a connection could not be replaced, nothing could arrive: that was no silence.
        let silence = if can_wait { self.clock.now - self.line.heard } else { 0 };
        let mut at = 0;
        while let Some(call) = self.calls.get_mut(at) {
            at += 1;
            match call.phase {
                Phase::Ended { .. } => {}
                Phase::Waiting if can_wait => {}
                Phase::Open { .. } => {
                    call.end(Some(error.clone()), if silence >= call.idle { silence } else { 0 });
                }
                _ => {
                    at -= 1;
                    let id = call.id;
                    self.respond(id, Err(error.clone()));
                }
            }
        }
    }

    /// Why there is no connection.
    fn closed(&self, code: u16, reason: &str) -> Error {
        if self.line.link <= Link::Dialling {
            return network(
                "the connection did not open; the server may be down, `baseUrl` wrong, or the page's origin not allowed",
            );
        }
        if code == 0 {
            return network("the connection broke");
        }
        let colon = if reason.is_empty() { "" } else { ": " };
        let parts = ["the server closed the connection (", &millis(code.into()), colon, reason, ")"];
        Error::of(ErrorCode::Network, &parts)
    }

    /// Does everything that is due.
    fn expire(&mut self) {
        loop {
            let (at, due) = self.next_due();
            if at > self.clock.now {
                return;
            }
            let error = match due {
                Due::Dialling => {
                    self.dial();
                    continue;
                }
                Due::Call(id) => {
                    self.fail_late(id);
                    continue;
                }
                Due::FollowUp(id) => {
                    if let Some(follow_up_at) = self.follow_up_at(id) {
                        *follow_up_at = NEVER;
                    }
                    self.outbox.push(Output::Gather(id));
                    continue;
                }
                Due::Ping(idle) => {
                    // If the socket's buffer is too full, the ping is tried again later.
                    let again = self.clock.after((idle / 4).max(1));
                    self.line.ping_from = if self.say(S::PING).is_ok() { NEVER } else { again };
                    continue;
                }
                Due::Nothing => return,
                Due::Opening if self.is_made_again() => {
                    self.interrupt(&self.closed(0, ""));
                    continue;
                }
                Due::Opening => no_answer(self.limits.connect_timeout),
                Due::Response => {
                    timeout(&["a request had no response within ", &millis(self.patience()), " ms"])
                }
                Due::Unused => network("it was not used"),
                Due::Death => {
                    self.interrupt(&no_answer(self.patience()));
                    continue;
                }
                Due::Silence(limit) => {
                    let limit = millis(limit);
                    self.interrupt(&timeout(&["nothing came for ", &limit, " ms (`idleTimeout`)"]));
                    continue;
                }
            };
            self.lose(&error);
        }
    }

    /// The first action that is due, and when.
    fn next_due(&self) -> (u64, Due) {
        let mut first = (NEVER, Due::Nothing);
        let mut note = |at: u64, due: Due| {
            if at < first.0 {
                first = (at, due);
            }
        };
        let line = &self.line;
        let is_open = line.link == Link::Open;
        let mut is_unused = true;
        for call in &self.calls {
            is_unused &= matches!(call.phase, Phase::Ended { .. });
            note(call.due, Due::Call(call.id));
            // On a broken connection, no response is expected.
            for part in call.parts.iter().filter(|_| is_open) {
                note(part.due, Due::Response);
            }
            let Phase::Open { follow_up_at } = call.phase else { continue };
            note(follow_up_at, Due::FollowUp(call.id));
            if is_open && call.idle < NEVER {
                note(line.heard + call.idle, Due::Silence(call.idle));
                // After half of the silence that the stream allows.
                note((line.heard + call.idle / 2).max(line.ping_from), Due::Ping(call.idle));
            }
        }
        match line.link {
            Link::Down => note(self.dials_at(), Due::Dialling),
            Link::Open => {
                note(line.dead_at, Due::Death);
                if is_unused {
                    note(line.used + if self.is_closed { LINGER_CLOSED } else { LINGER }, Due::Unused);
                }
            }
            Link::Dialling | Link::Attaching | Link::Greeting => note(line.open_by, Due::Opening),
        }
        first
    }

    /// How long to trust a connection that brings no response to a request.
    fn patience(&self) -> u64 {
        if self.limits.connect_timeout > 0 { self.limits.connect_timeout } else { PATIENCE }
    }
}

fn network(problem: &str) -> Error {
    Error::new(ErrorCode::Network, problem)
}

fn timeout(parts: &[&str]) -> Error {
    Error::of(ErrorCode::Timeout, parts)
}

fn no_answer(limit: u64) -> Error {
    timeout(&["no answer within ", &millis(limit), " ms (`connectTimeout`)"])
}

/// A number in digits.
fn millis(number: u64) -> String {
    super::decimal(i64::try_from(number).unwrap_or(i64::MAX))
}
