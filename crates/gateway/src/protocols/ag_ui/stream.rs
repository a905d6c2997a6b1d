//! The response with a run's events, and the events that faults may forge.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;

use super::event::{Event, Frame, MessageEvent, VERSION};
use super::recorder::RunIds;
use super::server::Server;
use super::threads::App;
use super::traps::KEEPALIVE;
use crate::faults::{Forge, Traps};
use crate::guarded::Guarded;
use crate::http::{Output, Ping, event_stream, stream};
use crate::store::{EventLog, Turn};
use crate::turns::Stop;

/// What Agent Framework writes after a silence, between frames that end with LF alone.
const COMMENT: &[u8] = b": keepalive\r\n\r\n";

/// The events of a run from its first one on.
pub(super) fn events(
    app: &App,
    turn: &Arc<Turn>,
    ids: &RunIds,
    mut output: Output,
    server: Server,
    traps: &Traps,
) -> Response {
    let silence = traps.number(&KEEPALIVE).map(Duration::from_millis);
    let silence = silence.or((server == Server::Store).then_some(app.config.silence));
    output.ping = silence.map(|silence| Ping { silence, comment: COMMENT });
    let forgery = Forgery { ids: ids.clone() };
    let body = stream(&turn.id, Arc::clone(&turn.log), 0, output, &app.faults, forgery);
    if server.ends_with_reader() {
        event_stream(Guarded::body(body, Reader(Arc::clone(turn))))
    } else {
        event_stream(body)
    }
}

/// The events of a log that does not belong to a run.
pub(super) fn replay(app: &App, ids: RunIds, log: Arc<EventLog>, mut output: Output) -> Response {
    output.ping = None;
    event_stream(stream("", log, 0, output, &app.faults, Forgery { ids }))
}

/// A stream without a single event.
pub(super) fn nothing(app: &App, output: Output) -> Response {
    let log = EventLog::new();
    log.close();
    let ids = RunIds { thread: String::new(), run: String::new(), base: String::new() };
    replay(app, ids, Arc::new(log), output)
}

/// The only reader of a run, which ends with it.
struct Reader(Arc<Turn>);

impl Drop for Reader {
    fn drop(&mut self) {
        // Has no effect on a finished run.
        self.0.stop(Stop::Abandoned);
    }
}

/// Imitates the stream of a run.
struct Forgery {
    ids: RunIds,
}

impl Forge for Forgery {
    fn is_last(&self, frame: &[u8]) -> bool {
        frame.starts_with(br#"data: {"type":"RUN_FINISHED""#)
            || frame.starts_with(br#"data: {"type":"RUN_ERROR""#)
    }

    fn beginning(&self, _number: u64) -> Vec<u8> {
        let stranger = || uuid::Uuid::new_v4().to_string();
        written(Event::RunStarted {
            thread_id: stranger(),
            run_id: stranger(),
            protocol_version: Some(VERSION),
            input: None,
        })
    }

    fn delta(&self, _number: u64) -> Vec<u8> {
        let message_id = format!("{}-1", self.ids.base);
        written(MessageEvent::Content { message_id, delta: " too late".to_owned() }.into())
    }
}

fn written(event: Event) -> Vec<u8> {
    let mut bytes = Vec::new();
    Frame::from(event).write(&mut bytes);
    bytes
}
