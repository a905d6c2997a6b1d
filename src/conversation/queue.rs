//! The queue: inputs that wait for their turn, in order, and those on their way into a turn that runs.

use super::{Key, Text};

/// An input in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    /// Its key, which its row will have.
    pub key: Key,
    /// The input (JSON).
    pub input: Text,
    /// How it stands.
    pub state: QueuedState,
    /// It throws away what waits for an answer.
    pub discard: bool,
}

/// How an input of the queue stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueuedState {
    /// It goes out as soon as nothing runs.
    Waits,
    /// A person must let it go.
    Held,
    /// It is on its way into this turn.
    Steering(Key),
    /// It may have arrived in this turn, by its id.
    Unknown(Text),
}

/// How an input of the queue goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// As a turn of its own.
    Queue,
    /// Into the turn that runs.
    Steer,
}

impl Queued {
    /// How it goes out.
    #[must_use]
    pub fn how(&self) -> How {
        match self.state {
            QueuedState::Waits | QueuedState::Held => How::Queue,
            QueuedState::Steering(_) | QueuedState::Unknown(_) => How::Steer,
        }
    }
}

/// The queue.
#[derive(Debug, Default)]
pub(super) struct Queue(pub(super) Vec<Queued>);

impl Queue {
    pub(super) fn find(&self, key: Key) -> Option<usize> {
        self.0.iter().position(|item| item.key == key)
    }

    /// Holds all that waits, or lets it go.
    pub(super) fn hold(&mut self, on: bool) {
        for item in &mut self.0 {
            match item.state {
                QueuedState::Waits if on => item.state = QueuedState::Held,
                QueuedState::Held if !on => item.state = QueuedState::Waits,
                _ => {}
            }
        }
    }

    pub(super) fn is_held(&self) -> bool {
        self.0.iter().any(|item| item.state == QueuedState::Held)
    }

    /// The place of the next input that goes out.
    pub(super) fn next(&self) -> Option<usize> {
        self.0.iter().position(|item| item.state == QueuedState::Waits)
    }

    pub(super) fn take(&mut self, at: usize) -> Option<Queued> {
        (at < self.0.len()).then(|| self.0.remove(at))
    }
}
