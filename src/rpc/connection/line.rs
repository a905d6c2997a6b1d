//! One connection that is open: what was asked on it, which threads it hears of, and whether it lives.

use crate::error::Result;
use crate::rpc::Message;

use super::outbox::Outbox;

/// A clock this early counts as on time, in milliseconds.
const GRAIN: f64 = 50.0;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It is the first one of the connection.
    Greeting,
    /// It asks for a sign of life.
    Ping,
    /// It makes the connection hear of the thread of this call, which follows.
    Subscription(u32),
    /// Its response is the answer to this call.
    Answer(u32),
    /// Its response is a part of the stream of this call.
    Part(u32),
}

impl Purpose {
    /// The call that it was sent for.
    fn call(self) -> Option<u32> {
        match self {
            Self::Greeting | Self::Ping => None,
            Self::Subscription(id) | Self::Answer(id) | Self::Part(id) => Some(id),
        }
    }
}

/// A request without a response yet.
#[derive(Debug)]
pub(super) struct Request {
    id: String,
    pub(super) method: &'static str,
    pub(super) purpose: Purpose,
    /// The thread that the server tells of from the response on, and whether it recreates a lost one by this.
    pub(super) subscribes: Option<(String, bool)>,
    /// When the stream that needs the response is given up.
    due: f64,
}

#[derive(Debug)]
pub(super) struct Line {
    /// What the server answered to the greeting, as JSON.
    pub(super) facts: Option<String>,
    /// When the connection is given up unless the greeting is answered.
    pub(super) greet_by: f64,
    /// The threads of which the server tells here.
    threads: Vec<String>,
    requests: Vec<Request>,
    /// When something came last.
    pub(super) heard: f64,
    /// How many messages came.
    pub(super) received: u64,
    /// When it was used last.
    pub(super) used: f64,
    is_pinged: bool,
    /// A ping that could not be sent is tried again at this time.
    ping_after: f64,
    /// When the connection counts as dead, if by then no more than so many messages came.
    doubt: Option<(f64, u64)>,
}

impl Line {
    pub(super) fn new(now: f64, greet_by: f64) -> Self {
        Self {
            facts: None,
            greet_by,
            threads: Vec::new(),
            requests: Vec::new(),
            heard: now,
            received: 0,
            used: now,
            is_pinged: false,
            ping_after: 0.0,
            doubt: None,
        }
    }

    /// Sends a message. `subscribes` and `due` are those of the request, if it is one.
    pub(super) fn send(
        &mut self,
        message: &Message,
        purpose: Purpose,
        subscribes: Option<(String, bool)>,
        due: f64,
        outbox: &mut Outbox,
    ) -> Result<()> {
        let id = outbox.new_id();
        outbox.send(message.to_wire(&id))?;
        if let Message::Request { method, .. } = message {
            self.requests.push(Request { id, method, purpose, subscribes, due });
        }
        Ok(())
    }

    /// The connection was greeted.
    pub(super) fn greeted(&mut self, facts: String, now: f64) {
        self.facts = Some(facts);
        self.greet_by = f64::INFINITY;
        self.used = now;
    }

    /// A message came.
    pub(super) fn hear(&mut self, now: f64) {
        self.heard = now;
        self.received += 1;
        self.is_pinged = false;
    }

    /// The request of this id, which has its response.
    pub(super) fn take_request(&mut self, id: &str) -> Option<Request> {
        let at = self.requests.iter().position(|request| request.id == id)?;
        Some(self.requests.remove(at))
    }

    /// Nothing waits for the responses to this call any more.
    pub(super) fn forget_call(&mut self, id: u32) {
        self.requests.retain(|request| request.purpose.call() != Some(id));
    }

    pub(super) fn hears_of(&self, thread: &str) -> bool {
        self.threads.iter().any(|known| known == thread)
    }

    pub(super) fn add_thread(&mut self, thread: String) {
        if !self.hears_of(&thread) {
            self.threads.push(thread);
        }
    }

    pub(super) fn forget_thread(&mut self, thread: &str) {
        self.threads.retain(|known| known != thread);
    }

    /// A request was not answered in time. If nothing has come since `received` messages had, and nothing comes until `at`, it
    /// was said to a dead connection: the next one is to go out on another.
    pub(super) fn doubt(&mut self, at: f64, received: u64, now: f64) {
        let at = if at - now <= GRAIN { now } else { at };
        if self.doubt.is_none_or(|(_, before)| before != self.received) {
            self.doubt = Some((at, received));
        }
    }

    /// Whether nothing has dispelled a doubt in time.
    pub(super) fn is_dead(&mut self, now: f64) -> bool {
        let judged = self.doubt.take_if(|(at, _)| *at <= now);
        judged.is_some_and(|(_, received)| received == self.received)
    }

    /// Whether a response that a stream needs is overdue.
    pub(super) fn is_response_late(&self, now: f64) -> bool {
        self.requests.iter().any(|request| request.due <= now)
    }

    /// When to ask for a sign of life, if nothing comes: after half of the silence that a stream allows.
    pub(super) fn ping_at(&self, idle_timeout: f64) -> f64 {
        if self.is_pinged { f64::INFINITY } else { (self.heard + idle_timeout / 2.0).max(self.ping_after) }
    }

    /// Asks for a sign of life. Where much waits to be sent, it may yet go: it is tried again later.
    pub(super) fn ping(&mut self, ping: &[Message], again_at: f64, outbox: &mut Outbox) {
        let mut sent =
            ping.iter().map(|message| self.send(message, Purpose::Ping, None, f64::INFINITY, outbox));
        let is_sent = sent.all(|sent| sent.is_ok());
        self.is_pinged = is_sent;
        self.ping_after = again_at;
    }

    /// When something has to be decided next, apart from silence.
    pub(super) fn next_deadline(&self) -> f64 {
        let first = self.greet_by.min(self.doubt.map_or(f64::INFINITY, |(at, _)| at));
        self.requests.iter().fold(first, |at, request| at.min(request.due))
    }
}
