//! What the relay does by itself: it removes what is old, and ends turns that have lost their owner.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::interval;

use super::App;
use crate::log::{Change, Company, LogError, ReplayLog, TurnKey};
use crate::mutant::mutant;
use crate::turn::{CutReason, End, Suspicion, UpstreamState};

/// How often the log is swept.
const SWEEP: Duration = Duration::from_secs(5);
/// How often the signs of life of all running turns are looked at, in a log that several relays use.
const LOOK: Duration = Duration::from_secs(1);

/// Turns that ran when the process ended before are cut: their connections have died with it.
pub(super) async fn recover(log: &dyn ReplayLog) -> Result<usize, LogError> {
    let open = match log.shared() {
        // Others own the rest.
        Some(shared) => shared.orphans().await?,
        None => log.open_turns().await?,
    };
    let count = open.len();
    for (key, epoch) in open {
        close(log, key, epoch, CutReason::RelayRestarted).await?;
    }
    Ok(count)
}

/// Writes the end of a turn that has no owner, and returns it.
async fn close(log: &dyn ReplayLog, key: TurnKey, epoch: u64, reason: CutReason) -> Result<End, LogError> {
    if mutant!("left_open") {
        return Ok(End::Cut { reason, upstream: UpstreamState::Unknown });
    }
    let claim = log.claim(key.clone(), epoch).await?;
    let head = log.head(key).await?;
    // Without the start of an answer, the agent may never have got the request.
    let upstream = if head.response.is_some() { UpstreamState::Gone } else { UpstreamState::Unknown };
    let end = End::Cut { reason, upstream };
    let change = Change { end: Some(end), ..Change::default() };
    log.append(&claim, head.last + 1, Vec::new(), change).await?;
    Ok(end)
}

/// Removes what is old, and ends what has lost its owner, for ever.
pub(super) async fn sweep(app: Arc<App>) {
    let mut interval = interval(SWEEP);
    loop {
        interval.tick().await;
        app.usage.sweep();
        loop {
            match app.log.expire(app.config.log.retention).await {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => {
                    eprintln!("turnwire-relay: {error}");
                    break;
                }
            }
        }
        end_orphans(&app).await;
    }
}

/// Ends turns whose process has ended, and those of this one whose end could not be written.
async fn end_orphans(app: &App) {
    if let Some(shared) = app.log.shared() {
        for (key, epoch) in shared.orphans().await.unwrap_or_default() {
            // Another relay may be faster, and then this one is refused.
            let _ = close(&*app.log, key, epoch, CutReason::OwnerLost).await;
        }
        if shared.company().await.is_ok_and(|company| company == Company::Unknown) {
            return;
        }
    }
    for (key, epoch) in app.log.open_turns().await.unwrap_or_default() {
        // In this order: a turn that is made is in the log first, and has its hub before it counts as made.
        if app.hubs.making.has(&key) || app.hubs.get(&key).is_some_and(|hub| hub.is_owned()) {
            continue;
        }
        // A turn that has ended meanwhile is closed.
        let _ = close(&*app.log, key, epoch, CutReason::LogLost).await;
    }
}

/// Ends turns whose owner, in whichever process, shows no life, for ever.
pub(super) async fn watch_over(app: Arc<App>) {
    let Some(shared) = app.log.shared() else { return };
    let mut suspicion = Suspicion::new(app.config.log.takeover, LOOK);
    let mut interval = interval(LOOK);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut looked = Instant::now();
    loop {
        interval.tick().await;
        let signs = shared.signs().await;
        let since = std::mem::replace(&mut looked, Instant::now()).elapsed();
        let Ok(signs) = signs else {
            suspicion.unreached();
            continue;
        };
        for (key, sign) in suspicion.look(since, signs) {
            // The protocols whose turns are kept cannot be asked again: what the owner knew of the rest is gone with it.
            // Another relay may be faster, and then this one is refused.
            let upstream = key.upstream.clone();
            if let Ok(end) = close(&*app.log, key, sign.epoch, CutReason::OwnerLost).await {
                metrics::counter!("turnwire_relay_takeovers_total").increment(1);
                app.traces.takeover(&upstream, end);
            }
        }
    }
}
