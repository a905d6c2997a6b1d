//! Calls: they wait for a connection, subscribe to their thread, send their messages, and get a response or a stream.

use crate::error::{Error, ErrorCode, Result};
use crate::rpc::wire::thread_mark;
use crate::rpc::{Message, Messages, Speaker};

use super::{Connection, Held, Link, Output, limit_of, network, no_answer, outbox::Outbox};

/// A clock this early counts as on time, in milliseconds.
const GRAIN: u64 = 50;

/// A call that has not ended.
#[derive(Debug)]
pub(super) struct PendingCall<C> {
    pub(super) id: u32,
    pub(super) call: C,
    pub(super) params: String,
    timeout: u64,
    /// When it exceeds its time limit.
    pub(super) due: u64,
    /// The longest silence allowed in its stream.
    pub(super) idle: u64,
    pub(super) phase: Phase,
    /// The number of the request whose response decides how the call continues, while it is pending.
    pub(super) awaited: Option<u32>,
    /// When it got its connection. `None` while it waits for one, and has no messages yet.
    since: Option<Since>,
    /// Its messages. The subscription is removed once the server has responded to it.
    pub(super) messages: Messages,
    /// How many of the messages were sent.
    sent: usize,
    /// Requests whose responses are part of its stream.
    pub(super) parts: Vec<Part>,
    /// Its stream, from the call's first request on.
    pub(super) stream: Option<Stream>,
}

/// The state of a call.
#[derive(Debug)]
pub(super) enum Phase {
    /// It waits for a connection.
    Waiting,
    /// It subscribes to its thread first.
    Subscribing {
        /// The server's refusal, if the call's messages are sent for the second time.
        refusal: Option<Error>,
    },
    /// Its messages can be sent.
    Ready {
        /// Whether the server sends messages of the thread.
        is_heard: bool,
    },
    /// The response to its first request is pending.
    Asked,
    /// Its stream has begun.
    Open {
        /// When to ask its reader for follow-up requests.
        follow_up_at: u64,
    },
    /// Its stream has ended, but has not been read.
    Ended {
        error: Option<Error>,
        /// The length of the silence that ended it, or 0.
        silence: u64,
    },
}

/// A moment of a connection.
#[derive(Debug)]
struct Since {
    time: u64,
    /// The connection's number of messages until then.
    messages: u32,
}

/// A request whose response is part of a stream.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) number: u32,
    /// Its index in the messages of the call.
    pub(super) at: usize,
    /// When it exceeds its time limit.
    pub(super) due: u64,
}

/// The messages of a thread, for the reader of a call.
#[derive(Debug)]
pub(super) struct Stream {
    /// The mark of its messages: the id of its thread in quotes.
    pub(super) mark: String,
    /// Whether the current message belongs to it.
    pub(super) is_named: bool,
    /// The messages that came before it was read. Once it is read, messages are delivered at once.
    pub(super) kept: Option<Vec<String>>,
    /// Whether the server sends messages of the thread. If it does not, the stream ends once it is read, with the
    /// messages kept so far.
    is_heard: bool,
}

impl Stream {
    pub(super) fn is_read(&self) -> bool {
        self.kept.is_none()
    }
}

impl<C> PendingCall<C> {
    /// Whether nothing of the call itself was sent, and its next message can be.
    fn is_unsent(&self) -> bool {
        let is_before =
            matches!(self.phase, Phase::Waiting | Phase::Subscribing { .. } | Phase::Ready { .. });
        is_before && self.awaited.is_none()
    }

    /// Whether its stream has begun, and has not ended.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open { .. })
    }

    /// Whether it has a stream, of which this is true.
    pub(super) fn is_stream(&self, is: impl FnOnce(&Stream) -> bool) -> bool {
        self.stream.as_ref().is_some_and(is)
    }

    /// Ends its stream.
    pub(super) fn end(&mut self, error: Option<Error>, silence: u64) {
        self.phase = Phase::Ended { error, silence };
        self.parts.clear();
    }

    /// Whether nothing of the call was sent before it failed with this error.
    fn is_unsent_by(&self, error: &Error) -> bool {
        self.is_unsent()
            && matches!(
                error.code,
                ErrorCode::Network | ErrorCode::Timeout | ErrorCode::Token | ErrorCode::Aborted
            )
    }

    /// Sends the remaining messages. Their responses are due at this time.
    fn send_rest(&mut self, outbox: &mut Outbox, held: &mut Option<Held>, due: u64) -> Result<()> {
        while let Some(message) = self.messages.list.get(self.sent) {
            let number = outbox.send(message)?;
            if matches!(message, Message::Request { .. }) {
                self.parts.push(Part { number, at: self.sent, due });
            }
            Held::keep(held, message);
            self.sent += 1;
        }
        Ok(())
    }

    /// The requests without a response, each with its number.
    pub(super) fn unanswered(&self) -> impl Iterator<Item = (u32, &Message)> {
        let subscription =
            self.messages.subscribe.as_ref().filter(|_| matches!(self.phase, Phase::Subscribing { .. }));
        let first = self.awaited.zip(subscription.or_else(|| self.messages.list.first()));
        let parts =
            self.parts.iter().filter_map(|part| Some((part.number, self.messages.list.get(part.at)?)));
        first.into_iter().chain(parts)
    }

    /// Continues on a connection with this number of messages. Responses to the requests in flight are due at this
    /// time.
    pub(super) fn go_on(&mut self, messages: u32, time: u64, due: u64) {
        if let Some(since) = &mut self.since {
            *since = Since { time, messages };
        }
        for part in &mut self.parts {
            part.due = due;
        }
    }
}

impl<S: Speaker> Connection<S> {
    pub(super) fn call(&mut self, id: u32) -> Option<&mut Box<PendingCall<S::Call>>> {
        self.calls.iter_mut().find(|call| call.id == id)
    }

    /// When to ask the reader of an open stream for follow-up requests.
    pub(super) fn follow_up_at(&mut self, id: u32) -> Option<&mut u64> {
        match &mut self.call(id)?.phase {
            Phase::Open { follow_up_at } => Some(follow_up_at),
            _ => None,
        }
    }

    fn take_call(&mut self, id: u32) -> Option<Box<PendingCall<S::Call>>> {
        let at = self.calls.iter().position(|call| call.id == id)?;
        self.line.used = self.clock.now;
        Some(self.calls.remove(at))
    }

    /// Adds a call of a front end.
    pub(super) fn ask(&mut self, id: u32, call: S::Call, params: &str, (timeout, idle): (u64, u64)) {
        if let Some(answer) = self.speaker.local(call, params) {
            return self.outbox.push(Output::Respond { id, answer: Ok(answer), is_unsent: false });
        }
        self.calls.push(Box::new(PendingCall {
            id,
            call,
            params: params.to_owned(),
            timeout,
            due: self.clock.after(timeout),
            idle: limit_of(idle),
            phase: Phase::Waiting,
            awaited: None,
            since: None,
            messages: Messages::default(),
            sent: 0,
            parts: Vec::new(),
            stream: None,
        }));
    }

    /// Delivers the stream from now on.
    pub(super) fn read(&mut self, id: u32) {
        let Some(call) = self.call(id) else { return };
        let Some(stream) = &mut call.stream else { return };
        let kept = stream.kept.take().unwrap_or_default();
        if !stream.is_heard && call.is_open() {
            // A thread of Codex can be subscribed to once its first turn has begun. It has begun by now, and the next
            // stream subscribes.
            call.end(None, 0);
        }
        if !kept.is_empty() {
            self.outbox.push(Output::Deliver(id, kept));
        }
    }

    /// Reports the ends of streams, once their messages are read.
    pub(super) fn end_streams(&mut self) {
        while let Some(at) = self
            .calls
            .iter()
            .position(|call| matches!(call.phase, Phase::Ended { .. }) && call.is_stream(Stream::is_read))
        {
            let call = self.calls.remove(at);
            self.line.used = self.clock.now;
            if let Phase::Ended { error, silence } = call.phase {
                self.outbox.push(Output::End { id: call.id, error, silence });
            }
        }
    }

    /// Doubts the connection after a call without a response in time. If no message has come since the call was sent,
    /// and none comes within the time limit of a response, the connection is dead: the next call opens another one.
    pub(super) fn doubt(&mut self, id: u32) {
        let (patience, now, messages) = (self.patience(), self.clock.now, self.line.messages);
        if let Some(call) = self.call(id)
            && let Some(since) = &call.since
            && since.messages == messages
        {
            let at = since.time + patience;
            self.line.dead_at = self.line.dead_at.min(if at <= now + GRAIN { now } else { at });
        }
    }

    /// Fails a call that has exceeded its time limit.
    pub(super) fn fail_late(&mut self, id: u32) {
        self.doubt(id);
        let limit = self.call(id).map_or(0, |call| call.timeout);
        self.respond(id, Err(no_answer(limit)));
    }

    /// Ends a call with its response.
    pub(super) fn respond(&mut self, id: u32, answer: Result<String>) {
        if let Some(call) = self.take_call(id) {
            let is_unsent = answer.as_ref().is_err_and(|error| call.is_unsent_by(error));
            self.outbox.push(Output::Respond { id, answer, is_unsent });
        }
    }

    /// Sends all pending messages, or asks for a connection if there is none.
    pub(super) fn send_what_is_ready(&mut self) {
        let mut at = 0;
        while let Some(call) = self.calls.get(at) {
            let (id, is_open) = (call.id, call.is_open());
            at += 1;
            if !(call.is_unsent() || is_open && call.sent < call.messages.list.len()) {
                continue;
            }
            if self.line.link == Link::Open && self.outbox.buffered.is_none() {
                self.interrupt(&network("the connection is closing"));
                at = 0;
                continue;
            }
            match self.line.link {
                Link::Down if !self.is_interrupted() => return self.dial(),
                Link::Open => {}
                _ => return,
            }
            match self.send(at - 1) {
                Ok(None) => {}
                // The turn would wait for this response for ever. Another connection reads the whole turn.
                Err(error) if is_open => self.interrupt(&network(&error.message)),
                answered => {
                    at -= 1;
                    self.respond(id, answered.map(Option::unwrap_or_default));
                }
            }
        }
    }

    /// Sends the pending messages of the call at this index. Returns the result of a call that gets no response.
    fn send(&mut self, at: usize) -> Result<Option<String>> {
        let (now, due) = (self.clock.now, self.clock.after(self.patience()));
        let Self { line, held, calls, outbox, speaker, threads, .. } = self;
        let Some(call) = calls.get_mut(at) else { return Ok(None) };
        if let Phase::Waiting = call.phase {
            call.messages = speaker.messages(call.call, &call.params, &line.facts)?;
            call.since = Some(Since { time: now, messages: line.messages });
            call.phase = Phase::Ready { is_heard: true };
            if call.messages.subscribe.is_some() && !threads.get(&call.messages.thread).is_subscribed {
                call.phase = Phase::Subscribing { refusal: None };
            }
        }
        // The call itself is sent after the response to the subscription: a server that works in parallel could begin
        // the call before it sends messages of the thread.
        if let Phase::Subscribing { .. } = call.phase
            && let Some(message) = &call.messages.subscribe
        {
            call.awaited = Some(outbox.send(message)?);
            return Ok(None);
        }
        if let Phase::Ready { is_heard } = call.phase {
            let streams = S::streams(call.call);
            // Its first messages may come before the response.
            call.stream = streams.then(|| Stream {
                mark: thread_mark(&call.messages.thread),
                is_named: false,
                kept: Some(Vec::new()),
                is_heard,
            });
            let Some(first) = call.messages.list.first() else { return Ok(None) };
            call.awaited = Some(outbox.send(first)?);
            call.sent = 1;
            call.phase = Phase::Asked;
            if !matches!(first, Message::Request { .. }) {
                // A response to the server's request gets no response itself.
                Held::keep(held, first);
                call.send_rest(outbox, held, due)?;
                return speaker.read(call.call, &call.params, r#"{"result":null}"#).map(Some);
            }
            if streams && call.messages.subscribes {
                // Reading before the server sends messages of the thread would miss the messages in between.
                return Ok(None);
            }
        }
        call.send_rest(outbox, held, due)?;
        Ok(None)
    }
}
