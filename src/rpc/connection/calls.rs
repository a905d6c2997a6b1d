//! Calls: they wait for a connection, subscribe to their thread, send their messages, and get a response or a stream.

use crate::error::{Error, ErrorCode, Result};
use crate::rpc::wire::thread_mark;
use crate::rpc::{Message, Messages, Speaker};

use super::{Connection, Held, Link, NEVER, Output, limit_of, network, no_answer, outbox::Outbox};

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
    /// When it got the connection.
    began: u64,
    /// The connection's number of messages at that time.
    messages_before: u32,
    /// Its messages. The subscription is removed once it is sent.
    pub(super) messages: Messages,
    /// The subscription, once it is sent.
    subscription: Option<Message>,
    /// How many of the messages were sent.
    pub(super) sent: usize,
    /// The number of the request that the call waits for.
    pub(super) asked: u32,
    /// The server's refusal, if its messages are sent for the second time.
    pub(super) refusal: Option<Error>,
    /// When to ask its reader for follow-up requests.
    pub(super) follow_up_at: u64,
    /// Requests whose responses are part of its stream.
    pub(super) parts: Vec<Part>,
    /// The mark of messages for its stream: the id of its thread in quotes. Empty without a stream.
    pub(super) mark: String,
    /// Whether the current message belongs to its stream.
    pub(super) is_named: bool,
    /// Whether messages are delivered at once. Until then they are kept.
    pub(super) is_read: bool,
    pub(super) kept: Vec<String>,
    /// Whether the server sends messages of the thread. If it does not, the stream ends once it is read, with the
    /// messages kept so far.
    pub(super) is_heard: bool,
    /// How its stream ended: the error, and the length of the silence that ended it.
    end: (Option<Error>, u64),
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

/// The state of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It waits for a connection.
    Waiting,
    /// It must subscribe to its thread first.
    Unsubscribed,
    /// The response to the subscription is pending.
    Subscribing,
    /// Its messages can be sent.
    Ready,
    /// The response to its first request is pending.
    Asked,
    /// Its stream has begun.
    Open,
    /// Its stream has ended, but has not been read.
    Ended,
}

impl<C> PendingCall<C> {
    /// Ends its stream.
    pub(super) fn end(&mut self, error: Option<Error>, silence: u64) {
        self.phase = Phase::Ended;
        self.parts.clear();
        self.follow_up_at = NEVER;
        self.end = (error, silence);
    }

    /// Whether nothing of the call was sent before it failed with this error.
    fn is_unsent_by(&self, error: &Error) -> bool {
        matches!(self.phase, Phase::Waiting | Phase::Unsubscribed | Phase::Ready)
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
        let subscription = self.subscription.as_ref().filter(|_| self.phase == Phase::Subscribing);
        let first = subscription.or_else(|| self.messages.list.first()).filter(|_| self.asked != 0);
        let parts =
            self.parts.iter().filter_map(|part| Some((part.number, self.messages.list.get(part.at)?)));
        first.map(|message| (self.asked, message)).into_iter().chain(parts)
    }

    /// Continues on a connection with this number of messages. Responses to the requests in flight are due at this
    /// time.
    pub(super) fn go_on(&mut self, messages: u32, now: u64, due: u64) {
        (self.began, self.messages_before) = (now, messages);
        for part in &mut self.parts {
            part.due = due;
        }
    }
}

impl<S: Speaker> Connection<S> {
    pub(super) fn call(&mut self, id: u32) -> Option<&mut Box<PendingCall<S::Call>>> {
        self.calls.iter_mut().find(|call| call.id == id)
    }

    pub(super) fn take_call(&mut self, id: u32) -> Option<Box<PendingCall<S::Call>>> {
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
            began: 0,
            messages_before: 0,
            messages: Messages::default(),
            subscription: None,
            sent: 0,
            asked: 0,
            refusal: None,
            follow_up_at: NEVER,
            parts: Vec::new(),
            mark: String::new(),
            is_named: false,
            is_read: false,
            kept: Vec::new(),
            is_heard: true,
            end: (None, 0),
        }));
    }

    /// Delivers the stream from now on.
    pub(super) fn read(&mut self, id: u32) {
        let Some(call) = self.call(id) else { return };
        call.is_read = true;
        let kept = std::mem::take(&mut call.kept);
        if call.phase == Phase::Open && !call.is_heard {
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
        while let Some(call) = self.calls.iter().find(|call| call.phase == Phase::Ended && call.is_read)
            && let id = call.id
            && let Some(call) = self.take_call(id)
        {
            let (error, silence) = call.end;
            self.outbox.push(Output::End { id, error, silence });
        }
    }

    /// Doubts the connection after a call without a response in time. If no message has come since the call was sent,
    /// and none comes within the time limit of a response, the connection is dead: the next call opens another one.
    pub(super) fn doubt(&mut self, id: u32) {
        let (patience, now, messages) = (self.patience(), self.clock.now, self.line.messages);
        if let Some(call) = self.call(id)
            && call.phase != Phase::Waiting
            && messages == call.messages_before
        {
            let at = call.began + patience;
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
            let (id, phase) = (call.id, call.phase);
            at += 1;
            match phase {
                Phase::Waiting | Phase::Unsubscribed | Phase::Ready => {}
                Phase::Open if call.sent < call.messages.list.len() => {}
                _ => continue,
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
                Err(error) if phase == Phase::Open => self.interrupt(&network(&error.message)),
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
        if call.phase == Phase::Waiting {
            call.messages = speaker.messages(call.call, &call.params, &line.facts)?;
            call.began = now;
            call.messages_before = line.messages;
            call.phase = Phase::Ready;
            if call.messages.subscribe.is_some() && !threads.get(&call.messages.thread).is_subscribed {
                call.phase = Phase::Unsubscribed;
            }
        }
        // The call itself is sent after the response to the subscription: a server that works in parallel could begin
        // the call before it sends messages of the thread.
        if call.phase == Phase::Unsubscribed
            && let Some(message) = call.messages.subscribe.take()
        {
            call.asked = outbox.send(&message)?;
            call.subscription = Some(message);
            call.phase = Phase::Subscribing;
            return Ok(None);
        }
        let streams = S::streams(call.call);
        if call.phase == Phase::Ready {
            if streams {
                // Its first messages may come before the response.
                call.mark = thread_mark(&call.messages.thread);
            }
            let Some(first) = call.messages.list.first() else { return Ok(None) };
            call.asked = outbox.send(first)?;
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
