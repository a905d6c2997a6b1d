//! What the npm package calls: nothing but numbers cross.
//!
//! Texts and bytes lie in the module's memory, where both sides read and write them. What a call takes is
//! written to [`room`] before; where a call gives a text or records, it gives the address of their header.
//! Exports that took and gave strings and objects themselves would cost a tenth of the package in glue, on
//! both sides of every one of them.

use wasm_bindgen::prelude::*;

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, ObjectWriter, Value};
use crate::protocol::{Answer, Call, HAS_HTTP};
use crate::text::cut;

use crate::turn::{Failure, Moment, Outcome, Reconnect};

use super::protocols::Spoken;
use super::session::Session;
use super::state::{texts, with};
use super::turn::{Goal, Turn};

/// Makes room for as many bytes for the next call; gives the address where to write them.
#[wasm_bindgen]
pub fn room(len: u32) -> u32 {
    with(|core| core.room(len))
}

/// What the protocol of this number can do, as JSON ([`Capabilities`](crate::protocol::Capabilities)).
#[wasm_bindgen(js_name = capabilitiesOf)]
pub fn capabilities(protocol: u8) -> u32 {
    texts(&mut |_, _| Ok(Spoken::numbered(protocol)?.protocol().capabilities().to_json()))
}

/// The request of the call of this number (its place in [`Call::ALL`]) with parameters given as a JSON
/// object: `{ path, method, headers, body? }` as JSON; of a call that needs no server `{ local }`, its answer.
#[wasm_bindgen]
pub fn request(protocol: u8, call: u8) -> u32 {
    texts(&mut |_, params| {
        demand_http()?;
        let spoken = Spoken::numbered(protocol)?;
        let protocol = spoken.protocol();
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

/// Reads an answer with this status; gives JSON in turnwire's form. Takes the status in words, the type, the
/// parameters of the request as JSON, and the body, a NUL character between them.
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
        answer.read(Spoken::numbered(protocol)?.protocol(), call_of(call)?, params)
    })
}

/// A session; a new one is known to have no turns yet. Takes its id, its agent's name, and what its last turn
/// waits for as a JSON array of events, a NUL character between them.
#[wasm_bindgen(js_name = sessionOpen)]
pub fn session_open(protocol: u8, max_frame_bytes: u32, is_new: bool) -> u32 {
    with(|core| {
        let text = core.take_text();
        let (id, rest) = cut(&text, 0);
        let (agent_name, actions) = cut(rest, 0);
        let Ok(protocol) = Spoken::numbered(protocol) else {
            return u32::MAX;
        };
        let mut session = Session::new(id.to_owned(), protocol, max_frame_bytes as usize, is_new);
        session.describe(agent_name, actions);
        core.sessions.add(session)
    })
}

/// What can be done with the session, as JSON ([`Capabilities`](crate::protocol::Capabilities)).
#[wasm_bindgen(js_name = sessionCapabilities)]
pub fn session_capabilities(session: u32) -> u32 {
    texts(&mut |core, _| {
        let session = core.sessions.get(session);
        Ok(session.map(|session| session.protocol.protocol().capabilities().to_json()).unwrap_or_default())
    })
}

/// Every call of the session is told these terms (JSON) from now on. If `said` is not negative, it is how many
/// messages the user has said in it, and what its last turn waits for (a JSON array of events) follows a NUL
/// character.
#[wasm_bindgen(js_name = sessionSetTerms)]
pub fn session_set_terms(session: u32, said: f64) {
    with(|core| {
        let text = core.take_text();
        let (terms, actions) = cut(&text, 0);
        if let Some(session) = core.sessions.get(session) {
            session.set_terms(terms);
            if said >= 0.0 {
                session.found(said, actions);
            }
        }
    });
}

/// The session's turns were listed: the newest of those that were given is the newest one.
#[wasm_bindgen(js_name = sessionListed)]
pub fn session_listed(session: u32) {
    with(|core| {
        if let Some(session) = core.sessions.get(session) {
            session.listed();
        }
    });
}

/// The session was cancelled: it takes no further turns.
#[wasm_bindgen(js_name = sessionCancelled)]
pub fn session_cancelled(session: u32) {
    with(|core| {
        if let Some(session) = core.sessions.get(session) {
            session.cancelled();
        }
    });
}

/// Nobody can name the session any more.
#[wasm_bindgen(js_name = sessionFree)]
pub fn session_free(session: u32) {
    with(|core| core.sessions.free(session));
}

/// A turn, to be given its input, or what the server keeps of it. The session's newest one decides what the
/// next turn's input must answer. Takes the id of the turn that a new one follows, if one is named, a NUL
/// character, and the id that a new one is given where clients make ids.
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

/// Nobody can name the turn any more.
#[wasm_bindgen(js_name = turnFree)]
pub fn turn_free(turn: u32) {
    with(|core| core.turns.free(turn));
}

/// Takes the input (JSON) of a turn that this client makes, and after a NUL character what the turn is started with
/// besides (JSON), if there is anything; gives the input as it will be sent. The turn is not to be used if that
/// fails. A user's message may throw away what waits if `discards_pending`.
#[wasm_bindgen(js_name = turnTakeInput)]
pub fn turn_take_input(turn: u32, discards_pending: bool) -> u32 {
    texts(&mut |core, json| {
        let (turn, session) = core.turn(turn)?;
        turn.take_input(session, json, discards_pending)
    })
}

/// Takes answers (JSON) to calls that wait while the turn runs; gives them as they will be sent.
#[wasm_bindgen(js_name = turnTakeAnswers)]
pub fn turn_take_answers(turn: u32) -> u32 {
    turn_texts(turn, |turn, _, json| turn.take_answers(json))
}

/// Answers (JSON) were taken while the turn runs.
#[wasm_bindgen(js_name = turnAnswered)]
pub fn turn_answered(turn: u32) -> u32 {
    turn_texts(turn, |turn, _, json| {
        turn.answered(json);
        Ok(String::new())
    })
}

/// Takes the turn as the server keeps it (JSON).
#[wasm_bindgen(js_name = turnTakeRecord)]
pub fn turn_take_record(turn: u32) -> u32 {
    turn_texts(turn, |turn, session, json| turn.take_record(session, json).map(nothing))
}

/// Takes events that were listed (a JSON array), not streamed; all that the turn has said if `is_all`.
#[wasm_bindgen(js_name = turnApplyListed)]
pub fn turn_apply_listed(turn: u32, is_all: bool) -> u32 {
    texts(&mut |core, events| {
        let (turn, session) = core.turn(turn)?;
        turn.apply_listed(session, events, is_all);
        Ok(String::new())
    })
}

/// A later turn has answered what this one waited for, or has thrown it away.
#[wasm_bindgen(js_name = turnSettle)]
pub fn turn_settle(turn: u32, is_discarded: bool) {
    with(|core| {
        if let Some(turn) = core.turns.get(turn) {
            turn.settle(is_discarded);
        }
    });
}

/// What is known of the turn, as JSON: `{ id?, status, last, lacks?, created?, state? }`, `lacks` if events of it are
/// missing, or the call of an action that waits. What the server said of it (`turn.created`, and the terminal state) is
/// returned once.
#[wasm_bindgen(js_name = turnFacts)]
pub fn turn_facts(turn: u32) -> u32 {
    turn_texts(turn, |turn, _, _| Ok(turn.facts()))
}

/// Whether events are wanted themselves, and not only what they change. They are until this says otherwise, which drops
/// those that were not taken, and the names that their records have announced.
#[wasm_bindgen(js_name = turnSetWantsEvents)]
pub fn turn_set_wants_events(turn: u32, wants_events: bool) {
    with(|core| {
        if let Some(turn) = core.turns.get(turn) {
            turn.set_wants_events(wants_events);
        }
    });
}

/// Whether frames are wanted as they come.
#[wasm_bindgen(js_name = turnSetWantsNative)]
pub fn turn_set_wants_native(turn: u32, wants_native: bool) {
    with(|core| {
        if let Some(turn) = core.turns.get(turn) {
            turn.set_wants_native(wants_native);
        }
    });
}

/// Begins to stream the turn (goal 0) after a sequence number, 0 for the last one that came; to start it
/// without a stream (1); to look whether it has started (2); or to bring it to its end, with all that it says (3). Times
/// are in milliseconds, `now` since 1970. Returns the first step, as [`turn_next`] does.
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

/// Cancels the turn when its stream is left.
#[wasm_bindgen(js_name = turnHangUp)]
pub fn turn_cancel_by_disconnect(turn: u32) {
    with(|core| {
        if let Some(turn) = core.turns.get(turn) {
            turn.cancel_by_disconnect();
        }
    });
}

/// The head of a stream's answer has come, at this time.
#[wasm_bindgen(js_name = turnOpened)]
pub fn turn_opened(turn: u32, now: f64) {
    with(|core| {
        if let Some(turn) = core.turns.get(turn) {
            turn.opened(now);
        }
    });
}

/// Takes how the last step went: it ended (0), or brought this answer (1), failed (2), was stopped (3), was
/// stopped before anything was sent (4), or the wait is over (5). Of a failure, takes the error's code, a NUL
/// character and its message, the status of the answer (0 if there was none), and for how long the server
/// asks to be left alone. Times are in milliseconds; `random` is from 0 up to 1.
///
/// Gives the next step as JSON: a request `{ call, params, after? }` (`after` where a stream is resumed), a
/// wait `{ delay, least, attempt, error }`, or `{}` at the end; or the error with which it ends.
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
            2 => {
                let (code, message) = cut(input, 0);
                let error =
                    Error::new(failure_code(code), message).with_status((status > 0).then_some(status));
                // Only sockets can tell.
                let is_unsent = cfg!(feature = "socket") && code == "unsent";
                Outcome::Failed(Failure { error, retry_after, is_offline, is_unsent })
            }
            3 => Outcome::Aborted,
            4 => Outcome::Unsent,
            _ => Outcome::Waited,
        };
        let (turn, session) = core.turn(turn)?;
        turn.next(session, outcome, Moment { now, random })
    })
}

/// Makes room for chunks of up to so many bytes, for all turns; returns the address where to write them. It stays
/// until more room is asked for.
#[wasm_bindgen(js_name = chunkRoom)]
pub fn chunk_room(len: u32) -> u32 {
    with(|core| core.chunk_room(len))
}

/// Takes so many bytes of the stream from the room for chunks, cut anywhere. Returns 1 if more is to be read, 2 in
/// addition if there are news to tell ([`turn_take_news`]), and 8 if there are events ([`turn_events`]).
#[wasm_bindgen(js_name = turnPush)]
pub fn turn_push(turn: u32, len: u32) -> u8 {
    if !HAS_HTTP {
        return 0;
    }
    with(|core| {
        core.with_chunk(turn, len, |turn, session, chunk| {
            let goes_on = turn.push(session, chunk);
            turn_flags(turn, goes_on)
        })
    })
}

/// What is returned of a turn that has read something.
pub(super) fn turn_flags(turn: &mut Turn, goes_on: bool) -> u8 {
    u8::from(goes_on) + 2 * u8::from(turn.has_news()) + 8 * u8::from(turn.has_events())
}

/// Takes the next news of the stream: a topic of the connection, and what is told under it, as
/// `{ gap: { after, next } }`; nothing if all is told.
#[wasm_bindgen(js_name = turnTakeNews)]
pub fn turn_take_news(turn: u32) -> u32 {
    turn_texts(turn, |turn, _, _| Ok(turn.take_news()))
}

/// The header of the records of the events since this was last asked; 0 if there are none. They stay there
/// until it is asked again.
#[wasm_bindgen(js_name = turnEvents)]
pub fn turn_events(turn: u32) -> u32 {
    with(|core| {
        let has_events = core.turns.get(turn).is_some_and(Turn::has_events);
        if has_events { core.lend(turn, Turn::events) } else { 0 }
    })
}

/// Takes what changed in the index: a JSON document, empty if nothing did. Appended text lies at
/// [`turn_change_records`].
#[wasm_bindgen(js_name = turnTakeChanges)]
pub fn turn_take_changes(turn: u32) -> u32 {
    turn_texts(turn, |turn, _, _| Ok(turn.take_changes()))
}

/// The header of the records that belong to the changes taken last.
#[wasm_bindgen(js_name = turnChangeRecords)]
pub fn turn_change_records(turn: u32) -> u32 {
    with(|core| core.lend(turn, Turn::change_records))
}

/// A call of a turn that takes a text and gives one.
type TurnCall = fn(&mut Turn, &mut Session, &str) -> Result<String>;

fn turn_texts(turn: u32, call: TurnCall) -> u32 {
    texts(&mut |core, input| {
        let (turn, session) = core.turn(turn)?;
        call(turn, session, input)
    })
}

/// Fails where no protocol has requests over HTTP, so that the compiler removes the code for them.
fn demand_http() -> Result<()> {
    if HAS_HTTP {
        return Ok(());
    }
    Err(Error::new(ErrorCode::Unsupported, "this protocol has no requests over HTTP"))
}

/// What the package's code of an error is here, as far as it matters to what is done next.
pub(super) fn failure_code(code: &str) -> ErrorCode {
    match code {
        "http" => ErrorCode::Http,
        "rpc" => ErrorCode::Rpc,
        "network" | "unsent" => ErrorCode::Network,
        "timeout" => ErrorCode::Timeout,
        "token" => ErrorCode::Token,
        "unexpected_response" => ErrorCode::UnexpectedResponse,
        _ => ErrorCode::InvalidOption,
    }
}

fn nothing((): ()) -> String {
    String::new()
}

pub(super) fn call_of(number: u8) -> Result<Call> {
    let call = Call::ALL.get(usize::from(number)).copied();
    call.ok_or_else(|| Error::new(ErrorCode::Unsupported, "there is no such call"))
}
