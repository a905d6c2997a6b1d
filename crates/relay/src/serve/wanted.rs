//! What a reader of a kept turn wants, and what is known of that turn.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::watch;

use super::App;
use super::follow;
use super::hub::{Hub, Known};
use super::refusal::Refusal;
use crate::connection::Connection;
use crate::limits::InUse;
use crate::log::{Head, TurnKey};
use crate::observe::Span;

/// The source of a turn's frames.
pub(super) enum Source {
    /// A turn that is running, here or elsewhere.
    Open(Arc<Hub>),
    /// A turn that has ended.
    Closed(u64, Known),
}

impl Source {
    /// A turn that this process does not own, and the digest of the request that started it.
    pub(super) fn of(app: &Arc<App>, key: TurnKey, head: Head) -> Result<(Self, [u8; 32]), Refusal> {
        let request = head.new.request;
        if head.is_expired {
            return Err(expired());
        }
        if head.end.is_none() {
            if app.log.shared().is_some() {
                return Ok((Self::Open(follow::follow(app, key, head)), request));
            }
            // Its end could not be written. The sweep writes it as soon as the log answers.
            return Err(unsettled());
        }
        let response = head.response.map(Arc::new);
        let known = Known { last: head.last, end: head.end, response, ..Known::default() };
        Ok((Self::Closed(head.log, known), request))
    }

    /// The hub of a running turn.
    pub(super) fn hub(&self) -> Option<&Hub> {
        match self {
            Self::Open(hub) => Some(hub),
            Self::Closed(..) => None,
        }
    }

    pub(super) fn log(&self) -> u64 {
        match self {
            Self::Open(hub) => hub.log,
            Self::Closed(log, _) => *log,
        }
    }
}

/// What a caller wants to read.
pub(super) struct Wanted {
    pub(super) app: Arc<App>,
    pub(super) key: TurnKey,
    pub(super) source: Source,
    pub(super) after: u64,
    /// Whether the caller understands the relay's cut frame.
    pub(super) is_ours: bool,
    pub(super) connection: Connection,
    pub(super) valid_for: Option<Duration>,
    pub(super) reading: InUse,
    /// The span of the reading.
    pub(super) span: Span,
}

pub(super) fn expired() -> Refusal {
    Refusal::new(StatusCode::PRECONDITION_FAILED, "expired", "the turn's frames are no longer kept")
}

/// The turn's state will be known soon.
pub(super) fn unsettled() -> Refusal {
    let text = "where the turn is, or how it has ended, is not known yet";
    let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "unsettled", text);
    refusal.again_after(Duration::from_secs(2))
}

pub(super) fn log_changed(log: u64) -> Refusal {
    let text = "the turn's log is another one, or ends before this place: read it from its beginning";
    Refusal::new(StatusCode::PRECONDITION_FAILED, "log_changed", text).with("log", log_name(log))
}

/// A log's id as it is sent to callers.
pub(super) fn log_name(log: u64) -> String {
    format!("{log:016x}")
}

/// What is known of a turn, and where more becomes known of it while it runs.
pub(super) struct Progress {
    pub(super) known: Known,
    pub(super) watched: Option<watch::Receiver<Known>>,
}
