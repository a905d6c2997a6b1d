//! What a log offers that several relays use: signs of life, and hints of what is new.

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;

use super::{Answer, Claim, NewTurn, ReplayLog, ResponseHead, TurnKey};

/// A log that several relays use at the same time. Each turn has one owner among them; all of them can read it.
pub trait SharedLog: ReplayLog {
    /// Counts a start of this turn's user, and the turn until it ends, unless the user has too many of either, over all relays. A
    /// log that cannot count lets each relay count for itself.
    fn admit(&self, _key: &TurnKey, _starts_per_minute: u32, _turns: usize) -> Answer<'_, Admission> {
        Box::pin(async { Ok(Admission::Granted) })
    }
    /// Who else uses the log now.
    fn company(&self) -> Answer<'_, Company> {
        Box::pin(async { Ok(Company::Unknown) })
    }
    /// The turns without an end whose process is known to have ended, and the epoch of each.
    fn orphans(&self) -> Answer<'_, Vec<(TurnKey, u64)>> {
        Box::pin(async { Ok(Vec::new()) })
    }
    /// Says that the turn's owner lives, and that it knows the log up to `last`. Returns what users want of it.
    /// [`LogError::Tail`](super::LogError::Tail) if the log ends before.
    fn beat(&self, claim: &Claim, last: u64) -> Answer<'_, Wishes>;
    /// Makes a turn again that the log has lost as a whole, without its frames.
    /// [`LogError::Fenced`](super::LogError::Fenced) if it is there, [`LogError::Removed`](super::LogError::Removed) if it was removed.
    fn restore(&self, claim: &Claim, new: NewTurn, response: Option<ResponseHead>) -> Answer<'_, ()>;
    /// The signs of life of all running turns.
    fn signs(&self) -> Answer<'_, Vec<(TurnKey, Sign)>>;
    /// Asks the turn's owner, wherever it is, to stop the turn.
    fn ask_to_stop(&self, key: TurnKey) -> Answer<'_, ()>;
    /// Says that someone reads the turn.
    fn note_readers(&self, key: TurnKey) -> Answer<'_, ()>;
    /// Hints of what is new in a turn, until the receiver is dropped. Any of them may be lost, late or doubled.
    fn watch(&self, key: &TurnKey) -> mpsc::Receiver<Hint>;
}

/// Which other processes use a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Company {
    /// It is not known: they are on other machines. That an owner has died is known by its silence.
    Unknown,
    /// None. As with the next one, [`open_turns`](ReplayLog::open_turns) has this process's turns only.
    Alone,
    /// Others of this machine.
    Beside,
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

/// What the owner's last append or beat has left. While it lives, the next sign is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sign {
    /// The claim's number.
    pub epoch: u64,
    /// The last frame.
    pub last: u64,
    /// How often the owner has beaten.
    pub beats: u64,
}

/// What users want of a turn's owner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wishes {
    /// One of them stops the turn.
    pub is_stopped: bool,
    /// How often it was noted that someone reads the turn elsewhere.
    pub readers: u64,
}

/// What may be new in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// These frames, the first of which is `first`.
    Frames {
        /// The log that they are of.
        log: u64,
        /// The offset of the first one.
        first: u64,
        /// The frames.
        frames: Vec<Bytes>,
    },
    /// Something: the log has it.
    Look,
}
