//! Reports of activities. Combines the many frames of one report.
//!
//! tirea sends a report once for each of its fields, in alphabetical order (section 1.6). The first report grows from
//! one field to all fields. A later report changes field by field; until its last frame, in which `updated_at_ms`
//! changes, it is partly the report before. Such frames are held, and a newer one replaces the one before, until that
//! last frame comes, anything else happens, or the stream ends. Reports of different activities do not wait for each
//! other: tools that run at the same time send theirs interleaved.

use crate::json::{Object, Value};
use crate::protocol::EventSink;

use super::fields::{Problem, check_patch, event, missing, put, take, text};
use super::nested::call_in;
use super::run::Run;

/// The most activities that are remembered.
const MAX_ACTIVITIES: usize = 256;

/// The fields of a report before `updated_at_ms`, in their order (`tool-call-progress.v1`).
const SEED: [&str; 15] = [
    "call_id",
    "loaded",
    "message",
    "node_id",
    "parent_call_id",
    "parent_node_id",
    "parent_run_id",
    "progress",
    "run_id",
    "schema",
    "status",
    "thread_id",
    "tool_name",
    "total",
    "type",
];

/// The state of all activities.
#[derive(Debug, Default)]
pub(super) struct Activities {
    known: Vec<Activity>,
    /// Whether a report may be held.
    is_holding: bool,
}

/// An activity with at least one report.
#[derive(Debug)]
struct Activity {
    message_id: String,
    /// `updated_at_ms` of the last emitted report, as it was written.
    updated_at: String,
    /// The fields of the held frame.
    held: Option<Object<'static>>,
}

impl Run {
    /// Emits the held reports.
    #[inline]
    pub(super) fn flush(&mut self, sink: &mut dyn EventSink) {
        if self.activities.is_holding {
            self.give_held(sink);
        }
    }

    #[cold]
    fn give_held(&mut self, sink: &mut dyn EventSink) {
        self.activities.is_holding = false;
        for at in 0..self.activities.known.len() {
            let held = self.activities.known.get_mut(at).and_then(|activity| activity.held.take());
            if let Some(fields) = held {
                self.give_activity(fields, sink);
            }
        }
    }

    pub(super) fn activity_snapshot(
        &mut self,
        fields: &mut Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let message_id = text(fields, "message_id")?;
        text(fields, "activity_type")?;
        let content = fields.get("content").ok_or_else(|| missing("content"))?;
        let updated_at = content.get("updated_at_ms").and_then(Value::number_text);
        let is_whole = match updated_at {
            Some(updated_at) => {
                self.activities.of(message_id).is_none_or(|known| known.updated_at != updated_at)
            }
            None => !is_beginning(content),
        };
        // A report that counts only while none is known must not be replaced by a later one.
        let is_held = !is_whole && fields.get("replace").and_then(Value::as_bool) != Some(false);
        if self.activities.of(message_id).is_none() {
            self.remember_activity(message_id, sink);
        }
        let updated_at = updated_at.map(str::to_owned);
        let message_id = message_id.to_owned();
        let fields = std::mem::take(fields);
        let Some(activity) = self.activities.of(&message_id) else { return Ok(()) };
        if is_held {
            activity.held = Some(fields.into_owned());
            self.activities.is_holding = true;
            return Ok(());
        }
        activity.held = None;
        if let Some(updated_at) = updated_at {
            activity.updated_at = updated_at;
        }
        self.give_activity(fields, sink);
        Ok(())
    }

    fn remember_activity(&mut self, message_id: &str, sink: &mut dyn EventSink) {
        if self.activities.known.len() == MAX_ACTIVITIES {
            let forgotten = self.activities.known.remove(0);
            if let Some(fields) = forgotten.held {
                self.give_activity(fields, sink);
            }
        }
        let message_id = message_id.to_owned();
        self.activities.known.push(Activity { message_id, updated_at: String::new(), held: None });
    }

    fn give_activity(&mut self, mut fields: Object<'_>, sink: &mut dyn EventSink) {
        let message_id = fields.text("message_id").to_owned();
        let content = fields.get_mut("content").map(std::mem::take).unwrap_or_default();
        let call_id = self.call_of(&message_id, &content);
        let thread_id = self.thread_of_report(&call_id, &content, sink);
        let mut report = event("activity.snapshot", self.next_id(), &thread_id);
        put(&mut report, "message_id", &message_id);
        put(&mut report, "activity_type", fields.text("activity_type"));
        report.set("content", content);
        if let Some(replace) = fields.get("replace").and_then(Value::as_bool) {
            report.set("replace", replace.into());
        }
        if !call_id.is_empty() {
            put(&mut report, "tool_call_id", &call_id);
        }
        self.give(&report, sink);
        if let Some(content) = report.object("content") {
            self.nested_report(&call_id, content, sink);
        }
    }

    /// The call of a report; empty if it has none.
    fn call_of(&self, message_id: &str, content: &Value<'_>) -> String {
        let said = content.as_object().map_or("", |content| content.text("call_id"));
        let in_id = call_in(message_id);
        if !said.is_empty() {
            said.to_owned()
        } else if !in_id.is_empty() {
            in_id.to_owned()
        } else if self.call(message_id).is_some() {
            message_id.to_owned()
        } else {
            String::new()
        }
    }

    pub(super) fn activity_delta(
        &mut self,
        fields: &mut Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let message_id = text(fields, "message_id")?.to_owned();
        let activity_type = text(fields, "activity_type")?.to_owned();
        check_patch(fields, "patch")?;
        let thread_id = self.thread_of_call(call_in(&message_id));
        let mut change = event("activity.delta", self.next_id(), &thread_id);
        change.set("message_id", message_id.into());
        change.set("activity_type", activity_type.into());
        change.set("patch", take(fields, "patch")?);
        self.give(&change, sink);
        Ok(())
    }
}

impl Activities {
    fn of(&mut self, message_id: &str) -> Option<&mut Activity> {
        self.known.iter_mut().rev().find(|activity| activity.message_id == message_id)
    }
}

/// Whether a report is the beginning of one that comes field by field.
pub(super) fn is_beginning(content: &Value<'_>) -> bool {
    let Some(content) = content.as_object() else { return false };
    let is_in_order = content.iter().zip(SEED).all(|((name, _), seed)| name == seed);
    is_in_order && !content.is_empty() && content.len() <= SEED.len()
}
