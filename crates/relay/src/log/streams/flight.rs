//! Reads for many callers at once: one of them asks the server, and those who wait meanwhile share what comes of it.

use std::time::Instant;

use super::super::LogError;

/// The last time that something was read.
#[derive(Debug)]
pub(super) struct Flight {
    begun: Instant,
    ended: Instant,
    outcome: Result<(), LogError>,
}

impl Flight {
    /// One that ends now.
    pub(super) fn over(begun: Instant, outcome: &Result<(), LogError>) -> Self {
        Self { begun, ended: Instant::now(), outcome: outcome.clone() }
    }

    /// The outcome for a caller that has waited since this time, if it need not ask again: what was read since then is
    /// new enough, and what has failed since then would fail once more.
    pub(super) fn since(&self, came: Instant) -> Option<Result<(), LogError>> {
        let counts = if self.outcome.is_ok() { self.begun } else { self.ended };
        (counts >= came).then(|| self.outcome.clone())
    }
}
