//! Requests of the server, which wait for the client while the turn runs (section 14).

use crate::error::sentence;
use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::{Problem, event, put, with_text};
use crate::rpc::Message;

use super::super::fields::first_text;
use super::Turn;

/// The most open requests.
const MOST: usize = 256;

/// The JSON-RPC code of an unknown method.
const METHOD_NOT_FOUND: i64 = -32601;

/// An open request.
#[derive(Debug)]
struct Request {
    /// Its id, as JSON.
    id: String,
    thread: u32,
    call_id: String,
    /// Whether its connection is lost. If it is still open, the server sends it again.
    is_stale: bool,
    /// Whether the client has answered it.
    is_answered: bool,
}

/// The requests of the server.
#[derive(Debug, Default)]
pub(super) struct Requests {
    open: Vec<Request>,
    /// The ids of unknown requests, which are to be refused.
    pub(super) refusals: Vec<String>,
}

impl Requests {
    /// The client has answered these calls. The server reports whether it received the answers.
    pub(super) fn mark_answered(&mut self, calls: &[(String, String)]) {
        for request in &mut self.open {
            request.is_answered |= calls.iter().any(|(_, call)| *call == request.call_id);
        }
    }

    /// The call that a request is about: the one that it names, unless that has another open request. Some commands
    /// ask more than once.
    fn call_of(&self, id: &str, params: &Object<'_>) -> String {
        let names = [first_text(params, "itemId, callId"), params.text("approvalId")];
        let is_free =
            |name: &str| !name.is_empty() && self.open.iter().all(|request| request.call_id != name);
        let free = names.into_iter().find(|name| is_free(name));
        free.map_or_else(|| sentence(&["request:", id]), str::to_owned)
    }

    /// Refuses an unknown request.
    fn refuse(&mut self, id: &Value<'_>) {
        if self.refusals.len() < MOST {
            self.refusals.push(id.to_json());
        }
    }

    /// Takes the refusals.
    pub(super) fn take_refusals(&mut self) -> Vec<Message> {
        let refused = |id| Message::Refusal {
            id,
            code: METHOD_NOT_FOUND,
            message: "the client does not know this method",
        };
        self.refusals.drain(..).map(refused).collect()
    }

    /// The connection is lost: the server will send the open requests again.
    pub(super) fn mark_stale(&mut self) {
        for request in &mut self.open {
            request.is_stale = true;
        }
    }

    /// The call has its result: its requests need no answer.
    pub(super) fn call_completed(&mut self, thread: u32, call_id: &str) {
        self.open.retain(|request| request.thread != thread || request.call_id != call_id);
    }
}

impl Turn {
    /// Takes a request of the server. Returns whether its method is known.
    pub(super) fn asked(
        &mut self,
        id: &Value<'_>,
        thread: u32,
        method: &str,
        params: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<bool, Problem> {
        let kind = match method {
            "item/commandExecution/requestApproval"
            | "item/fileChange/requestApproval"
            | "item/permissions/requestApproval"
            | "mcpServer/elicitation/request" => "tool.approval_required",
            "item/tool/requestUserInput" | "item/tool/call" => "tool.response_required",
            _ => {
                // The server waits for a response.
                self.requests.refuse(id);
                return Ok(false);
            }
        };
        self.created(sink);
        let id_json = id.to_json();
        // After a reconnect, the server sends open requests again.
        if let Some(known) = self.requests.open.iter_mut().find(|request| request.id == id_json) {
            // The server also repeats a request whose answer is in flight.
            if !std::mem::take(&mut known.is_stale) || !std::mem::take(&mut known.is_answered) {
                return Ok(true);
            }
            // The answer was lost: the client is asked again.
            let call_id = known.call_id.clone();
            let event_id = self.next_id();
            self.require(kind, event_id, (thread, &id_json, &call_id), method, params, sink);
            return Ok(true);
        }
        if self.requests.open.len() == MOST {
            self.requests.refuse(id);
            return Err("too many requests are pending".to_owned());
        }
        let id = id_json;
        let call_id = self.requests.call_of(&id, params);
        self.requests.open.push(Request {
            id: id.clone(),
            thread,
            call_id: call_id.clone(),
            is_stale: false,
            is_answered: false,
        });
        // It came too late to be recognised as an open request.
        let first = sentence(&["request:", &id]);
        let event_id = if self.facts.is_new(&first) { first } else { self.next_id() };
        self.require(kind, event_id, (thread, &id, &call_id), method, params, sink);
        Ok(true)
    }

    /// Emits the event that asks the client.
    fn require(
        &mut self,
        kind: &'static str,
        event_id: String,
        (thread, id, call_id): (u32, &str, &str),
        method: &str,
        params: &Object<'_>,
        sink: &mut dyn EventSink,
    ) {
        let known = self.items.find("", call_id).and_then(|at| self.items.get(at));
        let known = known.filter(|item| item.thread == thread);
        let maker =
            known.and_then(|item| self.items.get(item.maker.0)).map_or("", |maker| &maker.id).to_owned();
        let mut suspension = with_text("id", id);
        put(&mut suspension, "action", method);
        let message = sentence(&["reason", "message"].map(|name| params.text(name)));
        if !message.is_empty() {
            put(&mut suspension, "message", &message);
        }
        suspension.set("parameters", params.clone().into());
        if let Some(schema) = params.get("requestedSchema") {
            suspension.set("response_schema", schema.clone());
        }
        let mut call = with_text("id", call_id);
        put(&mut call, "source_event_id", &maker);
        put(&mut call, "event_id", &maker);
        let tool = params.text("tool");
        put(&mut call, "name", if tool.is_empty() { method } else { tool });
        let arguments = params.get("arguments").map_or_else(|| params.to_json(), Value::to_json);
        put(&mut call, "arguments", &arguments);
        call.set("suspension", suspension.into());
        let mut required = event(kind, event_id, self.thread_name(thread));
        required.set("tool_calls", vec![call.into()].into());
        self.emit(&required, sink);
    }

    /// Another message came in a thread. The server repeats open requests first, so stale ones are resolved now, if
    /// any was repeated. One that still comes later is reported again.
    pub(super) fn resolve_stale_after(&mut self, thread: u32, sink: &mut dyn EventSink) {
        if self.requests.open.iter().any(|request| request.thread == thread && !request.is_stale) {
            self.resolve_stale(thread, sink);
        }
    }

    /// Resolves the requests of a thread that the server did not repeat.
    pub(super) fn resolve_stale(&mut self, thread: u32, sink: &mut dyn EventSink) {
        let is_stale = |request: &&Request| request.thread == thread && request.is_stale;
        while let Some(stale) = self.requests.open.iter().find(is_stale) {
            let id = stale.id.clone();
            self.answered(&id, sink);
        }
    }

    /// A request was answered, by any client.
    pub(super) fn answered(&mut self, id: &str, sink: &mut dyn EventSink) {
        let Some(at) = self.requests.open.iter().position(|request| request.id == id) else { return };
        let request = self.requests.open.remove(at);
        let mut resumed = event("tool.resumed", self.next_id(), self.thread_name(request.thread));
        put(&mut resumed, "tool_call_id", &request.call_id);
        resumed.set("result", Value::Null);
        self.emit(&resumed, sink);
    }

    /// Resolves all requests.
    pub(super) fn resolve_all(&mut self, sink: &mut dyn EventSink) {
        while let Some(id) = self.requests.open.first().map(|request| request.id.clone()) {
            self.answered(&id, sink);
        }
    }
}
