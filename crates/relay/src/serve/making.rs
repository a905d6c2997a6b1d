//! Serializes starts of the same turn. Other starts do not wait: a log may be a round trip away.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedMutexGuard;

use crate::log::TurnKey;

/// The turns that are being created, each with the lock of its starts.
#[derive(Debug, Default)]
pub(super) struct Making(Mutex<HashMap<TurnKey, Arc<tokio::sync::Mutex<()>>>>);

/// The only start of its turn, until this is dropped.
#[derive(Debug)]
pub(super) struct Alone<'m> {
    // In this order: the lock is released before its slot is checked.
    _lock: OwnedMutexGuard<()>,
    _place: Place<'m>,
}

/// The slot of a turn's lock. It is removed with the last start that uses it, even a cancelled one.
#[derive(Debug)]
struct Place<'m>(&'m Making, TurnKey);

impl Making {
    /// Waits until no other start of this turn is in progress.
    pub(super) async fn alone(&self, key: TurnKey) -> Alone<'_> {
        let lock = self.all().entry(key.clone()).or_default().clone();
        let place = Place(self, key);
        Alone { _lock: lock.lock_owned().await, _place: place }
    }

    /// Whether this turn is being created.
    pub(super) fn has(&self, key: &TurnKey) -> bool {
        self.all().contains_key(key)
    }

    /// Whether any turn is being created.
    pub(super) fn is_busy(&self) -> bool {
        !self.all().is_empty()
    }

    fn all(&self) -> MutexGuard<'_, HashMap<TurnKey, Arc<tokio::sync::Mutex<()>>>> {
        // No critical section here panics halfway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut all = self.0.all();
        // Locks are shared only here, under the lock of the map.
        if all.get(&self.1).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            all.remove(&self.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn only_starts_of_the_same_turn_wait() {
        let key =
            |turn: &str| TurnKey { upstream: "a".to_owned(), subject: "s".to_owned(), turn: turn.to_owned() };
        let making = Making::default();
        let first = making.alone(key("t")).await;
        let other = making.alone(key("u")).now_or_never().expect("another turn does not wait");
        {
            let mut gives_up = std::pin::pin!(making.alone(key("t")));
            assert!(gives_up.as_mut().now_or_never().is_none());
        }
        let mut second = std::pin::pin!(making.alone(key("t")));
        assert!(second.as_mut().now_or_never().is_none(), "the same turn waits");
        drop(first);
        assert!(making.has(&key("t")), "the second one is under way");
        drop(second.await);
        assert!(!making.has(&key("t")) && making.has(&key("u")));
        drop(other);
        assert!(!making.is_busy());
    }
}
