//! The types that a held socket and its users exchange.

use std::sync::Arc;

/// A message with its number.
pub type Numbered = (u64, Arc<str>);

/// The key of a reader that is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReaderKey(pub(super) u64);

/// Limits.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The journal, in bytes.
    pub journal: usize,
    /// Simultaneous readers, and as many that have left.
    pub readers: usize,
    /// Pending requests, counted separately for readers and the agent. The agent's may fill as much as the journal.
    pub requests: usize,
}

/// How far a reader has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The id of the journal.
    pub log: u64,
    /// The number of the last message.
    pub after: u64,
}

/// An attached reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attached {
    /// The reader.
    pub reader: ReaderKey,
    /// Which of its connections this is. Earlier ones are no longer served.
    pub visit: u64,
    /// The number after which it gets all messages.
    pub after: u64,
    /// Whether it has missed nothing before that.
    pub is_whole: bool,
}

/// Why a reader is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Its name is invalid.
    Name,
    /// There are too many readers.
    Readers,
    /// The socket has ended.
    Ended(EndReason),
}

/// Why a held socket has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The agent closed it, or the connection broke.
    UpstreamLost,
    /// It had no reader for too long.
    Idle,
    /// The relay is shutting down.
    Drained,
    /// The user ended it.
    Stopped,
}

impl EndReason {
    /// The reason as it is sent to readers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::UpstreamLost => "upstream_lost",
            Self::Idle => "idle",
            Self::Drained => "drained",
            Self::Stopped => "stopped",
        }
    }
}

/// The next step of a reader.
#[derive(Debug, Clone)]
pub enum Step {
    /// Send these numbered messages, and continue from this number. If there are none, wait.
    Read(Vec<Numbered>, u64),
    /// Some of the next messages were dropped.
    FellBehind,
    /// The reader has reconnected.
    Superseded,
    /// There are no more messages, and the socket has ended.
    Ended(EndReason),
}
