//! Responses to the requests of calls.

use crate::error::{Error, ErrorCode, Result};
use crate::json::Value;
use crate::rpc::wire::{is_refusal, response_to};
use crate::rpc::{Message, Speaker};

use super::calls::{PendingCall, Phase};
use super::{Connection, Link, NEVER, Output, millis, network};

/// The code of an error by which a server refuses a request that it has not carried out.
const REFUSED: i64 = -32600;
/// The code of an error by which a relay says that it has no response any more.
const FORGOTTEN: i64 = -32051;

impl<S: Speaker> Connection<S> {
    /// A response to the request of this number came. Nothing may wait for it any more.
    pub(super) fn responded(&mut self, number: u32, response: &str) {
        self.is_unsettled = true;
        if self.line.link == Link::Greeting && self.line.greeting == number {
            return match self.read_response(S::GREETING, "{}", response) {
                Ok(facts) => {
                    self.line.facts = facts;
                    self.line.link = Link::Open;
                    self.line.used = self.clock.now;
                    self.answer_again();
                }
                Err(error) => self.lose(&error),
            };
        }
        for call in &mut self.calls {
            if call.asked == number {
                let id = call.id;
                return self.answered(id, response);
            }
            if let Some(part) = call.parts.iter().position(|part| part.number == number) {
                let at = call.parts.swap_remove(part).at;
                let output = call.take_response(at, response);
                return self.outbox.extend(output);
            }
        }
    }

    /// The response to the request that a call waits for.
    fn answered(&mut self, id: u32, response: &str) {
        let Some(call) = self.calls.iter_mut().find(|call| call.id == id) else { return };
        call.asked = 0;
        let (is_subscription, thread) = (call.phase == Phase::Subscribing, &call.messages.thread);
        if is_subscription || call.messages.subscribes && !thread.is_empty() {
            let record = self.speaker.read(S::RECORD, "{}", response);
            let recreates = call.messages.recreates_thread;
            let is_another = record.is_ok_and(|record| self.threads.is_another(&record, recreates));
            // A notice that it was unloaded, before the response, does not count any more.
            let is_heard = !is_another && !is_refusal(response);
            self.threads.get(thread).is_subscribed = is_heard;
            if is_subscription {
                let refusal = if is_another { Some(lost()) } else { call.refusal.take_if(|_| !is_heard) };
                call.is_heard = is_heard;
                call.phase = Phase::Ready;
                if let Some(refusal) = refusal {
                    self.respond(id, Err(refusal));
                }
                return;
            }
        }
        let output = call.take_response(0, response);
        self.outbox.extend(output);
        let (asked, params) = (call.call, std::mem::take(&mut call.params));
        let result = self.read_response(asked, &params, response).map_err(forgotten);
        let Some(call) = self.calls.iter_mut().find(|call| call.id == id) else { return };
        match result {
            // The server may have unloaded the thread without a notice. All refusals have one code, and their texts are
            // not reliable, so the thread is subscribed to anew, which changes nothing where it was not unloaded. A
            // refused request was not carried out: sending it a second time, as it was, starts no second turn. No other
            // error proves that.
            Err(refusal) if call.messages.subscribe.is_some() && is_undone(&refusal) => {
                self.threads.unsubscribe(Some(&call.messages.thread));
                call.params = params;
                call.refusal = Some(refusal);
                call.mark.clear();
                call.kept.clear();
                call.parts.clear();
                call.phase = Phase::Unsubscribed;
            }
            Ok(_) if S::streams(asked) => {
                call.phase = Phase::Open;
                call.due = NEVER;
                self.outbox.push(Output::Respond { id, answer: Ok(String::new()), is_unsent: false });
            }
            result => {
                if let Ok(result) = &result {
                    if asked == S::RECORD {
                        self.threads.is_another(result, true);
                    }
                    if call.messages.subscribes && call.messages.thread.is_empty() {
                        // The server names the thread.
                        let record = Value::parse(result).unwrap_or_default();
                        let thread = record.as_object().map_or("", |record| record.text("id"));
                        self.threads.get(thread).is_subscribed = true;
                    }
                }
                self.respond(id, result);
            }
        }
    }

    /// Reads the response to a call. That of a stream may have any size.
    fn read_response(&self, call: S::Call, params: &str, response: &str) -> Result<String> {
        let limit = self.limits.largest_response;
        if response.len() > limit && !S::streams(call) {
            let parts = ["a response is larger than `maxFrameBytes` (", &millis(limit as u64), " bytes)"];
            return Err(Error::of(ErrorCode::FrameTooLarge, &parts));
        }
        self.speaker.read(call, params, response)
    }
}

impl<C> PendingCall<C> {
    /// The response to its message at this place belongs to its stream, if it has one.
    fn take_response(&mut self, at: usize, response: &str) -> Option<Output> {
        match self.messages.list.get(at) {
            Some(Message::Request { method, .. }) => self.take(&response_to(response, method), false),
            _ => None,
        }
    }

    /// A message belongs to its stream, if it has one. `is_current`: it is the one that was handed in last, as it is.
    pub(super) fn take(&mut self, message: &str, is_current: bool) -> Option<Output> {
        if self.mark.is_empty() || self.phase == Phase::Ended {
            return None;
        }
        if self.is_read && is_current {
            return Some(Output::Deliver(self.id, Vec::new()));
        }
        self.kept.push(message.to_owned());
        self.is_read.then(|| Output::Deliver(self.id, std::mem::take(&mut self.kept)))
    }
}

/// Why a call fails whose conversation the server has lost.
fn lost() -> Error {
    let problem = "the server no longer has this conversation: create another session";
    Error::new(ErrorCode::Rpc, problem).with_status(Some(404))
}

/// Whether a server has refused a request, and so has not carried it out.
pub(in crate::rpc) fn is_undone(error: &Error) -> bool {
    code_of(error) == Some(REFUSED)
}

/// The error of a request. If the relay does not have the response, it is not known what became of it.
fn forgotten(error: Error) -> Error {
    if code_of(&error) == Some(FORGOTTEN) {
        network("the relay does not have the response any more")
    } else {
        error
    }
}

/// The code in a server's error.
fn code_of(error: &Error) -> Option<i64> {
    let body = error.body.as_deref().filter(|_| error.code == ErrorCode::Rpc)?;
    Value::parse(body).ok()?.get("code").and_then(Value::as_i64)
}
