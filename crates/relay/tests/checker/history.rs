//! What happened in a schedule: what the agent sent, what each reader received, and what the log has at the end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::Deserialize;
use turnwire_relay::log::Head;
use turnwire_relay::turn::End;

/// Everything that happened.
#[derive(Debug, Default)]
pub(crate) struct History {
    turns: Mutex<BTreeMap<String, Turn>>,
    /// Whether the log may have lost turns: that one is not there may be the truth then.
    pub(crate) is_lossy: AtomicBool,
}

/// What happened to a turn.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// When the agent got its start, and did not refuse it.
    pub(crate) starts: Vec<Instant>,
    /// How many starts the agent has refused.
    pub(crate) refused: usize,
    /// How many streams of it the agent has begun, if the agent keeps the turn.
    pub(crate) streams: u64,
    /// The frames that the agent began to send, or that it keeps, in the relay's form. A script has the same frames each
    /// time: if the agent plays it twice, these are those of the longer play.
    pub(crate) sent: Vec<String>,
    /// Whether the last of them ends the turn.
    pub(crate) is_done: bool,
    pub(crate) tabs: Vec<Tab>,
    /// Whether more than one tab starts it. If not, the first tab does.
    pub(crate) is_shared: bool,
    /// What the log has of it at the end.
    pub(crate) kept: Option<Kept>,
    /// What the log has acknowledged of it, as the relays say.
    pub(crate) acknowledged: Vec<Acknowledged>,
}

/// An append that the log has acknowledged to the turn's owner of this epoch.
#[derive(Debug, Deserialize)]
pub(crate) struct Acknowledged {
    pub(crate) turn: String,
    pub(crate) log: u64,
    pub(crate) epoch: u64,
    /// The offset of the first frame, and how many there are: none, if it was only the end.
    pub(crate) first: u64,
    pub(crate) count: u64,
    pub(crate) end: Option<End>,
}

impl Acknowledged {
    /// The offset after it.
    pub(crate) fn next(&self) -> u64 {
        self.first + self.count
    }
}

/// A turn in the log.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) head: Head,
    pub(crate) frames: Vec<String>,
}

/// What a tab received, over all its connections.
#[derive(Debug, Default)]
pub(crate) struct Tab {
    pub(crate) came: Option<Instant>,
    pub(crate) connections: Vec<Connection>,
    /// Its first starts, as long as the relay said of each that the agent has not received it.
    pub(crate) refusals: Vec<Refused>,
    pub(crate) heard: Option<(Instant, Heard)>,
    /// Messages that it should not have received.
    pub(crate) surprises: Vec<String>,
}

/// A start that the relay says it has not sent.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) at: Instant,
    /// The relay's code for the reason.
    pub(crate) code: String,
}

/// Frames that arrived on one connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// The last frame that the tab had before.
    pub(crate) after: u64,
    pub(crate) log: String,
    pub(crate) frames: Vec<(u64, String)>,
}

/// How a tab learned of the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Heard {
    /// The turn's own last frame came.
    Done,
    /// The relay reported that the rest is missing.
    Cut { reason: String, last: u64 },
    /// The list of turns contains its end.
    Listed(String),
    /// The response to the start was not a stream.
    Whole,
    /// 504 or 502: the agent did not answer.
    Unanswered,
    /// The turn was never started: no start of it reached the relay.
    Unknown,
    /// It is not there, in a log that may have lost it.
    Gone,
}

impl History {
    pub(crate) fn turns(&self) -> MutexGuard<'_, BTreeMap<String, Turn>> {
        // A test that failed elsewhere has already reported it.
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn with<T>(&self, turn: &str, change: impl FnOnce(&mut Turn) -> T) -> T {
        change(self.turns().entry(turn.to_owned()).or_default())
    }

    pub(crate) fn is_lossy(&self) -> bool {
        self.is_lossy.load(Ordering::Relaxed)
    }

    /// Adds what the relays say that the log has acknowledged.
    pub(crate) fn trace(&self, acknowledged: Vec<Acknowledged>) {
        assert!(!cfg!(feature = "mutants") || !acknowledged.is_empty(), "the relays write no trace");
        for one in acknowledged {
            self.with(&one.turn.clone(), |turn| turn.acknowledged.push(one));
        }
    }
}
