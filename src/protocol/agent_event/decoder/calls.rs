//! Tool calls: their beginning, their arguments, their cancellation, and their output.

use crate::error::sentence;
use crate::event::{MAIN_THREAD, TextDelta, TextField};
use crate::json::{Object, Value, is_same};
use crate::protocol::EventSink;

use super::Run;
use super::fields::{Problem, event, object, optional_text, put, text, with_text};

/// The most calls in one message. Code that merges calls allocates up to a call's index.
pub(super) const MAX_CALLS: u32 = 1024;

/// The most calls remembered over all messages. Later frames of a forgotten call have less data.
const REMEMBERED_CALLS: usize = 4096;

/// The prefixes of the id of a pending call's projection, before the id of the waiting call (section 2.2).
const PROJECTIONS: [&str; 2] = ["fc_", "perm_"];

/// The name of the projection with which tirea asks for permission (section 2.2).
const QUESTION: &str = "PermissionConfirm";

/// A tool call of the run.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "what has happened to it, in any order")]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    /// The message that makes it; empty if that was in an earlier run.
    pub(super) message: String,
    /// Its index among the message's calls.
    index: u32,
    /// Its arguments so far, until it has its result.
    arguments: String,
    is_ready: bool,
    /// Whether it was cancelled. If it begins again, that is another call.
    is_cancelled: bool,
    /// Whether the call has its result or an answer, and no longer waits.
    pub(super) is_answered: bool,
    /// Whether the tool has sent output while it ran.
    has_spoken: bool,
}

impl Run {
    /// The newest call with this id.
    pub(super) fn call(&self, id: &str) -> Option<&Call> {
        self.calls.iter().rev().find(|call| call.id == id)
    }

    /// The newest call with this id, if this run makes it.
    fn made_call(&self, id: &str) -> Option<&Call> {
        self.call(id).filter(|call| !call.message.is_empty() && !call.is_cancelled)
    }

    fn call_mut(&mut self, id: &str) -> Option<&mut Call> {
        self.calls.iter_mut().rev().find(|call| call.id == id)
    }

    /// The call with this id, which an earlier run may have made.
    pub(super) fn known_call(&mut self, id: &str) -> &mut Call {
        if self.call(id).is_none() {
            self.remember(Call { id: id.to_owned(), ..Call::default() });
        }
        let newest = self.calls.len().saturating_sub(1);
        let at = self.calls.iter().rposition(|call| call.id == id).unwrap_or(newest);
        &mut self.calls[at]
    }

    fn remember(&mut self, call: Call) {
        if self.calls.len() == REMEMBERED_CALLS {
            self.calls.remove(0);
        }
        self.calls.push(call);
    }

    /// The message begins again, without calls.
    pub(super) fn forget_calls(&mut self, message: &str) {
        self.calls.retain(|call| call.message != message);
    }

    /// A message continues under another id, with its calls.
    pub(super) fn move_calls(&mut self, message: &str, id: &str) {
        for call in self.calls.iter_mut().filter(|call| call.message == message) {
            id.clone_into(&mut call.message);
        }
    }

    /// Whether a message makes calls.
    pub(super) fn has_calls(&self, message: &str) -> bool {
        self.calls.iter().any(|call| call.message == message && !call.is_cancelled)
    }

    /// Whether a message has begun calls whose arguments are not complete.
    pub(super) fn has_begun_calls(&self, message: &str) -> bool {
        self.calls.iter().any(|call| call.message == message && !call.is_ready && !call.is_cancelled)
    }

    /// Whether a call is a waiting call's projection: it represents the question, and is not made. The waiting call may
    /// be inside another one; then only the name of the question shows it.
    fn is_projection(&self, id: &str, name: &str) -> bool {
        let of_call = |prefix: &str| {
            id.strip_prefix(prefix).is_some_and(|id| name == QUESTION || self.call(id).is_some())
        };
        !self.is_speaking() && PROJECTIONS.into_iter().any(of_call)
    }

    /// The call that a frame refers to: the id itself, or the call behind a projection.
    pub(super) fn meant<'i>(&self, id: &'i str) -> &'i str {
        let behind = |prefix: &&str| id.strip_prefix(*prefix).filter(|id| self.call(id).is_some());
        if self.call(id).is_some() {
            return id;
        }
        PROJECTIONS.iter().find_map(behind).unwrap_or(id)
    }

    pub(super) fn call_start(
        &mut self,
        fields: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let (id, name) = (text(fields, "id")?, optional_text(fields, "name")?.unwrap_or_default());
        if self.is_projection(id, name) { Ok(()) } else { self.begin_call(id, name, sink) }
    }

    /// Begins a call in the last message that began; repeats its name if it had begun there already.
    fn begin_call(&mut self, id: &str, name: &str, sink: &mut dyn EventSink) -> Result<(), Problem> {
        let next = self.message.as_ref().map_or(0, |message| message.calls);
        let message = self.message.as_ref().map_or("", |message| &message.id);
        let known = self.made_call(id).filter(|call| call.message == message);
        let index = match known {
            Some(call) => call.index,
            None if next >= MAX_CALLS => return Err("a message has more than 1024 calls".to_owned()),
            None => next,
        };
        let is_new = known.is_none();
        let message = self.message_id(sink);
        let mut piece = call_delta(index);
        put(&mut piece, "id", id);
        piece.set("type", "function".into());
        let mut function = with_text("name", name);
        function.set("arguments", "".into());
        piece.set("function", function.into());
        self.emit_piece(message.clone(), piece, sink);
        if is_new {
            // Some models number their calls again in every message: from here on, the id means the newest call.
            self.remember(Call {
                id: id.to_owned(),
                name: name.to_owned(),
                message,
                index,
                ..Call::default()
            });
            if let Some(message) = &mut self.message {
                message.calls = next + 1;
            }
        } else if let Some(call) = self.call_mut(id)
            && !name.is_empty()
        {
            name.clone_into(&mut call.name);
        }
        Ok(())
    }

    fn emit_piece(&mut self, message: String, piece: Object<'_>, sink: &mut dyn EventSink) {
        let mut delta = event("model.message.delta", message, MAIN_THREAD);
        delta.set("tool_calls", Value::Array(vec![piece.into()]));
        self.emit(&delta, sink);
    }

    /// A piece of a call's arguments. Begins an unknown call, without a name.
    pub(super) fn arguments(
        &mut self,
        id: &str,
        text: &str,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        if self.made_call(id).is_none() {
            if self.is_projection(id, "") {
                return Ok(());
            }
            self.begin_call(id, "", sink)?;
        }
        let sequence_number = self.next_number();
        if let Some(call) = self.call_mut(id) {
            if !call.is_ready {
                call.arguments.push_str(text);
            }
            emit_arguments(call, sequence_number, text, sink);
        }
        Ok(())
    }

    /// A call's arguments are complete. They are emitted only if the pieces did not contain them.
    pub(super) fn call_ready(
        &mut self,
        fields: &mut Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let (id, name) = (text(fields, "id")?, optional_text(fields, "name")?.unwrap_or_default());
        if self.is_projection(id, name) {
            return Ok(());
        }
        let message = self.message.as_ref().map_or("", |message| &message.id);
        match self.made_call(id) {
            // A repetition.
            Some(call) if call.is_ready && call.message == message => return Ok(()),
            Some(call) if !call.is_ready && (name.is_empty() || !call.name.is_empty()) => {}
            _ => self.begin_call(id, name, sink)?,
        }
        let Some(call) = self.call_mut(id) else { return Ok(()) };
        call.is_ready = true;
        let Some(arguments) = fields.get("arguments") else { return Ok(()) };
        let whole = arguments.to_json();
        let said = std::mem::replace(&mut call.arguments, whole.clone());
        if said.is_empty() {
            return self.arguments(id, &whole, sink);
        }
        let is_said = Value::parse(&said).is_ok_and(|said| is_same(&said, arguments));
        if !is_said {
            let (message, mut piece) = (call.message.clone(), call_delta(call.index));
            piece.set("function", object("whole_arguments", whole.into()).into());
            self.emit_piece(message, piece, sink);
        }
        Ok(())
    }

    /// A call's arguments as JSON text, once they are known.
    pub(super) fn arguments_of(&self, id: &str) -> Option<&str> {
        self.call(id).filter(|call| call.is_ready && !call.arguments.is_empty()).map(|call| &*call.arguments)
    }

    /// A call no longer waits: it has its result, or an answer.
    pub(super) fn answer_call(&mut self, id: &str) {
        let call = self.known_call(id);
        call.is_answered = true;
        call.arguments = String::new();
    }

    /// A call will not be made: its stream broke before its arguments were complete (section 5).
    pub(super) fn call_cancel(
        &mut self,
        fields: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let id = text(fields, "id")?;
        let reason = optional_text(fields, "reason")?.unwrap_or_default();
        if let Some(call) = self.call_mut(id) {
            call.is_cancelled = true;
        }
        self.emit_cancelled(id, reason, sink);
        Ok(())
    }

    fn emit_cancelled(&mut self, id: &str, reason: &str, sink: &mut dyn EventSink) {
        let mut cancelled = self.main_event("tool.cancelled");
        put(&mut cancelled, "tool_call_id", id);
        put(&mut cancelled, "reason", reason);
        self.emit(&cancelled, sink);
    }

    /// A tool sends output while it runs. It becomes a report of its own, whose `output` grows piece by piece, apart
    /// from the call's progress and its result.
    pub(super) fn call_output(
        &mut self,
        fields: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let (id, piece) = (text(fields, "id")?, text(fields, "delta")?);
        let name = optional_text(fields, "name")?.unwrap_or_default();
        let call = self.known_call(id);
        let is_first = !std::mem::replace(&mut call.has_spoken, true);
        let kind = if is_first { "activity.snapshot" } else { "activity.delta" };
        let mut report = self.main_event(kind);
        report.set("message_id", sentence(&["tool_call_output:", id]).into());
        report.set("activity_type", "tool-call-output".into());
        if is_first {
            let mut content = with_text("call_id", id);
            put(&mut content, "tool_name", name);
            content.set("output", vec![piece.to_owned().into()].into());
            report.set("content", content.into());
        } else {
            let mut add = with_text("op", "add");
            add.set("path", "/output/-".into());
            put(&mut add, "value", piece);
            report.set("patch", vec![add.into()].into());
        }
        self.emit(&report, sink);
        Ok(())
    }
}

fn call_delta<'a>(index: u32) -> Object<'a> {
    object("index", u64::from(index).into())
}

fn emit_arguments(call: &Call, sequence_number: u64, text: &str, sink: &mut dyn EventSink) {
    let (id, field) = (&*call.message, TextField::Arguments(call.index));
    sink.delta(
        sequence_number,
        TextDelta { id, thread_id: MAIN_THREAD, created_at: None, field, text, others: None, source: 0 },
    );
}
