//! The time of a turn: its pace, its limit, where it is held, and how it is stopped.

use std::ops::ControlFlow;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

/// How many events are played at full speed before other tasks run.
const EVENTS_PER_YIELD: u32 = 64;

/// Why a turn is stopped before its script is through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The client asked for it.
    Cancelled,
    /// Another turn of the session begins.
    NextTurn,
    /// The client has left, and the turn can have no other reader.
    Abandoned,
    /// It took longer than a turn may.
    TimeLimit,
}

/// Whether a turn goes on. It breaks with the reason if it was stopped, and without one if it ended by itself.
pub(crate) type Flow<T = ()> = ControlFlow<Option<Stop>, T>;

/// Where turns wait that are held, until all that have begun are released.
#[derive(Debug, Default)]
pub(crate) struct Gate(watch::Sender<()>);

impl Gate {
    /// Lets go of each turn that has begun, also of those that have not come to where they are held.
    pub(crate) fn release(&self) {
        self.0.send_replace(());
    }

    /// Holds a turn that begins now after so many beats.
    pub(crate) fn hold(&self, beats: u32) -> Hold {
        Hold { left: beats, released: self.0.subscribe() }
    }
}

/// Where one turn is held.
#[derive(Debug)]
pub(crate) struct Hold {
    left: u32,
    released: watch::Receiver<()>,
}

/// The clock of one turn.
#[derive(Debug)]
pub(crate) struct Clock {
    pace: Pace,
    deadline: Instant,
    stop: watch::Receiver<Option<Stop>>,
}

impl Clock {
    /// Starts the clock of a turn that lasts no longer than `limit`; `beat` is the pause between two events.
    pub(crate) fn new(
        beat: Duration,
        hold: Option<Hold>,
        limit: Duration,
        stop: watch::Receiver<Option<Stop>>,
    ) -> Self {
        let now = Instant::now();
        Self { pace: Pace { beat, due: now, since_yield: 0, hold }, deadline: now + limit, stop }
    }

    /// Waits for this many beats.
    pub(crate) async fn pass(&mut self, beats: u32) -> Flow {
        self.pass_or(beats, std::future::pending::<()>()).await.map_continue(drop)
    }

    /// Waits for this many beats, or for something else, which then comes out.
    pub(crate) async fn pass_or<T>(&mut self, beats: u32, other: impl Future<Output = T>) -> Flow<Option<T>> {
        tokio::select! {
            biased;
            reason = stopped(&mut self.stop) => ControlFlow::Break(Some(reason)),
            other = other => ControlFlow::Continue(Some(other)),
            () = self.pace.pass(beats) => ControlFlow::Continue(None),
            () = sleep_until(self.deadline) => ControlFlow::Break(Some(Stop::TimeLimit)),
        }
    }

    /// Waits for this long.
    pub(crate) async fn sleep(&mut self, pause: Duration) -> Flow {
        if pause.is_zero() {
            return ControlFlow::Continue(());
        }
        tokio::select! {
            biased;
            reason = stopped(&mut self.stop) => ControlFlow::Break(Some(reason)),
            () = sleep(pause) => ControlFlow::Continue(()),
            () = sleep_until(self.deadline) => ControlFlow::Break(Some(Stop::TimeLimit)),
        }
    }
}

/// Waits until the turn is stopped, or forever if nothing can stop it any more.
async fn stopped(stop: &mut watch::Receiver<Option<Stop>>) -> Stop {
    if let Ok(reason) = stop.wait_for(Option::is_some).await.map(|reason| *reason)
        && let Some(reason) = reason
    {
        return reason;
    }
    std::future::pending().await
}

/// The speed of a turn. Beats are counted from its start, so that pauses below the timer's resolution of a
/// millisecond add up correctly.
#[derive(Debug)]
struct Pace {
    beat: Duration,
    due: Instant,
    since_yield: u32,
    hold: Option<Hold>,
}

impl Pace {
    async fn pass(&mut self, beats: u32) {
        if let Some(hold) = &mut self.hold {
            hold.left = hold.left.saturating_sub(beats);
            if hold.left == 0 {
                // Once the gate is gone, nothing could release it, so it continues.
                let _ = hold.released.changed().await;
                self.hold = None;
                self.due = Instant::now();
            }
        }
        if self.beat.is_zero() {
            self.since_yield += beats;
            if self.since_yield >= EVENTS_PER_YIELD {
                self.since_yield = 0;
                tokio::task::yield_now().await;
            }
            return;
        }
        self.due += self.beat * beats;
        if self.due > Instant::now() {
            sleep_until(self.due).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    /// A clock at full speed, held after 30 beats.
    fn held(gate: &Gate) -> (Clock, watch::Sender<Option<Stop>>) {
        let (stop, stopped) = watch::channel(None);
        (Clock::new(Duration::ZERO, Some(gate.hold(30)), Duration::from_mins(1), stopped), stop)
    }

    /// How many of the next 33 beats pass without a wait.
    fn passed(clock: &mut Clock) -> usize {
        (0..33).take_while(|_| clock.pass(1).now_or_never().is_some_and(|flow| flow.is_continue())).count()
    }

    #[tokio::test]
    async fn a_turn_is_held_until_the_release() {
        let gate = Gate::default();
        let (mut clock, _stop) = held(&gate);
        assert_eq!(passed(&mut clock), 29);
        assert_eq!(passed(&mut clock), 0);
        gate.release();
        assert_eq!(passed(&mut clock), 33);
        // A release is for those that have begun.
        assert_eq!(passed(&mut held(&gate).0), 29);
    }

    #[tokio::test]
    async fn a_release_before_the_place_counts() {
        let gate = Gate::default();
        let (mut clock, _stop) = held(&gate);
        gate.release();
        assert_eq!(passed(&mut clock), 33);
    }

    #[tokio::test]
    async fn a_turn_that_is_held_can_be_stopped() {
        let gate = Gate::default();
        let (mut clock, stop) = held(&gate);
        assert_eq!(passed(&mut clock), 29);
        stop.send_replace(Some(Stop::Cancelled));
        assert_eq!(clock.pass(1).await, ControlFlow::Break(Some(Stop::Cancelled)));
    }
}
