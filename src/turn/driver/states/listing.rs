//! A turn that has ended: the events that no stream brought are listed.

use crate::error::{Error, ErrorCode};
use crate::event::{EventKind, EventRef};
use crate::index::MAIN_THREAD;
use crate::json::{Object, ObjectWriter, Value};
use crate::protocol::Call;
use crate::turn::StreamEnd;
use crate::turn::conventions::Output;

use super::super::context::{Context, incomplete};
use super::super::pager::Pager;
use super::super::retry::Awaited;
use super::starting::PAGE;
use super::{State, Then, Transition};

/// Events of a session of a page (section 1.2, #10).
const SESSION_PAGE: u64 = 100;
/// How often a list is read that lacks part of a turn that is done.
const MOST_READS: u32 = 3;

/// How a turn has ended, while its last events are still missing.
#[derive(Debug, Default)]
pub(in super::super) struct Ending {
    /// The terminal state (a JSON object); empty if the stream brought it.
    state: String,
    /// The last message, if the state does not have it (a JSON object).
    output: String,
}

impl Ending {
    pub(in super::super) fn of(state: String) -> Self {
        Self { state, output: String::new() }
    }

    /// Takes listed events.
    pub(super) fn apply(&mut self, cx: &mut Context, events: &[Value<'_>]) {
        for event in events.iter().filter_map(Value::as_object) {
            let event = EventRef::of(event);
            cx.reader.apply_missed(event);
            self.hear(cx, event);
        }
    }

    /// The turn ends as its record said.
    pub(in super::super) fn finish_as(mut self, cx: &mut Context) {
        self.state = cx.ended.clone();
        self.finish(cx);
    }

    /// Takes events that the caller has listed.
    pub(in super::super) fn fill(&mut self, cx: &mut Context, events: &[Value<'_>]) {
        for event in events.iter().filter_map(Value::as_object) {
            let event = EventRef::of(event);
            cx.reader.apply_listed(event);
            self.hear(cx, event);
        }
    }

    /// Notes the turn's last message.
    fn hear(&mut self, cx: &Context, event: EventRef<'_>) {
        match cx.conventions().output {
            Output::InRecord => {}
            Output::Listed(_) => {
                if is_output(event) && event.fields.array("tool_calls").is_empty() {
                    self.output = event.fields.to_json();
                }
            }
            Output::Stored(_) => {
                if let Some(output) = stored_output(event) {
                    self.output = output;
                }
            }
        }
    }

    /// Whether nothing is missing of a turn that is done. Its state repeats its last message.
    pub(super) fn is_whole(&self, cx: &mut Context) -> bool {
        let state = Value::parse(&self.state).unwrap_or_default();
        let Some(state) = state.as_object().filter(|state| state.text("status") == "done") else {
            return true;
        };
        if let Some(fields) = state.object("output") {
            cx.reader.apply_missed(EventRef { kind: EventKind::ModelMessage, fields });
        }
        !cx.reader.has_incomplete_messages()
    }

    /// The turn ends as the server said.
    pub(in super::super) fn finish(&self, cx: &mut Context) {
        let Ok(Value::Object(mut state)) = Value::parse(&self.state) else { return };
        if cx.conventions().output != Output::InRecord {
            let has_output = state.object("output").is_some() || !state.array("required_actions").is_empty();
            if state.text("status") == "done" && !has_output && !self.output.is_empty() {
                state.insert("output", Value::parse(&self.output).unwrap_or_default());
            }
        }
        cx.reader.end_missed(&state);
    }

    /// The turn has ended, but not all of its events could be read.
    pub(super) fn gave_up(&self, cx: &mut Context, error: &Error) -> Transition {
        self.finish(cx);
        unread(cx, error)
    }
}

/// The turn has ended, and events or a call that waits are missing.
pub(super) fn unread(cx: &mut Context, cause: &Error) -> Transition {
    cx.reader.set_unread(true);
    // The machine has no error to report for a turn that has ended.
    let _ = cx.reader.machine_mut().stream_ended(StreamEnd::Eof);
    let before = "the turn has ended, and the events that were missed could not be read: ";
    let error = incomplete(before, cause, "; `listEvents()` may return them later");
    Transition::stay(Then::Report(Err(error)))
}

/// The reading of a turn's list of events.
#[derive(Debug)]
pub(in super::super) struct Listing {
    pub(super) ending: Ending,
    pager: Pager,
    reads_left: u32,
}

impl Listing {
    /// Lists a turn that has ended in this state (a JSON object); empty if the stream brought the end.
    pub(in super::super) fn begin(state: String) -> Transition {
        let ending = Ending::of(state);
        Transition::to(State::Listing(Self { ending, pager: Pager::default(), reads_left: MOST_READS }))
    }

    pub(super) fn write(&self, cx: &Context, params: &mut ObjectWriter<'_>) -> Call {
        cx.request.write_turn(&cx.reader, params);
        write(&self.pager, params)
    }

    pub(super) fn answered(&mut self, cx: &mut Context, page: &Object<'_>) -> Transition {
        if self.pager.is_first() {
            cx.reader.begin_list();
        }
        self.ending.apply(cx, page.array("items"));
        if self.pager.advance(page) {
            cx.retry.answered();
            return Transition::stay(Then::Ask);
        }
        if self.ending.is_whole(cx) {
            self.ending.finish(cx);
            return completed(cx);
        }
        self.reads_left -= 1;
        if self.reads_left > 0 {
            return Transition::stay(Then::Wait(Awaited::Events));
        }
        let problem = "the server's list does not have the whole of a message";
        self.ending.gave_up(cx, &Error::new(ErrorCode::Incomplete, problem))
    }
}

/// Writes which page of a turn's events is listed.
pub(super) fn write(pager: &Pager, params: &mut ObjectWriter<'_>) -> Call {
    params.str("order", "asc");
    pager.write(params, PAGE);
    Call::ListTurnEvents
}

/// The turn's stream has ended it. If events were lost on the way, the turn's list of events has them; and a call that
/// waits must be shown.
pub(super) fn backfill(cx: &mut Context) -> Transition {
    let can_do_without = cx.retry.is_off() && !cx.reader.index().hides_actions();
    if cx.reader.is_complete() || can_do_without || !cx.is_started() {
        return Transition::end(StreamEnd::Eof);
    }
    cx.retry.answered();
    Listing::begin(String::new())
}

/// All events of the turn came, or were listed. A call that waits may have been made in an earlier turn, for instance
/// by a sub-agent that lives on.
pub(super) fn completed(cx: &mut Context) -> Transition {
    cx.reader.set_unread(false);
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
                cx.reader.explain(event);
            }
        }
        if cx.reader.is_complete() {
            return Transition::end(StreamEnd::Eof);
        }
        if self.pager.advance(page) {
            return Transition::stay(Then::Ask);
        }
        let error = Error::new(ErrorCode::Incomplete, "the session has no call that waits under this id");
        unread(cx, &error)
    }
}

fn is_output(event: EventRef<'_>) -> bool {
    event.kind == EventKind::ModelMessage && event.fields.text("thread_id") == MAIN_THREAD
}

/// The output that a stored message of the agent makes, in the form of a turn's state, if the message has ended. One
/// without text also counts: then the turn has no output.
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
