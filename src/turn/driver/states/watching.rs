//! A turn whose server knows no turns. The session's transcript tells whether it has ended; the turn is found in it
//! by its input.

use crate::error::{Error, ErrorCode};
use crate::features::{Transcripts, TurnReads};
use crate::json::{Object, Value};
use crate::turn::StreamEnd;

use super::super::context::Context;
use super::super::retry::Awaited;
use super::listing::{apply, completed, finish, gave_up, is_whole};
use super::{State, Then, Transition};

/// Reads in a row, over 10 minutes, of a transcript that stays the same before its turn is given up. Servers may store
/// a turn when it has ended, and a tool may run for minutes.
const MOST_UNCHANGED: u32 = 300;

/// The reading of a transcript.
#[derive(Debug)]
pub(in super::super) struct Watching {
    _by: (Transcripts, TurnReads),
    /// The size of what the transcript had of the turn, in bytes.
    known_bytes: usize,
    /// How the turn ended, if that is known (a JSON object).
    ended: String,
}

impl Watching {
    pub(in super::super) fn new(by: (Transcripts, TurnReads), ended: String) -> Self {
        Self { _by: by, known_bytes: 0, ended }
    }

    /// The transcript has this of the turn: all of it, a part, or nothing.
    pub(super) fn answered(&mut self, cx: &mut Context, turn: &Object<'_>) -> Transition {
        let state = turn.object("state").unwrap_or(const { &Object::new() });
        let events = turn.array("events");
        // Another client may have sent the same; or the transcript is behind the stream.
        let is_exact = turn.get("is_exact").and_then(Value::as_bool) == Some(true);
        if state.text("status") != "running" && (!is_exact || cx.reader.goes_on_with(events)) {
            self.ended = state.to_json();
            cx.reader.begin_list();
            apply(cx, events);
            if is_whole(cx, &self.ended) {
                finish(cx, &self.ended);
                return completed(cx);
            }
        }
        self.unfinished(cx, turn.json("events").len())
    }

    /// The transcript does not have the whole turn. A server that stores a turn when it has ended shows nothing
    /// before, and one that has lost it never shows anything. So the turn is waited for while the transcript grows,
    /// and for some time after that.
    fn unfinished(&mut self, cx: &mut Context, bytes: usize) -> Transition {
        if std::mem::replace(&mut self.known_bytes, bytes) != bytes {
            cx.retry.changed();
        }
        if cx.retry.waits() < MOST_UNCHANGED {
            return Transition::stay(Then::Wait(Awaited::History));
        }
        let error = unchanged();
        if cx.machine().status().is_terminal() {
            return gave_up(cx, &self.ended, &error);
        }
        Transition::end(StreamEnd::Lost(error))
    }

    /// Nothing more can be done about a failure.
    pub(super) fn gave_up(&self, cx: &mut Context, error: Error) -> Transition {
        if cx.machine().status().is_terminal() {
            return gave_up(cx, &self.ended, &error);
        }
        Transition::end(cx.end_of(error))
    }
}

/// Reads once more what the server has of the session, in place of a stream.
pub(super) fn again(cx: &Context) -> Transition {
    if cx.retry.waits() < MOST_UNCHANGED {
        return Transition::with(State::Streaming, Then::Wait(Awaited::History));
    }
    Transition::end(StreamEnd::Lost(unchanged()))
}

fn unchanged() -> Error {
    let problem = "the session's history has only part of the turn, and has not changed for 10 minutes; \
                   received events are kept, and `stream()` polls again";
    Error::new(ErrorCode::Incomplete, problem)
}
