//! What an answer has said so far of its turn, and what the start has said of it before.

use crate::event::EventRef;
use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::Problem;

use super::super::{ids, story};
use super::calls::Call;
use super::messages::Message;

/// The memory of a turn.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub(super) start: Start,
    /// How many events were given.
    given: u64,
    pub(super) is_begun: bool,
    pub(super) is_over: bool,
    /// The message that was begun last.
    pub(super) message: Option<Message>,
    /// How many messages were begun.
    pub(super) messages: u64,
    pub(super) calls: Vec<Call>,
}

/// What a turn was started with. No answer says it.
#[derive(Debug, Default, Clone)]
pub(super) struct Start {
    pub(super) turn_id: String,
    pub(super) previous_turn_id: Value<'static>,
    pub(super) input: Value<'static>,
    /// The names of the tools that are the client's own.
    pub(super) own_tools: Vec<String>,
}

impl Turn {
    /// The same turn, of which nothing was said yet.
    pub(super) fn restart(&mut self) {
        *self = Self { start: std::mem::take(&mut self.start), ..Self::default() };
    }

    /// The number of the next event.
    pub(super) fn next_number(&mut self) -> u64 {
        self.given += 1;
        self.given
    }

    /// The id of the next event, where it has none of its own.
    pub(super) fn next_id(&self) -> String {
        ids::event(&self.start.turn_id, self.given + 1)
    }

    /// Gives an event.
    pub(super) fn give(&mut self, event: &Object<'_>, sink: &mut dyn EventSink) {
        let number = self.next_number();
        sink.event(number, EventRef::of(event));
    }

    /// Gives what could not be read.
    pub(super) fn unknown(
        &mut self,
        wire_type: &str,
        raw: Value<'_>,
        problem: Option<Problem>,
        sink: &mut dyn EventSink,
    ) {
        let event = story::unknown(wire_type, raw, problem);
        self.give(&event, sink);
    }
}
