//! The way of a call: it waits for a connection, subscribes to its thread, sends its messages, and is answered or streams.

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};
use crate::protocol::{Call, Protocol};
use crate::rpc::wire::{response_to, thread_mark};
use crate::rpc::{Message, Messages, response};

use super::line::{Line, Purpose};
use super::outbox::Outbox;
use super::{Connection, LINGER, Link, Output, network, no_answer, received};

/// A call that has not ended.
#[derive(Debug)]
pub(super) struct PendingCall {
    pub(super) id: u32,
    pub(super) call: Call,
    params: String,
    timeout: f64,
    /// When it has taken too long.
    pub(super) due: f64,
    pub(super) idle_timeout: f64,
    pub(super) phase: Phase,
    /// When it got the connection, and how many messages had come there.
    began: (f64, u64),
    messages: Messages,
    /// Whether the connection heard of its thread before.
    was_heard: bool,
    /// Why the server has refused it, if its messages are sent for the second time.
    refusal: Option<Error>,
    /// What is still to be sent for its stream.
    pub(super) later: Vec<Message>,
    /// When its reader is asked for follow-up requests.
    pub(super) follow_up_at: f64,
    stream: Option<Stream>,
}

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It waits for a connection.
    Waiting,
    /// The connection is to hear of its thread first.
    Unsubscribed,
    /// The response to the subscription is on its way.
    Subscribing,
    /// Its messages can be sent. Whether the server tells of the thread.
    Ready(bool),
    /// The response to its first request is on its way.
    Asked,
    /// Its stream has begun.
    Open,
    /// Its stream has ended, and was not read yet.
    Ended,
}

/// Where the messages of a thread go.
#[derive(Debug)]
struct Stream {
    /// What the messages have in them: the thread's id in quotes.
    mark: String,
    /// Whether they are delivered as they come. Until then they are kept.
    is_read: bool,
    kept: Vec<String>,
    /// Whether the server tells of the thread. If it does not, the stream ends with what has come until it is read.
    is_heard: bool,
    /// Whether the message that is looked at belongs to it.
    is_named: bool,
    /// How it ended, once it has.
    end: (Option<Error>, f64),
}

impl PendingCall {
    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Whether a failure with this error means that nothing of the call was sent.
    pub(super) fn is_unsent_by(&self, error: &Error) -> bool {
        matches!(self.phase, Phase::Waiting | Phase::Unsubscribed | Phase::Ready(_))
            && is_of_connection(error)
    }

    /// Its stream ends.
    pub(super) fn end(&mut self, error: Option<Error>, silence: f64) {
        self.phase = Phase::Ended;
        self.later.clear();
        self.follow_up_at = f64::INFINITY;
        if let Some(stream) = &mut self.stream {
            stream.end = (error, silence);
        }
    }

    /// Whether it is about this thread.
    pub(super) fn is_about(&self, thread: &str) -> bool {
        self.messages.thread == thread
    }

    /// Whether something is to be sent for it.
    fn is_ready(&self) -> bool {
        match self.phase {
            Phase::Waiting | Phase::Unsubscribed | Phase::Ready(_) => true,
            Phase::Open => !self.later.is_empty(),
            Phase::Subscribing | Phase::Asked | Phase::Ended => false,
        }
    }

    /// A message belongs to its stream. `is_current`: it is the one that was handed in last, as it is.
    fn take(&mut self, message: &str, is_current: bool) -> Option<Output> {
        let stream = self.stream.as_mut()?;
        if self.phase == Phase::Ended {
            return None;
        }
        if stream.is_read {
            let messages = if is_current { Vec::new() } else { vec![message.to_owned()] };
            return Some(Output::Deliver(self.id, messages));
        }
        stream.kept.push(message.to_owned());
        None
    }

    /// Hands a response to its stream, if it has one.
    pub(super) fn take_response(&mut self, response: &str, method: &str) -> Option<Output> {
        self.stream.as_ref()?;
        self.take(&response_to(response, method), false)
    }
}

impl PendingCall {
    /// Sends what is to be sent next. Returns the answer of a call that has no response. A stream's further requests have to
    /// be answered by the time `due`.
    fn send(
        &mut self,
        protocol: &dyn Protocol,
        line: &mut Line,
        outbox: &mut Outbox,
        (now, due): (f64, f64),
    ) -> Result<Option<String>> {
        if self.phase == Phase::Waiting {
            let mut params = object(&self.params);
            let facts = line.facts.as_deref().unwrap_or_default();
            params.set("connection", Value::parse(facts).unwrap_or_default());
            self.messages = protocol.messages(self.call, params)?;
            self.began = (now, line.received);
            let needs_subscription = self.messages.subscribe.is_some();
            self.was_heard = needs_subscription && line.hears_of(&self.messages.thread);
            self.phase =
                if needs_subscription && !self.was_heard { Phase::Unsubscribed } else { Phase::Ready(true) };
        }
        let Messages { thread, subscribe, subscribes, recreates_thread, list } = &self.messages;
        let subscription = Some((thread.clone(), *recreates_thread));
        match self.phase {
            // Not in one go with the call: a server that does several things at once might begin before it tells of the
            // thread.
            Phase::Unsubscribed => {
                if let Some(message) = subscribe {
                    line.send(message, Purpose::Subscription(self.id), subscription, f64::INFINITY, outbox)?;
                }
                self.phase = Phase::Subscribing;
            }
            Phase::Ready(is_heard) => {
                if self.call.streams() {
                    // Its first news may come before the response.
                    self.stream = Some(Stream::of(thread, is_heard));
                }
                let Some((first, later)) = list.split_first() else { return Ok(None) };
                let subscription = subscription.filter(|_| *subscribes && !thread.is_empty());
                line.send(first, Purpose::Answer(self.id), subscription, f64::INFINITY, outbox)?;
                // What a stream reads before the server tells of the thread would miss what comes in between.
                self.later = later.to_vec();
                self.phase = Phase::Asked;
                if !matches!(first, Message::Request { .. }) {
                    // A response to a request of the server's has none of its own.
                    self.send_later(line, outbox, due)?;
                    let params = object(&self.params);
                    return response::read(protocol, self.call, &params, r#"{"result":null}"#).map(Some);
                }
                if !self.call.streams() || !self.messages.subscribes {
                    self.send_later(line, outbox, due)?;
                }
            }
            Phase::Open => self.send_later(line, outbox, due)?,
            Phase::Waiting | Phase::Subscribing | Phase::Asked | Phase::Ended => {}
        }
        Ok(None)
    }

    fn send_later(&mut self, line: &mut Line, outbox: &mut Outbox, due: f64) -> Result<()> {
        let later = std::mem::take(&mut self.later);
        later.iter().try_for_each(|message| line.send(message, Purpose::Part(self.id), None, due, outbox))
    }
}

impl Stream {
    fn of(thread: &str, is_heard: bool) -> Self {
        Self {
            mark: thread_mark(thread),
            is_read: false,
            kept: Vec::new(),
            is_heard,
            is_named: false,
            end: (None, 0.0),
        }
    }
}

impl<P: Protocol> Connection<P> {
    pub(super) fn call(&mut self, id: u32) -> Option<&mut PendingCall> {
        self.calls.iter_mut().find(|call| call.id == id)
    }

    fn take_call(&mut self, id: u32) -> Option<PendingCall> {
        let at = self.calls.iter().position(|call| call.id == id)?;
        let call = self.calls.remove(at);
        let now = self.clock.now();
        if let Link::Open(line) = &mut self.link {
            line.forget_call(id);
            line.used = now;
        }
        Some(call)
    }

    pub(super) fn ids_of(&self, is_meant: impl Fn(&PendingCall) -> bool) -> Vec<u32> {
        self.calls.iter().filter(|call| is_meant(call)).map(|call| call.id).collect()
    }

    /// A front end makes a call.
    pub(super) fn ask(&mut self, id: u32, call: Call, params: &str, timeout: f64, idle_timeout: f64) {
        if let Some(answer) = self.protocol.local(call, &object(params)) {
            return self.outbox.push(Output::Respond { id, answer: Ok(answer.to_json()), is_unsent: false });
        }
        let due = if timeout > 0.0 { self.clock.now() + timeout } else { f64::INFINITY };
        self.calls.push(PendingCall {
            id,
            call,
            params: params.to_owned(),
            timeout,
            due,
            idle_timeout,
            phase: Phase::Waiting,
            began: (0.0, 0),
            messages: Messages::default(),
            was_heard: false,
            refusal: None,
            later: Vec::new(),
            follow_up_at: f64::INFINITY,
            stream: None,
        });
    }

    /// The stream is read from now on.
    pub(super) fn read(&mut self, id: u32) {
        let Some(stream) = self.call(id).and_then(|call| call.stream.as_mut()) else { return };
        stream.is_read = true;
        let (kept, is_heard) = (std::mem::take(&mut stream.kept), stream.is_heard);
        if !kept.is_empty() {
            self.outbox.push(Output::Deliver(id, kept));
        }
        if self.call(id).is_some_and(|call| call.is_open()) && !is_heard {
            // A thread of Codex is there to be subscribed to with its first turn only. That has begun now, and is read
            // by the next stream.
            self.end_stream(id, None, 0.0);
        }
        self.end_if_read(id);
    }

    /// Reports the end of a stream, once what came before it is read.
    fn end_if_read(&mut self, id: u32) {
        let is_over = |call: &PendingCall| {
            call.phase == Phase::Ended && call.stream.as_ref().is_some_and(|stream| stream.is_read)
        };
        if self.call(id).is_some_and(|call| is_over(call))
            && let Some(Stream { end: (error, silence), .. }) =
                self.take_call(id).and_then(|call| call.stream)
        {
            self.outbox.push(Output::End { id, error, silence });
        }
    }

    /// Ends the stream of a call.
    pub(super) fn end_stream(&mut self, id: u32, error: Option<Error>, silence: f64) {
        if let Some(call) = self.call(id) {
            call.end(error, silence);
        }
        self.end_if_read(id);
    }

    pub(super) fn forget(&mut self, id: u32, is_overdue: bool) {
        let Some(call) = self.take_call(id) else { return };
        let (patience, now) = (self.patience(), self.clock.now());
        if let Link::Open(line) = &mut self.link
            && is_overdue
            && call.phase != Phase::Waiting
        {
            line.doubt(call.began.0 + patience, call.began.1, now);
        }
    }

    /// A call has taken too long.
    pub(super) fn fail_late(&mut self, id: u32) {
        let Some(call) = self.call(id) else { return };
        let error = no_answer(call.timeout);
        let is_unsent = call.is_unsent_by(&error);
        self.forget(id, true);
        self.outbox.push(Output::Respond { id, answer: Err(error), is_unsent });
    }

    /// Ends a call with its answer.
    pub(super) fn respond(&mut self, id: u32, answer: Result<String>) {
        let Some(call) = self.take_call(id) else { return };
        let is_unsent = answer.as_ref().err().is_some_and(|error| call.is_unsent_by(error));
        self.outbox.push(Output::Respond { id, answer, is_unsent });
    }

    /// Sends what waits to be sent, if there is a connection, and asks for one if there is none.
    pub(super) fn send_what_is_ready(&mut self) {
        let ready = self.ids_of(PendingCall::is_ready);
        if ready.is_empty() {
            return;
        }
        if let Link::Open(line) = &self.link
            && line.facts.is_some()
        {
            let is_unused = self.calls.iter().all(|call| call.phase == Phase::Waiting);
            // A machine that slept wakes up with a connection that is probably dead.
            let is_stale = is_unused && self.clock.now() - line.heard > LINGER;
            if is_stale || self.outbox.buffered.is_none() {
                self.lose(&network("the connection is closing"));
            }
        }
        match &self.link {
            Link::Down if self.calls.iter().any(|call| call.phase == Phase::Waiting) => self.dial(),
            Link::Open(line) if line.facts.is_some() => {
                for id in ready {
                    self.send_for(id);
                }
            }
            _ => {}
        }
    }

    /// Sends what a call waits to send.
    fn send_for(&mut self, id: u32) {
        let (now, patience) = (self.clock.now(), self.patience());
        let Self { link: Link::Open(line), calls, outbox, protocol, .. } = self else { return };
        let Some(call) = calls.iter_mut().find(|call| call.id == id) else { return };
        let was_open = call.is_open();
        match call.send(&**protocol, line, outbox, (now, now + patience)) {
            Ok(None) => {}
            Ok(Some(answer)) => self.respond(id, Ok(answer)),
            // The turn would wait for the response for ever: on another connection it reads all of it.
            Err(error) if was_open => self.lose(&network(&error.message)),
            Err(error) => self.respond(id, Err(error)),
        }
    }

    /// The response to the subscription of a call has come. `agrees`: the server tells of the thread.
    pub(super) fn subscribed(&mut self, id: u32, agrees: bool) {
        let Some(call) = self.call(id) else { return };
        match call.refusal.take_if(|_| !agrees) {
            Some(refusal) => self.respond(id, Err(refusal)),
            None => call.phase = Phase::Ready(agrees),
        }
    }

    /// The response to the first request of a call has come.
    pub(super) fn answered(&mut self, id: u32, response: &str) {
        let Self { link: Link::Open(line), calls, protocol, limits, created, .. } = self else { return };
        let Some(call) = calls.iter_mut().find(|call| call.id == id) else { return };
        let streams = call.call.streams();
        if !streams && response.len() > limits.largest_response {
            let error = received::too_large(limits.largest_response);
            return self.respond(id, Err(error));
        }
        let result = match response::read(&**protocol, call.call, &object(&call.params), response) {
            Ok(result) => result,
            // The server may have unloaded the thread without telling. All refusals have one code, and texts are not to
            // be relied upon: whatever it was, the thread is subscribed to anew, which changes nothing of a thread that
            // is there. What was refused has not been done, so that to send it once more, as it was and once only,
            // starts no second turn. A lost response, or any other error, is no refusal.
            Err(refusal) if call.was_heard && call.refusal.is_none() && response::is_undone(&refusal) => {
                line.forget_thread(&call.messages.thread);
                line.forget_call(id);
                call.refusal = Some(refusal);
                call.stream = None;
                call.phase = Phase::Unsubscribed;
                return;
            }
            Err(error) => return self.respond(id, Err(error)),
        };
        if streams {
            call.phase = Phase::Open;
            call.due = f64::INFINITY;
            return self.outbox.push(Output::Respond { id, answer: Ok(String::new()), is_unsent: false });
        }
        if call.call == Call::GetSession {
            created.is_another(&result, true);
        }
        if call.messages.subscribes && call.messages.thread.is_empty() {
            // It is the server that names the thread.
            line.add_thread(object(&result).text("id").to_owned());
        }
        self.respond(id, Ok(result));
    }

    /// A message that is no response has come: it belongs to the streams whose threads it names, or to all.
    pub(super) fn deliver(&mut self, message: &str, is_for_all: bool) {
        let mut unnamed = 0;
        for stream in self.calls.iter_mut().filter_map(|call| call.stream.as_mut()) {
            stream.is_named = is_for_all;
            unnamed += u32::from(!is_for_all);
        }
        // Each place is looked at once, however many streams there are; and the thread is mostly named at the beginning.
        let mut rest = message.as_bytes();
        while unnamed > 0
            && let Some(at) = crate::bytes::find_quote(rest)
        {
            rest = rest.get(at..).unwrap_or_default();
            for stream in self.calls.iter_mut().filter_map(|call| call.stream.as_mut()) {
                if !stream.is_named && rest.starts_with(stream.mark.as_bytes()) {
                    stream.is_named = true;
                    unnamed -= 1;
                }
            }
            rest = rest.get(1..).unwrap_or_default();
        }
        for call in &mut self.calls {
            if call.stream.as_ref().is_some_and(|stream| stream.is_named)
                && let Some(output) = call.take(message, true)
            {
                self.outbox.push(output);
            }
        }
    }
}

/// The object that a JSON text is; an empty one if it is none.
fn object(json: &str) -> Object<'_> {
    match Value::parse(json) {
        Ok(Value::Object(object)) => object,
        _ => Object::new(),
    }
}

/// Whether an error says that there was no connection.
fn is_of_connection(error: &Error) -> bool {
    matches!(error.code, ErrorCode::Network | ErrorCode::Timeout | ErrorCode::Token)
}
