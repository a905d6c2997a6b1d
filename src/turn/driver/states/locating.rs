//! Looks for the turn of a start that may have arrived although no response came.

use crate::error::{Error, ErrorCode};
use crate::features::{ClientConversations, TurnLists, TurnReads};
use crate::json::{Object, ObjectWriter, Value};
use crate::protocol::Call;
use crate::turn::conventions::Recovery;
use crate::turn::lost_start::{Finding, Sent};
use crate::turn::policy::Remedy;
use crate::turn::{Failure, StreamEnd};

use super::super::context::{Context, incomplete};
use super::super::pager::{PAGE, TurnPages};
use super::super::retry::LOCATE_ATTEMPTS;
use super::starting::{not_started, start, started};
use super::{State, Then, Transition, answering};

/// The search for a turn.
#[derive(Debug)]
pub(in super::super) struct Locating {
    _by: TurnReads,
    /// How the start failed.
    pub(in super::super) lost: Failure,
    pub(in super::super) attempts_left: u32,
    /// Whether the turn is started again if it is not found.
    pub(in super::super) restarts: bool,
    read: TurnPages,
}

impl Locating {
    /// Looks for the turn of a start that failed this way. Looks several times if `is_open` and the start may still be
    /// in flight.
    pub(in super::super) fn new(by: TurnReads, lost: Failure, restarts: bool, is_open: bool) -> Self {
        let attempts_left = if is_open && lost.may_yet_begin() { LOCATE_ATTEMPTS } else { 1 };
        Self { _by: by, lost, attempts_left, restarts, read: TurnPages::default() }
    }

    /// Looks for the turn of a start that has just failed.
    pub(super) fn begin(cx: &mut Context, lost: Failure) -> Transition {
        let is_unknown = lost.error.code == ErrorCode::UnexpectedResponse;
        // Such a response to a start comes from something that is not an agent, or refuses the start.
        if is_unknown && !cx.is_resuming && cx.reader.capabilities().has_client_conversation() {
            return Transition::end(cx.end_of(lost.error));
        }
        if let Recovery::None(_) = cx.conventions().recovery {
            return unclear(cx, &lost.error, Transition::end);
        }
        let remedy = lost.remedy();
        if let Some(by) = cx.conventions().repeats() {
            let is_absent = is_unknown && cx.retry.attempts() >= LOCATE_ATTEMPTS;
            if is_absent || remedy == Remedy::None || cx.retry.is_exhausted() {
                return unclear(cx, &lost.error, Transition::end);
            }
            return Transition::with(repeat(by, cx), Then::Retry(lost));
        }
        // The server may ask for a longer delay than is allowed.
        let can_retry = remedy != Remedy::None;
        let can_wait = can_retry && !cx.retry.is_exhausted();
        // A transcript without the turn proves nothing: some servers store a turn only when it has ended.
        let is_told = cx.conventions().transcripts().is_none() || lost.retry_after > 0;
        let restarts = can_wait && is_told && remedy == Remedy::Later;
        let search = |by| State::Locating(Self::new(by, lost.clone(), restarts, can_retry));
        match cx.turn_reads().map(search) {
            None => unclear(cx, &lost.error, Transition::end),
            Some(state) if can_wait => Transition::with(state, Then::Retry(lost)),
            Some(state) => Transition::to(state),
        }
    }

    pub(super) fn write(&self, cx: &Context, params: &mut ObjectWriter<'_>) -> Call {
        if listed(cx).is_some() {
            self.read.pager.write(params, PAGE);
            return Call::ListTurns;
        }
        cx.request.write_turn(&cx.reader, params);
        Call::GetTurn
    }

    pub(super) fn answered(&mut self, cx: &mut Context, answer: &Object<'_>) -> Transition {
        if listed(cx).is_some() {
            return self.listed(cx, answer);
        }
        if let Some(by) = cx.separate_answers() {
            return answering::located(by, self, cx, answer);
        }
        cx.retry.answered();
        started(cx, answer)
    }

    fn listed(&mut self, cx: &mut Context, page: &Object<'_>) -> Transition {
        if self.read.add(page) && !cx.request.trace.is_past(&self.read.turns) {
            if self.read.is_full() {
                return self
                    .unclear(cx, &Error::new(ErrorCode::Incomplete, "the session has too many turns"));
            }
            return Transition::stay(Then::Ask);
        }
        let turns = std::mem::take(&mut self.read).turns;
        let input = Value::parse(cx.request.input.json().unwrap_or("[]")).unwrap_or_default();
        let input = input.as_array().unwrap_or_default();
        let sent = Sent { input, previous_turn_id: &cx.request.previous_turn_id };
        // Servers whose turns have the client's ids do not return a turn's input.
        let sent = cx.conventions().client_ids.is_none().then_some(&sent);
        match cx.request.trace.find(&turns, sent) {
            Finding::Begun(turn) => {
                cx.retry.answered();
                started(cx, turn)
            }
            Finding::Unclear => {
                let problem = "the session has other turns with this input, or another branch of turns";
                self.unclear(cx, &Error::new(ErrorCode::Incomplete, problem))
            }
            Finding::Absent => self.absent(cx),
        }
    }

    pub(super) fn failed(&mut self, cx: &mut Context, failure: Failure) -> Transition {
        let is_read = cx.conventions().client_ids.is_some() && listed(cx).is_none();
        if is_read && failure.error.status == Some(404) {
            return self.absent(cx);
        }
        if failure.can_retry() {
            return Transition::stay(Then::Retry(failure));
        }
        self.unclear(cx, &failure.error)
    }

    /// Tries again, or ends the search: the server has no such turn.
    pub(super) fn absent(&mut self, cx: &mut Context) -> Transition {
        let cursor = cx.machine().cursor();
        if cx.separate_answers().is_none() && (cursor.last() > 0 || cursor.is_unsure()) {
            return self.unclear(cx, &self.lost.error);
        }
        self.attempts_left = self.attempts_left.saturating_sub(1);
        if self.attempts_left > 0 && !cx.retry.is_off() {
            return Transition::stay(Then::LocateAgain(self.attempts_left, self.lost.error.clone()));
        }
        // A stream that ended without any event began nothing.
        let was_silent = self.lost.error.code == ErrorCode::Incomplete;
        let proves_nothing = cx.conventions().transcripts().is_some();
        if proves_nothing && !self.restarts && !was_silent && self.lost.may_have_begun() {
            return self.unclear(cx, &self.lost.error);
        }
        if self.restarts { start(cx) } else { not_started(cx, self.lost.clone()) }
    }

    /// Ends the search without knowing whether the turn began.
    pub(super) fn unclear(&self, cx: &Context, error: &Error) -> Transition {
        unclear(cx, error, |end| Transition::stay(Then::End(end, Some(self.lost.clone()))))
    }
}

/// Looks for a turn in the stream that repeats the session's turns.
pub(in super::super) fn repeat(_: ClientConversations, cx: &mut Context) -> State {
    cx.is_resuming = true;
    State::Streaming
}

/// The marker of the session's list of turns, if the search uses it.
pub(in super::super) fn listed(cx: &Context) -> Option<TurnLists> {
    // Separate answers continue a turn whose id is known.
    let is_named = !cx.request.turn_id.is_empty();
    let lists = cx.conventions().turn_lists(is_named);
    lists.filter(|_| !(is_named && cx.separate_answers().is_some()))
}

fn unclear(cx: &Context, error: &Error, end: impl FnOnce(StreamEnd) -> Transition) -> Transition {
    let hope = match cx.conventions().recovery {
        Recovery::None(_) => "; the agent keeps no history",
        _ => "; `stream()` looks for it again",
    };
    end(StreamEnd::Failed(incomplete("the turn may have begun: ", error, hope)))
}

/// The failure of a start whose stream was left before a response came.
pub(in super::super) fn not_begun() -> Failure {
    Error::new(ErrorCode::TurnNotStarted, "the turn has not begun").into()
}
