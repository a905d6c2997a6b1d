//! The client of a server that speaks JSON-RPC over a WebSocket, sans-IO.
//!
//! A carrier owns the socket and the timers. It hands in what happens ([`Connection::handle_input`]), and then carries
//! out what [`Connection::poll_output`] returns, until that is `None`. All decisions are made here: when to connect,
//! what to send first, which request a message responds to, which streams it belongs to, and when a connection is
//! given up.
//!
//! All calls share one connection, which is made when a call needs it. A call that is not a stream ends with
//! [`Output::Respond`]. A stream that was opened ends with [`Output::End`], unless the carrier forgets it before.
//! Times are in whole milliseconds.
//!
//! Where a relay [holds](Speaker::is_held) the socket to the server, a connection that breaks is made again, and what is on
//! its way goes on.

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
/// How long to wait for a response without a time limit of the front end's, in milliseconds.
const PATIENCE: u64 = 30_000;
/// How long follow-up requests are gathered, in milliseconds: what causes them often comes in quick succession.
const FOLLOW_UP_DELAY: u64 = 200;

/// What happened. `C` is what can be [asked](Speaker::Call).
#[derive(Debug)]
pub enum Input<'a, C> {
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
        call: C,
        /// Its parameters: a JSON object.
        params: &'a str,
        /// The time limit for the response to its first request, in milliseconds; 0 for none.
        timeout: u64,
        /// The longest silence while it streams, in milliseconds; 0 for any.
        idle_timeout: u64,
    },
    /// The front end reads the stream of this call from now on: what came so far is delivered.
    Read(u32),
    /// The reader of this stream has follow-up requests.
    FollowUp(u32),
    /// The follow-up requests of this stream, after [`Output::Gather`].
    Say(u32, Messages),
    /// The front end does not wait for this call any more: it fails as [`Aborted`](ErrorCode::Aborted).
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

/// What the carrier is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Make a connection.
    Connect,
    /// Send this text.
    Send(String),
    /// Hand these messages to the reader of a stream. An empty list stands for the message that was handed in last.
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
        /// The length of the silence that ended it, in milliseconds, or 0.
        silence: u64,
    },
    /// Ask the reader of this stream for its follow-up requests, and hand them in as [`Input::Say`].
    Gather(u32),
    /// Hand in [`Input::Tick`] after this time, in milliseconds. It replaces an earlier wake-up.
    WakeIn(u64),
    /// Close the socket, and ignore whatever it still says.
    Close,
}

/// What holds for all calls of a client.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The time limit for making a connection, and for each response that a stream needs, in milliseconds; 0 for none.
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
    /// Whether something has happened that may need more to be done.
    is_unsettled: bool,
    /// When the carrier wakes this up.
    wake_at: u64,
    is_closed: bool,
}

/// How far a connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Default)]
enum Link {
    #[default]
    Down,
    Dialling,
    /// The relay is told which of its sockets this reads, and from where on.
    Attaching,
    Greeting,
    Open,
}

/// One connection.
#[derive(Debug, Default)]
struct Line {
    link: Link,
    /// When it is given up unless it is open.
    open_by: u64,
    /// The number of the request that greets the server.
    greeting: u32,
    /// The response to it, as JSON.
    facts: String,
    /// When something came last.
    heard: u64,
    /// How many messages have come. Two of them may have one time.
    messages: u32,
    /// When it was used last.
    used: u64,
    /// The earliest time of the next ping: `NEVER` while a ping has no answer.
    ping_from: u64,
    /// When it counts as dead if nothing has come until then.
    dead_at: u64,
}

/// What is due at some time.
#[derive(Debug, Clone, Copy)]
enum Due {
    Nothing,
    /// This call has taken too long.
    Call(u32),
    /// The follow-up requests of this call are gathered.
    FollowUp(u32),
    /// A stream that allows for so much silence needs a sign of life.
    Ping(u64),
    /// A connection that broke is made again.
    Dialling,
    /// The connection is not open in time.
    Opening,
    /// The connection is dead.
    Death,
    /// A stream lacks a response.
    Response,
    /// The connection was not used for long.
    Unused,
    /// A stream was silent for as long as it may be.
    Silence(u64),
}

impl<S: Speaker> Connection<S> {
    /// A client that is not connected. `id_prefix` has [`ID_PREFIX_LENGTH`](super::ID_PREFIX_LENGTH) random letters: the
    /// ids of all its requests begin with it.
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

    /// How many calls wait for a response, or stream.
    pub fn call_count(&self) -> usize {
        self.calls.len()
    }

    /// Takes what happened, at this time of the wall clock.
    pub fn handle_input(&mut self, input: Input<'_, S::Call>, now: u64) {
        self.clock.advance(now);
        match input {
            // By far the most frequent one; usually nothing else follows from it.
            Input::Message(text) => return self.received(Some(text)),
            Input::Binary => return self.received(None),
            Input::Opened => self.opened(),
            Input::Closed(code, reason) => self.left(code, &self.closed(code, reason)),
            Input::Broken => self.interrupt(&self.closed(0, "")),
            // Without a network, neither a token nor a connection can be had.
            Input::Failed(error) => match error.code {
                ErrorCode::Token | ErrorCode::Network => self.interrupt(&error),
                _ => self.lose(&error),
            },
            Input::Ask { id, call, params, timeout, idle_timeout } => {
                // A machine that slept wakes up with a connection that is probably dead.
                self.expire();
                self.ask(id, call, params, (timeout, idle_timeout));
            }
            Input::Read(id) => self.read(id),
            Input::FollowUp(id) => {
                let at = self.clock.after(FOLLOW_UP_DELAY);
                if let Some(call) = self.call(id) {
                    call.follow_up_at = call.follow_up_at.min(at);
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
                if self.calls.iter().any(|call| call.phase == Phase::Open) {
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

    /// What the reader of a stream gets first of all, as in [`Output::Deliver`].
    pub fn take_delivery(&mut self) -> Option<(u32, Vec<String>)> {
        match self.outbox.pop_if(|output| matches!(output, Output::Deliver(..))) {
            Some(Output::Deliver(id, messages)) => Some((id, messages)),
            _ => None,
        }
    }

    /// What is to be done next. `buffered` is how many bytes wait in the socket to be sent; `None` if it is not open.
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

    /// The connection is open.
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

    /// Sends the messages of a call that concerns the connection itself. Returns the number of the first.
    fn say(&mut self, call: S::Call) -> Result<u32> {
        let messages = self.speaker.messages(call, "{}", "")?;
        let first = self.outbox.count.wrapping_add(1);
        messages.list.iter().try_for_each(|message| self.outbox.send(message).map(|_| ()))?;
        Ok(first)
    }

    /// Ends the connection. What was sent on it fails. A call that waits for a connection fails only if it waits for this
    /// one.
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

    /// What was sent fails, and so do calls that wait, unless they can be sent on the next connection or on this one.
    fn give_up(&mut self, error: &Error, can_wait: bool) {
        self.is_unsettled = true;
        self.threads.unsubscribe(None);
        // Of one that could not be made again, it is known that nothing came.
        let silence = if can_wait { self.clock.now - self.line.heard } else { 0 };
        let mut at = 0;
        while let Some(call) = self.calls.get_mut(at) {
            at += 1;
            match call.phase {
                Phase::Ended => {}
                Phase::Waiting if can_wait => {}
                Phase::Open => {
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

    /// Why there is no connection any more, or none at all.
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

    /// Does what is due.
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
                    if let Some(call) = self.call(id) {
                        call.follow_up_at = NEVER;
                    }
                    self.outbox.push(Output::Gather(id));
                    continue;
                }
                Due::Ping(idle) => {
                    // Where too much waits to be sent, the ping is tried again later.
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

    /// What is due first, and when.
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
            is_unused &= call.phase == Phase::Ended;
            note(call.due, Due::Call(call.id));
            note(call.follow_up_at, Due::FollowUp(call.id));
            // On a connection that broke, nothing is awaited of the server.
            for part in call.parts.iter().filter(|_| is_open) {
                note(part.due, Due::Response);
            }
            if is_open && call.phase == Phase::Open && call.idle < NEVER {
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

    /// How long to trust a connection on which a request gets no response.
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
