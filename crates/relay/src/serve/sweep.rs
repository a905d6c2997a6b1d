//! Background work: removes old data, and takes over turns that have lost their owner.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::interval;

use super::App;
use super::takeover::take_over;
use crate::config::SHORTEST_TAKEOVER;
use crate::log::{Company, LogError, TurnKey};
use crate::observe;
use crate::say::say;
use crate::turn::{CutReason, Suspicion};

/// How often the log is swept.
const SWEEP: Duration = Duration::from_secs(5);
/// How often the signs of life of all running turns are checked, in a log that several relays use.
const LOOK: Duration = Duration::from_secs(1);

/// Takes over turns whose owner ended with an earlier process.
pub(super) async fn recover(app: &Arc<App>) -> Result<(), LogError> {
    let open = match app.log.shared() {
        // Other processes own the rest.
        Some(shared) => shared.orphans().await?,
        None => app.log.open_turns().await?,
    };
    for (key, epoch) in open {
        match take_over(app, key, epoch, CutReason::RelayRestarted).await {
            // Another relay was faster.
            Ok(_) | Err(LogError::Fenced | LogError::Closed | LogError::Gone) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Removes old data, and takes over turns without an owner, for ever.
pub(super) async fn sweep(app: Arc<App>) {
    let mut interval = interval(SWEEP);
    loop {
        interval.tick().await;
        app.usage.sweep();
        observe::add_up();
        loop {
            match app.log.expire(app.config.log.retention).await {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => {
                    say(error);
                    break;
                }
            }
        }
        // A process that shuts down leaves turns to the next one.
        if !app.is_draining() {
            end_orphans(&app).await;
        }
    }
}

/// Takes over the turns whose process has ended, and those of this one whose end could not be written.
async fn end_orphans(app: &Arc<App>) {
    if let Some(shared) = app.log.shared() {
        for (key, epoch) in shared.orphans().await.unwrap_or_default() {
            owner_lost(app, key, epoch).await;
        }
        if shared.company().await.is_ok_and(|company| company == Company::Unknown) {
            return;
        }
    }
    for (key, epoch) in app.log.open_turns().await.unwrap_or_default() {
        // In this order: a turn that is being created is in the log first, and gets its hub before that ends.
        if app.hubs.making.has(&key) || app.hubs.get(&key).is_some_and(|hub| hub.is_owned()) {
            continue;
        }
        // A turn that has ended meanwhile is closed.
        let _ = take_over(app, key, epoch, CutReason::LogLost).await;
    }
}

/// Takes over a turn whose owner has died. If another relay is faster, this one is refused.
async fn owner_lost(app: &Arc<App>, key: TurnKey, epoch: u64) {
    let upstream = key.upstream.clone();
    if let Ok(end) = take_over(app, key, epoch, CutReason::OwnerLost).await {
        metrics::counter!("turnwire_relay_takeovers_total").increment(1);
        app.traces.takeover(&upstream, end);
    }
}

/// Takes over turns whose owner, in any process, shows no sign of life, for ever.
pub(super) async fn watch_over(app: Arc<App>) {
    let Some(shared) = app.log.shared() else { return };
    let limit = app.config.log.takeover;
    // A turn that continues loses nothing if its owner is alive after all.
    let mut suspicions = [(true, (limit / 2).max(SHORTEST_TAKEOVER)), (false, limit)]
        .map(|(has_cursor, limit)| (has_cursor, Suspicion::new(limit, LOOK)));
    let mut interval = interval(LOOK);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut looked = Instant::now();
    loop {
        interval.tick().await;
        let signs = shared.signs().await;
        let since = std::mem::replace(&mut looked, Instant::now()).elapsed();
        let Ok(signs) = signs else {
            for (_, suspicion) in &mut suspicions {
                suspicion.unreached();
            }
            continue;
        };
        for (has_cursor, suspicion) in &mut suspicions {
            let signs = signs.iter().filter(|(key, _)| app.has_cursor(key) == *has_cursor).cloned().collect();
            let dead = suspicion.look(since, signs);
            if *has_cursor && app.is_draining() {
                continue;
            }
            for (key, sign) in dead {
                owner_lost(&app, key, sign.epoch).await;
            }
        }
    }
}
