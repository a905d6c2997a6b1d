//! The stores of turns: their numbered frames, how they ended, and who owns each session.
//!
//! Every backend keeps these laws, and one suite of tests checks them:
//! - the bytes of an offset never change; offsets begin at 1 and have no gaps, but a frame may be empty;
//! - appends are only at the tail, and never by an owner after another has claimed the turn;
//! - a closed turn stays closed, and its last frames are appended together with the end;
//! - reading after an offset returns everything appended after it, complete and in order;
//! - acknowledged appends outlive the process, where the backend promises that;
//! - a log whose last frames may be missing gets a new id before anyone reads it, and ids are never reused.

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

/// How long a log on a server keeps turns.
#[derive(Debug, Clone, Copy)]
pub struct Lifetimes {
    /// The longest time that a turn runs. If nothing ends it, it is removed some time later.
    pub running: Duration,
    /// How long its frames can be read after its end.
    pub retention: Duration,
}

impl Lifetimes {
    /// How long a turn is kept if nothing ends it.
    fn while_running(&self) -> Duration {
        self.running + self.retention + Duration::from_mins(10)
    }
}

/// A log's response, in future.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, LogError>> + Send + 'a>>;

/// The key of a turn. It includes the user, so that two users may have turns with the same id.
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
    /// A digest of the request, which identifies a repeated start.
    pub request: [u8; 32],
}

/// The head of the agent's response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseHead {
    /// Its status.
    pub status: u16,
    /// Its content type.
    pub content_type: String,
}

/// The state of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The log's id. Frame numbers are valid for one log only.
    pub log: u64,
    /// How often the turn was claimed.
    pub epoch: u64,
    /// The offset of the last frame.
    pub last: u64,
    /// The size of all frames.
    pub bytes: u64,
    /// The head of the agent's response, once received.
    pub response: Option<ResponseHead>,
    /// The turn's end.
    pub end: Option<End>,
    /// Whether its frames were removed because they expired.
    pub is_expired: bool,
    /// What was known before it started.
    pub new: NewTurn,
}

impl Head {
    /// The result of an append to a turn that has ended: if the closing append is repeated, it is acknowledged again.
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
    /// The turn exists already.
    Exists(Head),
}

/// What an append adds besides frames.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// The head of the agent's response.
    pub response: Option<ResponseHead>,
    /// The turn's end.
    pub end: Option<End>,
}

/// The size of a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    /// The bytes in use; 0 if unknown.
    pub bytes: u64,
    /// The bytes that it may use; 0 if unknown.
    pub room: u64,
}

/// What to purge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purge {
    /// All data of a user.
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
    /// Parses a session written as `AGENT/SESSION`.
    pub fn session(name: &str) -> Option<Self> {
        let (upstream, session) = name.split_once('/')?;
        Some(Self::Session { upstream: upstream.to_owned(), session: session.to_owned() })
    }
}

/// Why a log refuses an operation. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogError {
    /// Another owner has claimed the turn.
    Fenced,
    /// The append was not for the place after this offset.
    Tail(u64),
    /// The turn has ended.
    Closed,
    /// There is no room.
    Full,
    /// The turn does not exist.
    Gone,
    /// The turn was removed on purpose, and is not restored.
    Removed,
    /// The log's data of the turn cannot be read.
    Unreadable,
    /// The log itself failed, for this reason.
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

/// A store of turns.
pub trait ReplayLog: Send + Sync {
    /// Creates a turn, unless it exists.
    fn create(&self, key: TurnKey, new: NewTurn) -> Answer<'_, Created>;
    /// Takes a turn over from the owner of epoch `seen`.
    fn claim(&self, key: TurnKey, seen: u64) -> Answer<'_, Claim>;
    /// Appends frames, the first of them at offset `at`, and the rest of the change: all of it or nothing. An append
    /// that is repeated after a lost response is refused as [`LogError::Tail`] with its own last offset, or
    /// acknowledged if it has closed the turn.
    fn append(&self, claim: &Claim, at: u64, frames: Vec<Bytes>, change: Change) -> Answer<'_, ()>;
    /// The state of a turn.
    fn head(&self, key: TurnKey) -> Answer<'_, Head>;
    /// The frames after an offset, up to `max_bytes` together, but at least one if there is one.
    fn read(&self, key: TurnKey, after: u64, max_bytes: usize) -> Answer<'_, Vec<Bytes>>;
    /// The turns without an end, with their epochs: only those of this process, if the log knows the owners.
    fn open_turns(&self) -> Answer<'_, Vec<(TurnKey, u64)>>;
    /// A user's turns in a session, or in all, newest first.
    fn turns(
        &self,
        upstream: String,
        subject: String,
        session: Option<String>,
    ) -> Answer<'_, Vec<(String, Head)>>;
    /// Removes a turn that never began, unless another owner has claimed it.
    fn remove(&self, claim: &Claim) -> Answer<'_, ()>;
    /// Removes the frames of some turns that ended longer ago than this, and later what remains of the turns. Returns
    /// how many expired; 0 if none are left, or if the log does this by itself.
    fn expire(&self, retention: Duration) -> Answer<'_, usize>;
    /// Removes turns and, except for a session's, the records of session owners. Returns how many turns.
    fn purge(&self, what: Purge) -> Answer<'_, usize>;
    /// Whether a turn that the log does not have was removed on purpose, and so cannot return. A log that loses nothing by
    /// itself lacks no other turns.
    fn is_removed(&self, _key: TurnKey) -> Answer<'_, bool> {
        Box::pin(std::future::ready(Ok(true)))
    }

    /// Records the owner of a session, unless it has one, and returns its owner.
    fn own(&self, upstream: String, session: String, subject: String) -> Answer<'_, String>;
    /// The owner of a session.
    fn owner(&self, upstream: String, session: String) -> Answer<'_, Option<String>>;
    /// Forgets the owner of a removed session.
    fn disown(&self, upstream: String, session: String) -> Answer<'_, ()>;

    /// The log's size, if known.
    fn size(&self) -> Answer<'_, Size> {
        Box::pin(std::future::ready(Ok(Size::default())))
    }

    /// The log as a shared log, if several relays can use it.
    fn shared(&self) -> Option<&dyn SharedLog> {
        None
    }
}

/// A log's id: random, so that two logs never share one.
pub(crate) fn new_log_id() -> Result<u64, LogError> {
    getrandom::u64().map_err(|error| LogError::Unreachable(error.to_string()))
}

/// How long the id of an expired turn is remembered.
const REMEMBERED: Duration = Duration::from_hours(24);
