//! How often a turn's requests are retried, and how long each wait is.

use crate::error::Error;
use crate::turn::{Failure, Reconnect};

/// The longest delay that a stream can ask for (`retry:`), in milliseconds: the limit of the vendor's own clients.
const LONGEST_RETRY: u32 = 30_000;
/// The first wait for a server that responds, in milliseconds.
const FIRST_WAIT: u32 = 500;
/// How often that wait doubles: up to 2 seconds.
const DOUBLINGS: u32 = 2;
/// How often a turn is looked for while its start may still be in flight.
pub(super) const LOCATE_ATTEMPTS: u32 = 3;

/// A wait before the next attempt to reach the server.
#[derive(Debug, Clone, PartialEq)]
pub struct Pause {
    /// The length, in milliseconds.
    pub delay: f64,
    /// The part that the server asks for, in milliseconds. After that part the pause may be cut short.
    pub least: f64,
    /// The number of the attempt, from 1 on.
    pub attempt: u32,
    /// The failure before it.
    pub cause: Error,
}

/// A wait for a server that responds but has not returned everything. It uses up no attempts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Waiting {
    /// How long until the next request, in milliseconds.
    pub delay: f64,
    /// What the wait is for.
    pub awaited: Awaited,
}

/// What a reachable server has not returned yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// The turn's end. The server reports that the turn runs, or has just accepted answers, and has no stream of it.
    Turn,
    /// The turn's answer in the session's history. It is unknown whether the server is still working on it.
    History,
    /// The rest of the turn's list of events. The turn has ended.
    Events,
}

impl Awaited {
    /// The name in JavaScript.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::History => "history",
            Self::Events => "events",
        }
    }
}

/// The attempts left to reach the server.
#[derive(Debug, Default)]
pub struct RetryBudget {
    reconnect: Reconnect,
    /// Consecutive attempts without anything new.
    attempts: u32,
    /// Consecutive waits for a server that responds.
    waits: u32,
    /// Consecutive streams that ended by themselves and brought nothing.
    empty_streams: u32,
    /// Consecutive streams that had expired.
    expired_streams: u32,
}

impl RetryBudget {
    pub(super) fn new(reconnect: Reconnect) -> Self {
        Self::after(reconnect, 0)
    }

    /// The budget after this number of consecutive attempts.
    #[must_use]
    pub fn after(reconnect: Reconnect, attempts: u32) -> Self {
        Self { reconnect, attempts, ..Self::default() }
    }

    /// Whether retries are disabled.
    pub(super) fn is_off(&self) -> bool {
        self.reconnect.max_attempts == 0
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.attempts >= self.reconnect.max_attempts
    }

    /// The number of consecutive attempts without anything new.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    pub(super) fn waits(&self) -> u32 {
        self.waits
    }

    /// Resets the attempts: the server responded.
    pub(super) fn answered(&mut self) {
        self.attempts = 0;
    }

    pub(super) fn empty_streams(&self) -> u32 {
        self.empty_streams
    }

    pub(super) fn expired_streams(&self) -> u32 {
        self.expired_streams
    }

    /// Resets all counts: the stream brought something new.
    pub(super) fn progressed(&mut self) {
        self.attempts = 0;
        self.waits = 0;
        self.empty_streams = 0;
        self.expired_streams = 0;
    }

    /// Counts a stream that has ended.
    pub(super) fn stream_dropped(&mut self, is_empty: bool, has_expired: bool) {
        self.empty_streams = if is_empty { self.empty_streams + 1 } else { 0 };
        self.expired_streams = if has_expired { self.expired_streams + 1 } else { 0 };
    }

    /// Forgets all but one attempt: the connection lasted, but brought nothing.
    pub(super) fn lasted(&mut self) {
        self.attempts = self.attempts.min(1);
    }

    /// Restarts the count of waits, since the awaited result is progressing. The length of the waits stays.
    pub(super) fn changed(&mut self) {
        self.waits = self.waits.min(DOUBLINGS);
    }

    /// The delay before a failed request is sent again, and the part of it that the server asks for, both in
    /// milliseconds. Only for requests that change nothing, such as a page of a list. `None` if the request must not be
    /// sent again. `random` is from 0 up to 1.
    #[must_use]
    pub fn retry(&mut self, failure: &Failure, random: f64) -> Option<(f64, f64)> {
        let can_retry = failure.can_retry() && !self.is_exhausted();
        can_retry.then(|| self.next_wait(failure, 0, random))
    }

    /// The pause before the next attempt. `asked` is the delay that the stream asked for, in milliseconds.
    pub(super) fn pause(&mut self, failure: Failure, asked: u64, random: f64) -> Pause {
        let (delay, least) = self.next_wait(&failure, asked, random);
        Pause { delay, least, attempt: self.attempts.max(1), cause: failure.error }
    }

    fn next_wait(&mut self, failure: &Failure, asked: u64, random: f64) -> (f64, f64) {
        self.attempts += u32::from(!failure.is_offline);
        let asked = u32::try_from(asked).unwrap_or(u32::MAX).min(LONGEST_RETRY);
        let least = f64::from(failure.retry_after.max(asked));
        let backoff = if failure.is_offline {
            // This wait ends as soon as there is a network again.
            f64::from(self.reconnect.max_delay) * random
        } else {
            self.reconnect.delay(self.attempts, random)
        };
        (least + backoff, least)
    }

    /// The pause before a turn is looked for once more. It has a minimum: three attempts in quick succession would
    /// prove no more than one.
    pub(super) fn locate_pause(&mut self, attempts_left: u32, cause: Error, random: f64) -> Pause {
        self.attempts += 1;
        let longest = self.reconnect.delay(2 + LOCATE_ATTEMPTS - attempts_left, 1.0);
        let delay = longest * (0.5 + 0.5 * random);
        Pause { delay, least: delay, attempt: self.attempts, cause }
    }

    /// The wait before asking a responding server once more: short at first, then constant.
    pub(super) fn wait(&mut self, awaited: Awaited) -> Waiting {
        self.attempts = 0;
        let delay = f64::from(FIRST_WAIT << self.waits.min(DOUBLINGS));
        self.waits += 1;
        Waiting { delay, awaited }
    }
}
