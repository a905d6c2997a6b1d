//! The states of a driver, one file for each kind. A state owns its data and turns each outcome into a [`Transition`].
//! It knows the driver's context, and about other states only how to enter them.

mod answering;
mod listing;
mod locating;
mod reading;
mod replaying;
mod starting;
mod streaming;
mod watching;

use crate::error::{Error, Result};
use crate::features::TurnReads;
use crate::json::{Object, ObjectWriter};
use crate::protocol::Call;
use crate::turn::conventions::Recovery;
use crate::turn::reader::FramePlace;
use crate::turn::{Failure, StreamEnd};

pub(super) use answering::Answering;
pub(super) use listing::{Explaining, Listing, backfill, fill, finish};
pub(super) use locating::{Locating, listed, not_begun, repeat};
pub(super) use reading::{Abandoned, ReadingSession};
pub(super) use replaying::Replaying;
pub(super) use starting::{ReadingNewest, start};
pub(super) use watching::Watching;

use super::context::Context;
use super::retry::Awaited;

/// What a driver is doing. Each state but the first and the last makes one kind of request.
#[derive(Debug)]
pub(super) enum State {
    /// Reading which turn is the session's newest, before the start.
    ReadingNewest(ReadingNewest),
    /// Sending the answers to the calls of a paused turn, one by one.
    Answering(Answering),
    /// Starting the turn, with its stream or without.
    Starting,
    /// Looking for a turn whose start got no answer.
    Locating(Locating),
    /// Following the stream of a turn that has begun.
    Streaming,
    /// Reading the frames that the server recorded from the stream.
    Replaying(Replaying),
    /// Reading the turn's state, because its stream brings nothing or has expired once.
    Checking(TurnReads),
    /// Reading the turn's state until it has ended: there is no stream to return to.
    Polling(TurnReads),
    /// Reading the turn's state once, because all attempts failed with this error.
    LastResort(TurnReads, Error),
    /// Reading the state of a turn that stops without a reader, a few times.
    Abandoned(Abandoned),
    /// Reading the session's transcript until it contains the turn.
    Watching(Watching),
    /// Reading from the session what an ended turn waits for.
    ReadingSession(ReadingSession),
    /// Listing the events of a turn that has ended.
    Listing(Listing),
    /// Listing the session's events, to find the calls that the turn waits for.
    Explaining(Explaining),
    /// Idle. If a start may have arrived, this is its failure.
    Ended(Option<Failure>),
}

impl Default for State {
    fn default() -> Self {
        Self::Ended(None)
    }
}

/// What follows from an outcome: the next state, if it changes, and the action there.
#[derive(Debug)]
pub(super) struct Transition {
    pub(super) to: Option<State>,
    pub(super) then: Then,
}

/// The action in a state.
#[derive(Debug)]
pub(super) enum Then {
    /// Make the state's request.
    Ask,
    /// Pause first, as an attempt, because of this failure.
    Retry(Failure),
    /// Wait first, which is no attempt.
    Wait(Awaited),
    /// Pause, then look for the turn once more, with this many attempts left.
    LocateAgain(u32, Error),
    /// Stop; the turn's machine decides the report. If a start may have arrived, this is its failure.
    End(StreamEnd, Option<Failure>),
    /// Stop and report this result. The machine knows it already.
    Report(Result<()>),
}

/// How to follow a turn that has begun. `cause` is why its stream was lost, if it was.
pub(super) fn follow(cx: &Context, cause: Option<&Error>) -> State {
    if cx.reader.is_relayed() {
        return State::Streaming;
    }
    // A server that cannot report a turn's state has only the stream.
    let Some(reads) = cx.turn_reads() else { return State::Streaming };
    match cx.conventions().recovery {
        Recovery::Cursor(_) if cx.machine().cursor().is_unsure() => State::Polling(reads),
        Recovery::Cursor(_) | Recovery::Repeat(_) => State::Streaming,
        Recovery::Frames(by) => match cx.reader.frame_place() {
            FramePlace::After => State::Streaming,
            FramePlace::Unknown => State::Replaying(Replaying::new(by)),
            FramePlace::Unrecorded => State::Polling(reads),
        },
        Recovery::Transcript(by) | Recovery::None(by) => {
            State::Watching(Watching::new((by, reads), String::new()))
        }
        Recovery::Attached(by) => State::Abandoned(Abandoned::new(by, cause.cloned())),
    }
}

impl Transition {
    /// Enters a state and makes its request.
    pub(super) fn to(state: State) -> Self {
        Self::with(state, Then::Ask)
    }

    pub(super) fn with(state: State, then: Then) -> Self {
        Self { to: Some(state), then }
    }

    pub(super) fn stay(then: Then) -> Self {
        Self { to: None, then }
    }

    pub(super) fn end(end: StreamEnd) -> Self {
        Self::stay(Then::End(end, None))
    }
}

impl State {
    /// Whether the followed turn has ended meanwhile.
    pub(super) fn was_ended(&self, cx: &Context) -> bool {
        matches!(self, Self::Streaming | Self::Replaying(_) | Self::Checking(_) | Self::Polling(_))
            && cx.machine().status().is_terminal()
    }

    /// Writes the parameters of the state's request.
    pub(super) fn write(&self, cx: &Context, params: &mut ObjectWriter<'_>) -> Call {
        match self {
            Self::ReadingNewest(state) => state.write(params),
            Self::Answering(state) => state.write(cx, params),
            Self::Starting => {
                cx.request.write_start(cx.conventions(), params);
                if cx.wants_stream { Call::CreateTurnStream } else { Call::CreateTurn }
            }
            Self::Locating(state) => state.write(cx, params),
            Self::Streaming => streaming::write(cx, params),
            Self::Replaying(state) => state.write(cx, params),
            Self::Checking(_)
            | Self::Polling(_)
            | Self::LastResort(..)
            | Self::Abandoned(_)
            | Self::Watching(_) => {
                cx.request.write_turn(&cx.reader, params);
                Call::GetTurn
            }
            Self::ReadingSession(_) => Call::GetSession,
            Self::Listing(state) => state.write(cx, params),
            Self::Explaining(state) => state.write(cx, params),
            Self::Ended(_) => Call::GetTurn,
        }
    }

    /// Takes the response to the state's request.
    pub(super) fn answered(&mut self, cx: &mut Context, answer: &Object<'_>, now: f64) -> Transition {
        match self {
            Self::ReadingNewest(state) => state.answered(cx, answer),
            Self::Answering(state) => state.answered(cx, answer),
            Self::Starting | Self::Streaming if starting::read_whole_turn(cx, answer) => {
                self.ended(cx, None, now)
            }
            Self::Starting => starting::started(cx, answer),
            Self::Locating(state) => state.answered(cx, answer),
            Self::Replaying(state) => state.answered(cx, answer),
            Self::Checking(_) => reading::checked(cx, answer),
            Self::Polling(by) | Self::LastResort(by, _) => reading::polled(*by, cx, answer),
            Self::Abandoned(state) => state.answered(cx, answer),
            Self::Watching(state) => state.answered(cx, answer),
            Self::ReadingSession(state) => state.answered(answer),
            Self::Listing(state) => state.answered(cx, answer),
            Self::Explaining(state) => state.answered(cx, answer),
            Self::Streaming | Self::Ended(_) => self.ended(cx, None, now),
        }
    }

    /// Takes the end of the stream, or its failure.
    pub(super) fn ended(&self, cx: &mut Context, failure: Option<Failure>, now: f64) -> Transition {
        match self {
            Self::Starting | Self::Streaming => {
                streaming::dropped(cx, matches!(self, Self::Streaming), failure, now)
            }
            // No other state has a stream.
            _ => Transition::stay(Then::Ask),
        }
    }

    /// Takes the failure of a request.
    pub(super) fn failed(&mut self, cx: &mut Context, failure: Failure, now: f64) -> Transition {
        match self {
            Self::Starting if !cx.wants_stream => starting::failed(cx, failure),
            Self::Starting | Self::Streaming | Self::Ended(_) => self.ended(cx, Some(failure), now),
            Self::ReadingNewest(_) => start(cx),
            Self::Answering(state) => state.failed(cx, failure),
            Self::Locating(state) => state.failed(cx, failure),
            Self::Replaying(_) if replaying::is_unrecorded(&failure) => replaying::unrecorded(cx),
            Self::LastResort(_, error) => Transition::end(cx.end_of(error.clone())),
            _ if failure.can_retry() => Transition::stay(Then::Retry(failure)),
            _ => self.gave_up(cx, failure.error),
        }
    }

    /// Takes a failure for which no attempts are left.
    pub(super) fn gave_up(&self, cx: &mut Context, error: Error) -> Transition {
        match self {
            Self::Streaming if cx.reader.is_relayed() => streaming::unrelayed(cx, &error),
            Self::Streaming | Self::Replaying(_) => streaming::gave_up(cx, error, true),
            Self::Locating(state) => state.unclear(cx, &error),
            Self::Watching(state) => state.gave_up(cx, error),
            Self::Listing(state) => listing::gave_up(cx, &state.ended, &error),
            Self::Explaining(_) => listing::unread(cx, &error),
            _ => Transition::end(cx.end_of(error)),
        }
    }

    /// The search for a turn, if that is the state.
    pub(super) fn locating(&self) -> Option<&Locating> {
        match self {
            Self::Locating(state) => Some(state),
            _ => None,
        }
    }

    /// Whether the state's request sends neither a start nor an answer.
    pub(super) fn sends_nothing(&self) -> bool {
        match self {
            Self::ReadingNewest(_) => true,
            Self::Answering(state) => !state.is_sending(),
            _ => false,
        }
    }
}
