//! What the gateway remembers, all of it in memory: sessions, their turns, event logs, sandboxes.
//!
//! Documents are kept as the JSON of the protocol that made them, so that the store knows no
//! protocol's words.

mod id;
mod log;
mod page;
mod sandbox;
mod session;
mod turn;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

pub(crate) use id::{Ids, random_suffix};
pub(crate) use log::{EventLog, Read};
pub(crate) use page::{Page, PageToken, paginate};
pub(crate) use sandbox::Sandboxes;
pub(crate) use session::{Agent, Session};
pub(crate) use turn::{Entry, OnlyReader, Pending, PendingCall, Turn};

use crate::lock::lock;

/// All data of a running gateway.
#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) ids: Ids,
    pub(crate) sandboxes: Sandboxes,
    /// By space and id; where the gateway makes the ids they sort by creation, so that this is also the
    /// order of creation.
    sessions: Mutex<BTreeMap<(String, String), Arc<Session>>>,
}

impl Store {
    pub(crate) fn insert(&self, session: Session) -> Arc<Session> {
        let session = Arc::new(session);
        lock(&self.sessions).insert(key(&session), Arc::clone(&session));
        session
    }

    /// The session with this id, if it belongs to this space (a tenant of a protocol).
    pub(crate) fn session(&self, space: &str, id: &str) -> Option<Arc<Session>> {
        lock(&self.sessions).get(&(space.to_owned(), id.to_owned())).cloned()
    }

    /// The session with this id, in any space.
    pub(crate) fn any_session(&self, id: &str) -> Option<Arc<Session>> {
        lock(&self.sessions).values().find(|session| session.id == id).cloned()
    }

    /// The turn with this id, in any session.
    pub(crate) fn any_turn(&self, id: &str) -> Option<Arc<Turn>> {
        lock(&self.sessions).values().find_map(|session| session.turn(id))
    }

    pub(crate) fn remove(&self, session: &Session) {
        lock(&self.sessions).remove(&key(session));
    }

    /// All sessions of a space, oldest first.
    pub(crate) fn sessions(&self, space: &str) -> Vec<Arc<Session>> {
        lock(&self.sessions).values().filter(|session| session.space == space).cloned().collect()
    }
}

fn key(session: &Session) -> (String, String) {
    (session.space.clone(), session.id.clone())
}
