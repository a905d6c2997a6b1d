//! Follows a turn that another relay owns: reads it from the log as it grows, for the readers here. With hints it reads
//! at once; without them, within a second.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::{MissedTickBehavior, interval};

use super::App;
use super::hub::Hub;
use crate::log::{Head, Hint, LogError, SharedLog, TurnKey};
use crate::mutant::mutant;
use crate::turn::{CutReason, End, UpstreamState};

/// How often to read the log without a hint.
const LOOK: Duration = Duration::from_secs(1);
/// The end of a turn that is no longer in the log.
pub(super) const LOST: End = End::Cut { reason: CutReason::LogLost, upstream: UpstreamState::Unknown };
/// How many bytes to read at once.
const PAGE: usize = 256 << 10;

/// The hub of a turn that runs elsewhere.
pub(super) fn follow(app: &Arc<App>, key: TurnKey, head: Head) -> Arc<Hub> {
    let (hub, is_new) = app.hubs.follow(key.clone(), head);
    if is_new {
        let (app, followed) = (app.clone(), Arc::downgrade(&hub));
        let running = tokio::spawn(run(app.clone(), key.clone(), hub.clone()));
        tokio::spawn(async move {
            // If the task panics, readers must not be left waiting.
            let is_over = running.await.unwrap_or(false);
            let Some(hub) = followed.upgrade() else { return };
            // Before its readers leave: a reader that reconnects must find the log.
            app.hubs.close(&key, &hub);
            if !is_over {
                hub.send_away();
            }
        });
    }
    hub
}

/// The result of a look at the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// The turn is running, and this is all of it.
    Running,
    /// It has ended, and readers were informed.
    Ended,
    /// The log ends before what readers have seen, temporarily or for good.
    Shorter,
    /// The log has lost the turn, temporarily or for good.
    Gone,
    /// It was removed on purpose.
    Removed,
    /// It is a different log.
    Changed,
    /// The log does not answer.
    Nothing,
}

/// Follows until the turn has ended, cannot be followed any more, or has no readers. Returns whether they know the end.
async fn run(app: Arc<App>, key: TurnKey, hub: Arc<Hub>) -> bool {
    let Some(shared) = app.log.shared() else { return false };
    let on_leave = app.config.upstreams.iter().find(|upstream| upstream.name == key.upstream);
    let counts_readers = on_leave.is_some_and(|upstream| upstream.on_leave.is_some());
    let mut hints = shared.watch(&key);
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let repair = app.config.log.repair();
    let mut shorter_since: Option<Instant> = None;
    let mut is_first = true;
    loop {
        let before = hub.watch().borrow().last;
        let is_asked = tokio::select! {
            Some(hint) = hints.recv() => {
                if took(&hub, hint) {
                    continue;
                }
                true
            }
            _ = looks.tick() => {
                if app.hubs.close_unused(&key, &hub) {
                    return true;
                }
                if counts_readers && hub.readers() > 0 {
                    // The next second retries a failure.
                    let _ = shared.note_readers(key.clone()).await;
                }
                if mutant!("hint_relied_on") && !is_first {
                    continue;
                }
                // The first look finds what was written before.
                std::mem::take(&mut is_first)
            }
        };
        let found = look(shared, &key, &hub).await;
        if !is_asked && hub.watch().borrow().last > before {
            metrics::counter!("turnwire_relay_position_repairs_total").increment(1);
        }
        match found {
            Found::Running => shorter_since = None,
            Found::Nothing => {}
            Found::Ended => return true,
            Found::Shorter | Found::Gone
                if shorter_since.get_or_insert_with(Instant::now).elapsed() < repair => {}
            // It never began: the same start may begin it.
            Found::Removed if hub.watch().borrow().response.is_none() => return false,
            Found::Gone | Found::Removed => {
                hub.abandon(LOST);
                return true;
            }
            Found::Shorter | Found::Changed => return false,
        }
    }
}

/// Delivers a hint's frames. Returns whether the log need not be read.
fn took(hub: &Hub, hint: Hint) -> bool {
    let Hint::Frames { log, first, mut frames } = hint else { return false };
    let known = hub.watch().borrow().clone();
    let Some(last) = first.checked_add(frames.len() as u64).and_then(|next| next.checked_sub(1)) else {
        return false;
    };
    if log != hub.log || first > known.last + 1 || known.response.is_none() {
        return false;
    }
    if last > known.last {
        // Some may be known already.
        let skip = usize::try_from(known.last + 1 - first).unwrap_or(usize::MAX).min(frames.len());
        frames.drain(..skip);
        hub.deliver(frames, last, None);
    }
    true
}

/// Reads what is new.
async fn look(shared: &dyn SharedLog, key: &TurnKey, hub: &Hub) -> Found {
    let head = match shared.head(key.clone()).await {
        Ok(head) => head,
        Err(LogError::Gone) if shared.is_removed(key.clone()).await == Ok(true) => return Found::Removed,
        Err(LogError::Gone) => return Found::Gone,
        Err(_) => return Found::Nothing,
    };
    if head.log != hub.log {
        return Found::Changed;
    }
    if let Some(response) = head.response.filter(|_| hub.watch().borrow().response.is_none()) {
        hub.responded(response);
    }
    loop {
        let last = hub.watch().borrow().last;
        if head.last < last {
            // Frames that were appended after the head was read are found by the next look.
            return if head.end.is_some() || is_shorter(shared, key, last).await {
                Found::Shorter
            } else {
                Found::Running
            };
        }
        if head.last == last {
            if head.end.is_some() {
                hub.deliver(Vec::new(), last, head.end);
                return Found::Ended;
            }
            return Found::Running;
        }
        match shared.read(key.clone(), last, PAGE).await {
            Ok(frames) if !frames.is_empty() => {
                let last = last + frames.len() as u64;
                hub.deliver(frames, last, None);
            }
            Ok(_) => return Found::Shorter,
            Err(_) => return Found::Nothing,
        }
    }
}

/// Whether the log really ends before this offset.
async fn is_shorter(shared: &dyn SharedLog, key: &TurnKey, last: u64) -> bool {
    shared.head(key.clone()).await.is_ok_and(|head| head.last < last)
}
