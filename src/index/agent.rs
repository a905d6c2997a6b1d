//! The state of an agent, and the reports of its activities.
//!
//! Only some protocols have these.

use crate::event::{EventKind, EventRef};
use crate::json::{Object, ObjectWriter, Value, patch, write_str};
use crate::message::Message;

use super::EventIndex;
use super::operations::apply_operation;

/// The state of an agent and its activities.
#[derive(Debug, Default)]
pub(super) struct Agent {
    /// The state, once it is known.
    state: Option<Value<'static>>,
    /// Why the last change of the state failed; empty if it did not.
    problem: String,
    activities: Vec<Activity>,
}

/// The last report of an activity.
#[derive(Debug)]
struct Activity {
    message_id: String,
    kind: String,
    thread_id: String,
    tool_call_id: String,
    content: Value<'static>,
    /// Whether its call shows it, or it has no call.
    is_linked: bool,
}

impl Agent {
    fn snapshot(&mut self, snapshot: Option<&Value<'_>>) {
        self.state = Some(owned(snapshot));
        self.problem.clear();
    }

    /// Changes the state. If that fails, the state stays as it was, and later changes are ignored until the next snapshot.
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

    /// Writes what a snapshot shows: the state without the server's private names.
    pub(super) fn write(&self, turn: &mut ObjectWriter<'_>) {
        if let Some(state) = &self.state {
            turn.raw("agent_state", &without_private_names(state).to_json());
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
    /// The agent's state, if it is known, without the names that begin with `__`, which are private to the server.
    #[must_use]
    pub fn agent_state(&self) -> Option<serde_json::Value> {
        self.agent.get()?.state.as_ref().map(|state| to_serde(&without_private_names(state)))
    }

    /// Why the last change of the agent's state failed, if it did. The state stays as it was before, until the next
    /// snapshot.
    #[must_use]
    pub fn agent_state_problem(&self) -> Option<&str> {
        self.agent.get().map(|agent| &*agent.problem).filter(|problem| !problem.is_empty())
    }

    /// The last report of the activity with this id.
    #[must_use]
    pub fn activity(&self, message_id: &str) -> Option<serde_json::Value> {
        let known = self.agent.get()?.activities.iter().find(|activity| activity.message_id == message_id);
        known.map(|activity| to_serde(&activity.content))
    }

    /// Takes an event of an agent's state, activities or messages.
    pub(super) fn apply_agent(&mut self, event: EventRef<'_>) {
        let fields = event.fields;
        let Some(agent) = self.agent.get_mut() else { return };
        match event.kind {
            EventKind::StateSnapshot => agent.snapshot(fields.get("snapshot")),
            EventKind::StateDelta => {
                let delta = fields.array("delta");
                agent.change(&|state| patch(state, delta));
            }
            EventKind::ActivitySnapshot => self.snapshot_activity(fields),
            EventKind::ActivityDelta => self.patch_activity(fields),
            EventKind::MessagesSnapshot => return self.messages_snapshot(fields),
            EventKind::MessageReset => return self.change(fields, Message::reset),
            _ => return,
        }
        self.changes.turn = true;
    }

    /// If a message continues a known one, that one gets the new id. Returns whether it does.
    pub(super) fn continue_message(&mut self, message: &Object<'_>) -> bool {
        let (id, before) = (message.text("id"), message.text("continues"));
        let slot = self.message_of.get(before).filter(|_| !before.is_empty());
        let Some(slot) = slot.filter(|_| self.message_of.get(id).is_none()) else {
            return false;
        };
        self.message_of.rename(slot, id);
        let slot = slot as usize;
        if let Some(message) = self.messages.get_mut(slot) {
            id.clone_into(&mut message.id);
            message.content.continued_at = message.content.text.len();
        }
        self.changes.message(slot, &mut self.messages, true);
        true
    }

    /// Takes the changes of a tool call to the state. They are ignored while the state is not known.
    pub(super) fn apply_tracked_patch(&mut self, patch: &Object<'_>) {
        let known = self.agent.get_mut().filter(|agent| agent.state.is_some());
        let Some(agent) = known else { return };
        let operations = patch.object("patch").map(|patch| patch.array("ops")).unwrap_or_default();
        let operations = operations.iter().filter_map(Value::as_object);
        agent.change(&|state| operations.clone().try_for_each(|operation| apply_operation(state, operation)));
        self.changes.turn = true;
    }

    fn snapshot_activity(&mut self, event: &Object<'_>) {
        let message_id = event.text("message_id");
        let content = owned(event.get("content"));
        let Some(Agent { activities, .. }) = self.agent.get_mut() else { return };
        match activities.iter_mut().find(|activity| activity.message_id == message_id) {
            Some(_) if event.get("replace").is_some_and(|replace| replace.as_bool() == Some(false)) => return,
            Some(activity) => activity.content = content,
            None => activities.push(Activity {
                message_id: message_id.to_owned(),
                kind: event.text("activity_type").to_owned(),
                thread_id: event.text("thread_id").to_owned(),
                tool_call_id: event.text("tool_call_id").to_owned(),
                content,
                is_linked: event.text("tool_call_id").is_empty(),
            }),
        }
        self.update_progress(message_id);
    }

    fn find_activity(&mut self, message_id: &str) -> Option<&mut Activity> {
        self.agent.get_mut()?.activities.iter_mut().find(|activity| activity.message_id == message_id)
    }

    fn patch_activity(&mut self, event: &Object<'_>) {
        let message_id = event.text("message_id");
        let delta = event.array("patch");
        if let Some(activity) = self.find_activity(message_id) {
            let mut content = activity.content.clone();
            // A patch that does not fit leaves the report as it was.
            if patch(&mut content, delta).is_ok() {
                activity.content = content;
            }
        }
        self.update_progress(message_id);
    }

    /// A message has changed: links its calls to reports that were received earlier.
    pub(super) fn link_activities(&mut self, slot: usize) {
        let Some(message) = self.messages.get_mut(slot) else { return };
        let thread_id = self.threads.get(message.thread).map_or("", |thread| &thread.id);
        let Some(Agent { activities, .. }) = self.agent.get_mut() else { return };
        for activity in
            activities.iter_mut().filter(|activity| !activity.is_linked && activity.thread_id == thread_id)
        {
            if let Some(call) = message.call_mut(&activity.tool_call_id) {
                call.progress = activity.content.to_json();
                activity.is_linked = true;
            }
        }
    }

    /// Shows a report in its call.
    fn update_progress(&mut self, message_id: &str) {
        let Some(activity) = self.find_activity(message_id) else { return };
        activity.is_linked = activity.tool_call_id.is_empty();
        let (thread_id, call_id) = (activity.thread_id.clone(), activity.tool_call_id.clone());
        // Of several calls with that id, the newest counts.
        if let Some(slot) = self.newest_call(&thread_id, &call_id) {
            self.link_activities(slot);
            self.changes.message(slot, &mut self.messages, true);
        }
    }

    /// Replaces the contents of this turn's messages by those in the server's record, which may lack some.
    fn messages_snapshot(&mut self, event: &Object<'_>) {
        for message in event.array("messages").iter().filter_map(Value::as_object) {
            let known = self.message_of.get(message.text("id")).map(|slot| slot as usize);
            let text = message.text("content");
            let Some(slot) = known.filter(|_| !text.is_empty()) else { continue };
            if let Some(message) = self.messages.get_mut(slot) {
                message.replace_content(text);
                self.changes.message(slot, &mut self.messages, true);
            }
        }
    }
}

fn owned(value: Option<&Value<'_>>) -> Value<'static> {
    value.cloned().unwrap_or_default().into_owned()
}

/// The value as a type of serde.
fn to_serde(value: &Value<'_>) -> serde_json::Value {
    serde_json::from_str(&value.to_json()).unwrap_or_default()
}

/// A state without the names that begin with `__`; awaken has such names in `extensions`, too.
fn without_private_names(state: &Value<'static>) -> Value<'static> {
    without_private_names_in(state, "extensions")
}

/// A value without the names that begin with `__`, also in its member `within`.
fn without_private_names_in(value: &Value<'static>, within: &str) -> Value<'static> {
    let Value::Object(members) = value else {
        return value.clone();
    };
    let mut shown_members = Object::new();
    for (name, value) in members.iter().filter(|(name, _)| !name.starts_with("__")) {
        let value = if name == within { without_private_names_in(value, "") } else { value.clone() };
        shown_members.add(name.to_owned(), value);
    }
    Value::Object(shown_members)
}
