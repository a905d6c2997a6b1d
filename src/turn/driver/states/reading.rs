//! Reads the record of a turn that has begun, because its stream is unusable. What follows depends on why the record is
//! read.

use crate::error::{Error, ErrorCode};
use crate::features::{AttachedReaders, PartialLists, TurnReads};
use crate::json::Object;
use crate::turn::StreamEnd;

use super::super::context::{Context, incomplete};
use super::super::retry::Awaited;
use super::listing::Listing;
use super::{State, Then, Transition, answering, follow};

/// How often to read a turn that stops without a reader: it may just have ended.
const MOST_READS: u32 = 3;

/// Takes the record, read because the stream brought nothing or has expired once.
pub(super) fn checked(cx: &mut Context, turn: &Object<'_>) -> Transition {
    if let Some(ended) = ended(cx, turn) {
        if cx.retry.expired_streams() > 0 {
            return list(cx, ended);
        }
        // The stream may still bring the rest.
        cx.ended = ended.to_json();
    }
    Transition::to(follow(cx, None))
}

/// Takes the record of a turn that has no stream to return to.
pub(super) fn polled(by: TurnReads, cx: &mut Context, turn: &Object<'_>) -> Transition {
    match ended(cx, turn) {
        Some(ended) => list(cx, ended),
        None => Transition::with(State::Polling(by), Then::Wait(Awaited::Turn)),
    }
}

/// A turn that stops without a reader, and whose stream was lost.
#[derive(Debug)]
pub(in super::super) struct Abandoned {
    _by: AttachedReaders,
    reads_left: u32,
    /// Why the stream was lost, if that happened in this run.
    cause: Option<Error>,
}

impl Abandoned {
    pub(in super::super) fn new(by: AttachedReaders, cause: Option<Error>) -> Self {
        Self { _by: by, reads_left: MOST_READS, cause }
    }

    pub(super) fn answered(&mut self, cx: &mut Context, turn: &Object<'_>) -> Transition {
        if let Some(ended) = ended(cx, turn) {
            return list(cx, ended);
        }
        self.reads_left = self.reads_left.saturating_sub(1);
        if self.reads_left > 0 {
            return Transition::stay(Then::Wait(Awaited::History));
        }
        let cause = self
            .cause
            .take()
            .unwrap_or_else(|| Error::new(ErrorCode::Incomplete, "its stream is not available"));
        let before = "the stream was lost before the turn ended, and this server cannot resume it: ";
        let after = "; received events are kept, and `session.history()` reads what the server stored";
        Transition::end(StreamEnd::Lost(incomplete(before, &cause, after)))
    }
}

/// Reads what an ended turn waits for, if only its session shows it.
#[derive(Debug)]
pub(in super::super) struct ReadingSession {
    _by: PartialLists,
    ended: Object<'static>,
}

impl ReadingSession {
    pub(super) fn answered(&self, session: &Object<'_>) -> Transition {
        let mut ended: Object<'_> = self.ended.clone();
        ended.insert("required_actions", session.array("required_actions").to_vec());
        Listing::begin(ended.to_json())
    }
}

/// The terminal state in the turn's record, if it has ended.
fn ended<'t, 'a>(cx: &mut Context, turn: &'t Object<'a>) -> Option<&'t Object<'a>> {
    let state = turn.object("state")?;
    let is_ended = matches!(state.text("status"), "done" | "cancelled" | "error");
    (!answering::is_still_paused(cx, state) && is_ended).then_some(state)
}

/// Lists the events of a turn that has ended.
fn list(cx: &Context, state: &Object<'_>) -> Transition {
    match cx.conventions().partial_lists() {
        Some(by) if is_silent(state) => {
            let ended = state.clone().into_owned();
            Transition::to(State::ReadingSession(ReadingSession { _by: by, ended }))
        }
        _ => Listing::begin(state.to_json()),
    }
}

/// Whether a turn has paused without naming what it waits for.
fn is_silent(state: &Object<'_>) -> bool {
    state.array("required_actions").is_empty()
        && state.object("termination").is_some_and(|ended| ended.text("type") == "suspended")
}
