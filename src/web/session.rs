//! A session: what its turns share.

use crate::error::{Error, ErrorCode, Result};
use crate::protocol::truefoundry::TrueFoundry;
use crate::turn::{Pending, TurnInput};

/// What the turns of a session have in common.
pub(super) struct Session {
    pub(super) id: String,
    pub(super) protocol: TrueFoundry,
    pub(super) max_frame_bytes: usize,
    is_cancelled: bool,
    /// The newest turn that was started or read, and what it waits for.
    latest: Latest,
    next_key: u32,
}

/// The session's newest turn, as far as this client knows.
#[derive(Default)]
pub(super) struct Latest {
    key: Option<u32>,
    /// The turn's id, once it has ended or was read.
    id: String,
    pending: Pending,
}

impl Session {
    pub(super) fn new(id: String, protocol: TrueFoundry, max_frame_bytes: usize) -> Self {
        let latest = Latest::default();
        Self { id, protocol, max_frame_bytes, is_cancelled: false, latest, next_key: 0 }
    }

    /// A key for a turn.
    pub(super) fn key(&mut self) -> u32 {
        self.next_key = self.next_key.wrapping_add(1);
        self.next_key
    }

    /// It was cancelled.
    pub(super) fn cancelled(&mut self) {
        self.is_cancelled = true;
    }

    /// Checks an input against what waits for a turn that follows this one: `""` or `"auto"` for the
    /// newest. What waits after any other turn only the server knows.
    pub(super) fn check_pending(&self, previous_turn_id: &str, input: &TurnInput) -> Result<()> {
        match previous_turn_id {
            id if !matches!(id, "" | "auto") && id != self.latest.id => Ok(()),
            _ => input.check_pending(&self.latest.pending),
        }
    }

    /// Whether the session was cancelled.
    pub(super) fn check(&self) -> Result<()> {
        if self.is_cancelled {
            let problem = "the session was cancelled: create another one";
            return Err(Error::new(ErrorCode::SessionCancelled, problem));
        }
        Ok(())
    }

    /// The turn of this key is the newest: until it ends, nobody knows what it will wait for. Gives what
    /// was known before, for the case that the server refuses.
    pub(super) fn begin(&mut self, key: u32) -> Latest {
        let newest = Latest { key: Some(key), id: String::new(), pending: Pending::Unknown };
        std::mem::replace(&mut self.latest, newest)
    }

    /// The start of the turn of this key was refused.
    pub(super) fn restore(&mut self, key: u32, before: Latest) {
        if self.latest.key == Some(key) {
            self.latest = before;
        }
    }

    /// A turn was read that may have been made elsewhere: it is the newest if it follows the newest.
    pub(super) fn adopt(&mut self, key: u32, previous_turn_id: &str) {
        if !previous_turn_id.is_empty() && self.latest.id == previous_turn_id {
            self.begin(key);
        }
    }

    /// The turn of this key has ended.
    pub(super) fn end(&mut self, key: u32, id: &str, pending: Pending) {
        if self.latest.key == Some(key) {
            id.clone_into(&mut self.latest.id);
            self.latest.pending = pending;
        }
    }
}
