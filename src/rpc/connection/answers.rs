//! Responses to the requests of calls.

use crate::error::{Error, ErrorCode, Result};
use crate::json::Value;
use crate::rpc::wire::{is_refusal, response_to};
use crate::rpc::{Message, Speaker};

use super::calls::{PendingCall, Phase};
use super::{Connection, Link, NEVER, Output, millis, network};

/// The error code of a server that refuses a request without carrying it out.
const REFUSED: i64 = -32600;
/// The error code of a relay that no longer has the response.
const FORGOTTEN: i64 = -32051;

impl<S: Speaker> Connection<S> {
    /// Takes the response to the request with this number. No call may be waiting for it any more.
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
            if call.awaited == Some(number) {
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

    /// Takes the response to the request that a call waits for.
    fn answered(&mut self, id: u32, response: &str) {
        let Some(call) = self.calls.iter_mut().find(|call| call.id == id) else { return };
        call.awaited = None;
        let thread = &call.messages.thread;
        let is_subscription = matches!(call.phase, Phase::Subscribing { .. });
        if is_subscription || call.messages.subscribes && !thread.is_empty() {
            let record = self.speaker.read(S::RECORD, "{}", response);
            let recreates = call.messages.recreates_thread;
            let is_another = record.is_ok_and(|record| self.threads.is_another(&record, recreates));
            // An unload notice that arrived before this response is outdated.
            let is_heard = !is_another && !is_refusal(response);
            self.threads.get(thread).is_subscribed = is_heard;
            if let Phase::Subscribing { refusal } = &mut call.phase {
                let refusal = if is_another { Some(lost()) } else { refusal.take_if(|_| !is_heard) };
                call.phase = Phase::Ready { is_heard };
                call.messages.subscribe = None;
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
            // The server may have unloaded the thread without a notice. All refusals have the same code, and their
            // texts are not reliable. So the call subscribes to the thread again, which changes nothing if it was not
            // unloaded. A refused request was not carried out, so sending it unchanged a second time starts no second
            // turn. No other error proves that.
            Err(refusal) if call.messages.subscribe.is_some() && is_undone(&refusal) => {
                self.threads.unsubscribe(Some(&call.messages.thread));
                call.params = params;
                call.stream = None;
                call.parts.clear();
                call.phase = Phase::Subscribing { refusal: Some(refusal) };
            }
            Ok(_) if S::streams(asked) => {
                call.phase = Phase::Open { follow_up_at: NEVER };
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

    /// Reads the response to a call. A stream's response may have any size.
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
    /// Adds the response to the message at this index to the call's stream, if it has one.
    fn take_response(&mut self, at: usize, response: &str) -> Option<Output> {
        match self.messages.list.get(at) {
            Some(Message::Request { method, .. }) => self.take(&response_to(response, method), false),
            _ => None,
        }
    }

    /// Adds a message to the call's stream, if it has one. `is_current`: it is the unchanged text of the last input.
    pub(super) fn take(&mut self, message: &str, is_current: bool) -> Option<Output> {
        let stream = self.stream.as_mut().filter(|_| !matches!(self.phase, Phase::Ended { .. }))?;
        match &mut stream.kept {
            Some(kept) => {
                kept.push(message.to_owned());
                None
            }
            None if is_current => Some(Output::Deliver(self.id, Vec::new())),
            None => Some(Output::Deliver(self.id, vec![message.to_owned()])),
        }
    }
}

/// The error of a call whose conversation the server has lost.
fn lost() -> Error {
    let problem = "the server no longer has this conversation: create another session";
    Error::new(ErrorCode::Rpc, problem).with_status(Some(404))
}

/// Whether a server refused a request, and so did not carry it out.
pub(in crate::rpc) fn is_undone(error: &Error) -> bool {
    code_of(error) == Some(REFUSED)
}

/// The error of a request. If the relay lacks the response, the request's result is unknown.
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
