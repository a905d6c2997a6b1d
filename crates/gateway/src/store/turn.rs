//! One turn: its input, its live log, and what is left of it when it is over.

use std::sync::{Arc, Mutex, MutexGuard};

use jiff::Timestamp;
use serde_json::value::RawValue;
use tokio::sync::watch;

use super::EventLog;
use crate::agents::{Memory, Resume};
use crate::lock::lock;
use crate::turns::Stop;

/// A turn of a session.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) id: String,
    pub(crate) previous: Option<String>,
    /// The id of the user who started it.
    pub(crate) creator: String,
    pub(crate) created_at: Timestamp,
    /// The user's input as the protocol shows it; `None` when there was none.
    pub(crate) input: Option<Box<RawValue>>,
    /// The user's words, for a turn that goes on from this one.
    pub(crate) text: String,
    pub(crate) log: Arc<EventLog>,
    pub(crate) stop: watch::Sender<Option<Stop>>,
    progress: Mutex<Progress>,
}

/// The only reader of a turn: the turn stops when it leaves.
#[derive(Debug)]
pub(crate) struct OnlyReader {
    turn: Arc<Turn>,
    reason: Stop,
}

impl OnlyReader {
    pub(crate) fn new(turn: &Arc<Turn>, reason: Stop) -> Self {
        Self { turn: Arc::clone(turn), reason }
    }
}

impl Drop for OnlyReader {
    fn drop(&mut self) {
        self.turn.stop(self.reason);
    }
}

/// What a turn has done so far.
#[derive(Default)]
pub(crate) struct Progress {
    /// The events that outlive the stream, in the order in which they were completed.
    pub(crate) history: Vec<Entry>,
    /// The terminal state as the protocol shows it; `None` while the turn runs.
    pub(crate) state: Option<Box<RawValue>>,
    pub(crate) pending: Pending,
    /// How the conversation goes on when all that is pending is answered.
    pub(crate) resume: Option<Resume>,
    pub(crate) memory: Memory,
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Progress")
            .field("history", &self.history.len())
            .field("state", &self.state)
            .field("pending", &self.pending)
            .finish_non_exhaustive()
    }
}

/// A persisted event.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) json: Box<RawValue>,
    /// Whether it belongs to the turn's life (created, done) rather than to its content.
    pub(crate) lifecycle: bool,
}

/// What a paused turn waits for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pending {
    pub(crate) calls: Vec<PendingCall>,
    pub(crate) authorization: bool,
}

/// A tool call that waits for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PendingCall {
    pub(crate) thread: String,
    pub(crate) call: String,
    /// Whether it waits for consent, or else for a result.
    pub(crate) approval: bool,
}

impl Turn {
    pub(crate) fn new(
        id: String,
        previous: Option<String>,
        creator: String,
        input: Option<Box<RawValue>>,
        text: String,
        memory: Memory,
    ) -> Arc<Self> {
        Arc::new(Self {
            id,
            previous,
            creator,
            created_at: crate::time::now(),
            input,
            text,
            log: Arc::new(EventLog::new()),
            stop: watch::Sender::default(),
            progress: Mutex::new(Progress { memory, ..Progress::default() }),
        })
    }

    /// A turn of a protocol that keeps all else of it by itself.
    pub(crate) fn plain(id: String, text: String) -> Arc<Self> {
        Self::new(id, None, String::new(), None, text, Memory::new())
    }

    pub(crate) fn progress(&self) -> MutexGuard<'_, Progress> {
        lock(&self.progress)
    }

    pub(crate) fn is_running(&self) -> bool {
        self.progress().state.is_none()
    }

    /// Asks the turn to stop. The first reason counts; a turn that has ended ignores it.
    pub(crate) fn stop(&self, reason: Stop) {
        self.stop.send_if_modified(|stop| {
            let first = stop.is_none();
            stop.get_or_insert(reason);
            first
        });
    }
}
