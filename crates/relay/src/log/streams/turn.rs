//! A turn, computed from its records in their order. All relays read the same records, so all compute the same turn. A
//! record that its writer was not permitted to write has no effect for any of them.

use super::super::{Change, Claim, Head, LogError, NewTurn, ResponseHead, TurnKey};
use super::record::Record;
use crate::turn::End;

/// A turn, without its frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) key: TurnKey,
    pub(super) new: NewTurn,
    pub(super) log: u64,
    pub(super) epoch: u64,
    /// The claim's random number, by which its writer recognizes it.
    pub(super) by: u64,
    /// The number that the server expects of the owner's next record.
    pub(super) seq: u64,
    pub(super) last: u64,
    pub(super) bytes: u64,
    pub(super) response: Option<ResponseHead>,
    pub(super) end: Option<End>,
    is_removed: bool,
}

/// The effect of a record on a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// It has new frames.
    Frames,
    /// It has no new frames.
    Nothing,
    /// A record before it is missing.
    Gap,
}

impl Turn {
    /// Applies the next record.
    pub(super) fn take(turn: &mut Option<Self>, record: Record) -> Taken {
        match (turn, record) {
            (turn @ None, Record::Made { log, epoch, key, new, response }) => {
                *turn = Some(Self {
                    key,
                    new,
                    log,
                    epoch,
                    by: log,
                    seq: 1,
                    last: 0,
                    bytes: 0,
                    response,
                    end: None,
                    is_removed: false,
                });
                Taken::Nothing
            }
            (Some(turn), record) => turn.takes(record),
            (None, _) => Taken::Nothing,
        }
    }

    fn takes(&mut self, record: Record) -> Taken {
        match record {
            // Of two creators at once, the second has no effect; or the stream has been created again.
            Record::Made { .. } => return Taken::Gap,
            Record::Claimed { log, epoch, by }
                if self.is_open() && (log, epoch) == (self.log, self.epoch + 1) =>
            {
                (self.epoch, self.by, self.seq) = (epoch, by, 1);
            }
            Record::Frames { epoch, at, lengths, response, end } if epoch == self.epoch => {
                self.seq += 1;
                if !self.is_open() {
                    return Taken::Nothing;
                }
                if at != self.last + 1 {
                    // After a crash, a server may have a record twice.
                    let is_known = at <= self.last && at + lengths.len() as u64 <= self.last + 1;
                    return if is_known { Taken::Nothing } else { Taken::Gap };
                }
                self.last += lengths.len() as u64;
                self.bytes += lengths.iter().map(|&length| length as u64).sum::<u64>();
                self.response = response.or_else(|| self.response.take());
                self.end = end;
                return Taken::Frames;
            }
            Record::Beat { epoch, log, last } if epoch == self.epoch => {
                self.seq += 1;
                if last > self.last || log.is_some_and(|log| log != self.log) {
                    return Taken::Gap;
                }
            }
            Record::Removed { epoch } if epoch == self.epoch && self.is_open() => self.is_removed = true,
            _ => {}
        }
        Taken::Nothing
    }

    fn is_open(&self) -> bool {
        self.end.is_none() && !self.is_removed
    }

    /// Whether this claim may write: the turn has not ended, and no other owner has claimed it.
    pub(super) fn permits(&self, claim: &Claim) -> Result<(), LogError> {
        match self {
            _ if self.is_removed => Err(LogError::Gone),
            _ if (self.log, self.epoch) != (claim.log, claim.epoch) => Err(LogError::Fenced),
            _ if self.end.is_some() => Err(LogError::Closed),
            _ => Ok(()),
        }
    }

    /// Whether this claim may append this. `Ok(false)` if it is already there, with the turn's end.
    pub(super) fn permits_append(
        &self,
        claim: &Claim,
        at: u64,
        count: usize,
        change: &Change,
    ) -> Result<bool, LogError> {
        match self.permits(claim) {
            Err(LogError::Closed) => self.head().closed_by(at, count, change).map(|()| false),
            Err(error) => Err(error),
            Ok(()) if at != self.last + 1 => Err(LogError::Tail(self.last)),
            Ok(()) => Ok(true),
        }
    }

    /// The claim of its current owner.
    pub(super) fn claim(&self) -> Claim {
        Claim { key: self.key.clone(), log: self.log, epoch: self.epoch }
    }

    /// Its state.
    pub(super) fn head(&self) -> Head {
        Head {
            log: self.log,
            epoch: self.epoch,
            last: self.last,
            bytes: self.bytes,
            response: self.response.clone(),
            end: self.end,
            is_expired: false,
            new: self.new.clone(),
        }
    }

    /// Whether its owner has removed it.
    pub(super) fn is_removed(&self) -> bool {
        self.is_removed
    }
}
