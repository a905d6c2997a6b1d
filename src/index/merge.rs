//! How deltas and bases are merged into a message (protocol note, section 3.7).
//!
//! Every field counts only if it is there and not empty. Text is appended; ids, types, names and tool
//! infos overwrite; provider fields are merged one level deep; usage and finish reason replace. A
//! finish reason does not close a message: later deltas are still merged.

use crate::event::{
    ModelContent, ModelContentPart, ModelMessage, ModelMessageDelta, TextDelta, TextField,
    ToolCallDelta,
};

use super::message::{Message, MessageCall, Text};

impl Message {
    /// Appends a piece of text. Gives whether anything but text changed.
    pub(super) fn append(&mut self, delta: &TextDelta<'_>) -> bool {
        match delta.field {
            TextField::Content => self.append_content(delta.text),
            TextField::Reasoning => self.reasoning.push(delta.text),
            TextField::Arguments(index) => return self.append_arguments(index, delta.text),
        }
        false
    }

    fn append_arguments(&mut self, index: u32, text: &str) -> bool {
        let known = self.calls.get_mut(index as usize).and_then(Option::as_mut);
        if let Some(call) = known {
            call.arguments.push(text);
            return false;
        }
        self.call_at(index as usize).arguments.push(text);
        true
    }

    /// Appends to the last part if that is text, where the content has parts.
    fn append_content(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        self.text.push(piece);
        match &mut self.parts {
            None => {}
            Some(parts) => match parts.last_mut() {
                Some(ModelContentPart::Text { text }) => text.push_str(piece),
                _ => parts.push(ModelContentPart::Text {
                    text: piece.to_owned(),
                }),
            },
        }
    }

    /// Merges a delta.
    pub(super) fn merge(&mut self, delta: &ModelMessageDelta) {
        self.append_content(some(&delta.content));
        self.reasoning.push(some(&delta.reasoning_content));
        let refusal = some(&delta.refusal);
        if !refusal.is_empty() {
            self.refusal.get_or_insert_default().push_str(refusal);
        }
        for call in &delta.tool_calls {
            self.call_at(call.index as usize).merge(call);
        }
        overwrite(&mut self.finish_reason, &delta.finish_reason);
        if let Some(usage) = &delta.usage {
            self.usage = Some(usage.clone());
        }
    }

    /// The call at `index`; the ones below it that have not come stay holes.
    fn call_at(&mut self, index: usize) -> &mut MessageCall {
        if self.calls.len() <= index {
            self.calls.resize_with(index + 1, || None);
        }
        self.calls[index].get_or_insert_with(MessageCall::of_function)
    }

    /// Takes a `model.message`. The first one is the beginning of its message: deltas that came before
    /// it stay merged, as if it had come before them. A complete one, or a second one, replaces
    /// everything.
    pub(super) fn put(&mut self, base: &ModelMessage) {
        let early = (!self.has_base && base.finish_reason.is_none()).then(|| self.clone());
        self.created_at.clone_from(&base.created_at);
        self.name.clone_from(&base.name);
        self.refusal.clone_from(&base.refusal);
        self.finish_reason.clone_from(&base.finish_reason);
        self.usage.clone_from(&base.usage);
        self.set_content(base.content.as_ref());
        self.reasoning = Text {
            text: base.reasoning_content.clone(),
            taken: 0,
        };
        self.set_calls(base);
        self.has_base = true;
        self.marks.reset = true;
        if let Some(early) = early {
            self.merge_early(early);
        }
    }

    fn set_content(&mut self, content: Option<&ModelContent>) {
        let (text, parts) = match content {
            None => (None, None),
            Some(ModelContent::Text(text)) => (Some(text.clone()), None),
            Some(ModelContent::Parts(parts)) => {
                let texts = parts.iter().map(|part| match part {
                    ModelContentPart::Text { text } => text.as_str(),
                    ModelContentPart::Refusal { .. } => "",
                });
                (Some(texts.collect()), Some(parts.clone()))
            }
        };
        self.text = Text { text, taken: 0 };
        self.parts = parts;
    }

    /// Takes the base's calls; results and threads that have joined a call stay with it.
    fn set_calls(&mut self, base: &ModelMessage) {
        let before = std::mem::take(&mut self.calls);
        let call = |call: &crate::event::ToolCall| {
            let known = before.iter().flatten().find(|known| known.id == call.id);
            MessageCall {
                id: call.id.clone(),
                r#type: call.r#type.clone(),
                name: call.function.name.clone(),
                tool_info: call.tool_info.clone(),
                provider_specific_fields: call.provider_specific_fields.clone(),
                response: known.and_then(|known| known.response.clone()),
                thread_id: known.and_then(|known| known.thread_id.clone()),
                arguments: Text {
                    text: Some(call.function.arguments.clone()),
                    taken: 0,
                },
            }
        };
        self.calls = base
            .tool_calls
            .iter()
            .map(|slot| slot.as_ref().map(call))
            .collect();
    }

    fn merge_early(&mut self, early: Message) {
        self.append_content(early.content());
        self.reasoning.push(early.reasoning());
        if let Some(refusal) = &early.refusal {
            self.refusal.get_or_insert_default().push_str(refusal);
        }
        for (index, call) in early.calls.into_iter().enumerate() {
            let Some(call) = call else { continue };
            let target = self.call_at(index);
            target.arguments.push(call.arguments());
            *target = MessageCall {
                arguments: std::mem::take(&mut target.arguments),
                ..call
            };
        }
        overwrite(&mut self.finish_reason, &early.finish_reason);
        if early.usage.is_some() {
            self.usage = early.usage;
        }
    }
}

impl MessageCall {
    fn of_function() -> Self {
        Self {
            r#type: "function".to_owned(),
            ..Self::default()
        }
    }

    fn merge(&mut self, delta: &ToolCallDelta) {
        replace(&mut self.id, some(&delta.id));
        replace(&mut self.r#type, some(&delta.r#type));
        if let Some(function) = &delta.function {
            replace(&mut self.name, some(&function.name));
            self.arguments.push(some(&function.arguments));
        }
        if let Some(info) = &delta.tool_info {
            self.tool_info = Some(info.clone());
        }
        let fields = delta.provider_specific_fields.iter().flatten();
        for (name, json) in fields {
            let known = self.provider_specific_fields.get_or_insert_default();
            match known.iter_mut().find(|(key, _)| key == name) {
                Some((_, value)) => value.clone_from(json),
                None => known.push((name.clone(), json.clone())),
            }
        }
    }
}

fn some(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or_default()
}

fn replace(target: &mut String, text: &str) {
    if !text.is_empty() {
        text.clone_into(target);
    }
}

fn overwrite(target: &mut Option<String>, source: &Option<String>) {
    if source.as_ref().is_some_and(|text| !text.is_empty()) {
        target.clone_from(source);
    }
}
