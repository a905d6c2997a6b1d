//! The events of a turn, one after the other.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures::Stream;

use crate::error::Result;
use crate::event::Event;

use super::core::{Core, Reader};

/// The events of a turn. Dropping it stops the reading; the turn itself continues.
pub struct TurnStream {
    core: Rc<Core>,
    /// `None` once the reading has ended and its result was returned.
    reader: Option<Rc<Reader>>,
}

impl std::fmt::Debug for TurnStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TurnStream").finish_non_exhaustive()
    }
}

impl TurnStream {
    pub(super) fn new(core: Rc<Core>, reader: Rc<Reader>) -> Self {
        core.events.borrow_mut().is_taken = true;
        Self { core, reader: Some(reader) }
    }

    /// The same events with their sequence numbers; 0 for an event without one.
    #[must_use]
    pub fn numbered(self) -> NumberedEvents {
        NumberedEvents(self)
    }

    fn poll_numbered(&mut self, context: &Context<'_>) -> Poll<Option<Result<(u64, Event)>>> {
        let event = self.core.events.borrow_mut().next(&mut self.core.turn.borrow_mut());
        if let Some(event) = event {
            return Poll::Ready(Some(Ok(event)));
        }
        let Some(reader) = &self.reader else { return Poll::Ready(None) };
        let Some(ended) = reader.outcome() else {
            self.core.changes.wake(context);
            return Poll::Pending;
        };
        self.reader = None;
        self.core.events.borrow_mut().is_taken = false;
        Poll::Ready(ended.err().map(Err))
    }
}

impl Drop for TurnStream {
    fn drop(&mut self) {
        if self.reader.is_some() {
            self.core.events.borrow_mut().is_taken = false;
        }
    }
}

impl Stream for TurnStream {
    type Item = Result<Event>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_numbered(context).map_ok(|(_, event)| event)
    }
}

/// The events of a turn with their sequence numbers.
#[derive(Debug)]
pub struct NumberedEvents(TurnStream);

impl Stream for NumberedEvents {
    type Item = Result<(u64, Event)>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_numbered(context)
    }
}
