//! Tool calls: their beginning, their arguments and their results.

use crate::error::sentence;
use crate::event::{MAIN_THREAD, TextDelta, TextField};
use crate::json::{Object, Value};
use crate::names::Names;
use crate::protocol::EventSink;

use super::super::conversation;
use super::super::parts::text_of;
use super::repeat::repeated;
use super::{Problem, Run, event, missing, object, put, with_text};

/// The most calls in one message. Code that merges calls allocates up to a call's index.
const MAX_CALLS: u32 = 1024;

/// The most results that wait for their calls: each call looks for its own among them.
const MAX_EARLY: usize = 64;

/// The calls of the conversation.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The numbers of the calls by their ids.
    names: Names,
    pub(super) list: Vec<Call>,
    /// The calls that have results, by their ids.
    results: Names,
    /// The ids of this turn's results that came before their calls, up to `MAX_EARLY`.
    early: Vec<String>,
}

/// Whether a call has its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CallAnswer {
    Missing,
    Given,
    /// An earlier turn has it. Another call can then have the call's id: some models name calls after their tools, or
    /// count them.
    Past,
}

/// A call of the conversation.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    /// The number of its message.
    pub(super) message: usize,
    /// Its index among the calls of that message in this turn; `None` if an earlier turn made it.
    index: Option<u32>,
    is_open: bool,
    /// Whether it began again, so that its next arguments replace the earlier ones.
    is_restarted: bool,
    /// How many bytes of its arguments a stream has repeated.
    pub(super) heard: usize,
    pub(super) answer: CallAnswer,
    /// The number of the turn's run in which it last began; `None` if only an earlier turn began it.
    pub(super) run: Option<u64>,
}

impl Call {
    /// Whether this turn began it.
    pub(super) fn is_of_turn(&self) -> bool {
        self.run.is_some()
    }

    pub(super) fn is_answered(&self) -> bool {
        self.answer != CallAnswer::Missing
    }
}

impl Run {
    pub(super) fn call(&self, id: &str) -> Option<&Call> {
        self.calls.list.get(self.calls.names.get(id)? as usize)
    }

    /// Whether a call has its result.
    pub(super) fn is_answered(&self, id: &str) -> bool {
        self.call(id).is_some_and(Call::is_answered)
    }

    fn call_mut(&mut self, id: &str) -> Option<&mut Call> {
        self.calls.list.get_mut(self.calls.names.get(id)? as usize)
    }

    /// The thread of a call.
    pub(super) fn thread_of_call(&self, id: &str) -> String {
        let message = self.call(id).and_then(|call| self.messages.get(call.message));
        message.map_or(MAIN_THREAD, |message| &message.thread_id).to_owned()
    }

    /// Notes a call of the conversation, which may have moved to another message.
    pub(super) fn know_call(&mut self, id: &str, name: &str, message: usize) {
        let (number, is_new) = self.calls.names.number(id);
        if is_new {
            let is_answered = self.calls.results.get(id).is_some();
            self.calls.list.push(Call {
                id: id.to_owned(),
                name: name.to_owned(),
                message,
                index: None,
                is_open: false,
                is_restarted: false,
                heard: 0,
                answer: if is_answered { CallAnswer::Given } else { CallAnswer::Missing },
                run: None,
            });
        } else if let Some(call) = self.calls.list.get_mut(number as usize) {
            if call.index.is_none() {
                call.message = message;
            }
            if !self.is_begun {
                // Another call with this id: results before it answer the earlier call.
                call.answer = CallAnswer::Missing;
            }
        }
    }

    /// Notes that a call is shown with its whole message. Returns whether it was not shown before.
    pub(super) fn show_call(&mut self, id: &str, message: usize) -> bool {
        let Some(maker) = self.messages.get_mut(message) else { return false };
        let Some(number) = self.calls.names.get(id) else { return false };
        let (index, runs) = (maker.calls, self.runs.count);
        let Some(call) = self.calls.list.get_mut(number as usize).filter(|call| call.index.is_none()) else {
            return false;
        };
        if index == MAX_CALLS {
            return false;
        }
        maker.calls += 1;
        call.index = Some(index);
        call.message = message;
        call.run = Some(runs);
        if call.answer == CallAnswer::Past {
            call.answer = CallAnswer::Missing;
        }
        true
    }

    /// Notes that a call has its result, in this turn or in an earlier one.
    pub(super) fn note_answered(&mut self, id: &str, is_past: bool) {
        self.calls.results.number(id);
        if let Some(call) = self.call_mut(id) {
            call.answer = call.answer.max(if is_past { CallAnswer::Past } else { CallAnswer::Given });
        }
    }

    /// The call in the conversation.
    fn kept_call(&mut self, id: &str) -> Option<&mut conversation::Call> {
        let message = self.call(id)?.message;
        let is_there = self.kept(message).is_some_and(|message| message.call(id).is_some());
        if is_there {
            return self.kept(message)?.calls.iter_mut().rev().find(|call| call.id() == id);
        }
        // A snapshot may have moved it to another message.
        let messages = self.conversation.messages.iter_mut().rev();
        messages.flat_map(|message| &mut message.calls).find(|call| call.id() == id)
    }

    pub(super) fn encrypt_call(&mut self, id: &str, value: &str) -> bool {
        let call = self.kept_call(id);
        call.map(|call| call.put("encryptedValue", value)).is_some()
    }

    pub(super) fn call_start(
        &mut self,
        fields: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let [id, name, parent] =
            ["toolCallId", "toolCallName", "parentMessageId"].map(|name| fields.text(name));
        self.begin_call(id, name, parent, fields, sink)
    }

    /// Begins a call with a chunk. If the run has closed it, it goes on: chunks of several calls may alternate.
    pub(super) fn call_chunk_start(
        &mut self,
        id: &str,
        fields: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let runs = self.runs.count;
        let goes_on = self.call(id).is_some_and(|call| call.run == Some(runs));
        self.call_start(fields, sink)?;
        if let Some(call) = self.call_mut(id).filter(|_| goes_on) {
            call.is_restarted = false;
        }
        Ok(())
    }

    /// Begins a call in its message. A known call begins again with empty arguments, unless it belongs to an earlier
    /// turn and has its result.
    pub(super) fn begin_call(
        &mut self,
        id: &str,
        name: &str,
        parent: &str,
        fields: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let (is_repeated, runs) = (self.repeat.is_on(), self.runs.count);
        let is_past = self.call(id).is_some_and(|call| call.answer == CallAnswer::Past);
        if let Some(call) = self.call_mut(id).filter(|_| !is_past) {
            call.is_restarted = !is_repeated;
            call.heard = 0;
            call.run = Some(runs);
            let was_open = std::mem::replace(&mut call.is_open, true);
            if was_open {
                self.violation("start_of_open", id, sink);
            }
            self.keep_call(id, fields);
            return Ok(());
        }
        if !parent.is_empty() && self.names.get(parent).is_none() {
            self.violation("missing_parent", parent, sink);
        }
        // The metadata belongs to the call.
        let lane = with_text("subagentRunId", fields.text("subagentRunId"));
        let mut maker = if parent.is_empty() { id } else { parent };
        let own;
        // The message's id can also be that of an earlier turn's message.
        let known = self.names.get(maker).and_then(|number| self.messages.get(number as usize));
        if is_past && known.is_some_and(|message| !message.is_of_turn) {
            own = sentence(&[&self.start.turn_id, ":call:", id]);
            maker = &own;
        }
        let message = self.begin_message(maker, "assistant", &lane, sink);
        let Some(maker) = self.messages.get_mut(message) else { return Ok(()) };
        let index = maker.calls;
        if index == MAX_CALLS {
            return Err("a message has more than 1024 calls".to_owned());
        }
        maker.calls += 1;
        let early = self.calls.early.iter().position(|early| early == id);
        let call = Call {
            id: id.to_owned(),
            name: name.to_owned(),
            message,
            index: Some(index),
            is_open: true,
            is_restarted: false,
            heard: 0,
            answer: if early.is_some() { CallAnswer::Given } else { CallAnswer::Missing },
            run: Some(runs),
        };
        if let Some(known) = self.call_mut(id) {
            *known = call;
        } else {
            self.calls.names.number(id);
            self.calls.list.push(call);
        }
        if let Some(message) = self.kept(message) {
            message.calls.push(conversation::Call::new(id, name));
        }
        let early = early.and_then(|early| {
            self.calls.early.remove(early);
            self.move_result(id)
        });
        self.add_call_metadata(id, fields);
        self.show(message, sink);
        let mut piece = object("index", u64::from(index).into());
        put(&mut piece, "id", id);
        piece.set("type", "function".into());
        let mut function = with_text("name", name);
        function.set("arguments", "".into());
        piece.set("function", function.into());
        self.emit_piece(message, piece, sink);
        // Reported again: now the call is there.
        early.map_or(Ok(()), |(result, content)| self.respond(&result, id, &content, sink))
    }

    /// Adds a known call to the conversation again, if a snapshot has dropped it.
    fn keep_call(&mut self, id: &str, fields: &Object<'_>) {
        if self.kept_call(id).is_some() {
            return;
        }
        let Some(Call { message: number, name, .. }) = self.call(id) else { return };
        let (number, call) = (*number, conversation::Call::new(id, name));
        let maker = self.messages.get(number).map(|message| message.id.clone()).unwrap_or_default();
        self.keep(number, &maker, "assistant", fields);
        if let Some(message) = self.kept(number) {
            message.calls.push(call);
        }
    }

    fn emit_piece(&mut self, message: usize, piece: Object<'_>, sink: &mut dyn EventSink) {
        if let Some(mut delta) = self.message_delta(message) {
            delta.set("tool_calls", vec![piece.into()].into());
            self.emit(&delta, sink);
        }
    }

    pub(super) fn call_arguments(
        &mut self,
        fields: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let (id, piece) = (fields.text("toolCallId"), fields.text("delta"));
        if self.call(id).is_none() {
            self.violation("arguments_without_start", id, sink);
            self.begin_call(id, "", "", fields, sink)?;
        } else if self.call(id).is_some_and(|call| !call.is_open) {
            self.violation("arguments_after_end", id, sink);
        }
        self.add_call_metadata(id, fields);
        self.arguments(id, piece, sink);
        Ok(())
    }

    /// Takes a piece from a template. Returns whether it was taken.
    pub(super) fn known_arguments(&mut self, id: &str, piece: &str, sink: &mut dyn EventSink) -> bool {
        let is_open = self.call(id).is_some_and(|call| call.is_open);
        if is_open {
            self.arguments(id, piece, sink);
        }
        is_open
    }

    /// Takes a piece of a call's arguments. An empty piece has no effect.
    pub(super) fn arguments(&mut self, id: &str, piece: &str, sink: &mut dyn EventSink) {
        let piece = if self.repeat.is_on() { self.new_arguments(id, piece, sink) } else { piece };
        let Some(call) = self.call_mut(id).filter(|_| !piece.is_empty()) else { return };
        let is_restart = std::mem::take(&mut call.is_restarted);
        let (message, index) = (call.message, call.index);
        let mut is_replaced = false;
        if let Some(kept) = self.kept_call(id) {
            if is_restart {
                is_replaced = !std::mem::take(&mut kept.arguments).is_empty();
            }
            kept.arguments.push_str(piece);
        }
        // The turn that made the call has shown it.
        let Some(index) = index else { return };
        if is_replaced {
            let mut again = object("index", u64::from(index).into());
            again.set("function", with_text("whole_arguments", piece).into());
            return self.emit_piece(message, again, sink);
        }
        let sequence_number = self.next_number();
        let Some(message) = self.messages.get(message) else { return };
        let (id, thread_id, field) = (&*message.id, &*message.thread_id, TextField::Arguments(index));
        sink.delta(
            sequence_number,
            TextDelta { id, thread_id, created_at: None, field, text: piece, others: None, source: 0 },
        );
    }

    /// The new part of a piece of arguments, in a stream that repeats the run.
    fn new_arguments<'p>(&mut self, id: &str, piece: &'p str, sink: &mut dyn EventSink) -> &'p str {
        let Some(call) = self.call(id) else { return "" };
        let (message, mut heard) = (call.message, call.heard);
        let known = self.messages.get(message).and_then(|message| {
            let kept = self.conversation.messages.get(message.place?)?;
            kept.call(id)
        });
        let known = known.map(|call| &*call.arguments);
        let new = repeated(known, &mut heard, piece);
        if let Some(call) = self.call_mut(id) {
            call.heard = heard;
        }
        self.new_part(piece, new, sink)
    }

    fn add_call_metadata(&mut self, id: &str, fields: &Object<'_>) {
        if fields.contains("metadata")
            && let Some(call) = self.kept_call(id)
        {
            call.add_metadata(fields);
        }
    }

    pub(super) fn call_end(&mut self, fields: &Object<'_>, sink: &mut dyn EventSink) {
        let id = fields.text("toolCallId");
        let was_open = self.call_mut(id).is_some_and(|call| std::mem::take(&mut call.is_open));
        if !was_open {
            return self.violation("end_without_start", id, sink);
        }
        self.add_call_metadata(id, fields);
        let message = self.call(id).map(|call| call.message);
        if let Some(message) = message.filter(|message| self.is_closed(*message)) {
            self.finish(message, sink);
        }
    }

    fn is_closed(&self, message: usize) -> bool {
        self.messages.get(message).is_some_and(|message| !message.is_open)
    }

    pub(super) fn call_result(
        &mut self,
        fields: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let (id, call_id) = (fields.text("messageId"), fields.text("toolCallId"));
        let content = fields.get("content").filter(|content| !content.is_null());
        let content = content.ok_or_else(|| missing("content"))?;
        check_content(content)?;
        if self.call(call_id).is_none() {
            self.violation("result_of_unknown", call_id, sink);
        }
        let mut message = conversation::Message::new(id, "tool");
        message.put("toolCallId", call_id);
        message.set_content(content.clone());
        message.put_texts(&["error", "subagentRunId"], fields);
        message.add_metadata(fields);
        self.keep_result(message);
        self.respond(id, call_id, content, sink)
    }

    /// Stores a result after its call's message and the results that follow it. A second result replaces the first.
    pub(super) fn keep_result(&mut self, result: conversation::Message) {
        let is_first = self.calls.results.number(result.call_id()).1;
        let call = self.call(result.call_id());
        let is_new = call.map_or(is_first, |call| !call.is_answered());
        let maker = call.and_then(|call| self.messages.get(call.message)?.place);
        let messages = &mut self.conversation.messages;
        let is_same = |message: &&mut conversation::Message| {
            message.role() == "tool" && message.call_id() == result.call_id()
        };
        if !is_new && let Some(known) = messages.iter_mut().rev().find(is_same) {
            *known = result;
            return;
        }
        self.insert_result(result, maker);
    }

    /// Adds a result after this place of its call's message, and the results that follow it.
    fn insert_result(&mut self, result: conversation::Message, maker: Option<usize>) {
        let messages = &mut self.conversation.messages;
        let mut at = maker.map_or(messages.len(), |maker| maker + 1);
        while messages.get(at).is_some_and(|message| message.role() == "tool") {
            at += 1;
        }
        if at == messages.len() {
            return messages.push(result);
        }
        messages.insert(at, result);
        for message in &mut self.messages {
            if let Some(place) = message.place.as_mut().filter(|place| **place >= at) {
                *place += 1;
            }
        }
    }

    /// Moves the result of a call that has just begun behind it: providers refuse a result before its call. Returns its
    /// id and its content.
    fn move_result(&mut self, call_id: &str) -> Option<(String, Value<'static>)> {
        let messages = &mut self.conversation.messages;
        let is_result =
            |message: &conversation::Message| message.role() == "tool" && message.call_id() == call_id;
        let at = messages.iter().rposition(is_result)?;
        let result = messages.remove(at);
        let told = (result.id().to_owned(), result.content()?);
        for message in &mut self.messages {
            if let Some(place) = message.place.as_mut().filter(|place| **place > at) {
                *place -= 1;
            }
        }
        let maker = self.call(call_id).and_then(|call| self.messages.get(call.message)?.place);
        self.insert_result(result, maker);
        Some(told)
    }

    /// Reports the result of a call.
    pub(super) fn respond(
        &mut self,
        id: &str,
        call_id: &str,
        content: &Value<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        check_content(content)?;
        self.note_answered(call_id, false);
        self.conversation.confirm(call_id);
        if self.call(call_id).is_none() && self.calls.early.len() < MAX_EARLY {
            self.calls.early.push(call_id.to_owned());
        }
        let thread_id = self.thread_of_call(call_id);
        let id = if id == call_id || id.is_empty() { self.next_id() } else { id.to_owned() };
        let mut response = event("tool.response", id, &thread_id);
        put(&mut response, "tool_call_id", call_id);
        response.set("content", text_of(Some(content)).into());
        if let Value::Array(_) = content {
            response.set("parts", content.clone());
        }
        self.emit(&response, sink);
        Ok(())
    }
}

/// Checks the content of a result.
fn check_content(content: &Value<'_>) -> Result<(), Problem> {
    if matches!(content, Value::String(_) | Value::Array(_)) {
        return Ok(());
    }
    Err("`content` is neither a string nor a list of parts".to_owned())
}
