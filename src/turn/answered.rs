//! A turn that continues under its id after answers. Events from before the pause, and events that only describe the
//! answered calls, are not delivered.

use crate::event::{EventKind, EventRef, TextDelta};
use crate::json::{Object, Value};
use crate::names::Names;
use crate::protocol::EventSink;

use crate::features::SeparateAnswers;

/// The answered calls with which the turn has not continued yet, by thread and id. A turn that continues with one call
/// may report in between that it waits for another.
#[derive(Debug)]
pub(super) struct AnsweredCalls {
    _by: SeparateAnswers,
    calls: Vec<(String, String)>,
    /// The last pause that was not delivered, and its number.
    pause: Option<(u64, Object<'static>)>,
}

impl AnsweredCalls {
    pub(super) fn new(by: SeparateAnswers, calls: Vec<(String, String)>) -> Self {
        Self { _by: by, calls, pause: None }
    }

    pub(super) fn add(&mut self, calls: Vec<(String, String)>) {
        self.calls.extend(calls);
    }

    /// Removes calls whose answers the server refused. Returns the pause that was not delivered because of them.
    pub(super) fn remove(&mut self, calls: &[(String, String)]) -> Option<(u64, Object<'static>)> {
        self.calls.retain(|call| !calls.contains(call));
        self.pause.take()
    }

    /// Whether an event says only that the turn waits for such calls. Removes the calls with which the turn continues.
    pub(super) fn explains(&mut self, sequence_number: u64, event: EventRef<'_>) -> bool {
        if self.calls.is_empty() {
            return false;
        }
        let fields = event.fields;
        match event.kind {
            EventKind::ToolResumed | EventKind::ToolResponse | EventKind::ToolCancelled => {
                let (thread_id, call_id) = (fields.text("thread_id"), fields.text("tool_call_id"));
                self.calls.retain(|(thread, call)| thread != thread_id || call != call_id);
                false
            }
            EventKind::ToolApprovalRequired | EventKind::ToolResponseRequired => self.has_all(fields),
            EventKind::TurnDone => {
                let is_explained = fields.object("state").is_some_and(|state| self.explain(state));
                self.pause = is_explained.then(|| (sequence_number, fields.clone().into_owned()));
                is_explained
            }
            _ => false,
        }
    }

    /// Whether a turn in this state waits only for such calls.
    pub(super) fn explain(&self, state: &Object<'_>) -> bool {
        let actions = state.array("required_actions");
        let is_answered = |action: &Value<'_>| action.as_object().is_some_and(|action| self.has_all(action));
        state.text("status") == "done" && !actions.is_empty() && actions.iter().all(is_answered)
    }

    fn has_all(&self, action: &Object<'_>) -> bool {
        let (thread_id, calls) = (action.text("thread_id"), action.array("tool_calls"));
        let is_answered = |call: &Value<'_>| {
            let id = call.as_object().map_or("", |call| call.text("id"));
            self.calls.iter().any(|(thread, known)| thread == thread_id && known == id)
        };
        !calls.is_empty() && calls.iter().all(is_answered)
    }
}

/// Notes events that are not delivered.
pub(super) struct Skim<'s> {
    /// The ids of the events that came.
    pub(super) seen: &'s mut Names,
    /// The number of the last event.
    pub(super) last: u64,
}

impl EventSink for Skim<'_> {
    fn delta(&mut self, sequence_number: u64, _: TextDelta<'_>) {
        self.last = sequence_number;
    }

    fn event(&mut self, sequence_number: u64, event: EventRef<'_>) {
        self.last = sequence_number;
        self.seen.number(event.fields.text("id"));
    }
}
