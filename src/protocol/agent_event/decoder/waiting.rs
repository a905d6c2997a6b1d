//! Calls that wait for the client (section 2.2), reported once, as soon as a snapshot or a call's end shows them.
//!
//! A snapshot can be older than the events before it, so it does not report an answered call again. Only the run's end
//! shows that such a call still waits.

use crate::json::{Object, Value};
use crate::protocol::EventSink;

use super::super::waiting::{action, in_state};
use super::fields::{Problem, put, take, with_text};
use super::run::Run;

/// The most waiting calls of one snapshot that are read.
const MAX_WAITING: usize = 1024;

/// A waiting call.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) call_id: String,
    /// The event that reports it; without its id until it was reported.
    event: Object<'static>,
    is_told: bool,
    /// Whether a snapshot has it: then the next one may leave it out.
    is_in_snapshot: bool,
}

impl Run {
    /// The agent's state, and the waiting calls in it.
    pub(super) fn state_snapshot(
        &mut self,
        fields: &mut Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let snapshot = take(fields, "snapshot")?;
        let mut event = self.turn_event("state.snapshot");
        event.set("snapshot", snapshot);
        self.give(&event, sink);
        let asked = event.get("snapshot").map(asked_in).unwrap_or_default();
        let is_asked = |id: &str| asked.iter().any(|asked| asked_call(asked).text("id") == id);
        self.waiting.retain(|waiting| !waiting.is_in_snapshot || is_asked(&waiting.call_id));
        for asked in asked {
            self.wait(asked, true, sink);
        }
        Ok(())
    }

    /// A call ends without a result. Why it waits is in its result, or in the next snapshot.
    pub(super) fn call_suspended(&mut self, id: &str, result: &Object<'_>, sink: &mut dyn EventSink) {
        self.known_call(id).is_answered = false;
        let Some(ticket) = result.object("suspension") else { return };
        let mut call = Object::new();
        for (name, from) in [("tool_name", result), ("resume_mode", ticket)] {
            call.set(name, from.get(name).cloned().unwrap_or_default());
        }
        // The projection has the question's arguments if it is another call than the waiting one.
        let pending = ticket.object("pending").filter(|pending| pending.text("id") == id);
        if let Some(arguments) = pending.and_then(|pending| pending.get("arguments")) {
            call.set("arguments", arguments.clone());
        }
        let suspension = ticket.object("suspension").unwrap_or(const { &Object::new() });
        self.wait(action(id, &call, suspension), false, sink);
    }

    /// Adds a waiting call, and reports it unless it was reported, or was answered before.
    fn wait(&mut self, asked: Value<'_>, is_in_snapshot: bool, sink: &mut dyn EventSink) {
        let id = asked_call(&asked).text("id").to_owned();
        let is_answered = self.call(&id).is_some_and(|call| call.is_answered);
        let at = if let Some(at) = self.waiting.iter().position(|waiting| waiting.call_id == id) {
            at
        } else {
            let event = self.complete(&id, asked.into_owned());
            self.waiting.push(Waiting { call_id: id, event, is_told: false, is_in_snapshot: false });
            self.waiting.len() - 1
        };
        if let Some(waiting) = self.waiting.get_mut(at) {
            waiting.is_in_snapshot |= is_in_snapshot;
            if !is_answered {
                self.tell(at, sink);
            }
        }
    }

    /// Adds the call's data from the stream to the event that reports it.
    fn complete(&self, id: &str, asked: Value<'static>) -> Object<'static> {
        let Value::Object(mut event) = asked else { return Object::new() };
        let known = self.call(id);
        let calls = event.get_mut("tool_calls").and_then(Value::as_array_mut);
        if let (Some(known), Some(Value::Object(call))) = (known, calls.and_then(|calls| calls.first_mut())) {
            put(call, "source_event_id", &known.message);
            put(call, "event_id", &known.message);
            if call.text("name").is_empty() {
                put(call, "name", &known.name);
            }
            if let Some(arguments) = self.arguments_of(id).filter(|_| !call.contains("arguments")) {
                put(call, "arguments", arguments);
            }
        }
        event
    }

    fn tell(&mut self, at: usize, sink: &mut dyn EventSink) {
        let id = self.next_id();
        let Some(waiting) = self.waiting.get_mut(at).filter(|waiting| !waiting.is_told) else { return };
        waiting.is_told = true;
        waiting.event.set("id", id.into());
        let event = waiting.event.clone();
        self.give(&event, sink);
    }

    /// Reports all waiting calls at the run's end. Returns the events.
    pub(super) fn report_all(&mut self, sink: &mut dyn EventSink) -> Vec<Value<'static>> {
        for at in 0..self.waiting.len() {
            self.tell(at, sink);
        }
        self.waiting.iter().map(|waiting| waiting.event.clone().into()).collect()
    }
}

/// The call in an event that reports one.
fn asked_call<'o, 'a>(asked: &'o Value<'a>) -> &'o Object<'a> {
    let calls = asked.get("tool_calls").and_then(Value::as_array);
    calls.and_then(|calls| calls.first()?.as_object()).unwrap_or(const { &Object::new() })
}

/// The waiting calls in a state: tirea keeps them with the call, awaken in the state of its runtime.
fn asked_in<'a>(snapshot: &Value<'a>) -> Vec<Value<'a>> {
    let mut asked = in_state(snapshot);
    let states = snapshot.get("extensions").and_then(|states| states.get("__runtime.tool_call_states"));
    let calls = states.and_then(|states| states.get("calls")?.as_object());
    for (id, call) in calls.into_iter().flat_map(Object::iter) {
        if let Some(call) = call.as_object().filter(|call| call.text("status") == "suspended") {
            let mut suspension = with_text("id", call.text("suspension_id"));
            put(&mut suspension, "action", call.text("suspension_reason"));
            asked.push(action(id, call, &suspension));
        }
    }
    asked.truncate(MAX_WAITING);
    asked
}
