//! The shared state of a session's turns, for any type of turn.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use serde_json::{Value as Json, json};

use crate::error::Result;
use crate::event::SessionRecord;
use crate::json::Object;
use crate::session::Session as State;

use super::object;
use super::server::Server;

/// The shared state of a session's turns. `T` is a turn.
pub(super) struct Shared<T> {
    pub(super) server: Rc<Server>,
    pub(super) state: RefCell<State>,
    pub(super) record: RefCell<SessionRecord>,
    /// The session's fields of every request, if the protocol needs them.
    pub(super) terms: RefCell<Option<Json>>,
    /// The turns of this client that may run.
    pub(super) turns: RefCell<Vec<Weak<T>>>,
    /// The newest turn that has begun.
    newest: RefCell<Weak<T>>,
}

impl<T> Shared<T> {
    pub(super) fn new(server: &Rc<Server>, state: State, record: SessionRecord) -> Self {
        Self {
            server: Rc::clone(server),
            state: RefCell::new(state),
            record: RefCell::new(record),
            terms: RefCell::default(),
            turns: RefCell::default(),
            newest: RefCell::default(),
        }
    }

    /// The parameters that name the session in requests, with more parameters.
    pub(super) fn params(&self, more: Json) -> Result<Object<'static>> {
        let mut params = json!({ "session_id": self.record.borrow().id });
        if let Some(terms) = &*self.terms.borrow() {
            params["terms"] = terms.clone();
        }
        if let (Some(params), Json::Object(more)) = (params.as_object_mut(), more) {
            params.extend(more);
        }
        object(&params)
    }

    /// Notes that a turn has begun and is the newest. Returns the turn before it, if this client has it.
    pub(super) fn begun(&self, turn: &Weak<T>) -> Option<Rc<T>> {
        self.forget_creation();
        self.newest.replace(Weak::clone(turn)).upgrade()
    }

    /// Removes the creation parameters: a new connection now needs only the session's workspace.
    fn forget_creation(&self) {
        let mut terms = self.terms.borrow_mut();
        let Some(terms) = terms.as_mut().and_then(Json::as_object_mut) else { return };
        if terms.remove("creation").is_some() {
            self.state.borrow_mut().set_terms(&json!(terms).to_string());
        }
    }

    /// The other turns of this client that may still run.
    pub(super) fn others(&self, than: &Rc<T>, is_busy: impl Fn(&T) -> bool) -> Vec<Rc<T>> {
        let turns = &mut *self.turns.borrow_mut();
        turns.retain(|turn| turn.upgrade().is_some_and(|turn| is_busy(&turn)));
        turns.iter().filter_map(Weak::upgrade).filter(|turn| !Rc::ptr_eq(turn, than)).collect()
    }
}
