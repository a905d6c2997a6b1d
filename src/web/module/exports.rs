//! The functions that the npm package calls. Only numbers cross the boundary.
//!
//! Texts and bytes are in the module's memory, where both sides read and write them. The input of a call is written
//! to [`room`] first. A call that returns a text or records returns the address of their header. Exports with strings
//! and objects would add glue code on both sides, a tenth of the package.

use wasm_bindgen::prelude::*;

use crate::error::{Error, ErrorCode, Result};
use crate::features::{Http, Sockets};
use crate::json::{Object, ObjectWriter, Value};
use crate::protocol::{Answer, AnyProtocol};
use crate::text::cut;

use crate::turn::{Failure, Moment, Outcome, Reconnect, RetryBudget};

use super::boundary::{call_of, failure_code};
use super::state::{texts, with};
use super::turn::{HAS_EVENTS, HAS_NEWS, Turn};
use crate::session::{Goal, Session};

/// Makes room for `len` bytes of the next call's input. Returns their address.
#[wasm_bindgen]
pub fn room(len: u32) -> u32 {
    with(|core| core.room(len))
}

/// The capabilities of the session, or without one of the protocol with this number, as
/// [`Capabilities::to_text`](crate::protocol::Capabilities::to_text) writes them.
#[wasm_bindgen(js_name = capabilitiesOf)]
pub fn capabilities(protocol: u8, session: u32) -> u32 {
    texts(&mut |core, _| {
        let known = match core.sessions.get(session) {
            Some(session) => session.protocol,
            None => AnyProtocol::numbered(protocol)?,
        };
        Ok(known.protocol().capabilities().to_text())
    })
}

/// The request of a call, by its place in [`Call::ALL`](crate::protocol::Call::ALL). The input is its parameters, a JSON object. Returns JSON:
/// the request `{ path, method, headers, body? }`; for a call that needs no server its response, `{ local }`.
#[wasm_bindgen]
pub fn request(protocol: u8, call: u8) -> u32 {
    texts(&mut |_, params| {
        demand_http()?;
        let known = AnyProtocol::numbered(protocol)?;
        let protocol = known.protocol();
        let call = call_of(call)?;
        let Value::Object(params) = Value::parse(params).unwrap_or_default() else {
            return Err(Error::new(ErrorCode::InvalidOption, "parameters must be an object"));
        };
        let Some(answer) = protocol.local(call, &params) else {
            return Ok(protocol.request(call, params)?.to_json());
        };
        let mut json = String::new();
        let mut object = ObjectWriter::new(&mut json);
        object.raw("local", &answer.to_json());
        object.end();
        Ok(json)
    })
}

/// Reads a response with this status. Returns its JSON in turnwire's form. The input is the status text, the content
/// type, the parameters of the request (JSON) and the body, with a NUL character between them.
#[wasm_bindgen(js_name = readAnswer)]
pub fn read_answer(protocol: u8, call: u8, status: u16) -> u32 {
    texts(&mut |_, input| {
        demand_http()?;
        let (status_text, rest) = cut(input, 0);
        let (content_type, rest) = cut(rest, 0);
        let (params, body) = cut(rest, 0);
        let params = Value::parse(params).unwrap_or_default();
        let params = params.as_object().unwrap_or(const { &Object::new() });
        let answer = Answer { status, status_text, content_type, body };
        answer.read(AnyProtocol::numbered(protocol)?.protocol(), call_of(call)?, params)
    })
}

/// Opens a session. A new one has no turns yet. The input is its id, its agent's name, and the actions of its last
/// turn (a JSON array of events), with a NUL character between them. Returns its number.
#[wasm_bindgen(js_name = sessionOpen)]
pub fn session_open(protocol: u8, max_frame_bytes: u32, is_new: bool) -> u32 {
    with(|core| {
        let text = core.take_text();
        let (id, rest) = cut(&text, 0);
        let (agent_name, actions) = cut(rest, 0);
        let Ok(protocol) = AnyProtocol::numbered(protocol) else {
            return u32::MAX;
        };
        let mut session = Session::new(id.to_owned(), protocol, max_frame_bytes as usize, is_new);
        session.take_record(agent_name, actions);
        core.sessions.add(session)
    })
}

/// Sets the terms (JSON) that every later call of the session has. If `said` is not negative, it is the number of the
/// user's messages in the session; the input then also has a NUL character and the actions of its last turn (a JSON
/// array of events).
#[wasm_bindgen(js_name = sessionSetTerms)]
pub fn session_set_terms(session: u32, said: f64) {
    with(|core| {
        let text = core.take_text();
        let (terms, actions) = cut(&text, 0);
        if let Some(session) = core.sessions.get(session) {
            session.set_terms(terms);
            if said >= 0.0 {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a count is whole and not negative"
                )]
                session.history_read(said as u64, actions);
            }
        }
    });
}

/// The session's turns were listed, so its newest known turn is its newest one.
#[wasm_bindgen(js_name = sessionListed)]
pub fn session_listed(session: u32) {
    with(|core| {
        if let Some(session) = core.sessions.get(session) {
            session.turns_listed();
        }
    });
}

/// The session was cancelled, and takes no further turns.
#[wasm_bindgen(js_name = sessionCancelled)]
pub fn session_cancelled(session: u32) {
    with(|core| {
        if let Some(session) = core.sessions.get(session) {
            session.cancelled();
        }
    });
}

/// Frees the session. JavaScript no longer refers to it.
#[wasm_bindgen(js_name = sessionFree)]
pub fn session_free(session: u32) {
    with(|core| core.sessions.free(session));
}

/// Opens a turn, which then takes its input or the server's record of it. The next turn's input must answer the
/// actions of the session's newest turn. The input is the id of the turn before a new one, if it is named, a NUL
/// character, and the new turn's id, if clients make ids. Returns its number.
#[wasm_bindgen(js_name = turnOpen)]
pub fn turn_open(session: u32, is_newest: bool) -> u32 {
    with(|core| {
        let text = core.take_text();
        let (previous_turn_id, turn_id) = cut(&text, 0);
        let Some(owner) = core.sessions.get(session) else {
            return u32::MAX;
        };
        let turn = Turn::new(session, owner, previous_turn_id, turn_id, is_newest);
        core.turns.add(turn)
    })
}

/// Frees the turn. JavaScript no longer refers to it. With `forget`, its session forgets its id as well.
#[wasm_bindgen(js_name = turnFree)]
pub fn turn_free(turn: u32, forget: bool) {
    with(|core| {
        if forget && let Ok((turn, session)) = core.turn(turn) {
            turn.turn().forget(session);
        }
        core.turns.free(turn);
    });
}

/// Takes the input (JSON) of a new turn, and after a NUL character further options of its start (JSON), if any.
/// Returns the input as it will be sent. After an error the turn must not be used. With `discards_pending`, a user's
/// message discards pending calls.
#[wasm_bindgen(js_name = turnTakeInput)]
pub fn turn_take_input(turn: u32, discards_pending: bool) -> u32 {
    texts(&mut |core, json| {
        let (turn, session) = core.turn(turn)?;
        turn.take_input(session, json, discards_pending)
    })
}

/// Takes answers (JSON) to pending calls of a running turn. Returns them as they will be sent.
#[wasm_bindgen(js_name = turnTakeAnswers)]
pub fn turn_take_answers(turn: u32) -> u32 {
    turn_texts(turn, |turn, _, json| turn.turn().take_answers(json))
}

/// Notes whether the server has taken answers (JSON).
#[wasm_bindgen(js_name = turnAnswered)]
pub fn turn_answered(turn: u32, is_taken: bool) -> u32 {
    texts(&mut |core, json| {
        let (turn, _) = core.turn(turn)?;
        turn.turn().answered(json, is_taken);
        Ok(String::new())
    })
}

/// Takes the server's record of the turn (JSON).
#[wasm_bindgen(js_name = turnTakeRecord)]
pub fn turn_take_record(turn: u32) -> u32 {
    turn_texts(turn, |turn, session, json| turn.turn().take_record(session, json).map(nothing))
}

/// Takes listed events (a JSON array); with `is_all`, all events of the turn.
#[wasm_bindgen(js_name = turnApplyListed)]
pub fn turn_apply_listed(turn: u32, is_all: bool) -> u32 {
    texts(&mut |core, events| {
        let (turn, session) = core.turn(turn)?;
        turn.turn().apply_listed(session, events, is_all);
        Ok(String::new())
    })
}

/// A later turn has answered the pending calls of this one, or has discarded them.
#[wasm_bindgen(js_name = turnSettle)]
pub fn turn_settle(turn: u32, is_discarded: bool) {
    with(|core| {
        if let Some(turn) = core.turns.get(turn) {
            turn.turn().settle(is_discarded);
        }
    });
}

/// The known facts about the turn, as JSON: `{ id?, status, last, lacks?, created?, state? }`. `lacks` is set if
/// events of the turn are missing, or the call of an action. `created` (`turn.created`) and `state` (the terminal
/// state) are returned once.
#[wasm_bindgen(js_name = turnFacts)]
pub fn turn_facts(turn: u32) -> u32 {
    turn_texts(turn, |turn, _, _| Ok(turn.facts()))
}

/// Sets whether events are recorded, which they are at first. If not, events that were not taken are dropped, and the
/// announced names are forgotten.
#[wasm_bindgen(js_name = turnSetWantsEvents)]
pub fn turn_set_wants_events(turn: u32, wants_events: bool) {
    with(|core| {
        if let Some(turn) = core.turns.get(turn) {
            turn.set_wants_events(wants_events);
        }
    });
}

/// Sets whether frames are recorded unchanged.
#[wasm_bindgen(js_name = turnSetWantsNative)]
pub fn turn_set_wants_native(turn: u32, wants_native: bool) {
    with(|core| {
        if let Some(turn) = core.turns.get(turn) {
            turn.set_wants_native(wants_native);
        }
    });
}

/// Begins to read the turn: to stream it after a sequence number, 0 for its last one (goal 0); to start it without a
/// stream (1); to find out whether it has started (2); to read it to its end, with all its events (3). Times are in
/// milliseconds, `now` since 1970. Returns the first step, like [`turn_next`].
#[wasm_bindgen(js_name = turnBegin)]
pub fn turn_begin(
    turn: u32,
    goal: u8,
    after: f64,
    max_attempts: u32,
    base_delay: u32,
    max_delay: u32,
    now: f64,
) -> u32 {
    texts(&mut |core, _| {
        let goal = match goal {
            0 => Goal::Stream,
            1 => Goal::Start,
            2 => Goal::Look,
            _ => Goal::End,
        };
        let reconnect = Reconnect { max_attempts, base_delay, max_delay };
        let (turn, session) = core.turn(turn)?;
        turn.begin(session, goal, after, reconnect, now)
    })
}

/// Cancels the turn when its stream is closed.
#[wasm_bindgen(js_name = turnHangUp)]
pub fn turn_cancel_by_disconnect(turn: u32) {
    with(|core| {
        if let Some(turn) = core.turns.get(turn) {
            turn.turn().driver_mut().cancel_by_disconnect();
        }
    });
}

/// The head of a stream's response came at this time.
#[wasm_bindgen(js_name = turnOpened)]
pub fn turn_opened(turn: u32, now: f64) {
    with(|core| {
        if let Some(turn) = core.turns.get(turn) {
            turn.turn().driver_mut().opened(now);
        }
    });
}

/// Takes the result of the last step: its stream ended (0), it returned this response (1), it failed (2), it was
/// aborted (3), it was aborted before it was sent (4), the wait is over (5). The input of a failure is the error's
/// code, a NUL character and its message; `status` is that of the response (0 for none), and `retry_after` the time
/// that the server asks for. Times are in milliseconds; `random` is at least 0 and below 1.
///
/// Returns the next step as JSON: a request `{ call, params, after? }` (with `after` if a stream is resumed), a wait
/// `{ delay, least, attempt, error }`, or `{}` at the end; or the error that ends the turn's reading.
#[wasm_bindgen(js_name = turnNext)]
pub fn turn_next(
    turn: u32,
    outcome: u8,
    status: u16,
    retry_after: u32,
    is_offline: bool,
    now: f64,
    random: f64,
) -> u32 {
    texts(&mut |core, input| {
        let outcome = match outcome {
            0 => Outcome::Ended,
            1 => Outcome::Answered(input),
            2 => Outcome::Failed(failure(input, status, retry_after, is_offline)),
            3 => Outcome::Aborted,
            4 => Outcome::Unsent,
            _ => Outcome::Waited,
        };
        let (turn, session) = core.turn(turn)?;
        turn.next(session, outcome, Moment { now, random })
    })
}

/// Decides whether a request that changes nothing is sent again after this failure, given as for [`turn_next`].
/// `attempts` is the number of attempts before it. Returns the address of their new number, and of the wait and of its part
/// that the server asks for, in milliseconds; 0 if the failure is final.
#[expect(clippy::too_many_arguments, reason = "numbers cross one by one")]
#[wasm_bindgen(js_name = nextRetry)]
pub fn retry(
    status: u16,
    retry_after: u32,
    is_offline: bool,
    attempts: u32,
    max_attempts: u32,
    base_delay: u32,
    max_delay: u32,
    random: f64,
) -> u32 {
    with(|core| {
        let code = core.take_text();
        let failure = failure(&code, status, retry_after, is_offline);
        // A turn that runs is worth waiting for. Otherwise the address may be wrong.
        if failure.error.code == ErrorCode::UnexpectedResponse {
            return 0;
        }
        let mut budget = RetryBudget::after(Reconnect { max_attempts, base_delay, max_delay }, attempts);
        match budget.retry(&failure, random) {
            Some((delay, least)) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a cast saturates"
                )]
                let wait = |time: f64| time as u32;
                core.give([budget.attempts(), wait(delay), wait(least), 0, 0, 0])
            }
            None => 0,
        }
    })
}

/// Makes room for chunks of up to `len` bytes, for all turns. Returns their address, which stays the same until more
/// room is requested.
#[wasm_bindgen(js_name = chunkRoom)]
pub fn chunk_room(len: u32) -> u32 {
    with(|core| core.chunk_room(len))
}

/// Takes `len` bytes of the stream from the room for chunks. Chunks may be cut anywhere. Returns 1 if more is to be
/// read, plus 2 if there are reports ([`turn_take_news`]), and 8 if there are events ([`turn_events`]). With
/// `takes_events` and no reports, the header that `turn_events` would return, a multiple of 4, stands in place of the 8.
#[wasm_bindgen(js_name = turnPush)]
pub fn turn_push(turn: u32, len: u32, takes_events: bool) -> u32 {
    if !Http::EXISTS {
        return 0;
    }
    with(|core| {
        let flags = core.with_chunk(turn, len, |turn, session, chunk| {
            let goes_on = turn.turn().push(session, chunk);
            turn.flags(goes_on)
        });
        if takes_events && flags & (HAS_EVENTS | HAS_NEWS) == HAS_EVENTS {
            return core.lend(turn, Turn::events) | u32::from(flags & !HAS_EVENTS);
        }
        flags.into()
    })
}

/// Takes the next report about the stream, under its topic, for example `{ gap: { after, next } }`; empty if there
/// are no more.
#[wasm_bindgen(js_name = turnTakeNews)]
pub fn turn_take_news(turn: u32) -> u32 {
    turn_texts(turn, |turn, _, _| Ok(turn.take_news()))
}

/// The header of the records of the events since the last call; 0 if there are none. They stay until the next call.
#[wasm_bindgen(js_name = turnEvents)]
pub fn turn_events(turn: u32) -> u32 {
    with(|core| {
        let has_events = core.turns.get(turn).is_some_and(Turn::has_events);
        if has_events { core.lend(turn, Turn::events) } else { 0 }
    })
}

/// Takes the changes of the index: a JSON document, empty if nothing changed. Appended text is in
/// [`turn_change_records`].
#[wasm_bindgen(js_name = turnTakeChanges)]
pub fn turn_take_changes(turn: u32) -> u32 {
    turn_texts(turn, |turn, _, _| Ok(turn.take_changes()))
}

/// The header of the records of the last taken changes.
#[wasm_bindgen(js_name = turnChangeRecords)]
pub fn turn_change_records(turn: u32) -> u32 {
    with(|core| core.lend(turn, Turn::change_records))
}

/// Runs a call of a turn that takes and returns a text.
type TurnCall = fn(&mut Turn, &mut Session, &str) -> Result<String>;

fn turn_texts(turn: u32, call: TurnCall) -> u32 {
    texts(&mut |core, input| {
        let (turn, session) = core.turn(turn)?;
        call(turn, session, input)
    })
}

/// A failure with this code, a NUL character and this message.
fn failure(text: &str, status: u16, retry_after: u32, is_offline: bool) -> Failure {
    let (code, message) = cut(text, 0);
    let error = Error::new(failure_code(code), message).with_status((status > 0).then_some(status));
    // Only sockets report it.
    let is_unsent = Sockets::EXISTS && code == "unsent";
    Failure { error, retry_after, is_offline, is_unsent }.of_network()
}

/// Returns an error in builds without HTTP, so that the compiler removes the code for it.
fn demand_http() -> Result<()> {
    if Http::EXISTS {
        return Ok(());
    }
    Err(Error::new(ErrorCode::Unsupported, "this protocol has no requests over HTTP"))
}

fn nothing((): ()) -> String {
    String::new()
}
