//! Events of the output of calls.

use crate::json::{Object, Value};

use super::EventIndex;

impl EventIndex {
    /// Takes output of a call (`tool.output`).
    pub(super) fn tool_output(&mut self, event: &Object<'_>) {
        let call_id = event.text("tool_call_id");
        let Some(slot) = self.newest_call(event.text("thread_id"), call_id) else { return };
        if let Some(call) = self.messages.get_mut(slot).and_then(|message| message.call_mut(call_id)) {
            let replaces = event.get("replace").and_then(Value::as_bool) == Some(true);
            call.output.push(event.text("stream"), event.text("delta"), replaces);
        }
        self.changes.message(slot, &mut self.messages, true);
    }
}
