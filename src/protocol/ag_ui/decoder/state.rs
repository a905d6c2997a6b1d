//! The agent's state, and reports of its activities (section 6).

use crate::json::{Object, Value, patch};
use crate::protocol::EventSink;

use super::{Problem, Run, event, missing, put, with_text};

/// The operations of JSON Patch (RFC 6902). Others are omitted.
const OPERATIONS: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];

impl Run {
    /// Sets the state.
    pub(super) fn tell_state(&mut self, state: Value<'static>, sink: &mut dyn EventSink) {
        let mut event = event("state.snapshot", self.next_id(), "");
        event.set("snapshot", state.clone());
        self.conversation.state = Some(state);
        self.emit(&event, sink);
    }

    /// Changes the state. An invalid change has no effect.
    pub(super) fn state_delta(
        &mut self,
        fields: &mut Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let delta = operations(fields, "delta")?;
        let is_known = self.conversation.state.is_some();
        let mut state = self.conversation.state.clone().unwrap_or_else(|| Object::new().into());
        if let Err(problem) = patch(&mut state, &delta) {
            let details = with_text("problem", &problem);
            self.notice(
                "warning",
                "state_delta_failed",
                "a change of the state does not fit",
                Some(details.into()),
                sink,
            );
            return Ok(());
        }
        if !is_known {
            // The change applies to an empty state.
            self.tell_state(Object::new().into(), sink);
        }
        self.conversation.state = Some(state);
        let mut event = event("state.delta", self.next_id(), "");
        event.set("delta", delta.into());
        self.emit(&event, sink);
        Ok(())
    }

    /// Takes a report of an activity, or a change of one.
    pub(super) fn activity(
        &mut self,
        fields: &mut Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let (kind, name, content) = if fields.text("type") == "ACTIVITY_DELTA" {
            ("activity.delta", "patch", operations(fields, "patch")?.into())
        } else {
            let content = fields.get_mut("content").map(std::mem::take);
            ("activity.snapshot", "content", content.ok_or_else(|| missing("content"))?)
        };
        let thread_id = self.thread_of(fields, sink);
        let mut report = event(kind, self.next_id(), &thread_id);
        for (name, from) in [("message_id", "messageId"), ("activity_type", "activityType")] {
            put(&mut report, name, fields.text(from));
        }
        report.set(name, content);
        if let Some(replace) = fields.get("replace").and_then(Value::as_bool) {
            report.set("replace", replace.into());
        }
        self.emit(&report, sink);
        Ok(())
    }
}

/// The known operations of a patch. Each must have its required members.
pub(super) fn operations(fields: &Object<'_>, name: &str) -> Result<Vec<Value<'static>>, Problem> {
    let all = fields.get(name).and_then(Value::as_array);
    let all = all.ok_or_else(|| super::missing(name))?;
    let known = |operation: &&Value<'_>| {
        let kind = operation.as_object().map_or("", |operation| operation.text("op"));
        OPERATIONS.contains(&kind) || kind.is_empty()
    };
    let kept: Vec<_> = all.iter().filter(known).cloned().map(Value::into_owned).collect();
    let is_whole = |operation: &Value<'_>| {
        let Some(operation) = operation.as_object() else { return false };
        let has_text = |name| operation.get(name).is_some_and(Value::is_string);
        has_text("path")
            && match operation.text("op") {
                "add" | "replace" | "test" => operation.contains("value"),
                "move" | "copy" => has_text("from"),
                kind => kind == "remove",
            }
    };
    if kept.iter().all(is_whole) {
        return Ok(kept);
    }
    Err(crate::protocol::fields::wrong(name, "a list of RFC 6902 operations"))
}
