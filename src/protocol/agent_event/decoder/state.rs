//! Changes of the agent's state, and the session's messages. tirea's own runtime sends neither (section 1.3).

use crate::json::{Object, Value};
use crate::protocol::EventSink;

use super::Run;
use super::fields::{Problem, check_list, check_patch, take};

impl Run {
    pub(super) fn state_delta(
        &mut self,
        fields: &mut Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        check_patch(fields, "delta")?;
        let mut event = self.turn_event("state.delta");
        event.set("delta", take(fields, "delta")?);
        self.emit(&event, sink);
        Ok(())
    }

    pub(super) fn messages_snapshot(
        &mut self,
        fields: &mut Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let is_message = |message: &Value<'_>| {
            message.as_object().is_some_and(|message| {
                message.get("role").is_some_and(Value::is_string) && message.contains("content")
            })
        };
        check_list(fields, "messages", is_message, "a list of messages")?;
        let mut event = self.turn_event("messages.snapshot");
        event.set("messages", take(fields, "messages")?);
        self.emit(&event, sink);
        Ok(())
    }
}
