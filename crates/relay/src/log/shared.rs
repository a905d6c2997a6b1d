//! What a log offers to several relays: signs of life, and hints about new frames.

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;

use super::{Answer, Claim, NewTurn, ReplayLog, ResponseHead, TurnKey};

/// A log that several relays use at the same time. Each turn has one owner among them; all of them can read it.
pub trait SharedLog: ReplayLog {
    /// Counts a start of this turn's user, and the turn until it ends, unless the user has too many of either over all
    /// relays. A log that cannot count leaves this to each relay.
    fn admit(&self, _key: &TurnKey, _starts_per_minute: u32, _turns: usize) -> Answer<'_, Admission> {
        Box::pin(async { Ok(Admission::Granted) })
    }
    /// Shows the others that this process takes requests for new turns, or no longer does.
    fn announce(&self, _is_serving: bool) -> Answer<'_, ()> {
        Box::pin(async { Ok(()) })
    }
    /// Which other processes use the log now.
    fn company(&self) -> Answer<'_, Company> {
        Box::pin(async { Ok(Company::Unknown) })
    }
    /// The turns without an end whose process is known to have ended, with their epochs.
    fn orphans(&self) -> Answer<'_, Vec<(TurnKey, u64)>> {
        Box::pin(async { Ok(Vec::new()) })
    }
    /// Shows that the turn's owner is alive, and knows the log up to `last`. Returns what users want of the turn.
    /// [`LogError::Tail`](super::LogError::Tail) if the log ends before that.
    fn beat(&self, claim: &Claim, last: u64) -> Answer<'_, Wishes>;
    /// Restores a turn that the log has lost completely, without its frames. [`LogError::Fenced`](super::LogError::Fenced) if
    /// the turn exists, [`LogError::Removed`](super::LogError::Removed) if it was removed on purpose.
    fn restore(&self, claim: &Claim, new: NewTurn, response: Option<ResponseHead>) -> Answer<'_, ()>;
    /// The signs of life of all running turns.
    fn signs(&self) -> Answer<'_, Vec<(TurnKey, Sign)>>;
    /// Asks the turn's owner, wherever it is, to stop the turn.
    fn ask_to_stop(&self, key: TurnKey) -> Answer<'_, ()>;
    /// Notes that the turn has a reader.
    fn note_readers(&self, key: TurnKey) -> Answer<'_, ()>;
    /// Hints about new frames of a turn, until the receiver is dropped. Hints may be lost, late or duplicated.
    fn watch(&self, key: &TurnKey) -> mpsc::Receiver<Hint>;
}

/// Which other processes use a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Company {
    /// Unknown: they are on other machines. Only its silence shows that an owner has died.
    Unknown,
    /// None. As with those below, [`open_turns`](ReplayLog::open_turns) returns this process's turns only.
    Alone,
    /// Other processes on this machine, none of which serves: they are starting, or shutting down.
    Beside,
    /// Other processes on this machine, one of which serves.
    Serving,
}

impl Company {
    /// Whether there are other processes on this machine.
    pub fn is_near(self) -> bool {
        matches!(self, Self::Beside | Self::Serving)
    }
}

/// Whether a user may start a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Yes.
    Granted,
    /// Not before this time has passed.
    TooManyStarts(Duration),
    /// Not before a turn has ended.
    TooManyTurns,
}

/// The mark of the owner's last append or beat. It changes as long as the owner is alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sign {
    /// The claim's number.
    pub epoch: u64,
    /// The offset of the last frame.
    pub last: u64,
    /// How many beats the owner has sent.
    pub beats: u64,
}

/// What users want of a turn's owner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Whether a user asked to stop the turn.
    pub is_stopped: bool,
    /// How often a reader elsewhere was noted.
    pub readers: u64,
}

/// A hint about a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// New frames, the first of which is `first`.
    Frames {
        /// The id of their log.
        log: u64,
        /// The offset of the first frame.
        first: u64,
        /// The frames.
        frames: Vec<Bytes>,
    },
    /// Something is new: read the log.
    Look,
}
