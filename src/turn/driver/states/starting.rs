//! Before a turn has begun: the reads before its start, and the start itself.

use crate::error::ErrorCode;
use crate::features::TurnLists;
use crate::json::{Object, ObjectWriter};
use crate::protocol::Call;
use crate::turn::policy::Remedy;
use crate::turn::{Failure, Newest, StreamEnd};

use super::super::context::{Context, incomplete};
use super::super::pager::{PAGE, TurnPages};
use super::{Answering, Locating, State, Then, Transition, follow};

/// Enough turns to show the order of the list.
const FIRST_PAGE: u64 = 2;

/// The search for the session's newest turn. Some servers list the oldest turns first, so it may need all pages.
#[derive(Debug)]
pub(in super::super) struct ReadingNewest {
    _by: TurnLists,
    read: TurnPages,
}

impl ReadingNewest {
    pub(in super::super) fn new(by: TurnLists) -> Self {
        Self { _by: by, read: TurnPages::default() }
    }

    pub(super) fn write(&self, params: &mut ObjectWriter<'_>) -> Call {
        let is_first = self.read.pager.is_first();
        self.read.pager.write(params, if is_first { FIRST_PAGE } else { PAGE });
        Call::ListNewestTurns
    }

    pub(super) fn answered(&mut self, cx: &mut Context, page: &Object<'_>) -> Transition {
        let is_all = !self.read.add(page);
        match Newest::of(&self.read.turns, is_all) {
            None if !self.read.is_full() => return Transition::stay(Then::Ask),
            None | Some(Newest::Unknown) => {}
            Some(newest) => {
                cx.request.trace.newest = newest;
                cx.request.trace.started_at = 0;
            }
        }
        start(cx)
    }
}

/// Starts the turn. Accepted answers are not sent again.
pub(in super::super) fn start(cx: &mut Context) -> Transition {
    match cx.separate_answers() {
        Some(by) => Answering::begin(by, cx),
        None => Transition::to(State::Starting),
    }
}

/// Reads the response to a start, if it is the whole turn. Returns whether it is.
pub(super) fn read_whole_turn(cx: &mut Context, answer: &Object<'_>) -> bool {
    let is_whole = cx.conventions().transcripts().is_some();
    if is_whole {
        cx.reader.push_body(answer);
    }
    is_whole
}

/// Takes the server's record of a turn that has begun.
pub(super) fn started(cx: &mut Context, turn: &Object<'_>) -> Transition {
    cx.reader.found(turn);
    if cx.wants_stream {
        return Transition::to(follow(cx, None));
    }
    cx.take_state(turn.object("state").unwrap_or(const { &Object::new() }));
    Transition::stay(Then::Report(Ok(())))
}

/// Takes the failure of a start or an answer while the turn has no id.
pub(super) fn failed(cx: &mut Context, failure: Failure) -> Transition {
    if cx.retry.is_off() || failure.error.code == ErrorCode::FrameTooLarge {
        return Transition::end(cx.end_of(failure.error));
    }
    let is_relayed = cx.reader.is_relayed();
    if is_relayed && is_known_to_relay(cx, &failure) {
        cx.reader.give_up_relay();
        return Locating::begin(cx, failure);
    }
    let may_have_begun = failure.may_have_begun();
    // A relay passes the same start on once.
    let can_repeat =
        if may_have_begun { is_relayed && failure.can_retry() } else { failure.remedy() == Remedy::Later };
    if can_repeat && !cx.retry.is_exhausted() {
        Transition::stay(Then::Retry(failure))
    } else if may_have_begun {
        Locating::begin(cx, failure)
    } else {
        not_started(cx, failure)
    }
}

/// Whether the relay knows the turn but has none of its frames, so that the same start would fail again: the turn is
/// cut or has expired, or the agent failed or did not respond. Such a failure may also come from a proxy, but not
/// twice. A 503 began nothing.
fn is_known_to_relay(cx: &Context, failure: &Failure) -> bool {
    match failure.error.status {
        Some(503) => false,
        Some(408 | 500..) => cx.retry.attempts() > 0,
        status => status == Some(412) || failure.error.code == ErrorCode::Cut,
    }
}

/// Ends a start that began nothing. If some answers were accepted, the turn has neither begun nor kept its former
/// state.
pub(super) fn not_started(cx: &mut Context, failure: Failure) -> Transition {
    cx.renew_turn();
    if !cx.has_answered() {
        return Transition::end(StreamEnd::NotBegun(failure.error));
    }
    let before = "the server accepted only some of the answers: ";
    let error = incomplete(before, &failure.error, "; `stream()` sends the others");
    Transition::stay(Then::End(StreamEnd::Failed(error), Some(failure)))
}
