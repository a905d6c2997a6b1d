//! Steps → messages: text, reasoning, and the end of the model's message.

use crate::event::{MAIN_THREAD, TextDelta, TextField};
use crate::json::{Object, Value};
use crate::protocol::EventSink;

use super::Run;
use super::fields::{Problem, event, optional_text, put, text, wrong};

/// The message of a step.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) id: String,
    /// Whether a step began it. Deltas without a step belong to a message that the decoder adds.
    is_step: bool,
    /// Whether its step has not ended.
    pub(super) is_open: bool,
    /// Whether the model has finished it.
    pub(super) is_finished: bool,
    /// The number of its calls so far: the index of the next one.
    pub(super) calls: u32,
}

impl Run {
    /// A step begins. If the model did not finish the step before, this is another attempt at the same message (section
    /// 1.5). The text so far stays. But if a call had begun, the whole attempt is discarded, since the server does not
    /// keep it either.
    pub(super) fn step_start(
        &mut self,
        fields: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let id = optional_text(fields, "message_id")?.unwrap_or_default().to_owned();
        let before = self.message.as_ref().filter(|message| !message.is_finished);
        let mut before = before.map(|message| (message.id.clone(), message.is_step));
        if before.as_ref().is_some_and(|(_, is_step)| !is_step) {
            self.finish_message("stop", sink);
            before = None;
        }
        let id = if id.is_empty() { self.next_id() } else { id };
        match before {
            Some((before, _)) if before != id => {
                let is_void = self.has_begun_calls(&before);
                self.continue_message(id, before, sink);
                if is_void {
                    self.reset_message("the step was retried", sink);
                }
            }
            _ => self.begin_message(id, true, sink),
        }
        Ok(())
    }

    fn begin_message(&mut self, id: String, is_step: bool, sink: &mut dyn EventSink) {
        self.forget_calls(&id);
        self.emit_message(&id, None, sink);
        self.message = Some(Message { id, is_step, is_open: true, is_finished: false, calls: 0 });
    }

    fn continue_message(&mut self, id: String, before: String, sink: &mut dyn EventSink) {
        self.move_calls(&before, &id);
        self.emit_message(&id, Some(before), sink);
        if let Some(message) = &mut self.message {
            message.id = id;
            message.is_open = true;
        }
    }

    fn emit_message(&mut self, id: &str, continues: Option<String>, sink: &mut dyn EventSink) {
        let mut message = event("model.message", id.to_owned(), MAIN_THREAD);
        if let Some(continues) = continues {
            message.set("continues", continues.into());
        }
        message.set("content", "".into());
        self.emit(&message, sink);
    }

    pub(super) fn step_end(&mut self) {
        if let Some(message) = &mut self.message {
            message.is_open = false;
        }
    }

    /// Whether the model is writing. Tools run when it has finished.
    pub(super) fn is_speaking(&self) -> bool {
        self.message.as_ref().is_some_and(|message| message.is_open && !message.is_finished)
    }

    /// The id of the last message that began; adds a message if there is none.
    pub(super) fn message_id(&mut self, sink: &mut dyn EventSink) -> String {
        if self.message.is_none() {
            self.begin_message(self.next_id(), false, sink);
        }
        self.message.as_ref().map_or_else(String::new, |message| message.id.clone())
    }

    /// A delta outside the hot path.
    pub(super) fn any_delta(
        &mut self,
        wire_type: &str,
        fields: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let field = match wire_type {
            "text_delta" => DeltaField::Content,
            "reasoning_delta" => DeltaField::Reasoning,
            _ => DeltaField::Arguments,
        };
        let (call_id, piece) = match field {
            DeltaField::Arguments => (text(fields, "id")?, text(fields, "args_delta")?),
            _ => ("", text(fields, "delta")?),
        };
        self.delta(field, call_id, piece, sink)
    }

    /// A piece of text: the hot path. Outside a step it belongs to a message that the decoder adds.
    pub(super) fn delta(
        &mut self,
        field: DeltaField,
        call_id: &str,
        text: &str,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let field = match field {
            DeltaField::Arguments => return self.arguments(call_id, text, sink),
            DeltaField::Content => TextField::Content,
            DeltaField::Reasoning => TextField::Reasoning,
        };
        if self.message.as_ref().is_none_or(|message| message.is_finished && !message.is_open) {
            self.begin_message(self.next_id(), false, sink);
        }
        let sequence_number = self.next_number();
        if let Some(message) = &self.message {
            let (id, thread_id) = (&*message.id, MAIN_THREAD);
            sink.delta(
                sequence_number,
                TextDelta { id, thread_id, created_at: None, field, text, others: None, source: 0 },
            );
        }
        Ok(())
    }

    /// Opaque reasoning data that the provider needs to get back.
    pub(super) fn reasoning_encrypted(
        &mut self,
        fields: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let value = text(fields, "encrypted_value")?;
        let mut delta = self.message_delta(sink);
        put(&mut delta, "reasoning_encrypted", value);
        self.emit(&delta, sink);
        Ok(())
    }

    /// The beginning of a delta of the last message that began.
    fn message_delta<'a>(&mut self, sink: &mut dyn EventSink) -> Object<'a> {
        event("model.message.delta", self.message_id(sink), MAIN_THREAD)
    }

    /// The model has finished its message.
    pub(super) fn inference_complete(
        &mut self,
        fields: &mut Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let model = optional_text(fields, "model")?;
        let usage = match fields.get("usage") {
            None | Some(Value::Null) => None,
            Some(Value::Object(usage)) => Some(self.totals.add(usage)),
            Some(_) => return Err(wrong("usage", "an object")),
        };
        let mut delta = self.message_delta(sink);
        if let Some(usage) = usage {
            delta.set("usage", usage.into());
        }
        if let Some(model) = model {
            put(&mut delta, "model", model);
        }
        if let Some(duration) = fields.get("duration_ms").and_then(Value::as_u64) {
            delta.set("duration_ms", duration.into());
        }
        put(&mut delta, "finish_reason", self.reason("stop"));
        self.emit(&delta, sink);
        if let Some(message) = &mut self.message {
            message.is_finished = true;
        }
        Ok(())
    }

    /// Ends the last message that began, if the model did not finish it.
    pub(super) fn finish_message(&mut self, reason: &'static str, sink: &mut dyn EventSink) {
        if self.message.as_ref().is_none_or(|message| message.is_finished) {
            return;
        }
        let mut delta = self.message_delta(sink);
        delta.set("finish_reason", self.reason(reason).into());
        self.emit(&delta, sink);
        if let Some(message) = &mut self.message {
            message.is_finished = true;
        }
    }

    /// `"tool_calls"` in place of `"stop"` if the message makes calls.
    fn reason(&self, reason: &'static str) -> &'static str {
        let calls = |message: &Message| self.has_calls(&message.id);
        if reason == "stop" && self.message.as_ref().is_some_and(calls) { "tool_calls" } else { reason }
    }

    /// The model begins again within the step: its content so far is discarded (section 5).
    pub(super) fn stream_reset(
        &mut self,
        fields: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let reason = optional_text(fields, "reason")?.unwrap_or_default();
        if self.message.as_ref().is_some_and(|message| message.is_open) {
            self.reset_message(reason, sink);
        }
        Ok(())
    }

    /// Discards the message's content so far.
    fn reset_message(&mut self, reason: &str, sink: &mut dyn EventSink) {
        let Some(message) = &mut self.message else { return };
        message.calls = 0;
        message.is_finished = false;
        let id = message.id.clone();
        self.forget_calls(&id);
        let mut reset = event("message.reset", id, MAIN_THREAD);
        put(&mut reset, "reason", reason);
        self.emit(&reset, sink);
    }
}

/// The field that a delta's text extends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeltaField {
    Content,
    Reasoning,
    /// The arguments of the call that the delta names.
    Arguments,
}
