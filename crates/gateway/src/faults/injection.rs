//! The faults of one response, and the state that decides them.

use std::collections::HashMap;
use std::sync::Mutex;

use axum::body::Body;
use axum::http::request::Parts;
use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::BoxStream;
use turnwire_relay::connection::{Connection, Connections};

use super::body::{Piece, deliver, edited, plain};
use super::chaos::{Chaos, Dice};
use super::edit::{Editor, Forge};
use super::fault::{Fault, Run, traps};
use super::grammar::Grammar;
use super::plan::Plans;
use super::streams::OpenStreams;
use super::surface::Surface;
use super::trap::Traps;
use crate::lock::lock;

/// The fault state of a gateway.
#[derive(Debug)]
pub(crate) struct FaultState {
    /// The protocols; the last one accepts every path.
    pub(super) surfaces: Vec<Box<dyn Surface>>,
    pub(crate) grammar: Grammar,
    pub(crate) plans: Plans,
    pub(super) dice: Option<Dice>,
    pub(crate) streams: OpenStreams,
    pub(crate) connections: Connections,
    /// The events that every stream of a turn lacks, by turn.
    holes: Mutex<HashMap<String, Vec<Run>>>,
}

impl FaultState {
    /// The faults of these protocols, of which the last one accepts every path.
    pub(crate) fn new(surfaces: Vec<Box<dyn Surface>>, chaos: Option<Chaos>) -> Self {
        Self {
            grammar: Grammar::new(surfaces.iter().flat_map(|surface| surface.traps()).copied()),
            surfaces,
            plans: Plans::default(),
            dice: chaos.map(Dice::new),
            streams: OpenStreams::default(),
            connections: Connections::default(),
            holes: Mutex::default(),
        }
    }

    /// The protocol of a path.
    pub(super) fn surface(&self, path: &str) -> Option<&dyn Surface> {
        self.surfaces.iter().find(|surface| surface.speaks(path)).map(AsRef::as_ref)
    }

    /// Whether a request may get no response, so that a browser would repeat it by itself.
    pub(super) fn leave_no_answer(&self) -> bool {
        self.dice.is_some() || self.plans.leave_no_answer()
    }
}

/// The faults of one response.
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

    /// The session of the request; empty if it names none.
    pub(crate) fn session(&self) -> &str {
        &self.session
    }

    /// Sets the session, which the request itself did not name.
    pub(crate) fn of_session(&mut self, session: &str) {
        session.clone_into(&mut self.session);
    }

    /// The options for the turn that the request starts.
    pub(crate) fn traps(&self) -> Traps {
        traps(&self.faults)
    }

    /// Where a stream with this cursor begins.
    pub(crate) fn cursor(&self, after: u64) -> u64 {
        if self.faults.contains(&Fault::Restart) { 0 } else { after }
    }

    /// The pieces of a turn's stream, with these faults.
    pub(crate) fn apply(
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
    /// The events that this turn's streams leave out, from now on also those of the faults.
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
