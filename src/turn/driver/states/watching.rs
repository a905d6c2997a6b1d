//! A turn whose server knows no turns. The session's transcript shows whether it has ended; the turn is found there by
//! its input.

use crate::error::{Error, ErrorCode};
use crate::features::{Transcripts, TurnReads};
use crate::json::{Object, Value};
use crate::turn::StreamEnd;

use super::super::context::Context;
use super::super::retry::Awaited;
use super::listing::{apply, completed, finish, gave_up, is_whole};
use super::{State, Then, Transition};

/// How many consecutive reads of an unchanged transcript, over 10 minutes, before the turn is given up. Servers may
/// store a turn only when it has ended, and a tool may run for minutes.
const MOST_UNCHANGED: u32 = 300;

/// The reading of a transcript.
#[derive(Debug)]
pub(in super::super) struct Watching {
    _by: (Transcripts, TurnReads),
    /// The size of the turn in the transcript, in bytes.
    known_bytes: usize,
    /// How the turn ended, if known (a JSON object).
    ended: String,
}

impl Watching {
    pub(in super::super) fn new(by: (Transcripts, TurnReads), ended: String) -> Self {
        Self { _by: by, known_bytes: 0, ended }
    }

    /// Takes what the transcript has of the turn: all, a part, or nothing.
    pub(super) fn answered(&mut self, cx: &mut Context, turn: &Object<'_>) -> Transition {
        let state = turn.object("state").unwrap_or(const { &Object::new() });
        let events = turn.array("events");
        // Another client may have sent the same input, or the transcript may lag behind the stream.
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

    /// Waits for a transcript that does not have the whole turn. A server that stores finished turns shows nothing
    /// until the end, and a server that lost the turn never shows anything. So the wait goes on while the transcript
    /// grows, and for some time after that.
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

    /// Ends the turn after a failure without recovery.
    pub(super) fn gave_up(&self, cx: &mut Context, error: Error) -> Transition {
        if cx.machine().status().is_terminal() {
            return gave_up(cx, &self.ended, &error);
        }
        Transition::end(cx.end_of(error))
    }
}

/// Reads the server's state of the session once more, in place of a stream.
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
