//! A turn that goes on under its id after answers: what it said before, and what it still says of the calls that
//! were answered, is not for whoever sent the answers.

use crate::event::{EventKind, EventRef, TextDelta};
use crate::json::{Object, Value};
use crate::names::Names;
use crate::protocol::EventSink;

/// The calls that were answered, and of which the turn has not said that it goes on with them: their threads and
/// ids. A turn that goes on with one call may say in between that it waits for another.
#[derive(Debug, Default)]
pub(super) struct AnsweredCalls(Vec<(String, String)>);

impl AnsweredCalls {
    pub(super) fn new(calls: Vec<(String, String)>) -> Self {
        Self(calls)
    }

    pub(super) fn add(&mut self, calls: Vec<(String, String)>) {
        self.0.extend(calls);
    }

    /// Whether an event says nothing but that the turn waits for such calls. Takes calls off the list with
    /// which it goes on.
    pub(super) fn explains(&mut self, event: EventRef<'_>) -> bool {
        if !cfg!(feature = "agent-event") || self.0.is_empty() {
            return false;
        }
        let fields = event.fields;
        match event.kind {
            EventKind::ToolResumed | EventKind::ToolResponse | EventKind::ToolCancelled => {
                let (thread_id, call_id) = (fields.text("thread_id"), fields.text("tool_call_id"));
                self.0.retain(|(thread, call)| thread != thread_id || call != call_id);
                false
            }
            EventKind::ToolApprovalRequired | EventKind::ToolResponseRequired => self.are_all(fields),
            EventKind::TurnDone => fields.object("state").is_some_and(|state| self.explain(state)),
            _ => false,
        }
    }

    /// Whether a turn in this state waits for such calls, and for nothing else.
    pub(super) fn explain(&self, state: &Object<'_>) -> bool {
        let actions = state.array("required_actions");
        let is_one = |action: &Value<'_>| action.as_object().is_some_and(|action| self.are_all(action));
        state.text("status") == "done" && !actions.is_empty() && actions.iter().all(is_one)
    }

    fn are_all(&self, action: &Object<'_>) -> bool {
        let (thread_id, calls) = (action.text("thread_id"), action.array("tool_calls"));
        let is_one = |call: &Value<'_>| {
            let id = call.as_object().map_or("", |call| call.text("id"));
            self.0.iter().any(|(thread, known)| thread == thread_id && known == id)
        };
        !calls.is_empty() && calls.iter().all(is_one)
    }
}

/// Notes what is not delivered.
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
