//! What a held socket and those around it tell one another.

use std::sync::Arc;

/// A message with its number.
pub type Numbered = (u64, Arc<str>);

/// A reader, as long as it is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReaderKey(pub(super) u64);

/// What is kept at most.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The journal, in bytes.
    pub journal: usize,
    /// Readers at a time, and as many that have left.
    pub readers: usize,
    /// Requests that wait for an answer, of the readers and of the agent each. Those of the agent may together be as large as
    /// the journal.
    pub requests: usize,
}

/// What a reader has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The id of the journal.
    pub log: u64,
    /// The number of the last message.
    pub after: u64,
}

/// A reader has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attached {
    /// Who it is.
    pub reader: ReaderKey,
    /// Which of its connections this is. An earlier one is not served any more.
    pub visit: u64,
    /// It gets what comes after this number.
    pub after: u64,
    /// Whether that is all that it lacks.
    pub is_whole: bool,
}

/// Why a reader cannot come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Its name is none.
    Name,
    /// There are too many.
    Readers,
    /// The socket has ended.
    Ended(EndReason),
}

/// Why a held socket has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The agent has closed it, or the connection broke.
    UpstreamLost,
    /// It had no reader for too long.
    Idle,
    /// The relay ends.
    Drained,
    /// The user has ended it.
    Stopped,
}

impl EndReason {
    /// As readers are told.
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

/// What a reader does next.
#[derive(Debug, Clone)]
pub enum Step {
    /// It gets these messages, each with its number, and then goes on from the last number. If there are none, it waits.
    Read(Vec<Numbered>, u64),
    /// Some of what comes next is not kept any more.
    FellBehind,
    /// It has come again on another connection.
    Superseded,
    /// It has all, and there is no more.
    Ended(EndReason),
}
