//! What a turn's owner writes. The server counts the records of each epoch, and so decides whether the owner may write.
//! If a response is missing or unexpected, the turn is read again, and its stream is authoritative.

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::MutexGuard;
use tokio::time::sleep;

use super::super::{Change, Claim, Created, LogError, NewTurn, ResponseHead, TurnKey, Wishes, new_log_id};
use super::Kept;
use super::copies::Used;
use super::names::{self, tag};
use super::record::Record;
use super::server::{Posted, Turnstile};
use super::turn::Turn;

/// How often a record is sent while the server has a different record with its number.
const TRIES: usize = 3;
/// How long to wait for the relay that removes a turn that never began, and the time after which another may remove it.
const REMOVING: Duration = Duration::from_millis(300);
const REMOVED_BY_THEN: Duration = Duration::from_mins(1);

/// What the owner knows of its turn. The guard excludes other writers in this process.
type Owned<'u> = MutexGuard<'u, Option<Turn>>;

impl Kept {
    /// The turn as the server has it.
    async fn fetched(&self, used: &Used, tag: &str) -> Result<Turn, LogError> {
        let copy = used.refreshed(&self.server, &names::turn(tag)).await?;
        copy.present().cloned().ok_or(LogError::Gone)
    }

    /// Writes the owner's next record, if `is_permitted` allows it for the turn; `Ok(false)` means that it exists.
    async fn write(
        &self,
        used: &Used,
        owned: &mut Owned<'_>,
        (record, frames): (Record, &[Bytes]),
        claim: &Claim,
        is_permitted: impl Fn(&Turn) -> Result<bool, LogError>,
    ) -> Result<(), LogError> {
        let tag = tag(&claim.key);
        let is_last = matches!(&record, Record::Frames { end: Some(_), .. } | Record::Removed { .. });
        let body = record.written(frames).map_err(|error| LogError::Unreachable(error.to_string()))?;
        let mut expected = None;
        for _ in 0..TRIES {
            // It is put back only when the server's state is certain.
            let mut turn = match owned.take() {
                Some(turn) => turn,
                None => self.fetched(used, &tag).await?,
            };
            match is_permitted(&turn) {
                Ok(true) => {}
                settled => {
                    **owned = Some(turn);
                    return settled.map(drop);
                }
            }
            let turnstile = Turnstile {
                producer: claim.log,
                epoch: claim.epoch,
                seq: expected.take().unwrap_or(turn.seq),
            };
            match self.server.post(&names::turn(&tag), Some(turnstile), is_last, body.clone()).await? {
                Posted::New => {
                    turn.seq = turnstile.seq;
                    let mut turn = Some(turn);
                    Turn::take(&mut turn, record);
                    **owned = turn;
                    return Ok(());
                }
                Posted::Fenced => return Err(LogError::Fenced),
                Posted::Gone => return Err(LogError::Gone),
                Posted::Gap(seq) => expected = Some(seq),
                Posted::Known | Posted::Closed => {}
            }
        }
        Err(LogError::Unreachable("the streams' server: it counts a turn's records otherwise".to_owned()))
    }

    /// Creates a turn, unless it exists.
    pub(super) async fn create(&self, key: TurnKey, new: NewTurn) -> Result<Created, LogError> {
        let (tag, log) = (tag(&key), new_log_id()?);
        self.index.list(&self.server, &key, &new).await?;
        let used = self.copies.of(&tag);
        let mut owned = used.owned.lock().await;
        *owned = None;
        let record = Record::Made { log, epoch: 1, key: key.clone(), new, response: None };
        for _ in 0..TRIES {
            self.server.make(&names::turn(&tag), Some(self.lifetimes.while_running()), Bytes::new()).await?;
            let body = record.written(&[]).map_err(|error| LogError::Unreachable(error.to_string()))?;
            let turnstile = Some(Turnstile { producer: log, epoch: 1, seq: 0 });
            let posted = self.server.post(&names::turn(&tag), turnstile, false, body).await;
            match self.head(&tag).await {
                // Whatever the response was: the first relay that creates the turn owns it.
                Ok((_, head)) if head.log == log => {
                    // What was removed was another turn.
                    let mark = names::removed(&tag);
                    let (past, ()) = tokio::try_join!(self.past(&tag), self.server.delete(&mark))?;
                    if let Some((_, past)) = past {
                        // The old turn with this id has just expired.
                        self.server.delete(&names::turn(&tag)).await?;
                        return Ok(Created::Exists(past));
                    }
                    Turn::take(&mut owned, record);
                    return Ok(Created::New(Claim { key, log, epoch: 1 }));
                }
                Ok((_, head)) => return Ok(Created::Exists(head)),
                // A turn that never began may block the id.
                Err(LogError::Gone) => {
                    posted?;
                    let removed = used.copy.lock().await.removed();
                    if !matches!(removed, Some(log) if self.clear_away(&used, &tag, log).await?) {
                        sleep(REMOVING).await;
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Err(LogError::Unreachable("the streams' server: a turn cannot be made".to_owned()))
    }

    /// Takes a turn over.
    pub(super) async fn claim(&self, key: TurnKey, seen: u64) -> Result<Claim, LogError> {
        let (tag, by) = (tag(&key), new_log_id()?);
        let used = self.copies.of(&tag);
        let mut owned = used.owned.lock().await;
        *owned = None;
        let turn = match self.fetched(&used, &tag).await {
            // An expired turn was closed.
            Err(LogError::Gone) if self.past(&tag).await?.is_some() => return Err(LogError::Closed),
            turn => turn?,
        };
        if turn.end.is_some() {
            return Err(LogError::Closed);
        }
        if turn.epoch != seen {
            return Err(LogError::Fenced);
        }
        let epoch = seen + 1;
        let body = Record::Claimed { log: turn.log, epoch, by }.written(&[]);
        let body = body.map_err(|error| LogError::Unreachable(error.to_string()))?;
        // If two relays claim at once, the server accepts one record, and reports the other as known.
        let turnstile = Turnstile { producer: turn.log, epoch, seq: 0 };
        self.server.post(&names::turn(&tag), Some(turnstile), false, body).await?;
        let turn = self.fetched(&used, &tag).await?;
        if turn.by != by {
            return Err(if turn.end.is_some() { LogError::Closed } else { LogError::Fenced });
        }
        let claim = turn.claim();
        *owned = Some(turn);
        Ok(claim)
    }

    /// Appends frames and the rest of a change.
    pub(super) async fn append(
        &self,
        claim: Claim,
        at: u64,
        frames: Vec<Bytes>,
        change: Change,
    ) -> Result<(), LogError> {
        let tag = tag(&claim.key);
        let record = Record::Frames {
            epoch: claim.epoch,
            at,
            lengths: frames.iter().map(Bytes::len).collect(),
            response: change.response.clone(),
            end: change.end,
        };
        let used = self.copies.of(&tag);
        let mut owned = used.owned.lock().await;
        let is_permitted = |turn: &Turn| turn.permits_append(&claim, at, frames.len(), &change);
        let written = self.write(&used, &mut owned, (record, &frames), &claim, is_permitted).await;
        match written {
            Ok(()) if change.end.is_some() => self.ended(&tag),
            // An expired turn was closed.
            Err(LogError::Gone) if self.past(&tag).await?.is_some() => return Err(LogError::Closed),
            _ => {}
        }
        written
    }

    /// Removes a turn that never began. Its owner records that in the stream; a claim by another would forbid it.
    pub(super) async fn remove(&self, claim: Claim) -> Result<(), LogError> {
        let tag = tag(&claim.key);
        let used = self.copies.of(&tag);
        let mut owned = used.owned.lock().await;
        // Before the turn, so that the wishes of the next turn with this id stay.
        self.server.delete(&names::wishes(&tag)).await?;
        let record = Record::Removed { epoch: claim.epoch };
        let is_permitted = |turn: &Turn| match turn.permits(&claim) {
            // A turn that has ended is removed as well.
            Err(LogError::Closed) => Ok(false),
            permitted => permitted.map(|()| true),
        };
        match self.write(&used, &mut owned, (record, &[]), &claim, is_permitted).await {
            Err(LogError::Gone) => return Ok(()),
            written => written?,
        }
        *owned = None;
        self.mark_removed(&tag).await?;
        self.clear_away(&used, &tag, claim.log).await?;
        self.copies.forget(&tag);
        Ok(())
    }

    /// Removes the stream of a turn whose owner has recorded that it never began, and returns whether it did. The owner
    /// does this, or the next start if the owner has died before. Only one process may: a second removal could hit the
    /// next turn.
    async fn clear_away(&self, used: &Used, tag: &str, log: u64) -> Result<bool, LogError> {
        let path = names::removing(log);
        // Reading the tail does not extend the stream's lifetime.
        if self.server.tail(&path).await?.is_some() {
            return Ok(false);
        }
        self.server.make(&path, Some(REMOVED_BY_THEN), Bytes::new()).await?;
        let first = Some(Turnstile { producer: log, epoch: 1, seq: 0 });
        if self.server.post(&path, first, false, Bytes::from_static(b"x")).await? != Posted::New {
            return Ok(false);
        }
        self.server.delete(&names::turn(tag)).await?;
        used.copy.lock().await.clear();
        Ok(true)
    }

    /// Shows that the owner is alive, and returns what users want of the turn.
    pub(super) async fn beat(&self, claim: Claim, last: u64) -> Result<Wishes, LogError> {
        let tag = tag(&claim.key);
        let used = self.copies.of(&tag);
        let mut owned = used.owned.lock().await;
        if owned.as_ref().is_some_and(|turn| turn.end.is_some()) {
            match self.server.tail(&names::turn(&tag)).await? {
                Some(tail) if tail.is_closed => return Err(LogError::Closed),
                // The server has lost the end.
                _ => *owned = None,
            }
        }
        let record = Record::Beat { epoch: claim.epoch, log: Some(claim.log), last };
        let is_permitted = |turn: &Turn| turn.permits(&claim).map(|()| true);
        self.write(&used, &mut owned, (record, &[]), &claim, is_permitted).await?;
        let known = owned.as_ref().map_or(last, |turn| turn.last);
        drop(owned);
        // The log may have more frames: an append may have succeeded meanwhile.
        if known < last {
            return Err(LogError::Tail(known));
        }
        self.wishes(&used, &tag).await
    }

    /// Restores a turn that the server has lost completely.
    pub(super) async fn restore(
        &self,
        claim: Claim,
        new: NewTurn,
        response: Option<ResponseHead>,
    ) -> Result<(), LogError> {
        let tag = tag(&claim.key);
        let used = self.copies.of(&tag);
        let mut owned = used.owned.lock().await;
        *owned = None;
        match self.head(&tag).await {
            Ok(_) => return Err(LogError::Fenced),
            Err(LogError::Gone) => {}
            Err(error) => return Err(error),
        }
        if self.is_removed(&tag).await? {
            return Err(LogError::Removed);
        }
        self.index.list(&self.server, &claim.key, &new).await?;
        self.server.make(&names::turn(&tag), Some(self.lifetimes.while_running()), Bytes::new()).await?;
        let record =
            Record::Made { log: claim.log, epoch: claim.epoch, key: claim.key.clone(), new, response };
        let body = record.written(&[]).map_err(|error| LogError::Unreachable(error.to_string()))?;
        let turnstile = Some(Turnstile { producer: claim.log, epoch: claim.epoch, seq: 0 });
        self.server.post(&names::turn(&tag), turnstile, false, body).await?;
        // Another relay may have created it meanwhile, under another log id.
        let turn = self.fetched(&used, &tag).await?;
        if turn.claim() != claim {
            return Err(LogError::Fenced);
        }
        *owned = Some(turn);
        Ok(())
    }
}
