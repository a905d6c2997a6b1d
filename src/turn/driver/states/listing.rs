//! A turn that has ended: lists the events that no stream brought.

use crate::error::{Error, ErrorCode};
use crate::event::{EventKind, EventRef, MAIN_THREAD};
use crate::json::{Object, ObjectWriter, Value};
use crate::protocol::Call;
use crate::turn::StreamEnd;
use crate::turn::conventions::Output;

use super::super::context::{Context, incomplete};
use super::super::pager::{PAGE, Pager};
use super::super::retry::Awaited;
use super::{State, Then, Transition};

/// Events per page of a session (section 1.2, #10).
const SESSION_PAGE: u64 = 100;
/// How often to read the list of a finished turn while parts are missing.
const MOST_READS: u32 = 3;

/// Takes events that were listed because the stream is gone.
pub(super) fn apply(cx: &mut Context, events: &[Value<'_>]) {
    for event in events.iter().filter_map(Value::as_object) {
        let event = EventRef::of(event);
        cx.reader.apply_missed(event);
        hear(cx, event);
    }
}

/// Takes events that the caller has listed.
pub(in super::super) fn fill(cx: &mut Context, events: &[Value<'_>]) {
    for event in events.iter().filter_map(Value::as_object) {
        let event = EventRef::of(event);
        cx.reader.apply_listed(event);
        hear(cx, event);
    }
}

/// Notes the turn's last message, if the turn's record lacks it.
fn hear(cx: &mut Context, event: EventRef<'_>) {
    match cx.conventions().output {
        Output::InRecord => {}
        Output::Listed(_) => {
            if is_output(event) && event.fields.array("tool_calls").is_empty() {
                cx.output = event.fields.to_json();
            }
        }
        Output::Stored(_) => {
            if let Some(output) = stored_output(event) {
                cx.output = output;
            }
        }
    }
}

/// Whether nothing is missing from a turn that ended in this state (a JSON object). The state of a turn that is done
/// repeats its last message.
pub(super) fn is_whole(cx: &mut Context, state: &str) -> bool {
    let state = Value::parse(state).unwrap_or_default();
    let Some(state) = state.as_object().filter(|state| state.text("status") == "done") else {
        return true;
    };
    if let Some(fields) = state.object("output") {
        cx.reader.apply_missed(EventRef { kind: EventKind::ModelMessage, fields });
    }
    !cx.reader.has_incomplete_messages()
}

/// Ends the turn in this state (a JSON object). Does nothing if it is empty.
pub(in super::super) fn finish(cx: &mut Context, state: &str) {
    let output = std::mem::take(&mut cx.output);
    let Ok(Value::Object(mut state)) = Value::parse(state) else { return };
    if cx.conventions().output != Output::InRecord {
        let has_output = state.object("output").is_some() || !state.array("required_actions").is_empty();
        if state.text("status") == "done" && !has_output && !output.is_empty() {
            state.insert("output", Value::parse(&output).unwrap_or_default());
        }
    }
    cx.reader.end_missed(&state);
}

/// Ends the turn in this state, although not all of its events could be read.
pub(super) fn gave_up(cx: &mut Context, state: &str, cause: &Error) -> Transition {
    finish(cx, state);
    unread(cx, cause)
}

/// Reports that the turn has ended, and that events or a pending call are missing.
pub(super) fn unread(cx: &mut Context, cause: &Error) -> Transition {
    cx.reader.set_missing_events(true);
    // The machine has no error to report for a turn that has ended.
    let _ = cx.reader.machine_mut().stream_ended(StreamEnd::Eof);
    let before = "the turn has ended, but its missed events could not be read: ";
    let error = incomplete(before, cause, "; `listEvents()` may return them later");
    Transition::stay(Then::Report(Err(error)))
}

/// The reading of a turn's list of events.
#[derive(Debug)]
pub(in super::super) struct Listing {
    /// How the turn ended (a JSON object); empty if the stream had the end.
    pub(super) ended: String,
    pager: Pager,
    reads_left: u32,
}

impl Listing {
    pub(in super::super) fn begin(ended: String) -> Transition {
        Transition::to(State::Listing(Self { ended, pager: Pager::default(), reads_left: MOST_READS }))
    }

    pub(super) fn write(&self, cx: &Context, params: &mut ObjectWriter<'_>) -> Call {
        cx.request.write_turn(&cx.reader, params);
        write(&self.pager, params)
    }

    pub(super) fn answered(&mut self, cx: &mut Context, page: &Object<'_>) -> Transition {
        if self.pager.is_first() {
            cx.reader.begin_list();
        }
        apply(cx, page.array("items"));
        if self.pager.advance(page) {
            cx.retry.answered();
            return Transition::stay(Then::Ask);
        }
        if is_whole(cx, &self.ended) {
            finish(cx, &self.ended);
            return completed(cx);
        }
        self.reads_left -= 1;
        if self.reads_left > 0 {
            return Transition::stay(Then::Wait(Awaited::Events));
        }
        let problem = "the server's list lacks part of a message";
        gave_up(cx, &self.ended, &Error::new(ErrorCode::Incomplete, problem))
    }
}

/// Writes the parameters of a page of a turn's events.
pub(super) fn write(pager: &Pager, params: &mut ObjectWriter<'_>) -> Call {
    params.str("order", "asc");
    pager.write(params, PAGE);
    Call::ListTurnEvents
}

/// Ends the turn after its stream did. Events that were lost are read from the turn's list of events, and so is the
/// call of a required action.
pub(in super::super) fn backfill(cx: &mut Context) -> Transition {
    let can_do_without = cx.retry.is_off() && !cx.reader.index().hides_actions();
    if cx.reader.is_complete() || can_do_without || !cx.is_started() {
        return Transition::end(StreamEnd::Eof);
    }
    cx.retry.answered();
    Listing::begin(String::new())
}

/// Notes that all events of the turn were streamed or listed. The call of a required action may still be missing: an
/// earlier turn may have made it, for example through a sub-agent that is still active.
pub(super) fn completed(cx: &mut Context) -> Transition {
    cx.reader.set_missing_events(false);
    if cx.reader.is_complete() {
        return Transition::end(StreamEnd::Eof);
    }
    Transition::to(State::Explaining(Explaining::default()))
}

/// The reading of the events of this turn and those before it, the newest first.
#[derive(Debug, Default)]
pub(in super::super) struct Explaining {
    pager: Pager,
}

impl Explaining {
    pub(super) fn write(&self, cx: &Context, params: &mut ObjectWriter<'_>) -> Call {
        if self.pager.is_first() {
            params.str("last_turn_id", cx.machine().id().unwrap_or_default());
        }
        self.pager.write(params, SESSION_PAGE);
        Call::ListSessionEvents
    }

    pub(super) fn answered(&mut self, cx: &mut Context, page: &Object<'_>) -> Transition {
        for item in page.array("items").iter().filter_map(Value::as_object) {
            if let Some(event) = item.object("event").filter(|event| event.text("type") == "model.message") {
                cx.reader.apply_earlier_message(event);
            }
        }
        if cx.reader.is_complete() {
            return Transition::end(StreamEnd::Eof);
        }
        if self.pager.advance(page) {
            return Transition::stay(Then::Ask);
        }
        let error = Error::new(ErrorCode::Incomplete, "the session has no pending call with this id");
        unread(cx, &error)
    }
}

fn is_output(event: EventRef<'_>) -> bool {
    event.kind == EventKind::ModelMessage && event.fields.text("thread_id") == MAIN_THREAD
}

/// The output that a stored message of the agent amounts to, in the form of a turn's state, if the message has ended. A
/// message without text also counts: the turn then has no output.
fn stored_output(event: EventRef<'_>) -> Option<String> {
    let [content, reason] = ["content", "finish_reason"].map(|name| event.fields.text(name));
    let is_end = reason == "stop" || !(content.is_empty() || matches!(reason, "" | "interrupted"));
    let is_output = is_output(event) && is_end;
    let mut output = String::new();
    if is_output && !content.is_empty() {
        let mut object = ObjectWriter::new(&mut output);
        object.str("type", "model.message").str("id", event.fields.text("id")).str("thread_id", MAIN_THREAD);
        object.str("content", content).str("finish_reason", "stop").end();
    }
    is_output.then_some(output)
}
