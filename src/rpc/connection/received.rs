//! What a message that came is: a response, news of a thread, or a request of the server's.

use crate::error::{Error, ErrorCode};
use crate::json::{Object, Value};
use crate::protocol::{Call, Protocol};
use crate::rpc::response;
use crate::rpc::wire::{Envelope, decimal, find_id, is_refusal, thread_of};

use super::call::{PendingCall, Phase};
use super::line::{Purpose, Request};
use super::{Connection, Link, created};

/// By this a server says that it has unloaded a thread, and tells nothing more of it.
const UNLOADED: &str = "thread/closed";

impl<P: Protocol> Connection<P> {
    /// A message came: a text, or something else.
    pub(super) fn received(&mut self, message: Option<&str>) {
        let now = self.clock.now();
        let Link::Open(line) = &mut self.link else { return };
        line.hear(now);
        // Binary messages are for uploads only, which the server does not send.
        let Some(message) = message else { return };
        let Some(envelope) = Envelope::begin(message) else {
            // Quotes inside of texts are escaped: nothing that an agent says looks like an id.
            return match find_id(message, &|id| self.outbox.is_own(id)) {
                Some(id) => self.responded(id, message),
                None => self.noted(&Envelope::parse(message), message),
            };
        };
        self.noted(&envelope, message);
    }

    /// A message came that is no response to this client.
    fn noted(&mut self, envelope: &Envelope<'_>, message: &str) {
        if envelope.method == UNLOADED {
            self.unloaded(message);
        }
        self.deliver(message, envelope.is_for_all());
    }

    /// A response came. Nothing may wait for it any more.
    fn responded(&mut self, id: &str, response: &str) {
        let now = self.clock.now();
        let Link::Open(line) = &mut self.link else { return };
        let Some(Request { method, purpose, subscribes, .. }) = line.take_request(id) else { return };
        self.is_unsettled = true;
        let was_lost =
            subscribes.is_some_and(|(thread, recreates)| self.take_subscription(thread, recreates, response));
        match purpose {
            Purpose::Ping => {}
            Purpose::Greeting => self.greeted(response, now),
            Purpose::Subscription(id) if was_lost => self.respond(id, Err(created::lost())),
            Purpose::Subscription(id) => self.subscribed(id, !is_refusal(response)),
            Purpose::Answer(id) | Purpose::Part(id) => {
                let output = self.call(id).and_then(|call| call.take_response(response, method));
                if let Some(output) = output {
                    self.outbox.push(output);
                }
                if purpose == Purpose::Answer(id) {
                    self.answered(id, response);
                }
            }
        }
    }

    fn greeted(&mut self, response: &str, now: f64) {
        let limit = self.limits.largest_response;
        let facts = if response.len() > limit {
            Err(too_large(limit))
        } else {
            response::read(&*self.protocol, Call::Connect, &Object::new(), response)
        };
        match (facts, &mut self.link) {
            (Ok(facts), Link::Open(line)) => line.greeted(facts, now),
            (Err(error), _) => self.lose(&error),
            (Ok(_), _) => {}
        }
    }

    /// The response to a subscription came. Returns whether the server has lost what was said in the thread.
    fn take_subscription(&mut self, thread: String, recreates: bool, response: &str) -> bool {
        let record = response::read(&*self.protocol, Call::GetSession, &Object::new(), response);
        let is_another = record.is_ok_and(|session| self.created.is_another(&session, recreates));
        if let Link::Open(line) = &mut self.link {
            if is_another || is_refusal(response) {
                line.forget_thread(&thread);
            } else {
                // A `thread/closed` that came before it does not count any more.
                line.add_thread(thread);
            }
        }
        is_another
    }

    /// The server has unloaded a thread: it is subscribed to anew before it is used again, and streams of it end.
    fn unloaded(&mut self, message: &str) {
        let message = Value::parse(message).unwrap_or_default();
        let Some(thread) = message.as_object().and_then(thread_of) else { return };
        if let Link::Open(line) = &mut self.link {
            line.forget_thread(thread);
        }
        // Of a call whose response is on its way that response tells.
        for id in self.ids_of(|call: &PendingCall| call.phase == Phase::Open && call.is_about(thread)) {
            self.end_stream(id, None, 0.0);
        }
    }
}

pub(super) fn too_large(limit: usize) -> Error {
    let limit = decimal(i64::try_from(limit).unwrap_or(i64::MAX));
    Error::of(ErrorCode::FrameTooLarge, &["a response is larger than `maxFrameBytes` (", &limit, " bytes)"])
}
