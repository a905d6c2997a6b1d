//! Messages: texts and reasoning. A message is shown with its first piece of text or its first call: servers begin and
//! end empty messages before calls. The text or call after reasoning continues the reasoning's message.

use crate::error::sentence;
use crate::event::{MAIN_THREAD, TextDelta, TextField};
use crate::json::{Object, write_u64};
use crate::names::Names;
use crate::protocol::EventSink;

use super::super::conversation;
use super::delta::Meaning;
use super::repeat::repeated;
use super::{REASONING, Run, event, key, put, reasoning_key};

/// The id in a message's key.
fn id_in(key: &str) -> &str {
    key.strip_prefix('\0').unwrap_or(key)
}

/// What a message is to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageKind {
    /// The agent's text.
    Text,
    /// The agent's reasoning.
    Reasoning,
    /// It is not shown.
    Hidden,
}

impl MessageKind {
    fn of(role: &str) -> Self {
        match role {
            "assistant" => Self::Text,
            REASONING => Self::Reasoning,
            _ => Self::Hidden,
        }
    }
}

/// A message of the conversation.
#[derive(Debug)]
pub(super) struct Message {
    /// Its id among the turn's messages.
    pub(super) id: String,
    pub(super) thread_id: String,
    /// Its place in the conversation; `None` if a snapshot has dropped it.
    pub(super) place: Option<usize>,
    pub(super) kind: MessageKind,
    /// Whether it began in this turn.
    pub(super) is_of_turn: bool,
    /// Whether this turn has shown it.
    pub(super) is_shown: bool,
    pub(super) is_open: bool,
    /// How many bytes of its text a stream has repeated.
    pub(super) heard: usize,
    /// The number of its calls so far: the index of the next one.
    pub(super) calls: u32,
    /// The finish reason; empty until it has finished.
    finish_reason: &'static str,
}

/// The reasoning that goes on, by the numbers of its messages.
#[derive(Debug, Default)]
pub(super) struct Reasoning {
    /// What the next message of its thread continues.
    unclaimed: Vec<usize>,
    /// That of version 0.x, which has no ids.
    pub(super) unnamed: Option<usize>,
}

impl Message {
    pub(super) fn is_reasoning(&self) -> bool {
        self.kind == MessageKind::Reasoning
    }
}

impl Run {
    /// Notes the messages and calls of the conversation so far, and after a snapshot their new places.
    pub(super) fn know_conversation(&mut self) {
        let mut places = Names::default();
        for message in &mut self.messages {
            message.place = None;
        }
        // The turn answers the last message, so its calls continue.
        let is_result = |message: &&conversation::Message| message.role() == "tool";
        let messages = &self.conversation.messages;
        let end = messages.len() - messages.iter().rev().take_while(is_result).count();
        for at in 0..self.conversation.messages.len() {
            let Some(message) = self.conversation.messages.get(at) else { continue };
            let (role, id) = (message.role().to_owned(), message.id().to_owned());
            let subagent =
                message.get("subagentRunId").and_then(|id| id.as_str()).filter(|id| !id.is_empty());
            let thread_id = subagent.unwrap_or(MAIN_THREAD).to_owned();
            if role == "tool" {
                let call_id = message.call_id().to_owned();
                self.note_answered(&call_id, !self.is_begun && at < end);
                continue;
            }
            let calls: Vec<_> =
                message.calls.iter().map(|call| (call.id().to_owned(), call.name().to_owned())).collect();
            let key = key(&role, &id);
            if !places.number(&key).1 {
                continue;
            }
            let number = self.message_number(&key, &role, &thread_id, Some(at));
            if let Some(message) = self.messages.get_mut(number) {
                message.place = Some(at);
            }
            for (call_id, name) in calls {
                self.know_call(&call_id, &name, number);
            }
        }
    }

    /// An id for a message that came without one, with this many such messages before it. Differs from those of other
    /// turns.
    pub(super) fn made_up_id(&self, before: usize) -> String {
        let mut id = sentence(&[&self.start.turn_id, "-"]);
        write_u64(&mut id, (self.messages.len() + before) as u64);
        id
    }

    /// The number of the message with this key; adds it if it is new.
    fn message_number(&mut self, key: &str, role: &str, thread_id: &str, place: Option<usize>) -> usize {
        let (number, is_new) = self.names.number(key);
        if is_new {
            self.messages.push(Message {
                id: id_in(key).to_owned(),
                thread_id: thread_id.to_owned(),
                place,
                kind: MessageKind::of(role),
                is_of_turn: self.is_begun,
                is_shown: false,
                is_open: false,
                heard: 0,
                calls: 0,
                finish_reason: "",
            });
        }
        number as usize
    }

    /// Begins a message, or continues it.
    pub(super) fn begin_message(
        &mut self,
        id: &str,
        role: &str,
        fields: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> usize {
        let thread_id = self.thread_of(fields, sink);
        let number = self.message_number(&key(role, id), role, &thread_id, None);
        self.keep(number, id, role, fields);
        self.add_metadata(number, fields);
        number
    }

    /// Adds a message to the conversation, if it is not there: it is new, or a snapshot has dropped it and it goes on.
    pub(super) fn keep(&mut self, number: usize, id: &str, role: &str, fields: &Object<'_>) {
        let unkept = self.messages.get_mut(number).filter(|message| message.place.is_none());
        let Some(message) = unkept else { return };
        message.place = Some(self.conversation.messages.len());
        let mut kept = conversation::Message::new(id, role);
        kept.put_texts(&["name", "subagentRunId"], fields);
        self.conversation.messages.push(kept);
    }

    pub(super) fn add_metadata(&mut self, number: usize, fields: &Object<'_>) {
        if fields.contains("metadata")
            && let Some(message) = self.kept(number)
        {
            message.add_metadata(fields);
        }
    }

    /// The message in the conversation.
    pub(super) fn kept(&mut self, number: usize) -> Option<&mut conversation::Message> {
        self.conversation.messages.get_mut(self.messages.get(number)?.place?)
    }

    /// An open message. Begins it if necessary.
    fn opened(&mut self, id: &str, role: &str, fields: &Object<'_>, sink: &mut dyn EventSink) -> usize {
        let key = key(role, id);
        let known = self.names.get(&key).map(|number| number as usize);
        if let Some(number) = known
            && self.messages.get(number).is_some_and(|message| message.is_open)
        {
            self.add_metadata(number, fields);
            return number;
        }
        self.violation("content_without_start", id, sink);
        let number = self.begin_message(id, role, fields, sink);
        if let Some(message) = self.messages.get_mut(number) {
            message.is_open = true;
        }
        number
    }

    fn open(&mut self, id: &str, role: &str, fields: &Object<'_>, sink: &mut dyn EventSink) {
        let number = self.begin_message(id, role, fields, sink);
        if let Some(message) = self.messages.get_mut(number)
            && std::mem::replace(&mut message.is_open, true)
        {
            self.violation("start_of_open", id, sink);
        }
    }

    /// Ends a message, if it was open.
    pub(super) fn close(&mut self, key: &str, fields: &Object<'_>, sink: &mut dyn EventSink) {
        let number = self.names.get(key).map(|number| number as usize);
        let Some(number) =
            number.filter(|number| self.messages.get(*number).is_some_and(|message| message.is_open))
        else {
            return self.violation("end_without_start", id_in(key), sink);
        };
        self.add_metadata(number, fields);
        let is_repeated = self.repeat.is_on();
        if let Some(message) = self.messages.get_mut(number) {
            message.is_open = false;
            // A finished message may have got calls afterwards that are not finished yet.
            let was_finished = is_repeated && !message.finish_reason.is_empty();
            if !message.is_reasoning() && !was_finished {
                self.finish(number, sink);
            }
        }
    }

    /// Begins a message with this role, unless the frame has another one.
    pub(super) fn message_start(&mut self, role: &str, fields: &Object<'_>, sink: &mut dyn EventSink) {
        let (id, given) = (fields.text("messageId"), fields.text("role"));
        // Servers differ in the role of reasoning.
        let is_other = role != REASONING && !matches!(given, "" | "assistant");
        let role = if is_other { given } else { role };
        if is_other && !(self.repeat.is_on() && self.names.get(id).is_some()) {
            let details = Some(super::with_text("role", role).into());
            self.notice("info", "message_of_other_role", "", details, sink);
        }
        self.open(id, role, fields, sink);
    }

    pub(super) fn message_content(&mut self, role: &str, fields: &Object<'_>, sink: &mut dyn EventSink) {
        let number = self.opened(fields.text("messageId"), role, fields, sink);
        self.piece(number, fields.text("delta"), sink);
    }

    /// Begins reasoning of version 0.x, which has no id.
    pub(super) fn thinking_start(&mut self, sink: &mut dyn EventSink) -> usize {
        let number = self.begin_message(&self.next_id(), REASONING, const { &Object::new() }, sink);
        self.reasoning.unnamed = Some(number);
        number
    }

    /// Takes opaque data that the server needs back with a message or a call.
    pub(super) fn encrypted(&mut self, fields: &Object<'_>, sink: &mut dyn EventSink) {
        let (id, value) = (fields.text("entityId"), fields.text("encryptedValue"));
        if fields.text("subtype") == "tool-call" {
            if !self.encrypt_call(id, value) {
                self.violation("value_of_unknown", id, sink);
            }
            return;
        }
        let known = self.names.get(&reasoning_key(id)).or_else(|| self.names.get(id));
        let Some(number) = known.map(|number| number as usize) else {
            // A result can also have such data.
            match self.conversation.messages.iter_mut().rev().find(|message| message.id() == id) {
                Some(message) => message.put("encryptedValue", value),
                None => self.violation("value_of_unknown", id, sink),
            }
            return;
        };
        if let Some(message) = self.kept(number) {
            message.put("encryptedValue", value);
        }
        self.show(number, sink);
        if let Some(mut delta) = self.message_delta(number) {
            put(&mut delta, "reasoning_encrypted", value);
            self.emit(&delta, sink);
        }
    }

    /// Takes a piece from a template. Returns whether it was taken.
    pub(super) fn delta(&mut self, meaning: &Meaning, piece: &str, sink: &mut dyn EventSink) -> bool {
        if meaning.is_arguments {
            return self.known_arguments(&meaning.key, piece, sink);
        }
        let number = self.names.get(&meaning.key).map(|number| number as usize);
        let open = number.filter(|number| self.messages.get(*number).is_some_and(|message| message.is_open));
        if let Some(number) = open {
            self.piece(number, piece, sink);
        }
        open.is_some()
    }

    /// Takes a piece of a message's text: the hot path. An empty piece has no effect.
    pub(super) fn piece(&mut self, number: usize, piece: &str, sink: &mut dyn EventSink) {
        let piece = if self.repeat.is_on() { self.new_text(number, piece, sink) } else { piece };
        if piece.is_empty() {
            return;
        }
        if let Some(message) = self.kept(number) {
            message.text.get_or_insert_default().push_str(piece);
        }
        self.show(number, sink);
        let sequence_number = self.emitted + 1;
        let Some(message) = self.messages.get(number).filter(|message| message.is_shown) else { return };
        self.emitted = sequence_number;
        let field = if message.is_reasoning() { TextField::Reasoning } else { TextField::Content };
        let (id, thread_id) = (&*message.id, &*message.thread_id);
        let source = u32::try_from(number).unwrap_or_default();
        sink.delta(
            sequence_number,
            TextDelta { id, thread_id, created_at: None, field, text: piece, others: None, source },
        );
    }

    /// The new part of a piece of text, in a stream that repeats the run.
    fn new_text<'p>(&mut self, number: usize, piece: &'p str, sink: &mut dyn EventSink) -> &'p str {
        let Self { messages, conversation, .. } = self;
        let Some(message) = messages.get_mut(number) else { return "" };
        let kept = message.place.and_then(|place| conversation.messages.get(place));
        let known = kept.map(|kept| kept.text.as_deref().unwrap_or_default());
        let heard = repeated(known, &mut message.heard, piece);
        self.new_part(piece, heard, sink)
    }

    /// Shows a message, unless it is already shown, or is not for the user.
    pub(super) fn show(&mut self, number: usize, sink: &mut dyn EventSink) {
        let Some(message) = self.messages.get_mut(number) else { return };
        let is_settled = message.is_shown && (message.is_reasoning() || self.reasoning.unclaimed.is_empty());
        if is_settled || message.kind == MessageKind::Hidden {
            return;
        }
        let is_new = !std::mem::replace(&mut message.is_shown, true);
        let (id, thread_id, is_reasoning) =
            (message.id.clone(), message.thread_id.clone(), message.is_reasoning());
        let before = self.claim(number, &thread_id);
        if !is_new {
            // Reasoning after the beginning of a message is a separate message.
            return before.map_or((), |before| self.finish(before, sink));
        }
        let mut shown = event("model.message", id.clone(), &thread_id);
        match before.and_then(|before| self.messages.get_mut(before)) {
            Some(reasoning) if !is_reasoning => {
                if reasoning.id == id {
                    return;
                }
                put(&mut shown, "continues", &reasoning.id);
                reasoning.id = id;
            }
            Some(_) => before.map_or((), |before| self.finish(before, sink)),
            None => {}
        }
        if is_reasoning {
            self.reasoning.unclaimed.push(number);
        }
        put(&mut shown, "content", "");
        let name = self.kept(number).and_then(|message| message.get("name")?.as_str().map(str::to_owned));
        if let Some(name) = name {
            put(&mut shown, "name", &name);
        }
        self.emit(&shown, sink);
    }

    /// Takes the thread's reasoning that no message has continued, unless it is this message.
    fn claim(&mut self, number: usize, thread_id: &str) -> Option<usize> {
        let is_one = |other: &usize| {
            *other != number
                && self.messages.get(*other).is_some_and(|message| message.thread_id == thread_id)
        };
        let at = self.reasoning.unclaimed.iter().position(is_one)?;
        Some(self.reasoning.unclaimed.remove(at))
    }

    /// The beginning of a delta of a shown message.
    pub(super) fn message_delta<'a>(&self, number: usize) -> Option<Object<'a>> {
        let message = self.messages.get(number).filter(|message| message.is_shown)?;
        Some(event("model.message.delta", message.id.clone(), &message.thread_id))
    }

    /// Reports that a shown message is complete, if not reported before.
    pub(super) fn finish(&mut self, number: usize, sink: &mut dyn EventSink) {
        let Some(mut delta) = self.message_delta(number) else { return };
        let Some(message) = self.messages.get_mut(number) else { return };
        let reason = if message.calls > 0 { "tool_calls" } else { "stop" };
        if std::mem::replace(&mut message.finish_reason, reason) != reason {
            put(&mut delta, "finish_reason", reason);
            self.emit(&delta, sink);
        }
    }

    /// Finishes all messages at the end of the run.
    pub(super) fn finish_all(&mut self, sink: &mut dyn EventSink) {
        for number in 0..self.messages.len() {
            let Some(message) = self.messages.get_mut(number) else { return };
            message.is_open = false;
            let is_continued = message.is_reasoning() && !self.reasoning.unclaimed.contains(&number);
            if !is_continued {
                self.finish(number, sink);
            }
        }
        self.reasoning.unclaimed.clear();
    }
}
