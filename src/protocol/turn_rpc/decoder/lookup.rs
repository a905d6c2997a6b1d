//! The search for a turn that is not the newest one of its thread, and the record that it finds.

use crate::json::Object;

/// Where to look for a turn.
#[derive(Debug)]
pub(super) enum Search {
    /// In the page after this cursor; without a cursor, in the first page.
    Older(String),
    /// In the whole thread, if the server has no list of turns.
    Thread,
}

/// The state of the search.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    /// Whether the thread runs no turn, by the server's last status.
    is_idle: bool,
    /// Whether the thread did not have the turn.
    is_missing: bool,
    /// Where to look next.
    pub(super) next: Option<Search>,
    /// The server's record of the turn, until the held messages are taken.
    pub(super) record: Option<Object<'static>>,
}

impl Lookup {
    /// Another connection begins.
    pub(super) fn reconnected(&mut self) {
        self.next = None;
        self.is_missing = false;
    }

    /// Takes the status of the thread. A turn that was not found while the thread was running is looked for once more
    /// before it counts as lost.
    pub(super) fn set_idle(&mut self, is_idle: bool) {
        self.is_idle = is_idle;
        if is_idle && std::mem::take(&mut self.is_missing) {
            self.next = Some(Search::Older(String::new()));
        }
    }

    /// The thread does not have the turn. Returns whether the turn is lost. It may have only just begun, unless the thread
    /// is idle.
    pub(super) fn is_lost(&mut self) -> bool {
        self.is_missing = !self.is_idle;
        self.is_idle
    }
}
