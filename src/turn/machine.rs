//! The life of a turn as a state machine, without any I/O.
//!
//! ```text
//! unstarted ──▶ starting ──▶ running ──▶ done | cancelled | error
//!     ▲             │           │  ▲
//!     └─ rejected ──┘           ▼  │ stream again, after the cursor
//!                           incomplete
//! ```
//!
//! The end of a stream ends the turn only if `turn.done` came. [`TurnDriver`](super::TurnDriver) recovers from any
//! other end; if it cannot, the turn is incomplete.

use crate::error::{Error, ErrorCode, Result};
use crate::event::{EventKind, EventRef};
use crate::json::Object;

use super::{Admission, Cursor};

/// The status of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnStatus {
    /// Nothing was sent.
    Unstarted,
    /// The start was sent, but `turn.created` has not come.
    Starting,
    /// The server is working on it, whether or not its stream is being read.
    Running,
    /// It ended normally, or paused with required actions.
    Done,
    /// It was cancelled.
    Cancelled,
    /// It failed on the server.
    Error,
    /// Its stream ended early, and the turn's result is not known.
    Incomplete,
}

impl TurnStatus {
    /// The status as JavaScript sees it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unstarted => "unstarted",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Error => "error",
            Self::Incomplete => "incomplete",
        }
    }

    /// Whether the turn has ended with a known result.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled | Self::Error)
    }
}

/// How a stream is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamPlan {
    /// Start the turn.
    Start,
    /// Subscribe to the started turn, after the cursor.
    Subscribe,
    /// First look whether the turn began, because its start may have arrived.
    Look,
}

/// What ended a stream, apart from `turn.done`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEnd {
    /// The server closed it.
    Eof,
    /// The caller stopped listening. The turn continues.
    Aborted,
    /// The caller stopped it before anything was sent.
    Refused,
    /// The server refused it.
    Rejected(Error),
    /// The start failed, and the server has no such turn.
    NotBegun(Error),
    /// It cannot be read any further.
    Lost(Error),
    /// It broke, or the response is not an event stream.
    Failed(Error),
}

/// A turn's life.
#[derive(Debug)]
pub struct TurnMachine {
    status: TurnStatus,
    id: Option<String>,
    cursor: Cursor,
    is_streaming: bool,
    was_streamed: bool,
}

impl TurnMachine {
    /// A turn of which nothing has been sent.
    #[must_use]
    pub fn unstarted() -> Self {
        Self {
            status: TurnStatus::Unstarted,
            id: None,
            cursor: Cursor::default(),
            is_streaming: false,
            was_streamed: false,
        }
    }

    /// The turn's status.
    #[must_use]
    pub fn status(&self) -> TurnStatus {
        self.status
    }

    /// The turn's id, once it is known.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The cursor of the turn's stream.
    #[must_use]
    pub fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    /// Whether a stream is being read.
    #[must_use]
    pub fn is_streaming(&self) -> bool {
        self.is_streaming
    }

    /// Begins a start without a stream: starts the turn, or looks whether an earlier start arrived.
    pub fn start(&mut self) -> Result<StreamPlan> {
        let plan = match self.status {
            TurnStatus::Unstarted => StreamPlan::Start,
            TurnStatus::Incomplete if self.id.is_none() => StreamPlan::Look,
            _ => return Err(already_started()),
        };
        self.status = TurnStatus::Starting;
        Ok(plan)
    }

    /// Begins a stream: starts the turn, or subscribes to it after `after`, by default after the last delivered event.
    /// It never goes back to before that event.
    pub fn stream(&mut self, after: Option<u64>) -> Result<StreamPlan> {
        let plan = match self.status {
            _ if self.is_streaming => return Err(already_streamed()),
            TurnStatus::Unstarted if after.unwrap_or(0) > 0 => {
                let problem = "`afterSequenceNumber` requires a turn that has started";
                return Err(Error::new(ErrorCode::InvalidOption, problem));
            }
            TurnStatus::Unstarted => {
                self.status = TurnStatus::Starting;
                StreamPlan::Start
            }
            TurnStatus::Running | TurnStatus::Incomplete if self.id.is_some() => {
                self.cursor.advance(after.unwrap_or(0));
                self.status = TurnStatus::Running;
                StreamPlan::Subscribe
            }
            TurnStatus::Incomplete => {
                self.status = TurnStatus::Starting;
                StreamPlan::Look
            }
            TurnStatus::Starting | TurnStatus::Running => return Err(already_started()),
            TurnStatus::Done | TurnStatus::Cancelled | TurnStatus::Error if self.was_streamed => {
                return Err(already_streamed());
            }
            TurnStatus::Done | TurnStatus::Cancelled | TurnStatus::Error => {
                let problem = "the turn has ended: read its events with `listEvents()`";
                return Err(Error::new(ErrorCode::TurnNotRunning, problem));
            }
        };
        self.is_streaming = true;
        Ok(plan)
    }

    /// Admits an event of the stream, or returns why not. Everything after the end of the turn is a repeat.
    #[inline]
    pub fn admit(&mut self, sequence_number: u64) -> Admission {
        if self.status.is_terminal() { Admission::Repeat } else { self.cursor.admit(sequence_number) }
    }

    /// Admits a listed event with this number. Returns whether it is new.
    pub fn admit_listed(&mut self, sequence_number: u64) -> bool {
        self.cursor.admit_listed(sequence_number)
    }

    /// Advances the cursor past events that were delivered elsewhere.
    pub fn advance(&mut self, sequence_number: u64) {
        self.cursor.advance(sequence_number);
    }

    /// Admits an event although events before it are missing.
    pub fn pass(&mut self, sequence_number: u64) {
        self.cursor.pass(sequence_number);
    }

    /// Follows an admitted event.
    pub fn observe(&mut self, event: EventRef<'_>) {
        match event.kind {
            EventKind::TurnCreated => self.created(event.fields.text("turn_id")),
            EventKind::TurnDone => {
                if let Some(state) = event.fields.object("state") {
                    self.state(state);
                }
            }
            _ => {}
        }
    }

    /// Notes that the turn exists on the server.
    pub fn created(&mut self, id: &str) {
        if self.id.is_none() && !id.is_empty() {
            self.id = Some(id.to_owned());
        }
        if matches!(self.status, TurnStatus::Unstarted | TurnStatus::Starting) {
            self.status = TurnStatus::Running;
        }
    }

    /// Takes the turn's state from the server. Returns whether the turn has ended.
    pub fn state(&mut self, state: &Object<'_>) -> bool {
        self.status = match state.text("status") {
            "done" => TurnStatus::Done,
            "cancelled" => TurnStatus::Cancelled,
            "error" => TurnStatus::Error,
            _ if self.status == TurnStatus::Incomplete => TurnStatus::Running,
            _ => self.status,
        };
        self.status.is_terminal()
    }

    /// Takes the end of the stream, or of the request for it or for a start. Returns the error to report, if there is
    /// one.
    pub fn stream_ended(&mut self, end: StreamEnd) -> Result<()> {
        self.was_streamed |= self.is_streaming;
        self.is_streaming = false;
        if self.status.is_terminal() {
            return Ok(());
        }
        self.interrupted(end)
    }

    fn interrupted(&mut self, end: StreamEnd) -> Result<()> {
        let is_started = self.id.is_some();
        match end {
            StreamEnd::Rejected(error) => {
                // The server refused before anything began, so the turn may be started again. Its own failures (5xx)
                // and timeouts (408) may have come after the turn began.
                let is_refusal =
                    error.status.is_some_and(|status| (400..500).contains(&status) && status != 408);
                self.status = match (is_started, is_refusal) {
                    (true, _) => TurnStatus::Running,
                    (false, true) => TurnStatus::Unstarted,
                    (false, false) => TurnStatus::Incomplete,
                };
                Err(error)
            }
            StreamEnd::NotBegun(error) => {
                self.status = TurnStatus::Unstarted;
                Err(error)
            }
            StreamEnd::Refused => {
                // A turn that exists on the server is never started again.
                if !is_started {
                    self.status = TurnStatus::Unstarted;
                }
                Ok(())
            }
            StreamEnd::Aborted => {
                if !is_started {
                    self.status = TurnStatus::Incomplete;
                }
                Err(Error::new(ErrorCode::Aborted, "the signal was aborted; the turn itself continues"))
            }
            StreamEnd::Lost(error) => {
                self.status = TurnStatus::Incomplete;
                Err(error)
            }
            StreamEnd::Failed(error) if !is_started => {
                self.status = TurnStatus::Incomplete;
                Err(error)
            }
            StreamEnd::Failed(error) => {
                self.status = TurnStatus::Incomplete;
                let parts = ["the stream broke before `turn.done`: ", &error.message, KEPT];
                Err(Error::of(ErrorCode::Incomplete, &parts))
            }
            StreamEnd::Eof => {
                self.status = TurnStatus::Incomplete;
                let parts = if is_started {
                    ["the stream ended before `turn.done`", KEPT]
                } else {
                    ["the stream ended before `turn.created`: ", NOT_KNOWN]
                };
                Err(Error::of(ErrorCode::Incomplete, &parts))
            }
        }
    }
}

const KEPT: &str = "; events are kept, and `stream()` continues after them";

const NOT_KNOWN: &str = "the turn may have begun; `session.listTurns()` shows it";

fn already_started() -> Error {
    Error::new(
        ErrorCode::TurnAlreadyStarted,
        "the turn was already started; a second start would send its input twice",
    )
}

fn already_streamed() -> Error {
    Error::new(
        ErrorCode::TurnAlreadyStreamed,
        "a turn is streamed once: share its events, or use `listEvents()`",
    )
}
