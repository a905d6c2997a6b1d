//! A log in memory: it ends with the process.

use std::collections::{BTreeMap, HashMap};
use std::future::ready;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::{
    Answer, Change, Claim, Created, Head, LogError, NewTurn, Purge, REMEMBERED, ReplayLog, Size, TurnKey,
    new_log_id,
};

/// Keeps turns in memory.
#[derive(Debug, Default)]
pub struct MemoryLog(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    turns: BTreeMap<TurnKey, Turn>,
    /// Sessions' owners, by agent and session.
    owners: HashMap<(String, String), String>,
    created: u64,
}

#[derive(Debug)]
struct Turn {
    head: Head,
    frames: Vec<Bytes>,
    /// The order in which turns were created.
    number: u64,
    ended: Option<Instant>,
}

impl MemoryLog {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        // No critical section here panics halfway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn turn(&mut self, key: &TurnKey) -> Result<&mut Turn, LogError> {
        self.turns.get_mut(key).ok_or(LogError::Gone)
    }

    fn create(&mut self, key: TurnKey, new: NewTurn) -> Result<Created, LogError> {
        if let Some(turn) = self.turns.get(&key) {
            return Ok(Created::Exists(turn.head.clone()));
        }
        let log = new_log_id()?;
        let head =
            Head { log, epoch: 1, last: 0, bytes: 0, response: None, end: None, is_expired: false, new };
        self.created += 1;
        let turn = Turn { head, frames: Vec::new(), number: self.created, ended: None };
        self.turns.insert(key.clone(), turn);
        Ok(Created::New(Claim { key, log, epoch: 1 }))
    }

    fn claim(&mut self, key: TurnKey, seen: u64) -> Result<Claim, LogError> {
        let head = &mut self.turn(&key)?.head;
        if head.end.is_some() {
            return Err(LogError::Closed);
        }
        if head.epoch != seen {
            return Err(LogError::Fenced);
        }
        head.epoch += 1;
        Ok(Claim { log: head.log, epoch: head.epoch, key })
    }

    fn append(&mut self, claim: &Claim, at: u64, frames: Vec<Bytes>, change: Change) -> Result<(), LogError> {
        let turn = self.turn(&claim.key)?;
        let head = &mut turn.head;
        if head.epoch != claim.epoch {
            return Err(LogError::Fenced);
        }
        if head.end.is_some() {
            return head.closed_by(at, frames.len(), &change);
        }
        if at != head.last + 1 {
            return Err(LogError::Tail(head.last));
        }
        head.last += frames.len() as u64;
        head.bytes += frames.iter().map(|frame| frame.len() as u64).sum::<u64>();
        turn.frames.extend(frames);
        if change.response.is_some() {
            head.response = change.response;
        }
        if change.end.is_some() {
            head.end = change.end;
            turn.ended = Some(Instant::now());
        }
        Ok(())
    }

    fn read(&mut self, key: &TurnKey, after: u64, max_bytes: usize) -> Result<Vec<Bytes>, LogError> {
        let turn = self.turn(key)?;
        let after = usize::try_from(after).unwrap_or(usize::MAX).min(turn.frames.len());
        let mut size = 0;
        let page = turn.frames[after..].iter().take_while(|frame| {
            let fits = size == 0 || size + frame.len() <= max_bytes;
            size += frame.len();
            fits
        });
        Ok(page.cloned().collect())
    }

    fn remove(&mut self, claim: &Claim) -> Result<(), LogError> {
        let owned = self.turns.get(&claim.key).map(|turn| (turn.head.log, turn.head.epoch));
        if owned.is_some_and(|owned| owned != (claim.log, claim.epoch)) {
            return Err(LogError::Fenced);
        }
        self.turns.remove(&claim.key);
        Ok(())
    }

    fn expire(&mut self, retention: Duration) -> usize {
        let mut count = 0;
        self.turns.retain(|_, turn| {
            let Some(age) = turn.ended.map(|ended| ended.elapsed()) else { return true };
            if age >= retention && !turn.head.is_expired {
                turn.head.is_expired = true;
                turn.frames = Vec::new();
                count += 1;
            }
            age < retention + REMEMBERED
        });
        count
    }

    fn purge(&mut self, what: &Purge) -> usize {
        let before = self.turns.len();
        self.turns.retain(|key, turn| match what {
            Purge::All => false,
            Purge::Subject(subject) => key.subject != *subject,
            Purge::Session { upstream, session } => {
                key.upstream != *upstream || turn.head.new.session.as_ref() != Some(session)
            }
        });
        match what {
            Purge::All => self.owners.clear(),
            Purge::Subject(subject) => self.owners.retain(|_, owner| owner != subject),
            Purge::Session { .. } => {}
        }
        before - self.turns.len()
    }
}

fn now<'a, T: Send + 'a>(result: Result<T, LogError>) -> Answer<'a, T> {
    Box::pin(ready(result))
}

impl ReplayLog for MemoryLog {
    fn create(&self, key: TurnKey, new: NewTurn) -> Answer<'_, Created> {
        now(self.kept().create(key, new))
    }

    fn claim(&self, key: TurnKey, seen: u64) -> Answer<'_, Claim> {
        now(self.kept().claim(key, seen))
    }

    fn append(&self, claim: &Claim, at: u64, frames: Vec<Bytes>, change: Change) -> Answer<'_, ()> {
        now(self.kept().append(claim, at, frames, change))
    }

    fn head(&self, key: TurnKey) -> Answer<'_, Head> {
        now(self.kept().turn(&key).map(|turn| turn.head.clone()))
    }

    fn read(&self, key: TurnKey, after: u64, max_bytes: usize) -> Answer<'_, Vec<Bytes>> {
        now(self.kept().read(&key, after, max_bytes))
    }

    fn open_turns(&self) -> Answer<'_, Vec<(TurnKey, u64)>> {
        let kept = self.kept();
        let open = kept.turns.iter().filter(|(_, turn)| turn.head.end.is_none());
        now(Ok(open.map(|(key, turn)| (key.clone(), turn.head.epoch)).collect()))
    }

    fn turns(
        &self,
        upstream: String,
        subject: String,
        session: Option<String>,
    ) -> Answer<'_, Vec<(String, Head)>> {
        let kept = self.kept();
        let mut turns: Vec<_> = kept
            .turns
            .iter()
            .filter(|(key, _)| key.upstream == upstream && key.subject == subject)
            .filter(|(_, turn)| session.is_none() || turn.head.new.session == session)
            .map(|(key, turn)| (turn.number, key.turn.clone(), turn.head.clone()))
            .collect();
        turns.sort_by_key(|(number, ..)| std::cmp::Reverse(*number));
        now(Ok(turns.into_iter().map(|(_, turn, head)| (turn, head)).collect()))
    }

    fn remove(&self, claim: &Claim) -> Answer<'_, ()> {
        now(self.kept().remove(claim))
    }

    fn expire(&self, retention: Duration) -> Answer<'_, usize> {
        now(Ok(self.kept().expire(retention)))
    }

    fn purge(&self, what: Purge) -> Answer<'_, usize> {
        now(Ok(self.kept().purge(&what)))
    }

    fn own(&self, upstream: String, session: String, subject: String) -> Answer<'_, String> {
        let owner = self.kept().owners.entry((upstream, session)).or_insert(subject).clone();
        now(Ok(owner))
    }

    fn owner(&self, upstream: String, session: String) -> Answer<'_, Option<String>> {
        now(Ok(self.kept().owners.get(&(upstream, session)).cloned()))
    }

    fn size(&self) -> Answer<'_, Size> {
        let bytes = self.kept().turns.values().map(|turn| turn.head.bytes).sum();
        Box::pin(ready(Ok(Size { bytes, room: 0 })))
    }

    fn disown(&self, upstream: String, session: String) -> Answer<'_, ()> {
        self.kept().owners.remove(&(upstream, session));
        now(Ok(()))
    }
}
