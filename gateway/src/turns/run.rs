//! The run of one turn: steps out of the script, at a pace, into a protocol's recorder.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::Pace;
use crate::agents::{Ending, Step, Steps};

/// How many deltas a model still gets out after it was told to stop.
const DELTAS_AFTER_STOP: usize = 2;

/// Why a turn is stopped before its script is through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The client asked for it.
    Cancelled,
    /// Another turn of the session begins.
    NextTurn,
    /// It took longer than a turn may.
    TimeLimit,
}

/// Turns steps into the events of one protocol, and keeps them.
pub(crate) trait Recorder: Send {
    fn record(&mut self, step: Step);
    fn end(self, ending: Ending);
    fn stop(self, reason: Stop);
}

/// Plays the script to its end, or until it is stopped.
pub(crate) async fn run(
    mut steps: Steps,
    mut pace: Pace,
    limit: Duration,
    mut stop: watch::Receiver<Option<Stop>>,
    mut recorder: impl Recorder,
) {
    let deadline = Instant::now() + limit;
    while let Some(step) = steps.next() {
        let beats = match &step {
            Step::Wait(beats) => *beats,
            other => u32::from(other.is_event()),
        };
        let stopped = tokio::select! {
            biased;
            reason = stopped(&mut stop) => Some(reason),
            () = pace.pass(beats) => None,
            () = sleep_until(deadline) => Some(Stop::TimeLimit),
        };
        if let Some(reason) = stopped {
            let rest = std::iter::once(step).chain(steps);
            for step in rest.take(DELTAS_AFTER_STOP).take_while(is_text) {
                recorder.record(step);
            }
            return recorder.stop(reason);
        }
        match step {
            Step::Wait(_) => {}
            Step::End(ending) => return recorder.end(ending),
            other => recorder.record(other),
        }
    }
    recorder.end(Ending::Done);
}

/// Waits until the turn is told to stop; for ever if nobody can tell it any more.
async fn stopped(stop: &mut watch::Receiver<Option<Stop>>) -> Stop {
    loop {
        if let Some(reason) = *stop.borrow_and_update() {
            return reason;
        }
        if stop.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

fn is_text(step: &Step) -> bool {
    matches!(step, Step::Text { .. } | Step::Reasoning { .. })
}
