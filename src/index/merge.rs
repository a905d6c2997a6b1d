//! How deltas and bases are merged into a message (protocol note, section 3.7).
//!
//! Every field counts only if it is there and not empty. Text is appended; ids, types, names and tool
//! infos overwrite; provider fields are merged one level deep; usage and finish reason replace. A
//! finish reason does not close a message: later deltas are still merged.

use crate::event::{TextDelta, TextField};
use crate::json::{Object, Value};

#[cfg(feature = "partial-lists")]
use super::message::Marks;
use super::message::{Message, MessageCall, Part, Text};
#[cfg(feature = "agent-state")]
use super::patch::is_same;

/// Whether this build has a protocol in which a call's arguments can come once more, as other ones.
const REPLACES_ARGUMENTS: bool = cfg!(feature = "call-updates");

impl Message {
    /// Appends a piece of text. Gives whether anything but text changed.
    pub(super) fn append(&mut self, delta: &TextDelta<'_>) -> bool {
        match delta.field {
            TextField::Content => self.append_content(delta.text),
            TextField::Reasoning => self.reasoning.push(delta.text),
            TextField::Arguments(index) => {
                let index = index as usize;
                let is_new = self.calls.get(index).is_none_or(Option::is_none);
                self.call_at(index).arguments.push(delta.text);
                return is_new;
            }
        }
        false
    }

    /// Appends to the last part if that is text, where the content has parts.
    fn append_content(&mut self, piece: &str) {
        self.text.push(piece);
        let Some(parts) = self.parts.as_mut().filter(|_| !piece.is_empty()) else {
            return;
        };
        match parts.last_mut() {
            Some(part) if !part.is_refusal => part.text.push_str(piece),
            _ => parts.push(Part { is_refusal: false, text: piece.to_owned() }),
        }
    }

    /// Merges a delta.
    pub(super) fn merge(&mut self, delta: &Object<'_>) {
        self.append_content(delta.text("content"));
        self.reasoning.push(delta.text("reasoning_content"));
        self.refusal.push(delta.text("refusal"));
        for call in delta.array("tool_calls").iter().filter_map(Value::as_object) {
            let index = call.get("index").and_then(Value::as_u64).unwrap_or_default();
            let is_reset = self.call_at(usize::try_from(index).unwrap_or_default()).merge(call);
            if REPLACES_ARGUMENTS && is_reset {
                self.marks.arguments_reset = true;
                self.calls.iter_mut().flatten().for_each(|call| call.arguments.retake());
            }
        }
        replace(&mut self.finish_reason, delta.text("finish_reason"));
        if let Some(usage) = delta.object("usage") {
            self.usage = usage.to_json();
        }
        #[cfg(feature = "agent-state")]
        self.note(delta);
    }

    /// Takes what only some servers say.
    #[cfg(feature = "agent-state")]
    fn note(&mut self, event: &Object<'_>) {
        let encrypted = event.text("reasoning_encrypted");
        if !encrypted.is_empty() {
            self.encrypted.push(encrypted.to_owned());
        }
        for name in ["model", "duration_ms"] {
            if event.contains(name) {
                self.notes.set(name, event.json(name));
            }
        }
    }

    /// What was said does not count.
    #[cfg(feature = "agent-state")]
    pub(super) fn reset(&mut self, _: &Object<'_>) {
        let (id, thread) = (std::mem::take(&mut self.id), self.thread);
        let before = std::mem::replace(self, Self::new(&id, thread));
        self.has_base = before.has_base;
        self.created_at = before.created_at;
        self.name = before.name;
        self.marks = Marks { reset: true, ..before.marks };
    }

    /// Says something else.
    #[cfg(feature = "agent-state")]
    pub(super) fn set_text(&mut self, text: &str) {
        self.text = Text::of(text);
        self.continued_at = 0;
        self.parts = None;
        self.marks.content_reset = true;
    }

    /// The call at `index`; the ones below it that have not come stay holes.
    fn call_at(&mut self, index: usize) -> &mut MessageCall {
        // Not `resize`, which would bring all the code that clones a call into the module.
        while self.calls.len() <= index {
            self.calls.push(None);
        }
        self.calls[index].get_or_insert_with(MessageCall::new)
    }

    /// The message that a `model.message` is by itself.
    pub(crate) fn of(base: &Object<'_>) -> Self {
        let mut message = Self::new(base.text("id"), 0);
        message.put(base);
        message
    }

    /// Whether a whole message begins as this one does, as far as this one has come.
    pub(crate) fn begins(&self, whole: &Self) -> bool {
        self.text.begins(&whole.text) && self.reasoning.begins(&whole.reasoning)
    }

    /// Whether both have the same texts.
    pub(crate) fn says(&self, other: &Self) -> bool {
        let arguments = |message: &Self| {
            let mut all = String::new();
            for call in message.calls().iter().flatten() {
                // No JSON has this character as it is.
                all.push_str(call.arguments());
                all.push('\0');
            }
            all
        };
        self.text.says(&other.text, self.continued_at)
            && (self.is_partial_listing && other.reasoning().is_empty()
                || self.reasoning.says(&other.reasoning, 0))
            && self.refusal() == other.refusal()
            && (arguments(self) == arguments(other) || self.has_same_arguments(other))
    }

    /// Whether the calls have the same arguments, however they are written: a list may not have the model's text.
    fn has_same_arguments(&self, other: &Self) -> bool {
        #[cfg(feature = "agent-state")]
        if self.is_partial_listing {
            let mut pairs = self.calls().iter().flatten().zip(other.calls().iter().flatten());
            return pairs.all(|(one, other)| {
                let (one, other) = (Value::parse(one.arguments()), Value::parse(other.arguments()));
                one.is_ok_and(|one| other.is_ok_and(|other| is_same(&one, &other)))
            });
        }
        let _ = (self, other);
        false
    }

    /// Takes a `model.message`. The first one is the beginning of its message: deltas that came before
    /// it stay merged, as if it had come before them. A complete one, or a second one, replaces
    /// everything.
    pub(super) fn put(&mut self, base: &Object<'_>) {
        let is_beginning = !self.has_base && base.text("finish_reason").is_empty();
        let before = std::mem::replace(self, Self::new(&self.id, self.thread));
        self.marks = before.marks;
        self.marks.reset = true;
        self.has_base = true;
        self.created_at = base.json("created_at");
        self.name = base.json("name");
        self.usage = base.json("usage");
        #[cfg(feature = "agent-state")]
        self.note(base);
        self.set_content(base);
        self.reasoning = Text::of(base.text("reasoning_content"));
        self.refusal.push(base.text("refusal"));
        base.text("finish_reason").clone_into(&mut self.finish_reason);
        for (index, call) in base.array("tool_calls").iter().enumerate() {
            if let Some(call) = call.as_object() {
                self.call_at(index).merge(call);
            }
        }
        self.keep(&before, is_beginning);
        #[cfg(feature = "partial-lists")]
        self.keep_unlisted(before);
    }

    /// Keeps what a list does not have that this message came from.
    #[cfg(feature = "partial-lists")]
    fn keep_unlisted(&mut self, before: Self) {
        if before.is_partial_listing && self.reasoning().is_empty() {
            self.marks = Marks { content_reset: true, arguments_reset: true, ..before.marks };
            self.reasoning = before.reasoning;
            self.encrypted = before.encrypted;
            self.notes = before.notes;
            replace(&mut self.usage, &before.usage);
        }
    }

    fn set_content(&mut self, base: &Object<'_>) {
        self.text.push(base.text("content"));
        let Some(parts) = base.get("content").and_then(Value::as_array) else {
            return;
        };
        let mut own = Vec::new();
        for part in parts.iter().filter_map(Value::as_object) {
            let is_refusal = part.text("type") == "refusal";
            let text = part.text(if is_refusal { "refusal" } else { "text" });
            if is_refusal {
                self.refusal.push(text);
            } else {
                self.text.push(text);
            }
            own.push(Part { is_refusal, text: text.to_owned() });
        }
        self.parts = Some(own);
    }

    /// Keeps of what was there before its base: results and threads that have joined a call, and, if the
    /// base is a beginning, all text.
    fn keep(&mut self, before: &Self, with_text: bool) {
        if with_text {
            self.append_content(before.content());
            self.reasoning.push(before.reasoning());
            self.refusal.push(before.refusal());
            replace(&mut self.finish_reason, &before.finish_reason);
            replace(&mut self.usage, &before.usage);
        }
        for (index, known) in before.calls.iter().enumerate() {
            let Some(known) = known else { continue };
            let call = if with_text { Some(self.call_at(index)) } else { self.call_mut(&known.id) };
            let Some(call) = call else { continue };
            if with_text {
                call.join(known);
            }
            replace(&mut call.response, &known.response);
            replace(&mut call.progress, &known.progress);
            #[cfg(feature = "tool-output")]
            call.output.clone_from(&known.output);
            call.thread_id.clone_from(&known.thread_id);
        }
    }
}

impl MessageCall {
    /// Merges a delta of the call, or the whole of it. Gives whether its arguments are other ones now.
    fn merge(&mut self, delta: &Object<'_>) -> bool {
        let mut is_reset = false;
        replace(&mut self.id, delta.text("id"));
        replace(&mut self.r#type, delta.text("type"));
        if let Some(function) = delta.object("function") {
            replace(&mut self.name, function.text("name"));
            self.arguments.push(function.text("arguments"));
            if REPLACES_ARGUMENTS && function.contains("whole_arguments") {
                self.arguments = Text::of(function.text("whole_arguments"));
                is_reset = true;
            }
        }
        if let Some(info) = delta.object("tool_info") {
            info.text("name").clone_into(&mut self.tool_name);
            self.tool_info = info.to_json();
        }
        if let Some(fields) = delta.object("provider_specific_fields") {
            for (name, value) in fields.iter() {
                self.provider_fields.set(name, value.to_json());
            }
        }
        is_reset
    }

    /// Joins what came before the base that this call is from, as if it had come after it.
    fn join(&mut self, early: &Self) {
        replace(&mut self.id, &early.id);
        replace(&mut self.name, &early.name);
        self.arguments.push(early.arguments());
        if !early.tool_info.is_empty() {
            self.tool_name.clone_from(&early.tool_name);
            self.tool_info.clone_from(&early.tool_info);
        }
        for (name, value) in early.provider_fields.iter() {
            self.provider_fields.set(name, value.clone());
        }
    }
}

fn replace(target: &mut String, text: &str) {
    if !text.is_empty() {
        text.clone_into(target);
    }
}
