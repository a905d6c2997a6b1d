//! What this process knows of the turns that it writes or reads: copies of their streams, which grow as it reads.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::super::{LogError, Wishes};
use super::flight::Flight;
use super::record::{Reader, Unreadable};
use super::server::{BEGINNING, Server};
use super::turn::{Taken, Turn};

/// How long an unused copy is kept: a reader that soon asks for its next page finds it here.
const KEPT: Duration = Duration::from_secs(5);
/// The total bytes of copies, beyond which unused copies are dropped.
const ROOM: usize = 256 << 20;

/// A copy of a turn's stream, as far as it was read.
#[derive(Debug)]
pub(super) struct Copy {
    /// The offset at which reading continues.
    pub(super) next: String,
    reader: Reader,
    pub(super) turn: Option<Turn>,
    pub(super) frames: Vec<Bytes>,
    /// When it was read last.
    read: Option<Flight>,
    /// The size of the frames, also counted in the sum of all copies.
    bytes: usize,
    all_bytes: Arc<AtomicUsize>,
}

impl Copy {
    fn new(all_bytes: Arc<AtomicUsize>) -> Self {
        Self {
            next: BEGINNING.to_owned(),
            reader: Reader::default(),
            turn: None,
            frames: Vec::new(),
            read: None,
            bytes: 0,
            all_bytes,
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new(self.all_bytes.clone());
    }

    /// Adds the next bytes of the stream, which continues at `next`. If they do not follow on what was read, the copy
    /// is cleared: a server that had lost the turn may have a new stream of it, which is read from the beginning.
    pub(super) fn feed(&mut self, bytes: &[u8], next: String) -> Result<(), Unreadable> {
        let taken = self.take(bytes, next);
        if taken.is_err() {
            self.clear();
        }
        taken
    }

    fn take(&mut self, bytes: &[u8], next: String) -> Result<(), Unreadable> {
        let is_first = self.next == BEGINNING;
        self.reader.feed(bytes);
        self.next = next;
        while let Some((record, frames)) = self.reader.next()? {
            let taken = Turn::take(&mut self.turn, record);
            if taken == Taken::Gap && !is_first {
                return Err(Unreadable);
            }
            if taken == Taken::Frames {
                let size = frames.iter().map(Bytes::len).sum();
                self.bytes += size;
                self.all_bytes.fetch_add(size, Ordering::Relaxed);
                self.frames.extend(frames);
            }
        }
        Ok(())
    }

    /// Reads what is new.
    async fn refresh(&mut self, server: &Server, path: &str) -> Result<(), LogError> {
        for _ in 0..2 {
            // If the future is dropped here, the copy stays unchanged.
            let Some((pieces, next)) = server.rest(path, &self.next).await? else {
                self.clear();
                return Ok(());
            };
            // Offsets sort as bytes. A stream that ends before the read position is a different one.
            let is_shorter = self.next != BEGINNING && next < self.next;
            if is_shorter {
                self.clear();
            } else if self.feed(&pieces.concat(), next).is_ok() {
                return Ok(());
            }
        }
        Err(LogError::Unreadable)
    }

    /// The turn, if it exists.
    pub(super) fn present(&self) -> Option<&Turn> {
        self.turn.as_ref().filter(|turn| !turn.is_removed())
    }

    /// The log id of the turn that was read last, if its owner has recorded that it never began.
    pub(super) fn removed(&self) -> Option<u64> {
        self.turn.as_ref().filter(|turn| turn.is_removed()).map(|turn| turn.log)
    }

    /// The frames after an offset, up to this many bytes together, but at least one.
    pub(super) fn page(&self, after: u64, max_bytes: usize) -> Vec<Bytes> {
        let skip = usize::try_from(after).unwrap_or(usize::MAX);
        let mut size = 0;
        let page = self.frames.iter().skip(skip).take_while(|frame| {
            let fits = size == 0 || size + frame.len() <= max_bytes;
            size += frame.len();
            fits
        });
        page.cloned().collect()
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        self.all_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// What users want of a turn, as far as it was read.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub(super) next: Option<String>,
    pub(super) wishes: Wishes,
}

/// A turn that is in use.
#[derive(Debug)]
pub(super) struct Used {
    /// What its owner knows of it, if that is in this process. `None` if it must be read again: an append may have
    /// come.
    pub(super) owned: tokio::sync::Mutex<Option<Turn>>,
    pub(super) copy: tokio::sync::Mutex<Copy>,
    pub(super) wanted: tokio::sync::Mutex<Wanted>,
}

impl Used {
    /// The copy with what is new.
    pub(super) async fn refreshed(
        &self,
        server: &Server,
        path: &str,
    ) -> Result<tokio::sync::MutexGuard<'_, Copy>, LogError> {
        let came = Instant::now();
        let mut copy = self.copy.lock().await;
        if let Some(read) = copy.read.as_ref().and_then(|read| read.since(came)) {
            return read.map(|()| copy);
        }
        let begun = Instant::now();
        let read = copy.refresh(server, path).await;
        copy.read = Some(Flight::over(begun, &read));
        read.map(|()| copy)
    }
}

/// All turns in use, by their tags.
#[derive(Debug, Default)]
pub(super) struct Copies {
    used: Mutex<HashMap<String, (Instant, Arc<Used>)>>,
    bytes: Arc<AtomicUsize>,
}

impl Copies {
    fn used(&self) -> MutexGuard<'_, HashMap<String, (Instant, Arc<Used>)>> {
        // No critical section here panics halfway.
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The turn with this tag.
    pub(super) fn of(&self, tag: &str) -> Arc<Used> {
        self.with_room(tag, ROOM)
    }

    fn with_room(&self, tag: &str, room: usize) -> Arc<Used> {
        let mut used = self.used();
        let now = Instant::now();
        used.retain(|_, (touched, used)| Arc::strong_count(used) > 1 || now - *touched <= KEPT);
        if self.bytes.load(Ordering::Relaxed) > room {
            // This drops only what was read: an owner knows its turn without it.
            let unused = used.values().filter(|(_, used)| Arc::strong_count(used) == 1);
            unused.filter_map(|(_, used)| used.copy.try_lock().ok()).for_each(|mut copy| copy.clear());
        }
        let new = || {
            Arc::new(Used {
                owned: tokio::sync::Mutex::default(),
                copy: tokio::sync::Mutex::new(Copy::new(self.bytes.clone())),
                wanted: tokio::sync::Mutex::default(),
            })
        };
        let (touched, used) = used.entry(tag.to_owned()).or_insert_with(|| (now, new()));
        *touched = now;
        used.clone()
    }

    /// Forgets a removed turn.
    pub(super) fn forget(&self, tag: &str) {
        self.used().remove(tag);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn those_who_wait_for_a_copy_share_one_failure() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let server = Server::new(&address.parse().expect("an address"), Vec::new());
        let used = Copies::default().of("t");
        let refreshed = || async { used.refreshed(&server, "/t").await.map(drop) };
        let asked = async {
            let (first, _) = listener.accept().await.expect("a connection");
            // All of them wait by then.
            drop(first);
            drop(listener.accept().await.expect("a connection"));
        };
        let waiting = futures_util::future::join_all((0..8).map(|_| refreshed()));
        tokio::select! {
            () = asked => panic!("it is asked again"),
            failed = waiting => assert!(failed.iter().all(Result::is_err), "{failed:?}"),
        }
        // A later caller asks again.
        let (later, accepted) = tokio::join!(refreshed(), async { listener.accept().await.map(drop) });
        assert!(later.is_err() && accepted.is_ok());
    }

    /// However little room there is, an owner's turn is not read again for each of its records.
    #[tokio::test]
    async fn without_room_what_was_read_is_dropped_and_what_an_owner_knows_is_kept() {
        let copies = Copies::default();
        let used = copies.of("own");
        {
            let mut copy = used.copy.lock().await;
            copy.bytes = 9;
            copy.all_bytes.fetch_add(9, Ordering::Relaxed);
        }
        let kept = Arc::downgrade(&used);
        drop(used);
        copies.with_room("other", 8);
        assert_eq!(copies.bytes.load(Ordering::Relaxed), 0, "what was read");
        assert!(kept.upgrade().is_some_and(|kept| Arc::ptr_eq(&kept, &copies.of("own"))));
    }
}
