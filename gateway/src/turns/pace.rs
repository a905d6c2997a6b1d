//! The speed of a turn: how long one beat, the pause between two events, lasts.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// How many events pass at full speed before other tasks get their turn.
const EVENTS_PER_BREATH: u32 = 64;

/// A turn's metronome. Beats are counted from the start, so that pauses below the timer's
/// resolution of a millisecond add up rightly.
#[derive(Debug)]
pub(crate) struct Pace {
    beat: Duration,
    due: Instant,
    since_breath: u32,
}

impl Pace {
    pub(crate) fn new(beat: Duration) -> Self {
        Self { beat, due: Instant::now(), since_breath: 0 }
    }

    /// Waits for this many beats.
    pub(crate) async fn pass(&mut self, beats: u32) {
        if self.beat.is_zero() {
            self.since_breath += beats;
            if self.since_breath >= EVENTS_PER_BREATH {
                self.since_breath = 0;
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
