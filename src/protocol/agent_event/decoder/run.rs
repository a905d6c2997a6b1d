//! The state of a run: its identity, and the messages, calls and reports that later frames refer to.

use crate::event::EventRef;
use crate::index::MAIN_THREAD;
use crate::iso::iso;
use crate::json::{Object, Value, write_u64};
use crate::protocol::EventSink;

use super::activity::Activities;
use super::calls::Call;
use super::ending::{Failure, Totals};
use super::fields::{Problem, event, missing, optional_text, put, with_text};
use super::messages::Message;
use super::nested::Lineage;
use super::waiting::Waiting;

/// The state of a run.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// The number of events so far.
    given: u64,
    /// The run's id, once the stream has sent it.
    pub(super) id: String,
    /// The run's thread on the server: turnwire's session.
    pub(super) session: String,
    /// The last message that began.
    pub(super) message: Option<Message>,
    pub(super) calls: Vec<Call>,
    /// The waiting calls.
    pub(super) waiting: Vec<Waiting>,
    pub(super) activities: Activities,
    pub(super) lineage: Lineage,
    /// The last `error` of the run.
    pub(super) failure: Option<Failure>,
    pub(super) totals: Totals,
}

/// The fields of a frame besides its payload. Only the envelopes of a run's beginning and end are reliable (section
/// 1.2).
pub(super) struct Head {
    /// Whether it is a frame of awaken.
    pub(super) is_flat: bool,
    pub(super) run_id: String,
    pub(super) thread_id: String,
    /// Milliseconds since 1970.
    pub(super) timestamp: Option<u64>,
}

impl Head {
    pub(super) fn of(is_flat: bool, root: &Object<'_>) -> Self {
        Self {
            is_flat,
            run_id: root.text("run_id").to_owned(),
            thread_id: root.text("thread_id").to_owned(),
            timestamp: root.get("timestamp_ms").and_then(Value::as_u64),
        }
    }

    /// Sets the event's time of creation, if the frame has it.
    pub(super) fn stamp(&self, event: &mut Object<'_>, name: &'static str) {
        if let Some(timestamp) = self.timestamp {
            event.set(name, iso(timestamp).into());
        }
    }
}

impl Run {
    /// The number of the next event.
    pub(super) fn next_number(&mut self) -> u64 {
        self.given += 1;
        self.given
    }

    /// The id of the next event, if it has none of its own.
    pub(super) fn next_id(&self) -> String {
        let mut id = self.id.clone();
        id.push(':');
        write_u64(&mut id, self.given + 1);
        id
    }

    /// The beginning of the next event, in the main thread.
    pub(super) fn main_event<'a>(&self, kind: &'static str) -> Object<'a> {
        event(kind, self.next_id(), MAIN_THREAD)
    }

    /// The beginning of the next event, if it belongs to the whole turn.
    pub(super) fn turn_event<'a>(&self, kind: &'static str) -> Object<'a> {
        event(kind, self.next_id(), "")
    }

    /// Emits an event.
    pub(super) fn give(&mut self, event: &Object<'_>, sink: &mut dyn EventSink) {
        let number = self.next_number();
        sink.event(number, EventRef::of(event));
    }

    /// Emits an event for data that could not be read.
    pub(super) fn unknown(
        &mut self,
        wire_type: Option<String>,
        raw: Value<'_>,
        problem: Option<String>,
        sink: &mut dyn EventSink,
    ) {
        self.flush(sink);
        let mut event = with_text("type", "unknown");
        event.set("wire_type", wire_type.map_or(Value::Null, Value::from));
        event.set("raw", raw);
        if let Some(problem) = problem {
            event.set("problem", problem.into());
        }
        self.give(&event, sink);
    }

    /// The run begins. A suspended one continues under its id (section 5) and is not reported again. Another run's
    /// beginning is passed on, so that the reader of the stream can see it.
    pub(super) fn run_start(
        &mut self,
        head: &Head,
        fields: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let parent = optional_text(fields, "parent_run_id")?;
        if head.run_id.is_empty() {
            return Err(missing("run_id"));
        }
        if self.id == head.run_id {
            self.failure = None;
            return Ok(());
        }
        if self.id.is_empty() {
            self.id.clone_from(&head.run_id);
            self.session.clone_from(&head.thread_id);
        }
        let mut created = self.turn_event("turn.created");
        put(&mut created, "turn_id", &head.run_id);
        created.set("previous_turn_id", parent.map_or(Value::Null, |parent| parent.to_owned().into()));
        head.stamp(&mut created, "created_at");
        created.set("input", Vec::new().into());
        created.set("state", with_text("status", "running").into());
        self.give(&created, sink);
        Ok(())
    }
}
