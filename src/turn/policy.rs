//! What a failure means for a turn, and how long to wait before the next attempt.

use crate::error::{Error, ErrorCode};

/// How often a turn's connection is recovered, and after what delays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reconnect {
    /// Consecutive attempts without anything new; 0 disables recovery. Waits for a server that responds do not count.
    pub max_attempts: u32,
    /// The maximum of the first delay, in milliseconds. It doubles with every attempt.
    pub base_delay: u32,
    /// The maximum of any delay, in milliseconds, unless the server asks for more.
    pub max_delay: u32,
}

impl Default for Reconnect {
    fn default() -> Self {
        Self { max_attempts: 10, base_delay: 500, max_delay: 8000 }
    }
}

impl Reconnect {
    /// No recovery.
    pub const OFF: Self = Self { max_attempts: 0, base_delay: 0, max_delay: 0 };

    /// The delay before an attempt (1 for the first), in milliseconds: exponential, with full jitter, so that the
    /// clients of a restarted server do not all reconnect at once. `random` is from 0 up to 1.
    pub(super) fn delay(self, attempt: u32, random: f64) -> f64 {
        let doublings = attempt.saturating_sub(1).min(16);
        let longest = u64::from(self.base_delay) << doublings;
        f64::from(u32::try_from(longest).unwrap_or(u32::MAX).min(self.max_delay)) * random
    }
}

/// The failure of a request, or of the stream that it opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Why.
    pub error: Error,
    /// The server's `Retry-After`, in milliseconds; 0 if there was none.
    pub retry_after: u32,
    /// Whether the browser reports that there is no network. Such an attempt does not count.
    pub is_offline: bool,
    /// Whether nothing of the request was sent because there was no connection.
    pub is_unsent: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, retry_after: 0, is_offline: false, is_unsent: false }
    }
}

/// What can be done about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remedy {
    /// None: it would fail again.
    None,
    /// Try again. The request may have been carried out.
    Retry,
    /// Try again later. The server did nothing.
    Later,
    /// Read the turn and its events. The stream has expired.
    Read,
}

/// The longest delay that a server can ask for, in milliseconds: 5 minutes.
const LONGEST_WAIT: u32 = 300_000;

impl Failure {
    /// The same failure, with `is_offline` kept only if the network can be the cause: a server that responds is
    /// reachable. Fetching a token may need the network as well.
    #[must_use]
    pub fn of_network(mut self) -> Self {
        self.is_offline &=
            matches!(self.error.code, ErrorCode::Network | ErrorCode::Timeout | ErrorCode::Token);
        self
    }

    /// Whether the same request may succeed later.
    pub(super) fn can_retry(&self) -> bool {
        matches!(self.remedy(), Remedy::Retry | Remedy::Later)
    }

    pub(super) fn remedy(&self) -> Remedy {
        match (self.error.code, self.error.status.unwrap_or_default()) {
            _ if self.retry_after > LONGEST_WAIT => Remedy::None,
            _ if self.is_unsent => Remedy::Later,
            (ErrorCode::Http, 412) => Remedy::Read,
            (ErrorCode::Http, 425 | 429 | 503) | (ErrorCode::Rpc, 503) => Remedy::Later,
            (ErrorCode::Http, status) if !matches!(status, 408 | 409 | 500 | 502 | 504..) => Remedy::None,
            (ErrorCode::Rpc, 500) => Remedy::Retry,
            (
                ErrorCode::Rpc
                | ErrorCode::FrameTooLarge
                | ErrorCode::InvalidOption
                | ErrorCode::InvalidInput,
                _,
            ) => Remedy::None,
            _ => Remedy::Retry,
        }
    }

    /// Whether a start that failed this way may have begun the turn. A refused start did not; a server or network
    /// failure may have come after the beginning.
    pub(super) fn may_have_begun(&self) -> bool {
        match (self.error.code, self.error.status.unwrap_or_default()) {
            _ if self.is_unsent => false,
            (ErrorCode::Http, status) => status == 408 || status >= 500,
            (ErrorCode::Rpc, 500) => true,
            // It was refused, or could not be sent.
            (ErrorCode::Rpc | ErrorCode::InvalidOption | ErrorCode::InvalidInput, _) => false,
            _ => true,
        }
    }

    /// Whether a turn that does not exist yet may still appear, because the request may still be in flight.
    pub(super) fn may_yet_begin(&self) -> bool {
        !matches!(self.error.code, ErrorCode::Http | ErrorCode::Rpc)
            || matches!(self.error.status, Some(408 | 503 | 504))
    }
}
