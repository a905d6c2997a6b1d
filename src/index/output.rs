//! Events of the output of calls.

use crate::features::ToolOutputs;
use crate::json::{Object, Value};

use super::EventIndex;

impl EventIndex {
    /// Takes output of a call (`tool.output`).
    pub(super) fn tool_output(&mut self, event: &Object<'_>) {
        let call_id = event.text("tool_call_id");
        let slot = self.newest_call(event.text("thread_id"), call_id);
        let Some(slot) = slot.filter(|_| ToolOutputs::EXISTS) else { return };
        let call = self.messages.get_mut(slot).and_then(|message| message.call_mut(call_id));
        if let Some(output) = call.and_then(|call| call.output.get_mut()) {
            let replaces = event.get("replace").and_then(Value::as_bool) == Some(true);
            output.push(event.text("stream"), event.text("delta"), replaces);
        }
        self.changes.message(slot, &mut self.messages, true);
    }
}
