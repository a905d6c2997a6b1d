//! The response to one request, and what faults do to it.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use serde::Serialize;

use super::envelope::{Failure, error, result};
use super::peer::Peer;
use super::traps::LOST_RESPONSE;
use crate::faults::{Ending, Fault, FaultState, Instead, JournalPlace, traps_of};

/// Answers one request, once.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) state: Arc<FaultState>,
    pub(super) peer: Arc<Peer>,
    pub(super) id: String,
    /// The request's entry in the journal.
    pub(super) places: Vec<JournalPlace>,
    /// The faults of the answer.
    pub(super) faults: Vec<Fault>,
}

impl Reply {
    pub(super) fn answer<T: Serialize>(self, answer: Result<T, Failure>) {
        match answer {
            Ok(answer) => self.ok(answer),
            Err(failure) => self.fail(&failure),
        }
    }

    pub(super) fn ok(self, answer: impl Serialize) {
        if let Some(failure) = self.late_failure() {
            return self.fail(&failure);
        }
        let text = result(&self.id, answer);
        self.send(text, None);
    }

    pub(super) fn fail(self, failure: &Failure) {
        let text = error(Some(&self.id), failure);
        self.send(text, Some(failure.code));
    }

    /// The failure that replaces an answer, if the request is not to be processed.
    pub(super) fn instead(&self) -> Option<Failure> {
        self.faults.iter().find_map(|fault| match fault {
            Fault::Instead(Instead::Status(refusal)) => Some(on_purpose(refusal.status)),
            Fault::Instead(Instead::TextStatus(status)) => Some(on_purpose(*status)),
            _ => None,
        })
    }

    /// Whether the socket closes without an answer, and without the request being processed.
    pub(super) fn is_refused(&self) -> bool {
        self.faults.contains(&Fault::Instead(Instead::Nothing))
    }

    fn late_failure(&self) -> Option<Failure> {
        self.faults.iter().find_map(|fault| match fault {
            Fault::LateStatus(refusal) => Some(on_purpose(refusal.status)),
            _ => None,
        })
    }

    fn delay(&self) -> Duration {
        let delays = self.faults.iter().map(|fault| match fault {
            Fault::SlowHead(delay) => *delay,
            _ => Duration::ZERO,
        });
        delays.sum()
    }

    fn send(self, text: String, code: Option<i64>) {
        if self.faults.contains(&Fault::Lost) {
            return self.peer.outbox.end(Ending::Reset);
        }
        if traps_of(&self.faults).has(&LOST_RESPONSE) {
            return;
        }
        for place in &self.places {
            self.state.plans.answered_frame(place, code);
        }
        let delay = self.delay();
        if delay.is_zero() {
            return self.peer.outbox.send(text);
        }
        tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            self.peer.outbox.send(text);
        });
    }
}

fn on_purpose(status: StatusCode) -> Failure {
    Failure::internal(format!("{status}, on purpose"))
}
