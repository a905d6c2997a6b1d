//! Calls that wait for the client (section 2.2): told once, as soon as a snapshot or a call's end says so.
//!
//! A snapshot can be older than what the stream has said since: a call that was answered is not told again for
//! it. Only the run's end says that it waits after all.

use crate::json::{Object, Value};
use crate::protocol::EventSink;

use super::fields::{Problem, object, take};
use super::run::Run;

/// How many waiting calls of one snapshot are looked at.
const MAX_WAITING: usize = 1024;

/// A call that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) call_id: String,
    /// The event that tells it; without its id until it was told.
    event: Object<'static>,
    is_told: bool,
    /// Whether a snapshot has it: then the next one may leave it out.
    is_in_snapshot: bool,
}

/// What is known of a call that waits.
struct Asked<'a> {
    call_id: &'a str,
    name: &'a str,
    arguments: Option<&'a Value<'a>>,
    suspension: Object<'a>,
    resume_mode: &'a str,
}

impl Run {
    /// The agent's state, and the calls that wait in it.
    pub(super) fn state_snapshot(
        &mut self,
        fields: &mut Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let snapshot = take(fields, "snapshot")?;
        let mut event = self.turn_event("state.snapshot");
        event.set("snapshot", snapshot);
        self.give(&event, sink);
        if let Some(snapshot) = event.object("snapshot") {
            let asked = asked_in(snapshot);
            let is_asked = |id: &str| asked.iter().any(|asked| asked.call_id == id);
            self.waiting.retain(|waiting| !waiting.is_in_snapshot || is_asked(&waiting.call_id));
            for asked in asked {
                self.wait(asked, true, sink);
            }
        }
        Ok(())
    }

    /// A call's end says that it has none yet. What it waits for is in its result, or in the next snapshot.
    pub(super) fn call_suspended(&mut self, id: &str, result: Object<'_>, sink: &mut dyn EventSink) {
        self.known_call(id).is_answered = false;
        let Some(ticket) = result.object("suspension") else { return };
        let pending = ticket.object("pending");
        // The projection has the question's arguments where it is another call than the one that waits.
        let arguments =
            pending.filter(|pending| pending.text("id") == id).and_then(|pending| pending.get("arguments"));
        let asked = Asked {
            call_id: id,
            name: result.text("tool_name"),
            arguments,
            suspension: ticket.object("suspension").cloned().unwrap_or_default(),
            resume_mode: ticket.text("resume_mode"),
        };
        self.wait(asked, false, sink);
    }

    /// Notes a call that waits, and tells it unless it was told, or was answered before.
    fn wait(&mut self, asked: Asked<'_>, is_in_snapshot: bool, sink: &mut dyn EventSink) {
        let id = asked.call_id;
        let is_answered = self.call(id).is_some_and(|call| call.is_answered);
        let at = if let Some(at) = self.waiting.iter().position(|waiting| waiting.call_id == id) {
            at
        } else {
            let event = self.required(&asked);
            let call_id = id.to_owned();
            self.waiting.push(Waiting { call_id, event, is_told: false, is_in_snapshot: false });
            self.waiting.len() - 1
        };
        if let Some(waiting) = self.waiting.get_mut(at) {
            waiting.is_in_snapshot |= is_in_snapshot;
            if !is_answered {
                self.tell(at, sink);
            }
        }
    }

    fn tell(&mut self, at: usize, sink: &mut dyn EventSink) {
        let id = self.next_id();
        let Some(waiting) = self.waiting.get_mut(at).filter(|waiting| !waiting.is_told) else { return };
        waiting.is_told = true;
        waiting.event.set("id", id.into());
        let event = waiting.event.clone();
        self.give(&event, sink);
    }

    /// Tells all that waits at the run's end. Gives the events.
    pub(super) fn tell_all(&mut self, sink: &mut dyn EventSink) -> Vec<Value<'static>> {
        for at in 0..self.waiting.len() {
            self.tell(at, sink);
        }
        self.waiting.iter().map(|waiting| waiting.event.clone().into()).collect()
    }

    /// The event that tells a call. To replay a call is to allow it; every other mode wants something from the
    /// client.
    fn required(&self, asked: &Asked<'_>) -> Object<'static> {
        let known = self.call(asked.call_id);
        let source = known.map_or("", |call| &call.message);
        let name = if asked.name.is_empty() { known.map_or("", |call| &call.name) } else { asked.name };
        let mode = if asked.resume_mode.is_empty() { "replay_tool_call" } else { asked.resume_mode };
        let mut call = object("id", asked.call_id.to_owned());
        call.set("source_event_id", source.to_owned().into());
        call.set("event_id", source.to_owned().into());
        call.set("name", name.to_owned().into());
        if let Some(arguments) = asked.arguments {
            call.set("arguments", arguments.to_json().into());
        }
        call.set("suspension", suspension(asked, mode).into());
        let is_approval = mode == "replay_tool_call";
        let kind = if is_approval { "tool.approval_required" } else { "tool.response_required" };
        let mut event = self.main_event(kind);
        event.set("tool_calls", vec![call.into()].into());
        event
    }
}

/// What waits, in turnwire's form. A field of another type than it must have is left out.
fn suspension(asked: &Asked<'_>, mode: &str) -> Object<'static> {
    let said = &asked.suspension;
    let id = if said.text("id").is_empty() { asked.call_id } else { said.text("id") };
    let mut suspension = object("id", id.to_owned());
    suspension.set("action", said.text("action").to_owned().into());
    if !said.text("message").is_empty() {
        suspension.set("message", said.text("message").to_owned().into());
    }
    for name in ["parameters", "response_schema"] {
        if let Some(value) = said.get(name).filter(|value| !value.is_null()) {
            suspension.set(name, value.clone().into_owned());
        }
    }
    suspension.set("resume_mode", mode.to_owned().into());
    suspension
}

/// The calls that wait in a state: tirea keeps them by the call, awaken in the state of its runtime.
fn asked_in<'a>(snapshot: &'a Object<'a>) -> Vec<Asked<'a>> {
    let mut asked = Vec::new();
    let scopes = snapshot.object("__tool_call_scope").into_iter().flat_map(Object::iter);
    for (id, scope) in scopes {
        if let Some(call) = scope.get("suspended_call").and_then(Value::as_object) {
            let suspension = call.object("suspension").cloned().unwrap_or_default();
            asked.push(asked_by(id, call, suspension));
        }
    }
    let states = snapshot.object("extensions").and_then(|states| states.object("__runtime.tool_call_states"));
    let calls = states.and_then(|states| states.object("calls")).into_iter().flat_map(Object::iter);
    for (id, call) in calls {
        if let Some(call) = call.as_object().filter(|call| call.text("status") == "suspended") {
            let mut suspension = object("id", call.text("suspension_id").to_owned());
            suspension.set("action", call.text("suspension_reason").to_owned().into());
            asked.push(asked_by(id, call, suspension));
        }
    }
    asked.truncate(MAX_WAITING);
    asked
}

fn asked_by<'a>(id: &'a str, call: &'a Object<'a>, suspension: Object<'a>) -> Asked<'a> {
    let said = call.text("call_id");
    Asked {
        call_id: if said.is_empty() { id } else { said },
        name: call.text("tool_name"),
        arguments: call.get("arguments"),
        suspension,
        resume_mode: call.text("resume_mode"),
    }
}
