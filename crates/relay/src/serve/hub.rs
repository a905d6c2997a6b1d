//! What the readers of a running turn share: its progress, and its last frames.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::{mpsc, watch};

use super::asking::NotBegun;
use super::making::Making;
use crate::log::{Head, LogError, ResponseHead, TurnKey};
use crate::mutant::mutant;
use crate::observe::Linked;
use crate::turn::End;

/// The memory for one turn's frames, in bytes. Readers that are further behind read the log.
const RING: usize = 256 << 10;
/// How many pages from the log are kept for readers that need them at the same time.
const PAGES: usize = 8;
/// The memory for the frames of all turns, in bytes.
const RINGS: usize = 256 << 20;

/// The progress of a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// The last frame in the log.
    pub(super) last: u64,
    pub(super) end: Option<End>,
    pub(super) response: Option<Arc<ResponseHead>>,
    /// The agent has not begun the turn, and will not.
    pub(super) not_begun: Option<Arc<NotBegun>>,
    /// How often readers were sent away: those connected at that time have to reconnect, here or to another relay.
    pub(super) departures: u64,
}

/// A request to the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    /// The user stops the turn.
    Stop,
    /// The process is shutting down.
    Drain,
}

/// A running turn. Its owner is in this process, or a follower reads it from the log.
#[derive(Debug)]
pub(super) struct Hub {
    pub(super) log: u64,
    pub(super) request: [u8; 32],
    /// The span of the turn.
    pub(super) span: Linked,
    known: watch::Sender<Known>,
    ring: Mutex<Ring>,
    /// The pages last read from the log, each with the offset before it, until there are newer frames. Readers that all
    /// reconnect at once share them.
    pages: tokio::sync::Mutex<VecDeque<(u64, Vec<Bytes>)>>,
    /// The owner, if it is in this process.
    owner: Option<mpsc::UnboundedSender<Request>>,
    /// What followed the turn here when another relay had it. Its readers stay with it, and leave with this one's.
    before: Option<Weak<Hub>>,
    readers: AtomicUsize,
    all_bytes: Arc<AtomicUsize>,
}

#[derive(Debug, Default)]
struct Ring {
    frames: VecDeque<Bytes>,
    /// The offset of the first frame.
    first: u64,
    bytes: usize,
    /// The last frame that arrived from the agent in this process, and when the first frame of its batch did.
    came: Option<(u64, Instant)>,
}

impl Hub {
    pub(super) fn watch(&self) -> watch::Receiver<Known> {
        self.known.subscribe()
    }

    pub(super) fn is_owned(&self) -> bool {
        self.owner.is_some()
    }

    /// Sends a request to the owner, and returns whether it is in this process.
    pub(super) fn ask(&self, request: Request) -> bool {
        if let Some(owner) = &self.owner {
            // An owner that has ended has nothing left to do.
            let _ = owner.send(request);
        }
        self.is_owned()
    }

    /// Makes all readers reconnect.
    pub(super) fn send_away(&self) {
        self.known.send_modify(|known| known.departures += 1);
        if let Some(before) = self.before.as_ref().and_then(Weak::upgrade) {
            before.send_away();
        }
    }

    /// Records that the agent has begun to answer.
    pub(super) fn responded(&self, response: ResponseHead) {
        self.known.send_modify(|known| known.response = Some(response.into()));
    }

    /// Records that the agent has not begun the turn.
    pub(super) fn not_begun(&self, why: NotBegun) {
        self.known.send_modify(|known| known.not_begun = Some(why.into()));
    }

    /// Records when those of the next delivered frames, up to this one, arrived from the agent.
    pub(super) fn came(&self, last: u64, since: Option<Instant>) {
        if let Some(since) = since {
            lock(&self.ring).came = Some((last, since));
        }
    }

    /// How long ago this frame arrived, if it is among the newest ones.
    pub(super) fn age(&self, last: u64) -> Option<Duration> {
        lock(&self.ring).came.filter(|&(newest, _)| newest == last).map(|(_, since)| since.elapsed())
    }

    /// Delivers frames that the log has, the last of which is `last`, and the end.
    pub(super) fn deliver(&self, frames: Vec<Bytes>, last: u64, end: Option<End>) {
        let mut ring = lock(&self.ring);
        let first = last + 1 - frames.len() as u64;
        // Frames that the log has lost are delivered again.
        if ring.first + ring.frames.len() as u64 != first {
            self.all_bytes.fetch_sub(ring.bytes, Ordering::Relaxed);
            *ring = Ring { first, came: ring.came, ..Ring::default() };
        }
        for frame in frames {
            ring.bytes += frame.len();
            self.all_bytes.fetch_add(frame.len(), Ordering::Relaxed);
            ring.frames.push_back(frame);
        }
        let room = if self.is_crowded() && self.readers.load(Ordering::Relaxed) == 0 { 0 } else { RING };
        while ring.bytes > room
            && let Some(frame) = ring.frames.pop_front()
        {
            ring.first += 1;
            ring.bytes -= frame.len();
            self.all_bytes.fetch_sub(frame.len(), Ordering::Relaxed);
        }
        drop(ring);
        if let Ok(mut pages) = self.pages.try_lock() {
            pages.clear();
        }
        self.known.send_modify(|known| {
            known.last = last;
            known.end = end;
        });
    }

    /// Ends the turn for readers: the log is gone, and nothing more can be read.
    pub(super) fn abandon(&self, end: End) {
        self.known.send_modify(|known| known.end = Some(end));
    }

    /// Frames after an offset, from memory or else as they are in the log. `None` if the log has none.
    pub(super) async fn page(
        &self,
        after: u64,
        max_bytes: usize,
        read: impl Future<Output = Result<Vec<Bytes>, LogError>>,
    ) -> Result<Vec<Bytes>, LogError> {
        if let Some(page) = self.in_memory(after, max_bytes) {
            return Ok(page);
        }
        // The other readers wait for this one.
        let mut pages = self.pages.lock().await;
        let rest = |(before, page): &(u64, Vec<Bytes>)| {
            let skip = usize::try_from(after.checked_sub(*before)?).ok()?;
            page.get(skip..).filter(|rest| !rest.is_empty()).map(<[_]>::to_vec)
        };
        if let Some(rest) = pages.iter().find_map(rest) {
            return Ok(rest);
        }
        let frames = read.await?;
        metrics::counter!("turnwire_relay_log_reads_total").increment(1);
        pages.truncate(PAGES - 1);
        pages.push_front((after, frames.clone()));
        Ok(frames)
    }

    fn in_memory(&self, after: u64, max_bytes: usize) -> Option<Vec<Bytes>> {
        let ring = lock(&self.ring);
        let skip = usize::try_from((after + 1).checked_sub(ring.first)?).ok()?;
        let skip = if mutant!("frame_before") { skip.saturating_sub(1) } else { skip };
        let mut size = 0;
        let page: Vec<Bytes> = ring
            .frames
            .iter()
            .skip(skip)
            .take_while(|frame| {
                let fits = size == 0 || size + frame.len() <= max_bytes;
                size += frame.len();
                fits
            })
            .cloned()
            .collect();
        (!page.is_empty()).then_some(page)
    }

    /// This many frames from this offset on, if all of them are in memory.
    pub(super) fn range(&self, first: u64, count: usize) -> Option<Vec<Bytes>> {
        let ring = lock(&self.ring);
        let skip = usize::try_from(first.checked_sub(ring.first)?).ok()?;
        let range: Vec<Bytes> = ring.frames.iter().skip(skip).take(count).cloned().collect();
        (range.len() == count).then_some(range)
    }

    /// Whether all turns together use more memory than they may.
    pub(super) fn is_crowded(&self) -> bool {
        self.all_bytes.load(Ordering::Relaxed) > RINGS
    }

    pub(super) fn readers(&self) -> usize {
        self.readers.load(Ordering::SeqCst)
    }

    /// Counts a reader until the guard is dropped.
    pub(super) fn reading(self: &Arc<Self>) -> Reading {
        self.readers.fetch_add(1, Ordering::SeqCst);
        Reading(self.clone())
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.all_bytes.fetch_sub(lock(&self.ring).bytes, Ordering::Relaxed);
    }
}

/// A reader of a running turn.
#[derive(Debug)]
pub(super) struct Reading(Arc<Hub>);

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.readers.fetch_sub(1, Ordering::SeqCst);
    }
}

/// All running turns of this process.
#[derive(Debug, Default)]
pub(super) struct Hubs {
    open: Mutex<HashMap<TurnKey, Arc<Hub>>>,
    bytes: Arc<AtomicUsize>,
    /// The turns that are being created: a hub exists as soon as its turn is in the log.
    pub(super) making: Making,
}

impl Hubs {
    pub(super) fn get(&self, key: &TurnKey) -> Option<Arc<Hub>> {
        lock(&self.open).get(key).cloned()
    }

    pub(super) fn all(&self) -> Vec<Arc<Hub>> {
        lock(&self.open).values().cloned().collect()
    }

    /// Opens the hub of a turn that this process owns.
    pub(super) fn open(
        &self,
        key: TurnKey,
        log: u64,
        request: [u8; 32],
        known: Known,
    ) -> (Arc<Hub>, mpsc::UnboundedReceiver<Request>) {
        let (asked, requests) = mpsc::unbounded_channel();
        let mut hub = self.hub(log, request, known, Some(asked));
        let mut open = lock(&self.open);
        hub.before = open.get(&key).map(Arc::downgrade);
        let hub = Arc::new(hub);
        open.insert(key, hub.clone());
        (hub, requests)
    }

    /// The hub of a turn that runs elsewhere, and whether it is new.
    pub(super) fn follow(&self, key: TurnKey, head: Head) -> (Arc<Hub>, bool) {
        let mut open = lock(&self.open);
        if let Some(hub) = open.get(&key) {
            return (hub.clone(), false);
        }
        let known = Known { last: head.last, response: head.response.map(Arc::new), ..Known::default() };
        let hub = Arc::new(self.hub(head.log, head.new.request, known, None));
        open.insert(key, hub.clone());
        (hub, true)
    }

    fn hub(
        &self,
        log: u64,
        request: [u8; 32],
        known: Known,
        owner: Option<mpsc::UnboundedSender<Request>>,
    ) -> Hub {
        Hub {
            log,
            request,
            span: Linked::default(),
            known: watch::Sender::new(known),
            ring: Mutex::default(),
            pages: tokio::sync::Mutex::default(),
            owner,
            before: None,
            readers: AtomicUsize::new(0),
            all_bytes: self.bytes.clone(),
        }
    }

    /// Removes a hub from the list. Its users keep it.
    pub(super) fn close(&self, key: &TurnKey, hub: &Arc<Hub>) {
        let mut open = lock(&self.open);
        if open.get(key).is_some_and(|it| Arc::ptr_eq(it, hub)) {
            open.remove(key);
        }
    }

    /// Removes a hub if only its follower uses it. Returns whether it did.
    pub(super) fn close_unused(&self, key: &TurnKey, hub: &Arc<Hub>) -> bool {
        let mut open = lock(&self.open);
        // The follower and this list hold it, unless the turn has an owner here by now.
        let is_listed = open.get(key).is_some_and(|it| Arc::ptr_eq(it, hub));
        let is_unused = Arc::strong_count(hub) <= 1 + usize::from(is_listed);
        if is_unused && is_listed {
            open.remove(key);
        }
        is_unused
    }

    /// The size of all frames in memory.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No critical section here panics halfway.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::NewTurn;

    #[test]
    fn readers_of_a_turn_that_was_followed_are_sent_away_by_its_next_owner() {
        let (hubs, key) =
            (Hubs::default(), TurnKey { upstream: "a".into(), subject: "u".into(), turn: "t".into() });
        let head = Head {
            log: 1,
            epoch: 1,
            last: 3,
            bytes: 9,
            response: None,
            end: None,
            is_expired: false,
            new: NewTurn { session: None, request: [0; 32] },
        };
        let (followed, _) = hubs.follow(key.clone(), head);
        let departures = |hub: &Hub| hub.watch().borrow().departures;
        let (owned, _requests) = hubs.open(key.clone(), 1, [0; 32], Known::default());
        assert_eq!(departures(&followed), 0, "they go on to follow it");
        hubs.all().iter().for_each(|hub| hub.send_away());
        assert_eq!((departures(&followed), departures(&owned)), (1, 1));
        // It is kept by its readers only.
        assert!(hubs.close_unused(&key, &followed));
        drop(followed);
        hubs.all().iter().for_each(|hub| hub.send_away());
        assert_eq!(departures(&owned), 2);
    }
}
