//! What keeps turns: their frames by number, and how they ended; and whose each session is.
//!
//! The laws that every backend keeps, which one suite of tests holds each of them to:
//! - the bytes of an offset never change; offsets begin at 1 and have no holes, but a frame may have no bytes;
//! - no append at any place but the tail, and none by an owner after another has claimed the turn;
//! - what is closed stays closed, and the last frames come with the end;
//! - reading after an offset returns what was appended after it, whole and in order;
//! - what an append has acknowledged outlives the process, where the backend promises that;
//! - a log whose last frames may be missing has a new id before anything reads it, and no other log ever gets one.

mod memory;
mod names;
mod probe;
mod redis;
mod shared;
mod sqlite;
mod streams;
#[cfg(test)]
mod tests;

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::turn::End;

pub use memory::MemoryLog;
pub(crate) use probe::probe;
pub use redis::RedisLog;
pub use shared::{Admission, Company, Hint, SharedLog, Sign, Wishes};
pub use sqlite::SqliteLog;
pub use streams::StreamsLog;

/// How long turns are kept, in a log on a server.
#[derive(Debug, Clone, Copy)]
pub struct Lifetimes {
    /// The longest that a turn runs. What it leaves behind if nothing ends it is removed some time later.
    pub running: Duration,
    /// How long its frames can be read after its end.
    pub retention: Duration,
}

impl Lifetimes {
    /// How long a turn is kept that nothing ends.
    fn while_running(&self) -> Duration {
        self.running + self.retention + Duration::from_mins(10)
    }
}

/// The answer of a log, in its time.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, LogError>> + Send + 'a>>;

/// Which turn: the subject is part of it, so that another user's equal id is another turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TurnKey {
    /// The agent's name in the config.
    pub upstream: String,
    /// The user.
    pub subject: String,
    /// The turn's id.
    pub turn: String,
}

/// What is known of a turn before it starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewTurn {
    /// Its session.
    pub session: Option<String>,
    /// A digest of the request, by which a repeated start is known.
    pub request: [u8; 32],
}

/// The start of the agent's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseHead {
    /// Its status.
    pub status: u16,
    /// Its content type.
    pub content_type: String,
}

/// Where a turn is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The log's id. Numbers of frames hold for one log only.
    pub log: u64,
    /// How often the turn was claimed.
    pub epoch: u64,
    /// The offset of the last frame.
    pub last: u64,
    /// The size of all frames.
    pub bytes: u64,
    /// The start of the agent's answer, once it came.
    pub response: Option<ResponseHead>,
    /// The turn's end.
    pub end: Option<End>,
    /// Whether its frames are gone, as their time has passed.
    pub is_expired: bool,
    /// What was known before.
    pub new: NewTurn,
}

impl Head {
    /// What becomes of an append to a turn that has ended: the one that has closed it, sent again, is acknowledged again.
    fn closed_by(&self, at: u64, count: usize, change: &Change) -> Result<(), LogError> {
        let is_repeated = self.end == change.end && at.checked_add(count as u64) == Some(self.last + 1);
        is_repeated.then_some(()).ok_or(LogError::Closed)
    }
}

/// The right to append to a turn, until another claims it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The turn.
    pub key: TurnKey,
    /// The log's id.
    pub log: u64,
    /// The claim's number.
    pub epoch: u64,
}

/// The result of [`ReplayLog::create`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created {
    /// The turn is new, and the caller owns it.
    New(Claim),
    /// It is there already.
    Exists(Head),
}

/// What an append adds besides frames.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// The start of the agent's answer.
    pub response: Option<ResponseHead>,
    /// The turn's end.
    pub end: Option<End>,
}

/// How much a log has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    /// What it takes, in bytes; 0 if that is not known.
    pub bytes: u64,
    /// What it may take; 0 if nothing says so.
    pub room: u64,
}

/// What to purge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purge {
    /// Everything of a user.
    Subject(String),
    /// The turns of a session.
    Session {
        /// The agent's name.
        upstream: String,
        /// The session's id.
        session: String,
    },
    /// Everything.
    All,
}

impl Purge {
    /// The turns of a session that is named as `AGENT/SESSION`.
    pub fn session(name: &str) -> Option<Self> {
        let (upstream, session) = name.split_once('/')?;
        Some(Self::Session { upstream: upstream.to_owned(), session: session.to_owned() })
    }
}

/// Why a log refuses. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogError {
    /// Another owner has claimed the turn.
    Fenced,
    /// The append was for another place than after this offset.
    Tail(u64),
    /// The turn has ended.
    Closed,
    /// There is no room.
    Full,
    /// There is no such turn.
    Gone,
    /// The turn was removed on purpose, and is not made again.
    Removed,
    /// What the log has of the turn cannot be read.
    Unreadable,
    /// The log itself failed; it says why.
    Unreachable(String),
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fenced => f.write_str("another owner has claimed the turn"),
            Self::Tail(last) => {
                write!(f, "the turn's last frame is {last}, and the append was for another place")
            }
            Self::Closed => f.write_str("the turn has ended"),
            Self::Full => f.write_str("the log has no room"),
            Self::Gone => f.write_str("there is no such turn"),
            Self::Removed => f.write_str("the turn was removed on purpose"),
            Self::Unreadable => f.write_str("what the log has of the turn cannot be read"),
            Self::Unreachable(cause) => write!(f, "the log failed: {cause}"),
        }
    }
}

impl std::error::Error for LogError {}

/// Keeps turns.
pub trait ReplayLog: Send + Sync {
    /// Begins a turn, unless it is there.
    fn create(&self, key: TurnKey, new: NewTurn) -> Answer<'_, Created>;
    /// Takes a turn over from the owner of epoch `seen`.
    fn claim(&self, key: TurnKey, seen: u64) -> Answer<'_, Claim>;
    /// Appends frames, the first of them at offset `at`, and the rest of the change: all of it or nothing. Sent again after a lost
    /// answer, it is refused as [`LogError::Tail`] with its own last offset, or acknowledged if it has closed the turn.
    fn append(&self, claim: &Claim, at: u64, frames: Vec<Bytes>, change: Change) -> Answer<'_, ()>;
    /// Where a turn is.
    fn head(&self, key: TurnKey) -> Answer<'_, Head>;
    /// The frames after an offset, as many as have `max_bytes` together, but at least one if there is one.
    fn read(&self, key: TurnKey, after: u64, max_bytes: usize) -> Answer<'_, Vec<Bytes>>;
    /// The turns without an end, and the epoch of each: this process's, if the log knows whose they are.
    fn open_turns(&self) -> Answer<'_, Vec<(TurnKey, u64)>>;
    /// A user's turns in a session, or in all, newest first.
    fn turns(
        &self,
        upstream: String,
        subject: String,
        session: Option<String>,
    ) -> Answer<'_, Vec<(String, Head)>>;
    /// Removes a turn that never began, unless another has claimed it.
    fn remove(&self, claim: &Claim) -> Answer<'_, ()>;
    /// Removes the frames of some turns that ended before this time ago, and later the rest of them. Returns how many
    /// expired; 0 if none is left, or if the log does this by itself.
    fn expire(&self, retention: Duration) -> Answer<'_, usize>;
    /// Removes turns and, but for a session's, what is known of sessions. Returns how many turns.
    fn purge(&self, what: Purge) -> Answer<'_, usize>;

    /// Notes whose session this is, unless it is known, and returns whose it is.
    fn own(&self, upstream: String, session: String, subject: String) -> Answer<'_, String>;
    /// Whose session this is.
    fn owner(&self, upstream: String, session: String) -> Answer<'_, Option<String>>;
    /// Forgets a session that was removed.
    fn disown(&self, upstream: String, session: String) -> Answer<'_, ()>;

    /// How much it has, if that is known.
    fn size(&self) -> Answer<'_, Size> {
        Box::pin(std::future::ready(Ok(Size::default())))
    }

    /// The same log as several relays use it, if they can.
    fn shared(&self) -> Option<&dyn SharedLog> {
        None
    }
}

/// A log's id: random, so that two logs never share one.
pub(crate) fn new_log_id() -> Result<u64, LogError> {
    getrandom::u64().map_err(|error| LogError::Unreachable(error.to_string()))
}

/// How long the id of an expired turn is still known.
const REMEMBERED: Duration = Duration::from_hours(24);
