//! Incoming messages: responses, messages of a thread, and the server's requests.

use crate::bytes::find_quote;
use crate::json::Value;
use crate::rpc::Speaker;
use crate::rpc::wire::{method_at_start, own_number};

use super::calls::{PendingCall, Stream};
use super::{Connection, Link};

impl<S: Speaker> Connection<S> {
    /// Takes a text message, or `None` for any other message.
    pub(super) fn received(&mut self, message: Option<&str>) {
        if self.line.link < Link::Attaching {
            return;
        }
        self.hear();
        // Binary messages are for uploads only, which the server does not send.
        let Some(message) = message.and_then(|message| self.taken_out(message)) else { return };
        if let Some((method, is_request)) = method_at_start(message) {
            return self.told(method, is_request, message);
        }
        if let Some(number) = own_number(message, &self.outbox.id_prefix) {
            return self.responded(number, message);
        }
        let read = Value::parse(message).unwrap_or_default();
        let method = read.get("method").and_then(Value::as_str).unwrap_or_default();
        self.told(method, read.get("id").is_some(), message);
    }

    /// Notes that the server is alive.
    fn hear(&mut self) {
        self.line.heard = self.clock.now;
        self.line.messages = self.line.messages.wrapping_add(1);
        self.line.ping_from = 0;
        self.line.dead_at = super::NEVER;
    }

    /// Whether the last message belongs, unchanged, to this stream only.
    pub fn is_alone(&self, id: u32) -> bool {
        self.held.is_none()
            && self.calls.iter().all(|call| call.is_stream(|stream| stream.is_named) == (call.id == id))
    }

    /// Notes messages that resemble an earlier one of this stream [alone](Self::is_alone). Returns whether only its
    /// reader takes them, now; if not, they must be passed in as [`Input::Message`](super::Input::Message).
    pub fn hear_like(&mut self, id: u32, now: u64) -> bool {
        let Some(call) = self.calls.iter().find(|call| call.id == id && call.is_open()) else { return false };
        let Some(Stream { mark, kept: None, .. }) = &call.stream else { return false };
        let has_mark =
            |other: &PendingCall<_>| other.id != id && other.is_stream(|stream| stream.mark == *mark);
        if self.has_output() || self.calls.iter().any(|other| has_mark(other)) {
            return false;
        }
        self.clock.advance(now);
        self.hear();
        true
    }

    /// Takes a message that is not a response to this client. It belongs to the streams whose threads it names. Some
    /// messages belong to all streams: requests of the server's, and messages that may concern a thread created by a
    /// stream's own thread, which only the reader of the stream can tell.
    fn told(&mut self, method: &str, is_request: bool, message: &str) {
        if let Some(thread) = self.speaker.unloaded(method, message) {
            // The thread is subscribed to again before its next use. A call in flight notices by this that it was
            // unloaded.
            self.threads.unsubscribe(Some(&thread));
            for call in &mut self.calls {
                if call.is_open() && call.messages.thread == thread {
                    call.end(None, 0);
                    self.is_unsettled = true;
                }
            }
        }
        let is_for_all = is_request && !method.is_empty() || self.speaker.is_for_all(method);
        let mut unnamed = 0;
        for call in &mut self.calls {
            if let Some(stream) = &mut call.stream {
                stream.is_named = is_for_all;
                unnamed += usize::from(!is_for_all);
            }
        }
        // Each quote is examined once, however many streams there are; the thread is usually named at the beginning.
        let mut rest = message.as_bytes();
        while unnamed > 0
            && let Some(at) = find_quote(rest)
        {
            rest = rest.get(at..).unwrap_or_default();
            for call in &mut self.calls {
                if let Some(stream) = &mut call.stream
                    && !stream.is_named
                    && rest.starts_with(stream.mark.as_bytes())
                {
                    stream.is_named = true;
                    unnamed -= 1;
                }
            }
            rest = rest.get(1..).unwrap_or_default();
        }
        // A relay's message only contains the server's, so it cannot be passed on unchanged.
        let is_current = self.held.is_none();
        for call in &mut self.calls {
            if call.is_stream(|stream| stream.is_named) {
                let output = call.take(message, is_current);
                self.outbox.extend(output);
            }
        }
    }
}
