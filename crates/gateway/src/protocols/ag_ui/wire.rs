//! The way of one run's events: through the requested habits into its log.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::conversation::Conversation;
use super::event::{Event, Frame, write_json};
use super::habits::{Context, Habit, habits};
use super::traps::{NULLS, SECONDS};
use crate::faults::Traps;
use crate::store::EventLog;

/// The outgoing events of one run.
pub(super) struct Wire {
    log: Arc<EventLog>,
    /// The messages of the thread, including those of this run.
    pub(super) conversation: Conversation,
    /// The state of the thread.
    pub(super) state: Value,
    habits: Vec<Box<dyn Habit>>,
    in_seconds: bool,
    with_nulls: bool,
}

/// Fields that any event may have, and that are null where absent.
const NULLABLE: [&str; 2] = ["timestamp", "rawEvent"];

impl Wire {
    /// `answered` are the calls whose answers the run begins with.
    pub(super) fn new(
        log: Arc<EventLog>,
        conversation: Conversation,
        state: Value,
        traps: &Traps,
        answered: &[String],
    ) -> Self {
        Self {
            log,
            conversation,
            state,
            habits: habits(traps, answered),
            in_seconds: traps.has(&SECONDS),
            with_nulls: traps.has(&NULLS),
        }
    }

    /// Sends an event, and applies it to messages and state.
    pub(super) fn send(&mut self, frame: impl Into<Frame>) {
        let mut frame = frame.into();
        frame.timestamp = Some(self.now());
        self.conversation.apply(&frame);
        match &frame.event {
            Event::StateSnapshot { snapshot } => self.state = snapshot.clone(),
            Event::StateDelta { delta } => {
                // A patch that fails changes nothing.
                if let Ok(patch) = serde_json::from_value::<json_patch::Patch>(delta.clone()) {
                    let _ = json_patch::patch(&mut self.state, &patch);
                }
            }
            _ => {}
        }
        if self.habits.is_empty() {
            return self.write(&frame);
        }
        let context = Context { conversation: &self.conversation, state: &self.state };
        let mut frames = vec![frame];
        for habit in &mut self.habits {
            let mut changed = Vec::with_capacity(frames.len());
            for frame in frames {
                habit.pass(frame, &context, &mut changed);
            }
            frames = changed;
        }
        for frame in frames {
            self.write(&frame);
        }
    }

    fn now(&self) -> i64 {
        let now = crate::time::now();
        if self.in_seconds { now.as_second() } else { now.as_millisecond() }
    }

    fn write(&self, frame: &Frame) {
        if !self.with_nulls {
            return self.log.append(|_, bytes| frame.write(bytes));
        }
        let mut event = match serde_json::to_value(frame) {
            Ok(Value::Object(event)) => event,
            _ => Map::new(),
        };
        for name in NULLABLE {
            event.entry(name).or_insert(Value::Null);
        }
        let more: &[&str] = match &frame.event {
            Event::RunFinished { .. } => &["result", "outcome"],
            Event::RunError { .. } => &["code"],
            Event::Call(_) => &["parentMessageId"],
            Event::Message(_) => &["name"],
            _ => &[],
        };
        for name in more {
            event.entry(*name).or_insert(Value::Null);
        }
        self.log.append(|_, bytes| write_json(&event, bytes));
    }

    /// Writes the error of an encoder, which is not an event of the protocol.
    pub(super) fn write_error_event(&self, message: &str) {
        self.log.append(|_, bytes| {
            bytes.extend_from_slice(b"event: error\n");
            write_json(&serde_json::json!({"error": message}), bytes);
        });
    }

    pub(super) fn close(&self) {
        self.log.close();
    }
}
