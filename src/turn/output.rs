//! What a reader returns to its caller: records of events and frames, and the JSON of the turn's beginning and end.

use crate::delivery::EventBatch;
use crate::event::{EventKind, EventRef, TextDelta};
use crate::json::{Object, Value};

/// What the caller takes.
#[derive(Default)]
pub(super) struct Output {
    pub(super) batch: EventBatch,
    pub(super) wants_events: bool,
    pub(super) wants_native: bool,
    /// The JSON of `turn.created`, until it is taken.
    pub(super) created: Option<String>,
    /// The JSON of the terminal state, until it is taken.
    pub(super) state: Option<String>,
}

impl Output {
    /// Adds a delta.
    #[inline]
    pub(super) fn delta(&mut self, sequence_number: u64, delta: &TextDelta<'_>) {
        if self.wants_events {
            self.batch.delta(sequence_number, delta);
        }
    }

    /// Adds any other event.
    pub(super) fn event(&mut self, sequence_number: u64, event: EventRef<'_>) {
        match event.kind {
            EventKind::TurnCreated => self.created = Some(event.fields.to_json()),
            EventKind::TurnDone => self.state = Some(event.fields.json("state")),
            _ => {}
        }
        if self.wants_events {
            self.batch.event(sequence_number, event.fields);
        }
    }

    /// Adds a frame unchanged: its data, and its name if the type is only there.
    pub(super) fn native(&mut self, name: Option<&str>, data: &str) {
        if !self.wants_native {
            return;
        }
        match name {
            Some(name) => {
                let mut frame = Object::new();
                frame.set("event", name.to_owned().into());
                frame.set("data", Value::parse(data).unwrap_or_else(|_| data.into()));
                self.batch.native(&frame.to_json());
            }
            None => self.batch.native(data),
        }
    }
}
