//! How long a turn may be retried, and how long each wait is.

use crate::error::Error;
use crate::turn::{Failure, Reconnect};

/// The longest wait that a stream can ask for (`retry:`), in milliseconds: the limit of the vendor's own clients.
const LONGEST_RETRY: u32 = 30_000;
/// The first wait for a server that answers, in milliseconds.
const FIRST_WAIT: u32 = 500;
/// How often that wait doubles: up to 2 seconds.
const DOUBLINGS: u32 = 2;
/// How often a turn is located whose start may still be on its way.
pub(super) const LOCATE_ATTEMPTS: u32 = 3;

/// A wait before the next attempt to reach the server.
#[derive(Debug, Clone, PartialEq)]
pub struct Pause {
    /// How long, in milliseconds.
    pub delay: f64,
    /// The part of it that the server asks for, in milliseconds. After that the wait may be cut short.
    pub least: f64,
    /// The number of the attempt, from 1 on.
    pub attempt: u32,
    /// What failed before.
    pub cause: Error,
}

/// A wait for what the server has not said yet. It uses up no attempts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Waiting {
    /// How long until the server is asked again, in milliseconds.
    pub delay: f64,
    /// What is waited for.
    pub awaited: Awaited,
}

/// What a server that can be reached has not said yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// The turn's end. The server says that the turn runs, or has just taken answers, and has no stream of it.
    Turn,
    /// The turn's answer in the session's history. Nothing tells whether the server still works on it.
    History,
    /// The rest of the turn's list of events. The turn has ended.
    Events,
}

impl Awaited {
    /// The word for JavaScript.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::History => "history",
            Self::Events => "events",
        }
    }
}

/// The attempts that are left to reach the server.
#[derive(Debug, Default)]
pub(super) struct RetryBudget {
    reconnect: Reconnect,
    /// Attempts in a row that brought nothing new.
    attempts: u32,
    /// Waits in a row for a server that answers.
    waits: u32,
    /// Streams in a row that ended by themselves and brought nothing.
    empty_streams: u32,
    /// How often in a row the stream had expired.
    expired_streams: u32,
}

impl RetryBudget {
    pub(super) fn new(reconnect: Reconnect) -> Self {
        Self { reconnect, ..Self::default() }
    }

    /// Whether nothing is ever retried.
    pub(super) fn is_off(&self) -> bool {
        self.reconnect.max_attempts == 0
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.attempts >= self.reconnect.max_attempts
    }

    pub(super) fn attempts(&self) -> u32 {
        self.attempts
    }

    pub(super) fn waits(&self) -> u32 {
        self.waits
    }

    /// The server answered: all attempts are left again.
    pub(super) fn answered(&mut self) {
        self.attempts = 0;
    }

    pub(super) fn empty_streams(&self) -> u32 {
        self.empty_streams
    }

    pub(super) fn expired_streams(&self) -> u32 {
        self.expired_streams
    }

    /// The stream brought something new: nothing that came before counts.
    pub(super) fn progressed(&mut self) {
        self.attempts = 0;
        self.waits = 0;
        self.empty_streams = 0;
        self.expired_streams = 0;
    }

    /// A stream has ended that is counted in this way.
    pub(super) fn stream_dropped(&mut self, is_empty: bool, has_expired: bool) {
        self.empty_streams = if is_empty { self.empty_streams + 1 } else { 0 };
        self.expired_streams = if has_expired { self.expired_streams + 1 } else { 0 };
    }

    /// A connection lasted, but brought nothing.
    pub(super) fn lasted(&mut self) {
        self.attempts = self.attempts.min(1);
    }

    /// What is waited for goes on. The count of waits starts over, but not their length.
    pub(super) fn changed(&mut self) {
        self.waits = self.waits.min(DOUBLINGS);
    }

    /// The wait before the next attempt. `asked` is what the stream asked for, in milliseconds.
    pub(super) fn pause(&mut self, failure: Failure, asked: u64, random: f64) -> Pause {
        let Failure { error, retry_after, is_offline, .. } = failure;
        self.attempts += u32::from(!is_offline);
        let attempt = self.attempts.max(1);
        let asked = u32::try_from(asked).unwrap_or(u32::MAX).min(LONGEST_RETRY);
        let least = f64::from(retry_after.max(asked));
        let backoff = if is_offline {
            // The wait ends when there is a network again.
            f64::from(self.reconnect.max_delay) * random
        } else {
            self.reconnect.delay(attempt, random)
        };
        Pause { delay: least + backoff, least, attempt, cause: error }
    }

    /// The wait before a turn is located once more, which has a floor: three attempts at once would be one.
    pub(super) fn locate_pause(&mut self, attempts_left: u32, cause: Error, random: f64) -> Pause {
        self.attempts += 1;
        let longest = self.reconnect.delay(2 + LOCATE_ATTEMPTS - attempts_left, 1.0);
        let delay = longest * (0.5 + 0.5 * random);
        Pause { delay, least: delay, attempt: self.attempts, cause }
    }

    /// The wait before a server that answers is asked once more: short at first, then at a steady pace.
    pub(super) fn wait(&mut self, awaited: Awaited) -> Waiting {
        self.attempts = 0;
        let delay = f64::from(FIRST_WAIT << self.waits.min(DOUBLINGS));
        self.waits += 1;
        Waiting { delay, awaited }
    }
}
