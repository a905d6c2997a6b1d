//! The events that have arrived but not been delivered.

use std::collections::VecDeque;

use crate::delivery::{EventBatch, EventReader, TextArena};
use crate::event::Event;
use crate::session::SessionTurn;

/// The events that have arrived but not been delivered.
#[derive(Default)]
pub(super) struct Events {
    /// Whether a stream takes them.
    pub(super) is_taken: bool,
    queue: VecDeque<(u64, Event)>,
    reader: EventReader,
    taken: (Vec<u32>, TextArena),
}

impl Events {
    /// Sets whether a turn's events are wanted. If not, drops the undelivered ones.
    pub(super) fn want(&mut self, wants_events: bool, turn: &mut SessionTurn) {
        turn.reader_mut().set_wants_events(wants_events);
        if !wants_events {
            *turn.reader_mut().batch() = EventBatch::default();
            *self = Self::default();
        }
    }

    /// The turn's next undelivered event.
    pub(super) fn next(&mut self, turn: &mut SessionTurn) -> Option<(u64, Event)> {
        if self.queue.is_empty() {
            turn.reader_mut().batch().take(&mut self.taken);
            let Self { queue, reader, taken, .. } = self;
            reader.read(&taken.0, &taken.1, &mut |number, event| queue.push_back((number, event)));
            if queue.is_empty() {
                turn.reader_mut().release();
            }
        }
        self.queue.pop_front()
    }
}
