//! The parts of a turn's snapshots.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::error::{Error, ErrorCode};
use crate::event::{TerminalState, TurnInputItem, TurnState};
use crate::session::SessionTurn;
use crate::snapshot::{Mirror, Reconnecting, TurnSnapshot, Waiting};

/// The parts that are not in the turn's index.
#[derive(Default)]
pub(super) struct View {
    mirror: Mirror,
    pub(super) state: Option<Arc<TurnState>>,
    input: Arc<Vec<TurnInputItem>>,
    /// Why the last reading ended without the turn's end.
    pub(super) error: Option<Error>,
    pub(super) reconnecting: Option<Reconnecting>,
    pub(super) waiting: Option<Waiting>,
}

impl View {
    pub(super) fn new(input: Vec<TurnInputItem>, state: Option<TurnState>) -> Self {
        Self { input: Arc::new(input), state: state.map(Arc::new), ..Self::default() }
    }

    /// No wait is in progress.
    pub(super) fn goes_on(&mut self) {
        (self.reconnecting, self.waiting) = (None, None);
    }

    /// Takes the turn's beginning and end, each once.
    pub(super) fn learn(&mut self, turn: &mut SessionTurn) {
        let (created, state) = (turn.reader_mut().take_created(), turn.reader_mut().take_state());
        let created: Option<Json> = created.and_then(|json| serde_json::from_str(&json).ok());
        let input = created.and_then(|mut created| serde_json::from_value(created["input"].take()).ok());
        // Records of some servers have no input.
        if let Some(input) = input.filter(|input: &Vec<TurnInputItem>| !input.is_empty()) {
            self.input = Arc::new(input);
        }
        if let Some(state) = state.and_then(|json| serde_json::from_str(&json).ok()) {
            self.state = Some(Arc::new(state));
        }
    }

    pub(super) fn snapshot(&mut self, turn: &mut SessionTurn) -> TurnSnapshot {
        self.learn(turn);
        self.mirror.follow(turn.reader_mut().index_mut());
        let machine = turn.reader().machine();
        TurnSnapshot {
            turn_id: machine.id().map(str::to_owned),
            status: machine.status(),
            error: self.error.clone().or_else(|| failure(self.state.as_deref())),
            state: self.state.clone(),
            reconnecting: self.reconnecting,
            waiting: self.waiting,
            last_sequence_number: machine.cursor().last(),
            input: Arc::clone(&self.input),
            threads: self.mirror.threads().to_vec(),
            parts: Arc::clone(self.mirror.parts()),
        }
    }
}

/// The error with which the server ended a turn.
fn failure(state: Option<&TurnState>) -> Option<Error> {
    let Some(TurnState::Terminal(state)) = state else { return None };
    let TerminalState::Error { message, .. } = &**state else { return None };
    Some(Error::new(ErrorCode::TurnFailed, message))
}
