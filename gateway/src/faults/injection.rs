//! What one response is to suffer, and the state that decides it.

use std::collections::HashMap;
use std::sync::Mutex;

use axum::body::Body;
use axum::http::request::Parts;
use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::BoxStream;

use super::body::{Piece, deliver, edited, plain};
use super::chaos::{Chaos, Dice};
use super::edit::{Editor, Forge};
use super::fault::{Fault, Run};
use super::plan::Plans;
use super::socket::{Connection, Connections};
use super::streams::OpenStreams;
use super::trap::Trap;
use crate::store::lock;

/// All that a gateway knows of faults.
#[derive(Debug, Default)]
pub(crate) struct FaultState {
    pub(crate) plans: Plans,
    pub(super) dice: Option<Dice>,
    pub(crate) streams: OpenStreams,
    pub(crate) connections: Connections,
    /// The events that every stream of a turn lacks, by turn.
    holes: Mutex<HashMap<String, Vec<Run>>>,
}

impl FaultState {
    pub(crate) fn new(chaos: Option<Chaos>) -> Self {
        Self { dice: chaos.map(Dice::new), ..Self::default() }
    }

    /// Whether a request may get no answer, so that a browser would send it again by itself.
    pub(super) fn leave_no_answer(&self) -> bool {
        self.dice.is_some() || self.plans.leave_no_answer()
    }
}

/// What one response is to suffer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Injection {
    pub(crate) faults: Vec<Fault>,
    pub(super) session: String,
    pub(crate) connection: Connection,
}

impl Injection {
    /// What was decided for a request.
    pub(crate) fn of(parts: &Parts) -> Self {
        parts.extensions.get::<Self>().cloned().unwrap_or_default()
    }

    /// The session, which the request itself did not name.
    pub(crate) fn of_session(&mut self, session: &str) {
        session.clone_into(&mut self.session);
    }

    /// What is asked of the turn that the request starts.
    pub(crate) fn traps(&self) -> impl Iterator<Item = Trap> {
        self.faults.iter().filter_map(|fault| match fault {
            Fault::Trap(trap) => Some(*trap),
            _ => None,
        })
    }

    /// Where a stream begins for which this cursor was asked.
    pub(crate) fn cursor(&self, after: u64) -> u64 {
        if self.faults.contains(&Fault::Restart) { 0 } else { after }
    }

    /// The pieces of a turn's stream, with these faults.
    pub(crate) fn spoil(
        &self,
        state: &FaultState,
        turn: &str,
        source: impl Stream<Item = Bytes> + Send + 'static,
        forge: impl Forge + 'static,
    ) -> BoxStream<'static, Piece> {
        let holes = state.holes_of(turn, &self.faults);
        if self.faults.is_empty() && holes.is_empty() {
            return plain(source);
        }
        edited(source, Editor::new(self.faults.clone(), holes, forge))
    }

    /// The body that writes these pieces; it counts as an open stream of the session.
    pub(crate) fn deliver(
        self,
        state: &FaultState,
        pieces: impl Stream<Item = Piece> + Send + 'static,
    ) -> Body {
        deliver(pieces, state.streams.open(self.session, self.connection))
    }
}

impl FaultState {
    /// The events that this turn's streams lack, from now on also those that the faults say.
    fn holes_of(&self, turn: &str, faults: &[Fault]) -> Vec<Run> {
        let new = faults.iter().filter_map(|fault| match fault {
            Fault::Hole(run) => Some(*run),
            _ => None,
        });
        let new: Vec<Run> = new.collect();
        let mut holes = lock(&self.holes);
        if new.is_empty() {
            return holes.get(turn).cloned().unwrap_or_default();
        }
        let of_turn = holes.entry(turn.to_owned()).or_default();
        of_turn.extend(new);
        of_turn.clone()
    }
}
