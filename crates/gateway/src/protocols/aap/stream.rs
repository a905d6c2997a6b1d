//! The answer of a turn: its events, or one JSON object; and what faults may forge among the events.

use std::sync::Arc;

use axum::response::Response;

use super::session::App;
use super::wire::Event;
use crate::faults::Forge;
use crate::guarded::Guarded;
use crate::http::{Output, event_stream, stream};
use crate::store::{EventLog, OnlyReader, Turn};

/// The events of a turn.
pub(super) fn events(app: &App, turn: &Turn, mut output: Output, reader: Option<OnlyReader>) -> Response {
    // The real server writes no comments in a silence.
    output.ping = None;
    let body = stream(&turn.id, Arc::clone(&turn.log), 0, output, &app.faults, Forgery);
    event_stream(Guarded::body(body, reader))
}

/// A stream without a single event.
pub(super) fn nothing(app: &App, mut output: Output) -> Response {
    output.ping = None;
    let log = EventLog::new();
    log.close();
    event_stream(stream("", Arc::new(log), 0, output, &app.faults, Forgery))
}

/// Imitates the stream of a turn.
struct Forgery;

impl Forge for Forgery {
    fn is_last(&self, frame: &[u8]) -> bool {
        frame.starts_with(b"event: turn_stop\n")
    }

    fn beginning(&self, _number: u64) -> Vec<u8> {
        Event::TurnStart {}.frame()
    }

    fn delta(&self, _number: u64) -> Vec<u8> {
        Event::TextDelta { delta: " too late" }.frame()
    }
}
