//! What the faults must know of a protocol.

use std::fmt::Debug;

use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::trap::TrapKind;

/// What a request does, or requests of several kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum On {
    /// A turn is made.
    Create,
    /// A turn is followed.
    Subscribe,
    /// Either of the two, if the answer is an event stream.
    Stream,
    /// One turn is read.
    Turn,
    /// Turns are listed.
    Turns,
    /// The events of a turn are listed.
    TurnEvents,
    /// The events of a session are listed.
    SessionEvents,
    /// A session is read.
    Session,
    /// A session's last turn is cancelled.
    Cancel,
    /// A turn's questions are answered.
    Answer,
    /// A WebSocket is opened.
    Connect,
    /// Any request of a session.
    Any,
}

/// A protocol, as the faults see it.
pub(crate) trait Surface: Debug + Send + Sync {
    /// Whether this protocol serves a path.
    fn speaks(&self, path: &str) -> bool;

    /// What the requests of a route do, by its path such as `…/{session}/turns/{turn}`. `None` for those that
    /// no schedule names.
    fn classify(&self, method: &Method, route: &str) -> Option<On>;

    /// The session of a request whose path does not name it; the path may name a turn.
    fn session_of(&self, _path: &str, _turn: Option<&str>) -> Option<String> {
        None
    }

    /// Whether a turn that is made with this `stream` is answered with an event stream.
    fn streams(&self, stream: Option<&Value>) -> bool {
        stream.and_then(Value::as_bool).unwrap_or(true)
    }

    /// An answer with this status, in the form of the protocol.
    fn refuse(&self, status: StatusCode, message: String) -> Response;

    /// The traps that the protocol knows.
    fn traps(&self) -> &'static [TrapKind] {
        &[]
    }
}
