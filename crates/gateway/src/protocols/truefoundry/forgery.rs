//! Events that no turn sent, for faults of its stream.

use std::sync::Arc;

use serde::Deserialize;

use super::caller::{Dialect, Subject};
use super::recorder::id_line;
use super::wire::{Delta, Event, TurnState};
use crate::faults::Forge;
use crate::http::frame;
use crate::store::{Turn, random_suffix};
use crate::time::iso;

/// How the last frame of a stream begins.
const LAST: &[u8] = b"data: {\"type\":\"turn.done\"";

/// Imitates the stream of one turn.
#[derive(Debug)]
pub(super) struct Forgery {
    pub(super) turn: Arc<Turn>,
    pub(super) dialect: Dialect,
}

impl Forge for Forgery {
    fn is_last(&self, frame: &[u8]) -> bool {
        frame.starts_with(LAST)
    }

    fn beginning(&self, number: u64) -> Vec<u8> {
        let turn = &self.turn;
        let stranger = |id: &str| format!("{id}-{}", random_suffix(6));
        let created = Event::TurnCreated {
            id: stranger("event"),
            turn_id: stranger(&turn.id),
            previous_turn_id: Some(turn.id.clone()),
            input: turn.input.clone(),
            state: TurnState::Running,
            created_by: (self.dialect == Dialect::Gateway).then(|| Subject::of(&turn.creator)),
            created_at: iso(turn.created_at),
            thread_id: (),
        };
        frame("", &created, &id_line(number))
    }

    fn delta(&self, number: u64) -> Vec<u8> {
        let message = self.last_message();
        let delta = Delta::new(&message.id, &message.thread_id);
        frame("", &Delta { content: Some(" too late"), ..delta }, &id_line(number))
    }
}

#[derive(Debug, Default, Deserialize)]
struct Message {
    id: String,
    thread_id: String,
}

impl Forgery {
    /// The message that a late delta would belong to, or an unknown one.
    fn last_message(&self) -> Message {
        let progress = self.turn.progress();
        let newest_first = progress.history.iter().rev();
        let mut messages = newest_first.filter(|entry| entry.json.get().contains("\"model.message\""));
        let last = messages.find_map(|entry| serde_json::from_str(entry.json.get()).ok());
        last.unwrap_or_default()
    }
}
