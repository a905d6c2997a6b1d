//! Answers that are separate requests. They continue a paused turn under its old id.
//!
//! The turn is read first: it must be waiting. Its events from before the pause are then counted, so that only later
//! ones are delivered. After the answers, its record shows the pause for a moment longer.

use crate::error::{Error, ErrorCode};
use crate::event::EventRef;
use crate::features::SeparateAnswers;
use crate::json::{Object, ObjectWriter, Value};
use crate::protocol::Call;
use crate::turn::policy::Remedy;
use crate::turn::{Failure, Newest, StreamEnd};

use super::super::context::Context;
use super::super::pager::Pager;
use super::starting::{self, not_started, started};
use super::{Locating, State, Then, Transition, listing, replaying};

/// After this many reads, a turn that still waits for answered calls is really waiting.
const MOST_STALE_READS: u32 = 15;

/// The answering of a paused turn.
#[derive(Debug)]
pub(in super::super) struct Answering {
    by: SeparateAnswers,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// Reading whether the turn waits.
    Inspecting,
    /// Counting the events from before the pause.
    Skimming(Skimming),
    /// Sending the next answer.
    Sending,
}

#[derive(Debug, Default)]
struct Skimming {
    pager: Pager,
    /// The number of the last event that was read.
    last: u64,
}

impl Answering {
    /// Begins with the turn to be answered.
    pub(super) fn begin(by: SeparateAnswers, cx: &mut Context) -> Transition {
        let request = &mut cx.request;
        request.turn_id = match (&*request.previous_turn_id, &request.trace.newest) {
            ("" | "auto", Newest::Turn(id)) => id.clone(),
            ("" | "auto" | "none", _) => String::new(),
            (id, _) => id.to_owned(),
        };
        if request.turn_id.is_empty() {
            let problem = "the answered turn is unknown: pass its id as `previousTurnId`";
            return Transition::end(StreamEnd::NotBegun(Error::new(ErrorCode::InvalidInput, problem)));
        }
        Self::at(by, Stage::Inspecting)
    }

    fn at(by: SeparateAnswers, stage: Stage) -> Transition {
        Transition::to(State::Answering(Self { by, stage }))
    }

    pub(super) fn is_sending(&self) -> bool {
        matches!(self.stage, Stage::Sending)
    }

    pub(super) fn write(&self, cx: &Context, params: &mut ObjectWriter<'_>) -> Call {
        if self.is_sending() {
            params.str("turn_id", &cx.request.turn_id);
            params.raw("input", &cx.request.input.answer(cx.answers.taken));
            return Call::AnswerTurn;
        }
        cx.request.write_turn(&cx.reader, params);
        match &self.stage {
            Stage::Skimming(skimming) if cx.reader.has_frame_record() => {
                replaying::write(&skimming.pager, params)
            }
            Stage::Skimming(skimming) => listing::write(&skimming.pager, params),
            _ => Call::GetTurn,
        }
    }

    pub(super) fn answered(&mut self, cx: &mut Context, answer: &Object<'_>) -> Transition {
        match &mut self.stage {
            Stage::Inspecting => inspected(self.by, cx, answer),
            Stage::Skimming(skimming) => skimming.answered(self.by, cx, answer),
            Stage::Sending => taken(self.by, cx),
        }
    }

    /// A refused answer was not accepted. After any other failure, only the turn itself shows whether it was.
    pub(super) fn failed(&self, cx: &mut Context, failure: Failure) -> Transition {
        if self.is_sending() {
            if cx.retry.is_off() && cx.has_answered() {
                return not_started(cx, failure);
            }
            return starting::failed(cx, failure);
        }
        let is_skimming = matches!(self.stage, Stage::Skimming(_));
        if is_skimming && cx.reader.has_frame_record() && replaying::is_unrecorded(&failure) {
            return skim_list(self.by, cx);
        }
        if failure.remedy() != Remedy::None && !cx.retry.is_exhausted() {
            return Transition::stay(Then::Retry(failure));
        }
        not_started(cx, failure)
    }
}

impl Skimming {
    fn answered(&mut self, by: SeparateAnswers, cx: &mut Context, page: &Object<'_>) -> Transition {
        let has_frames = cx.reader.has_frame_record();
        if has_frames {
            if self.pager.is_first() {
                cx.reader.replay();
            }
            for frame in page.array("items") {
                self.last = self.last.max(cx.reader.skim_frame(&frame.to_json()));
            }
        } else {
            for event in page.array("items").iter().filter_map(Value::as_object) {
                cx.reader.skim(EventRef::of(event));
            }
        }
        if self.pager.advance(page) {
            return Transition::stay(Then::Ask);
        }
        if has_frames {
            let (cursor, last) = (page.text("cursor"), cx.machine().cursor().last());
            if cursor.is_empty() || self.last < last {
                // The record lacks delivered events.
                return skim_list(by, cx);
            }
            cx.reader.set_frame_cursor(cursor);
            cx.reader.machine_mut().advance(self.last);
        }
        Answering::at(by, Stage::Sending)
    }
}

/// Counts the events in the turn's list of events, since the record of its stream is unusable.
fn skim_list(by: SeparateAnswers, cx: &mut Context) -> Transition {
    cx.reader.give_up_frame_record();
    Answering::at(by, Stage::Skimming(Skimming::default()))
}

fn inspected(by: SeparateAnswers, cx: &mut Context, turn: &Object<'_>) -> Transition {
    let state = turn.object("state").unwrap_or(const { &Object::new() });
    if !waits(state) {
        let error = Error::new(ErrorCode::TurnNotRunning, "the turn no longer waits for an answer");
        return not_started(cx, error.into());
    }
    state.text("completed_at").clone_into(&mut cx.answers.paused_at);
    Answering::at(by, Stage::Skimming(Skimming::default()))
}

/// Takes the turn, which was read because an answer may have been lost.
pub(super) fn located(
    by: SeparateAnswers,
    locating: &mut Locating,
    cx: &mut Context,
    turn: &Object<'_>,
) -> Transition {
    let state = turn.object("state").unwrap_or(const { &Object::new() });
    if !waits(state) {
        return go_on(by, cx);
    }
    if !waits_for_others(cx, state) {
        return locating.absent(cx);
    }
    cx.retry.answered();
    taken(by, cx)
}

fn waits(state: &Object<'_>) -> bool {
    state.object("termination").is_some_and(|ended| ended.text("type") == "suspended")
}

/// Whether a turn waits, but not for the call whose answer is in flight.
fn waits_for_others(cx: &Context, state: &Object<'_>) -> bool {
    let answered = cx.request.input.answered_calls(cx.answers.taken + 1);
    let actions = state.array("required_actions").iter().filter_map(Value::as_object);
    let mut waiting = actions.flat_map(|action| action.array("tool_calls")).filter_map(Value::as_object);
    let is_told = waiting.clone().next().is_some();
    is_told && answered.last().is_some_and(|(_, call)| waiting.all(|waiting| waiting.text("id") != call))
}

/// Counts an answer that the server accepted.
fn taken(by: SeparateAnswers, cx: &mut Context) -> Transition {
    cx.answers.taken += 1;
    if cx.answers.taken < cx.request.input.answer_count() {
        return Answering::at(by, Stage::Sending);
    }
    go_on(by, cx)
}

/// Continues with the turn. Whether any answers after the accepted ones arrived is unknown.
fn go_on(by: SeparateAnswers, cx: &mut Context) -> Transition {
    cx.reader.set_answered(by, cx.request.input.answered_calls(cx.answers.taken));
    cx.answers.taken = cx.request.input.answer_count();
    let mut turn = Object::new();
    turn.set("id", cx.request.turn_id.clone().into());
    // The previous turn is this turn, as it was before the answers.
    turn.set("previous_turn_id", cx.request.turn_id.clone().into());
    let input = cx.request.input.json().unwrap_or("[]");
    turn.set("input", Value::parse(input).unwrap_or_default().into_owned());
    started(cx, &turn)
}

/// Whether an answered turn has not continued yet, or has continued with only some of the calls.
pub(super) fn is_still_paused(cx: &mut Context, state: &Object<'_>) -> bool {
    if cx.separate_answers().is_none() {
        return false;
    }
    let answers = &mut cx.answers;
    if !answers.paused_at.is_empty() && state.text("completed_at") == answers.paused_at {
        return true;
    }
    // An answered call may become pending again. Then the turn stays in this state.
    answers.stale_reads = if cx.reader.was_answered(state) { answers.stale_reads + 1 } else { 0 };
    (1..=MOST_STALE_READS).contains(&answers.stale_reads)
}
