//! An open stream, and what follows when it has ended.

use crate::error::{Error, ErrorCode};
use crate::features::Relays;
use crate::json::ObjectWriter;
use crate::protocol::Call;
use crate::protocol::relay::gate::Gate;
use crate::turn::conventions::Recovery;
use crate::turn::policy::Remedy;
use crate::turn::{Failure, StreamEnd};

use super::super::context::{Context, incomplete};
use super::listing::{Listing, backfill};
use super::{Locating, State, Then, Transition, follow, starting, watching};

/// A connection that lasted this long counts as successful even without events, in milliseconds.
const LONG_CONNECTION: f64 = 30_000.0;
/// Consecutive streams that end by themselves and bring nothing, after which the turn is taken to have no more events.
const MOST_EMPTY: u32 = 4;
/// The same for a relay, which almost never closes a stream before its end.
const MOST_EMPTY_RELAYED: u32 = 2;
/// A stream that expired this often in a row is gone for good, even if its turn runs.
const MOST_EXPIRED: u32 = 2;

/// Writes the parameters of a stream that resumes where the last one broke.
pub(super) fn write(cx: &Context, params: &mut ObjectWriter<'_>) -> Call {
    cx.request.write_turn(&cx.reader, params);
    if cx.reader.is_relayed()
        && let Some(gate) = cx.reader.gate()
    {
        params.str("place", &gate.place());
    }
    let (cursor, last) = (cx.reader.frame_cursor(), cx.machine().cursor().last());
    if !cursor.is_empty() {
        params.str("cursor", cursor);
    }
    if last > 0 && matches!(cx.conventions().recovery, Recovery::Cursor(_)) {
        params.u64("after_sequence_number", last);
    }
    Call::SubscribeTurn
}

/// Takes the end of a stream: that of a subscription, or else that of a start.
pub(super) fn dropped(
    cx: &mut Context,
    is_subscription: bool,
    failure: Option<Failure>,
    now: f64,
) -> Transition {
    // The end of a relay's connection is not the end of the stream, unless the next connection brings nothing either.
    let is_cut_off =
        cx.reader.is_relayed() && !cx.retry.is_off() && (failure.is_some() || cx.reader.has_progressed());
    if !is_cut_off {
        cx.reader.ended();
    }
    if cx.machine().status().is_terminal() {
        return backfill(cx);
    }
    let is_new = cx.reader.has_progressed();
    let was_long = cx.opened_at.is_some_and(|opened_at| now - opened_at >= LONG_CONNECTION);
    if is_new {
        cx.retry.progressed();
        // A stream that brings events is better than the list.
        cx.ended.clear();
    } else if was_long {
        cx.retry.lasted();
    }
    // An unreadable event explains why the reading stopped.
    let failure = cx.reader.take_failure().map(Failure::from).or(failure);
    let is_answered = failure.is_none();
    let failure = failure.or_else(|| cx.reader.closing_failure().map(Failure::from));
    let was_closed = failure.is_none();
    let failure = failure.unwrap_or_else(|| cut_short(cx));
    if cx.retry.is_off() {
        return Transition::end(if was_closed { StreamEnd::Eof } else { cx.end_of(failure.error) });
    }
    // The turn was looked for in the stream, because nothing else can show it.
    if is_subscription && cx.turn_reads().is_none() && !cx.is_started() {
        return Locating::begin(cx, failure);
    }
    if !cx.is_started() {
        return starting::failed(cx, failure);
    }
    cx.is_resuming = true;
    if cx.reader.is_relayed() {
        let is_empty = was_closed && !is_new && cx.retry.attempts() > 0;
        return relayed(cx, failure, is_subscription, is_empty);
    }
    // The turn may still grow on the server.
    if is_answered && cx.conventions().repeats().is_some() && cx.reader.capabilities().may_answer_whole() {
        return watching::again(cx);
    }
    if !matches!(cx.conventions().recovery, Recovery::Cursor(_)) {
        return detached(cx, failure, is_subscription);
    }
    // A stream that ends normally brings `turn.done`. One that ended by itself, or after a long silence, and brought
    // nothing may have nothing left: the turn's record shows it.
    let is_empty = (was_closed || was_long) && !is_new && cx.retry.attempts() > 0;
    let remedy = failure.remedy();
    let has_expired = remedy == Remedy::Read;
    cx.retry.stream_dropped(is_empty, has_expired);
    if cx.retry.empty_streams() >= MOST_EMPTY && !cx.ended.is_empty() {
        return Listing::begin(std::mem::take(&mut cx.ended));
    }
    if remedy == Remedy::None {
        return gave_up(cx, failure.error, is_subscription);
    }
    // A repeat cannot be distinguished from an event without a number; the turn's list of events can tell which it is.
    let is_gone = cx.retry.expired_streams() >= MOST_EXPIRED || cx.machine().cursor().is_unsure();
    let can_wait = has_expired || !cx.retry.is_exhausted();
    let state = match cx.turn_reads() {
        Some(by) if is_gone && can_wait => State::Polling(by),
        Some(by) if has_expired || can_wait && is_empty && cx.ended.is_empty() => State::Checking(by),
        _ => State::Streaming,
    };
    // After the server reported that the stream has expired, it can be asked at once.
    if has_expired { Transition::to(state) } else { Transition::with(state, Then::Retry(failure)) }
}

/// Takes the end of a relay's connection. `is_empty` if the relay closed it and neither it nor the previous one brought
/// anything.
fn relayed(cx: &mut Context, failure: Failure, is_subscription: bool, is_empty: bool) -> Transition {
    cx.retry.stream_dropped(is_empty, false);
    let is_cut = failure.error.code == ErrorCode::Cut;
    if failure.remedy() == Remedy::Read && cx.reader.gate_mut().is_some_and(Gate::start_over) {
        return Transition::to(State::Streaming);
    }
    if failure.can_retry() && !is_cut && cx.retry.empty_streams() < MOST_EMPTY_RELAYED {
        return Transition::with(State::Streaming, Then::Retry(failure));
    }
    cx.reader.give_up_relay();
    if is_cut {
        // The relay responded.
        cx.retry.answered();
    }
    detached(cx, failure, is_subscription)
}

/// Leaves the relay after all attempts to reach it have failed.
pub(super) fn unrelayed(cx: &mut Context, error: &Error) -> Transition {
    cx.reader.give_up_relay();
    Transition::to(follow(cx, Some(error)))
}

/// Takes the end of a stream that cannot resume after a sequence number.
pub(super) fn detached(cx: &mut Context, failure: Failure, is_subscription: bool) -> Transition {
    if let Recovery::None(_) = cx.conventions().recovery {
        return lost(&failure.error);
    }
    let has_record = cx.conventions().repeats().is_none();
    let is_refusal = has_record && is_subscription && failure.error.code == ErrorCode::Http;
    if failure.remedy() == Remedy::None && !is_refusal {
        return gave_up(cx, failure.error, is_subscription);
    }
    match failure.error.status {
        // The server no longer knows the position.
        Some(410) => cx.reader.set_frame_cursor(""),
        Some(404 | 405 | 501) => cx.reader.give_up_frame_record(),
        _ if cx.reader.is_divergent() => cx.reader.give_up_frame_record(),
        _ => {}
    }
    match follow(cx, Some(&failure.error)) {
        state @ (State::Streaming | State::Replaying(_)) => Transition::with(state, Then::Retry(failure)),
        // Counts as an attempt, so that the reason is reported.
        state if Relays::EXISTS && failure.error.code == ErrorCode::Cut => {
            Transition::with(state, Then::Retry(failure))
        }
        state => Transition::to(state),
    }
}

/// Gives up a stream. If all attempts have failed, the turn's state is read once.
pub(super) fn gave_up(cx: &Context, error: Error, is_subscription: bool) -> Transition {
    match cx.turn_reads().filter(|_| is_subscription && cx.retry.is_exhausted()) {
        Some(by) => Transition::to(State::LastResort(by, error)),
        None => Transition::end(cx.end_of(error)),
    }
}

/// The failure of a stream that ended by itself too early.
fn cut_short(cx: &Context) -> Failure {
    let before = if cx.is_started() { "turn.done" } else { "turn.created" };
    let parts = ["the stream ended before `", before, "`"];
    Error::of(ErrorCode::Incomplete, &parts).into()
}

/// Ends a turn of which nothing but the lost stream existed.
fn lost(cause: &Error) -> Transition {
    let before = "the stream was lost before the turn ended, and the agent keeps no history: ";
    Transition::end(StreamEnd::Lost(incomplete(before, cause, "; received events are kept")))
}
