//! The beginning of a run, and the fields of a frame besides its payload.

use crate::iso::iso;
use crate::json::{Object, Value};
use crate::protocol::EventSink;

use super::Run;
use super::fields::{Problem, missing, optional_text, put, with_text};

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
        self.emit(&created, sink);
        Ok(())
    }
}
