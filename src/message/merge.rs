//! How deltas and bases are merged into a message (protocol note, section 3.7).
//!
//! A missing or empty field has no effect. Texts are appended; ids, types, names, tool infos, usage and finish reason
//! are replaced; provider fields are merged one level deep. A finish reason does not close a message: later deltas are
//! still merged.

use crate::event::{TextDelta, TextField};
use crate::features::{AgentStates, CallUpdates, PartialLists};
use crate::json::{Object, Value, is_same};

use super::{Base, Marks, Message, MessageCall, Text};

impl Message {
    /// Appends a piece of text. Returns whether anything other than text changed.
    pub(crate) fn append(&mut self, delta: &TextDelta<'_>) -> bool {
        match delta.field {
            TextField::Content => self.content.push(delta.text),
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

    /// Merges a `model.message.delta`.
    pub(crate) fn apply_delta(&mut self, delta: &Object<'_>) {
        self.content.push(delta.text("content"));
        self.reasoning.push(delta.text("reasoning_content"));
        self.refusal.push(delta.text("refusal"));
        for call in delta.array("tool_calls").iter().filter_map(Value::as_object) {
            let index = call.get("index").and_then(Value::as_u64).unwrap_or_default();
            let is_reset = self.call_at(usize::try_from(index).unwrap_or_default()).merge(call);
            if CallUpdates::EXISTS && is_reset {
                self.marks.arguments_reset = true;
                self.calls.iter_mut().flatten().for_each(|call| call.arguments.untake());
            }
        }
        replace(&mut self.finish_reason, delta.text("finish_reason"));
        if let Some(usage) = delta.object("usage") {
            self.usage = usage.to_json();
        }
        if let Some(details) = self.details.get_mut() {
            details.take(delta);
        }
    }

    /// Discards the texts and calls so far (`message.reset`).
    pub(crate) fn reset(&mut self, _: &Object<'_>) {
        let (id, thread) = (std::mem::take(&mut self.id), self.thread);
        let before = std::mem::replace(self, Self::new(&id, thread));
        self.has_base = before.has_base;
        self.base = before.base;
        self.marks = Marks { reset: true, ..before.marks };
    }

    /// Replaces the content.
    pub(crate) fn replace_content(&mut self, text: &str) {
        self.content.replace(text);
        self.marks.content_reset = true;
    }

    /// The call at `index`. It is added if it is missing; missing calls before it stay `None`.
    fn call_at(&mut self, index: usize) -> &mut MessageCall {
        // `resize` would bring the code that clones a call into the module.
        while self.calls.len() <= index {
            self.calls.push(None);
        }
        self.calls[index].get_or_insert_with(MessageCall::new)
    }

    /// The message of a single `model.message`.
    pub(crate) fn from_base(base: &Object<'_>) -> Self {
        let mut message = Self::new(base.text("id"), 0);
        message.apply_base(base);
        message
    }

    /// Whether the texts of this message are the beginning of those of `whole`.
    pub(crate) fn is_prefix_of(&self, whole: &Self) -> bool {
        self.content.text.is_prefix_of(&whole.content.text) && self.reasoning.is_prefix_of(&whole.reasoning)
    }

    /// Whether both have the same texts.
    pub(crate) fn has_same_text(&self, other: &Self) -> bool {
        let arguments = |message: &Self| {
            let mut all = String::new();
            for call in message.calls().iter().flatten() {
                // JSON never contains this character unescaped.
                all.push_str(call.arguments());
                all.push('\0');
            }
            all
        };
        self.content.text.matches_from(&other.content.text, self.content.continued_at)
            && (self.is_partial_listing && other.reasoning().is_empty()
                || self.reasoning.matches_from(&other.reasoning, 0))
            && self.refusal() == other.refusal()
            && (arguments(self) == arguments(other) || self.has_same_arguments(other))
    }

    /// Whether the calls have equal arguments as JSON: a list may not keep the text that the model wrote.
    fn has_same_arguments(&self, other: &Self) -> bool {
        if AgentStates::EXISTS && self.is_partial_listing {
            let mut pairs = self.calls().iter().flatten().zip(other.calls().iter().flatten());
            return pairs.all(|(one, other)| {
                let (one, other) = (Value::parse(one.arguments()), Value::parse(other.arguments()));
                one.is_ok_and(|one| other.is_ok_and(|other| is_same(&one, &other)))
            });
        }
        false
    }

    /// Takes a `model.message`. If the first one is incomplete, deltas that were received before it stay merged, as if
    /// they came after it. A complete one, or a second one, replaces everything.
    pub(crate) fn apply_base(&mut self, base: &Object<'_>) {
        let is_beginning = !self.has_base && base.text("finish_reason").is_empty();
        let before = std::mem::replace(self, Self::new(&self.id, self.thread));
        self.marks = before.marks;
        self.marks.reset = true;
        self.has_base = true;
        self.base = Base { created_at: base.json("created_at"), name: base.json("name") };
        self.usage = base.json("usage");
        if let Some(details) = self.details.get_mut() {
            details.take(base);
        }
        self.content.set(base, &mut self.refusal);
        self.reasoning = Text::of(base.text("reasoning_content"));
        self.refusal.push(base.text("refusal"));
        base.text("finish_reason").clone_into(&mut self.finish_reason);
        for (index, call) in base.array("tool_calls").iter().enumerate() {
            if let Some(call) = call.as_object() {
                self.call_at(index).merge(call);
            }
        }
        self.keep_earlier(&before, is_beginning);
        if PartialLists::EXISTS {
            self.keep_unlisted(before);
        }
    }

    /// Keeps the fields that the list of the new base does not have.
    fn keep_unlisted(&mut self, before: Self) {
        if before.is_partial_listing && self.reasoning().is_empty() {
            self.marks = Marks { content_reset: true, arguments_reset: true, ..before.marks };
            self.reasoning = before.reasoning;
            self.details = before.details;
            replace(&mut self.usage, &before.usage);
        }
    }

    /// Keeps parts of the message before its base: the results and threads of calls, and, with `with_text`, its texts.
    fn keep_earlier(&mut self, before: &Self, with_text: bool) {
        if with_text {
            self.content.push(before.content());
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
                call.append_earlier(known);
            }
            replace(&mut call.response, &known.response);
            replace(&mut call.progress, &known.progress);
            call.output.clone_from(&known.output);
            call.thread_id.clone_from(&known.thread_id);
        }
    }
}

impl MessageCall {
    /// Merges a delta of the call, or the whole call. Returns whether its arguments were replaced.
    fn merge(&mut self, delta: &Object<'_>) -> bool {
        let mut is_reset = false;
        replace(&mut self.id, delta.text("id"));
        replace(&mut self.r#type, delta.text("type"));
        if let Some(function) = delta.object("function") {
            replace(&mut self.name, function.text("name"));
            self.arguments.push(function.text("arguments"));
            if CallUpdates::EXISTS && function.contains("whole_arguments") {
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

    /// Appends a call as it was before its base.
    fn append_earlier(&mut self, early: &Self) {
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
