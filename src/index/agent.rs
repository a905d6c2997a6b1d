//! What agents keep beside their messages: their state, and reports of what is going on.
//!
//! Only the `AgentEvent` protocols have these.

use crate::event::{EventKind, EventRef};
use crate::json::{Object, ObjectWriter, Value, write_str};
use crate::message::Message;

use super::EventIndex;
use super::operations::operate;
use super::patch::patch;

/// The agent's side of a turn.
#[derive(Debug, Default)]
pub(super) struct Agent {
    /// The state, once it is known.
    state: Option<Value<'static>>,
    /// Why the last change of the state could not be made; empty if it could.
    problem: String,
    activities: Vec<Activity>,
}

/// The last report on something.
#[derive(Debug)]
struct Activity {
    message_id: String,
    kind: String,
    thread_id: String,
    tool_call_id: String,
    content: Value<'static>,
    /// Whether its call shows it, or there is none to show it.
    is_shown: bool,
}

impl Agent {
    fn snapshot(&mut self, snapshot: Option<&Value<'_>>) {
        self.state = Some(owned(snapshot));
        self.problem.clear();
    }

    /// Makes a change, or says why it could not be made; then nothing of it is, nor of what comes after it.
    fn change(&mut self, change: &dyn Fn(&mut Value<'static>) -> Result<(), String>) {
        if !self.problem.is_empty() {
            return;
        }
        let mut state = self.state.clone().unwrap_or_default();
        match change(&mut state) {
            Ok(()) => self.state = Some(state),
            Err(problem) => self.problem = problem,
        }
    }

    /// Writes what a snapshot shows: the state without the server's own names.
    pub(super) fn write(&self, turn: &mut ObjectWriter<'_>) {
        if let Some(state) = &self.state {
            turn.raw("agent_state", &public(state).to_json());
        }
        if !self.problem.is_empty() {
            turn.str("agent_state_problem", &self.problem);
        }
        if self.activities.is_empty() {
            return;
        }
        let out = turn.member("activities");
        out.push('[');
        for (at, activity) in self.activities.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            let mut object = ObjectWriter::new(out);
            object.str("message_id", &activity.message_id).str("activity_type", &activity.kind);
            object.str("thread_id", &activity.thread_id);
            let call = object.member("tool_call_id");
            if activity.tool_call_id.is_empty() {
                call.push_str("null");
            } else {
                write_str(call, &activity.tool_call_id);
            }
            object.raw("content", &activity.content.to_json());
            object.end();
        }
        out.push(']');
    }
}

impl EventIndex {
    /// The agent's state as far as it is known, without the names that begin with `__`: those are the
    /// server's own business.
    #[must_use]
    pub fn agent_state(&self) -> Option<serde_json::Value> {
        self.agent.state.as_ref().map(|state| typed(&public(state)))
    }

    /// Why the last change of the agent's state could not be made, if that is so. The state is then as it was
    /// before, until it comes whole again.
    #[must_use]
    pub fn agent_state_problem(&self) -> Option<&str> {
        (!self.agent.problem.is_empty()).then_some(&*self.agent.problem)
    }

    /// The last report on what `message_id` names.
    #[must_use]
    pub fn activity(&self, message_id: &str) -> Option<serde_json::Value> {
        let known = self.agent.activities.iter().find(|activity| activity.message_id == message_id);
        known.map(|activity| typed(&activity.content))
    }

    /// Takes an event of the agent's side.
    pub(super) fn apply_agent(&mut self, event: EventRef<'_>) {
        let fields = event.fields;
        match event.kind {
            EventKind::StateSnapshot => self.agent.snapshot(fields.get("snapshot")),
            EventKind::StateDelta => {
                let delta = fields.array("delta");
                self.agent.change(&|state| patch(state, delta));
            }
            EventKind::ActivitySnapshot => self.report(fields),
            EventKind::ActivityDelta => self.amend_report(fields),
            EventKind::MessagesSnapshot => return self.messages_snapshot(fields),
            EventKind::MessageReset => return self.change(fields, Message::reset),
            _ => return,
        }
        self.changes.turn = true;
    }

    /// Whether a message goes on with a known one, which then has its id.
    pub(super) fn goes_on(&mut self, message: &Object<'_>) -> bool {
        let (id, before) = (message.text("id"), message.text("continues"));
        let slot = self.message_of.get(before).filter(|_| !before.is_empty());
        let Some(slot) = slot.filter(|_| self.message_of.get(id).is_none()) else {
            return false;
        };
        self.message_of.rename(slot, id);
        let slot = slot as usize;
        if let Some(message) = self.messages.get_mut(slot) {
            id.clone_into(&mut message.id);
            message.continued_at = message.text.len();
        }
        self.changes.message(slot, &mut self.messages, true);
        true
    }

    /// Takes what a tool call changed in the state. Where that is not known, it says nothing of the rest of it.
    pub(super) fn track(&mut self, patch: &Object<'_>) {
        if self.agent.state.is_none() {
            return;
        }
        let operations = patch.object("patch").map(|patch| patch.array("ops")).unwrap_or_default();
        let operations = operations.iter().filter_map(Value::as_object);
        self.agent.change(&|state| operations.clone().try_for_each(|operation| operate(state, operation)));
        self.changes.turn = true;
    }

    fn report(&mut self, event: &Object<'_>) {
        let message_id = event.text("message_id");
        let content = owned(event.get("content"));
        let known = self.agent.activities.iter_mut().find(|activity| activity.message_id == message_id);
        match known {
            Some(_) if event.get("replace").is_some_and(|replace| replace.as_bool() == Some(false)) => return,
            Some(activity) => activity.content = content,
            None => self.agent.activities.push(Activity {
                message_id: message_id.to_owned(),
                kind: event.text("activity_type").to_owned(),
                thread_id: event.text("thread_id").to_owned(),
                tool_call_id: event.text("tool_call_id").to_owned(),
                content,
                is_shown: event.text("tool_call_id").is_empty(),
            }),
        }
        self.show_progress(message_id);
    }

    fn amend_report(&mut self, event: &Object<'_>) {
        let message_id = event.text("message_id");
        let delta = event.array("patch");
        let known = self.agent.activities.iter_mut().find(|activity| activity.message_id == message_id);
        if let Some(activity) = known {
            let mut content = activity.content.clone();
            // One that does not fit leaves the report as it was.
            if patch(&mut content, delta).is_ok() {
                activity.content = content;
            }
        }
        self.show_progress(message_id);
    }

    /// A message has changed: its calls show the reports that came before them.
    pub(super) fn show_reports(&mut self, slot: usize) {
        let Some(message) = self.messages.get_mut(slot) else { return };
        let thread_id = self.threads.get(message.thread).map_or("", |thread| &thread.id);
        let waiting = self.agent.activities.iter_mut();
        for activity in waiting.filter(|activity| !activity.is_shown && activity.thread_id == thread_id) {
            if let Some(call) = message.call_mut(&activity.tool_call_id) {
                call.progress = activity.content.to_json();
                activity.is_shown = true;
            }
        }
    }

    /// A call shows the last report on it.
    fn show_progress(&mut self, message_id: &str) {
        let is_it = |activity: &&mut Activity| activity.message_id == message_id;
        let Some(activity) = self.agent.activities.iter_mut().find(is_it) else { return };
        activity.is_shown = activity.tool_call_id.is_empty();
        let (thread_id, call_id) = (activity.thread_id.clone(), activity.tool_call_id.clone());
        // Of several calls of that id it is the newest.
        if let Some(slot) = self.newest_call(&thread_id, &call_id) {
            self.show_reports(slot);
            self.changes.message(slot, &mut self.messages, true);
        }
    }

    /// The messages of this turn become what the server keeps of them.
    fn messages_snapshot(&mut self, event: &Object<'_>) {
        for message in event.array("messages").iter().filter_map(Value::as_object) {
            let known = self.message_of.get(message.text("id")).map(|slot| slot as usize);
            let text = message.get("content").and_then(Value::as_str);
            let (Some(slot), Some(text)) = (known, text) else { continue };
            if let Some(message) = self.messages.get_mut(slot) {
                message.set_text(text);
                self.changes.message(slot, &mut self.messages, true);
            }
        }
    }
}

fn owned(value: Option<&Value<'_>>) -> Value<'static> {
    value.cloned().unwrap_or_default().into_owned()
}

/// The value as Rust users have it.
fn typed(value: &Value<'_>) -> serde_json::Value {
    serde_json::from_str(&value.to_json()).unwrap_or_default()
}

/// A state without the names that begin with `__`; awaken has them in `extensions`.
fn public(state: &Value<'static>) -> Value<'static> {
    shown(state, "extensions")
}

/// A value without such names, also in the member `within`.
fn shown(value: &Value<'static>, within: &str) -> Value<'static> {
    let Value::Object(members) = value else {
        return value.clone();
    };
    let mut shown_members = Object::new();
    for (name, value) in members.iter().filter(|(name, _)| !name.starts_with("__")) {
        let value = if name == within { shown(value, "") } else { value.clone() };
        shown_members.add(name.to_owned(), value);
    }
    Value::Object(shown_members)
}
