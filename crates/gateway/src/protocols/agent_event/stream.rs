//! The response with a run's stream, and the events that faults may forge in it.

use std::sync::Arc;

use axum::response::Response;
use serde_json::json;

use super::message::plain_id;
use super::run::Run;
use super::server::{Dialect, Server};
use super::threads::App;
use crate::faults::Forge;
use crate::guarded::Guarded;
use crate::http::{Output, Ping, event_stream, frame, stream};
use crate::store::{EventLog, OnlyReader};
use crate::turns::Stop;

/// What awaken writes after a silence.
const HEARTBEAT: &[u8] = b": heartbeat\n\n";

/// The events of a run from its first one on.
pub(super) fn answer(app: &App, run: &Arc<Run>, mut output: Output, server: Server) -> Response {
    let forgery = Forgery { run: Arc::clone(run), dialect: server.dialect() };
    output.injection.of_session(&run.thread);
    output.ping = ping(app, server.dialect());
    let log = Arc::clone(&run.turn.log);
    let body = stream(&run.id, log, 0, output, &app.faults, forgery);
    let only = (server.dialect() == Dialect::Tirea).then(|| OnlyReader::new(&run.turn, Stop::Abandoned));
    event_stream(Guarded::body(body, only))
}

/// A stream of the event store.
pub(super) fn follow(app: &App, scope: &str, log: Arc<EventLog>, after: u64, mut output: Output) -> Response {
    output.ping = ping(app, Dialect::Awaken);
    event_stream(stream(scope, log, after, output, &app.faults, Endless))
}

fn ping(app: &App, dialect: Dialect) -> Option<Ping> {
    (dialect == Dialect::Awaken).then_some(Ping { silence: app.config.silence, comment: HEARTBEAT })
}

/// Imitates the stream of a run.
struct Forgery {
    run: Arc<Run>,
    dialect: Dialect,
}

impl Forge for Forgery {
    fn is_last(&self, frame: &[u8]) -> bool {
        frame.starts_with(match self.dialect {
            Dialect::Tirea => b"data: {\"type\":\"run_finish\"",
            Dialect::Awaken => b"data: {\"event_type\":\"run_finish\"",
        })
    }

    fn beginning(&self, _number: u64) -> Vec<u8> {
        let (run, thread) = (plain_id(), &self.run.thread);
        let event = match self.dialect {
            Dialect::Tirea => json!({"type": "run_start", "run_id": run, "thread_id": thread, "seq": 0}),
            Dialect::Awaken => json!({"event_type": "run_start", "run_id": run, "thread_id": thread}),
        };
        frame("", &event, "")
    }

    fn delta(&self, _number: u64) -> Vec<u8> {
        let event = match self.dialect {
            Dialect::Tirea => json!({"type": "text_delta", "data": {"delta": " too late"}}),
            Dialect::Awaken => json!({"event_type": "text_delta", "delta": " too late"}),
        };
        frame("", &event, "")
    }
}

/// The stream of the event store has no last event, and nothing is forged in it.
struct Endless;

impl Forge for Endless {
    fn is_last(&self, _frame: &[u8]) -> bool {
        false
    }

    fn beginning(&self, _number: u64) -> Vec<u8> {
        b": nothing begins here\n\n".to_vec()
    }

    fn delta(&self, _number: u64) -> Vec<u8> {
        b": nothing is late here\n\n".to_vec()
    }
}
