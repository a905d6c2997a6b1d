//! A session: what its turns share.

use crate::error::{Error, ErrorCode, Result};
use crate::event::EventRef;
use crate::index::{EventIndex, PendingAction};
use crate::json::Value;
use crate::protocol::{AnyProtocol, HAS_OTHERS};
use crate::turn::{Newest, Pending, StartTrace, TurnInput};

/// What the turns of a session have in common.
pub(super) struct Session {
    pub(super) id: String,
    /// The agent, where every turn names it.
    pub(super) agent_name: String,
    pub(super) protocol: AnyProtocol,
    pub(super) max_frame_bytes: usize,
    is_cancelled: bool,
    /// Its newest turn when it was made here, or read.
    before: Newest,
    /// The newest turn that is known to have begun, and after it those whose starts are on their way.
    newest: Vec<Known>,
    /// The turns that this client has, by their keys and ids.
    ids: Vec<(u32, String)>,
    next_key: u32,
    /// What every call is told of the session, as JSON; empty if nothing is.
    pub(super) terms: String,
    /// How many messages the user has said in it, if that is known.
    pub(super) said: Option<u64>,
}

/// A turn, as far as the next one needs to know.
struct Known {
    key: u32,
    /// Empty until it has begun.
    id: String,
    /// When it was started, if that was here (see [`StartTrace`]).
    started_at: u64,
    /// Whether it is on its way, or runs and is read.
    is_live: bool,
    pending: Pending,
    /// What its stream brought, if it paused: how many events, and the ids of its messages.
    brought: (u64, Vec<String>),
}

impl Session {
    pub(super) fn new(id: String, protocol: AnyProtocol, max_frame_bytes: usize, is_new: bool) -> Self {
        Self {
            id,
            agent_name: String::new(),
            protocol,
            max_frame_bytes,
            is_cancelled: false,
            before: if is_new { Newest::None } else { Newest::Unknown },
            newest: Vec::new(),
            ids: Vec::new(),
            next_key: 0,
            terms: String::new(),
            said: None,
        }
    }

    /// What the server said of the session: its agent, and what its last turn waits for, as the events that
    /// asked for it.
    pub(super) fn describe(&mut self, agent_name: &str, actions: &str) {
        if !HAS_OTHERS {
            return;
        }
        agent_name.clone_into(&mut self.agent_name);
        let waiting = waiting(actions);
        if !waiting.is_empty() {
            self.stand_at(waiting);
        }
    }

    /// The session's history was read: the user has said so many messages, and the last turn waits for this.
    pub(super) fn found(&mut self, said: f64, actions: &str) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a count")]
        let said = said as u64;
        self.said = Some(said);
        self.stand_at(waiting(actions));
    }

    /// A turn that nobody here has read is the newest, and waits for these calls.
    fn stand_at(&mut self, waiting: Vec<PendingAction>) {
        let key = self.key();
        self.begin(key, 0);
        self.ended(key, Pending::Known(waiting), (0, Vec::new()));
    }

    /// Every call is told this of the session from now on.
    pub(super) fn set_terms(&mut self, terms: &str) {
        self.protocol = self.protocol.with_terms(terms);
        terms.clone_into(&mut self.terms);
    }

    /// What the stream of a turn of this id brought that paused.
    pub(super) fn brought(&self, id: &str) -> Option<(u64, &[String])> {
        let known = self.newest.iter().find(|turn| turn.id == id)?;
        Some((known.brought.0, &known.brought.1))
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

    /// Whether the session was cancelled.
    pub(super) fn check(&self) -> Result<()> {
        if self.is_cancelled {
            let problem = "the session was cancelled: create another one";
            return Err(Error::new(ErrorCode::SessionCancelled, problem));
        }
        Ok(())
    }

    /// Checks an input against what waits for a turn that follows this one: `""` or `"auto"` for the
    /// newest. What waits after any other turn only the server knows.
    pub(super) fn check_pending(&self, previous_turn_id: &str, input: &TurnInput) -> Result<()> {
        // Such a server would take them for a new question.
        let is_strict = self.protocol.protocol().capabilities().has_client_ids();
        match self.newest.last() {
            Some(newest) if matches!(previous_turn_id, "" | "auto") || previous_turn_id == newest.id => {
                if is_strict && newest.is_live && input.answer_count() > 0 {
                    let problem = "the session's last turn still runs: answer its calls with `turn.answer()`";
                    return Err(Error::new(ErrorCode::InvalidInput, problem));
                }
                input.check_pending(&newest.pending, is_strict)
            }
            None if self.before == Newest::None && is_strict => {
                input.check_pending(&Pending::Known(Vec::new()), true)
            }
            _ => Ok(()),
        }
    }

    /// The newest turn that has begun.
    fn last(&self) -> Option<&Known> {
        self.newest.iter().rfind(|turn| !turn.id.is_empty())
    }

    /// The newest turn that has begun.
    pub(super) fn newest(&self) -> Newest {
        match self.last() {
            None => self.before.clone(),
            Some(turn) if turn.started_at > 0 => Newest::Turn(turn.id.clone()),
            // It may be any turn that was listed.
            Some(turn) => {
                Some(Newest::Turn(turn.id.clone())).filter(|last| *last == self.before).unwrap_or_default()
            }
        }
    }

    /// What is known of a start that is made now.
    pub(super) fn trace(&self, started_at: u64) -> StartTrace {
        let newest_started_at = self.last().map_or(0, |turn| turn.started_at);
        StartTrace { newest: self.newest(), started_at, newest_started_at, others: Vec::new() }
    }

    /// The session's turns were listed, so that the newest of those that are known is the newest one.
    pub(super) fn listed(&mut self) {
        self.before = self.last().map_or(Newest::None, |turn| Newest::Turn(turn.id.clone()));
    }

    /// The newest turn was read before a start, which is on its way by now.
    pub(super) fn learn(&mut self, newest: &Newest) {
        if self.newest() == Newest::Unknown {
            self.before = newest.clone();
        }
    }

    /// The turn of this key is about to be the newest: until it ends, nobody knows what it will wait for.
    /// `started_at` is 0 if it is not started here.
    pub(super) fn begin(&mut self, key: u32, started_at: u64) {
        self.newest.push(Known {
            key,
            id: String::new(),
            started_at,
            is_live: false,
            pending: Pending::Unknown,
            brought: (0, Vec::new()),
        });
    }

    /// The ids of this client's turns other than that of this key.
    pub(super) fn others(&self, key: u32) -> Vec<String> {
        self.ids.iter().filter(|(other, _)| *other != key).map(|(_, id)| id.clone()).collect()
    }

    /// The start of the turn of this key came to nothing: what waited before waits still.
    pub(super) fn refused(&mut self, key: u32) {
        if let Some(at) = self.position(key) {
            self.newest.remove(at);
        }
    }

    /// The turn of this key has begun, or was read; one that was made elsewhere is the newest if it follows
    /// the newest.
    pub(super) fn begun(&mut self, key: u32, id: &str, previous_turn_id: &str) {
        if self.ids.iter().all(|(known, _)| *known != key) {
            self.ids.push((key, id.to_owned()));
        }
        let follows = |turn: &Known| !previous_turn_id.is_empty() && turn.id == previous_turn_id;
        if self.position(key).is_none() && self.newest.last().is_some_and(follows) {
            self.begin(key, 0);
        }
        if let Some(at) = self.position(key) {
            if let Some(turn) = self.newest.get_mut(at) {
                id.clone_into(&mut turn.id);
            }
            self.newest.drain(..at);
        }
    }

    /// The turn of this key is on its way or runs, or not any more; calls may wait although it runs.
    pub(super) fn stands(&mut self, key: u32, is_live: bool, waiting: &[PendingAction]) {
        let at = self.position(key);
        if let Some(turn) = at.and_then(|at| self.newest.get_mut(at)) {
            turn.is_live = is_live;
            let is_known = is_live && !waiting.is_empty();
            turn.pending = if is_known { Pending::Known(waiting.to_vec()) } else { Pending::Unknown };
        }
    }

    /// The turn of this key has ended.
    pub(super) fn ended(&mut self, key: u32, pending: Pending, brought: (u64, Vec<String>)) {
        let at = self.position(key);
        if let Some(turn) = at.and_then(|at| self.newest.get_mut(at)) {
            turn.is_live = false;
            turn.pending = pending;
            turn.brought = brought;
        }
    }

    fn position(&self, key: u32) -> Option<usize> {
        self.newest.iter().position(|turn| turn.key == key)
    }
}

/// The calls that wait, of the events (a JSON array) that asked for answers to them.
fn waiting(actions: &str) -> Vec<PendingAction> {
    let actions = Value::parse(actions).unwrap_or_default();
    let mut index = EventIndex::new();
    for action in actions.as_array().unwrap_or_default().iter().filter_map(Value::as_object) {
        index.apply(EventRef::of(action));
    }
    index.pending().to_vec()
}
