//! The events of a turn's connection, and their listeners.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::error::Error;
use crate::snapshot::Waiting;
use crate::turn::TurnReader;

/// An event of a turn's connection.
#[derive(Debug, Clone, PartialEq)]
pub enum ConnectionEvent {
    /// The connection is lost. After this delay the server is asked again.
    Reconnecting {
        /// The number of the attempt, from 1 on.
        attempt: u32,
        /// The wait before it, in milliseconds.
        delay: f64,
        /// What failed.
        cause: Error,
    },
    /// The server is reachable but has not returned everything. It is asked again.
    Waiting(Waiting),
    /// The stream has resumed.
    Resumed {
        /// The number of the last event before.
        after: u64,
    },
    /// Events between these two numbers are lost.
    Gap {
        /// The last number before the gap.
        after: u64,
        /// The first number after it.
        next: u64,
    },
    /// The `id` of a frame is not the number in its JSON. Reported once per turn.
    Mismatch {
        /// The `id`.
        id: u64,
        /// The number in the JSON.
        sequence_number: u64,
    },
}

type Listener = Rc<dyn Fn(&ConnectionEvent)>;

/// The listeners, and which events of the stream they have received.
#[derive(Default)]
pub(super) struct Listeners {
    told: RefCell<Vec<Listener>>,
    /// The number of gaps.
    gaps: Cell<usize>,
    mismatch: Cell<bool>,
}

impl Listeners {
    pub(super) fn add(&self, listener: impl Fn(&ConnectionEvent) + 'static) {
        self.told.borrow_mut().push(Rc::new(listener));
    }

    pub(super) fn tell(&self, event: &ConnectionEvent) {
        // A listener may add another listener.
        let listeners = self.told.borrow().clone();
        for listener in listeners {
            listener(event);
        }
    }

    /// The next unreported event of the stream: a gap, or a frame with two numbers.
    pub(super) fn untold(&self, reader: &TurnReader) -> Option<ConnectionEvent> {
        if let Some((after, next)) = reader.gaps().get(self.gaps.get()).copied() {
            self.gaps.set(self.gaps.get() + 1);
            return Some(ConnectionEvent::Gap { after, next });
        }
        let (id, sequence_number) = reader.mismatch().filter(|_| !self.mismatch.get())?;
        self.mismatch.set(true);
        Some(ConnectionEvent::Mismatch { id, sequence_number })
    }
}
