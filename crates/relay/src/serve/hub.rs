//! What the readers of a running turn share: how far it is, and its last frames.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::{mpsc, watch};

use crate::log::{ResponseHead, TurnKey};
use crate::mutant::mutant;
use crate::turn::End;

/// How much of one turn is kept in memory, in bytes. Readers who are further behind read the log.
const RING: usize = 256 << 10;
/// How much of all turns.
const RINGS: usize = 256 << 20;

/// How far a turn is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// The last frame that the log has.
    pub(super) last: u64,
    pub(super) end: Option<End>,
    pub(super) response: Option<ResponseHead>,
    /// Nothing was sent to the agent.
    pub(super) is_unsent: bool,
}

/// What the owner is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    /// The user stops the turn.
    Stop,
    /// The process ends.
    Drain,
}

/// A running turn.
#[derive(Debug)]
pub(super) struct Hub {
    pub(super) log: u64,
    pub(super) request: [u8; 32],
    known: watch::Sender<Known>,
    ring: Mutex<Ring>,
    asked: mpsc::UnboundedSender<Request>,
    readers: AtomicUsize,
    all_bytes: Arc<AtomicUsize>,
}

#[derive(Debug, Default)]
struct Ring {
    frames: VecDeque<Bytes>,
    /// The offset of the first one.
    first: u64,
    bytes: usize,
}

impl Hub {
    pub(super) fn watch(&self) -> watch::Receiver<Known> {
        self.known.subscribe()
    }

    pub(super) fn ask(&self, request: Request) {
        // An owner that has ended has nothing left to do.
        let _ = self.asked.send(request);
    }

    /// The agent has begun to answer.
    pub(super) fn responded(&self, response: ResponseHead) {
        self.known.send_modify(|known| known.response = Some(response));
    }

    /// Nothing was sent to the agent.
    pub(super) fn unsent(&self) {
        self.known.send_modify(|known| known.is_unsent = true);
    }

    /// The log has these frames, the last of which is `last`, and this end.
    pub(super) fn deliver(&self, frames: Vec<Bytes>, last: u64, end: Option<End>) {
        let mut ring = lock(&self.ring);
        if ring.frames.is_empty() {
            ring.first = last + 1 - frames.len() as u64;
        }
        for frame in frames {
            ring.bytes += frame.len();
            self.all_bytes.fetch_add(frame.len(), Ordering::Relaxed);
            ring.frames.push_back(frame);
        }
        let is_crowded = self.all_bytes.load(Ordering::Relaxed) > RINGS;
        let room = if is_crowded && self.readers.load(Ordering::Relaxed) == 0 { 0 } else { RING };
        while ring.bytes > room
            && let Some(frame) = ring.frames.pop_front()
        {
            ring.first += 1;
            ring.bytes -= frame.len();
            self.all_bytes.fetch_sub(frame.len(), Ordering::Relaxed);
        }
        drop(ring);
        self.known.send_modify(|known| {
            known.last = last;
            known.end = end;
        });
    }

    /// The log is gone: this is all that readers get.
    pub(super) fn abandon(&self, end: End) {
        self.known.send_modify(|known| known.end = Some(end));
    }

    /// Frames after an offset, if they are in memory.
    pub(super) fn page(&self, after: u64, max_bytes: usize) -> Option<Vec<Bytes>> {
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
    /// Held while a turn is made: a hub is there as soon as its turn is in the log.
    pub(super) making: tokio::sync::Mutex<()>,
}

impl Hubs {
    pub(super) fn get(&self, key: &TurnKey) -> Option<Arc<Hub>> {
        lock(&self.open).get(key).cloned()
    }

    pub(super) fn all(&self) -> Vec<Arc<Hub>> {
        lock(&self.open).values().cloned().collect()
    }

    pub(super) fn open(
        &self,
        key: TurnKey,
        log: u64,
        request: [u8; 32],
    ) -> (Arc<Hub>, mpsc::UnboundedReceiver<Request>) {
        let (asked, requests) = mpsc::unbounded_channel();
        let hub = Hub {
            log,
            request,
            known: watch::Sender::default(),
            ring: Mutex::default(),
            asked,
            readers: AtomicUsize::new(0),
            all_bytes: self.bytes.clone(),
        };
        let hub = Arc::new(hub);
        lock(&self.open).insert(key, hub.clone());
        (hub, requests)
    }

    pub(super) fn close(&self, key: &TurnKey) {
        lock(&self.open).remove(key);
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
