//! The raw session: what its turns share.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use wasm_bindgen::prelude::*;

use crate::error::{Error, ErrorCode, Result};
use crate::turn::{Pending, TurnInput};

use super::client::Server;
use super::turn::CoreTurn;

/// A session. The package's `Session` wraps it.
#[wasm_bindgen]
pub struct CoreSession {
    server: Rc<Server>,
    shared: Rc<Shared>,
}

/// What the turns of a session have in common.
pub(super) struct Shared {
    pub(super) id: String,
    is_cancelled: Cell<bool>,
    /// The newest turn that was started or read, and what it waits for.
    latest: RefCell<Latest>,
    next_key: Cell<u32>,
}

/// The session's newest turn, as far as this client knows.
#[derive(Clone, Default)]
pub(super) struct Latest {
    key: Option<u32>,
    /// The turn's id, once it has ended or was read.
    id: String,
    pending: Pending,
}

impl Shared {
    /// Checks an input against what waits for a turn that follows this one: `""` or `"auto"` for the
    /// newest. What waits after any other turn only the server knows.
    pub(super) fn check_pending(&self, previous_turn_id: &str, input: &TurnInput) -> Result<()> {
        let latest = self.latest.borrow();
        match previous_turn_id {
            id if !matches!(id, "" | "auto") && id != latest.id => Ok(()),
            _ => input.check_pending(&latest.pending),
        }
    }

    /// Whether the session was cancelled.
    pub(super) fn check(&self) -> Result<()> {
        if self.is_cancelled.get() {
            let problem = "the session was cancelled: create another one";
            return Err(Error::new(ErrorCode::SessionCancelled, problem));
        }
        Ok(())
    }

    /// The turn of this key is the newest: until it ends, nobody knows what it will wait for. Gives what
    /// was known before, for the case that the server refuses.
    pub(super) fn begin(&self, key: u32) -> Latest {
        self.latest.replace(Latest { key: Some(key), ..Latest::default() })
    }

    /// The start of the turn of this key was refused.
    pub(super) fn restore(&self, key: u32, before: Latest) {
        let mut latest = self.latest.borrow_mut();
        if latest.key == Some(key) {
            *latest = before;
        }
    }

    /// A turn was read that may have been made elsewhere: it is the newest if it follows the newest.
    pub(super) fn adopt(&self, key: u32, previous_turn_id: &str) {
        let mut latest = self.latest.borrow_mut();
        if !previous_turn_id.is_empty() && latest.id == previous_turn_id {
            *latest = Latest { key: Some(key), ..Latest::default() };
        }
    }

    /// The turn of this key has ended.
    pub(super) fn end(&self, key: u32, id: &str, pending: Pending) {
        let mut latest = self.latest.borrow_mut();
        if latest.key == Some(key) {
            id.clone_into(&mut latest.id);
            latest.pending = pending;
        }
    }
}

impl CoreSession {
    pub(super) fn new(server: Rc<Server>, id: String) -> Self {
        let shared =
            Shared { id, is_cancelled: Cell::new(false), latest: RefCell::default(), next_key: Cell::new(0) };
        Self { server, shared: Rc::new(shared) }
    }
}

impl fmt::Debug for CoreSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreSession").field("id", &self.shared.id).finish_non_exhaustive()
    }
}

#[wasm_bindgen]
impl CoreSession {
    /// A turn, to be given its input, or what the server keeps of it. The session's newest one decides
    /// what the next turn's input must answer. A new turn follows the one named, if one is.
    pub fn turn(&self, previous_turn_id: String, is_newest: bool) -> CoreTurn {
        let key = self.shared.next_key.get();
        self.shared.next_key.set(key.wrapping_add(1));
        if is_newest {
            self.shared.begin(key);
        }
        CoreTurn::new(&self.server, &self.shared, key, previous_turn_id)
    }

    /// The session was cancelled: it takes no further turns.
    #[wasm_bindgen(js_name = markCancelled)]
    pub fn mark_cancelled(&self) {
        self.shared.is_cancelled.set(true);
    }
}
