//! The state of a turn: what its answer contained so far, and the parameters of its start.

use crate::event::EventRef;
use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::Problem;

use super::super::{ids, story};
use super::calls::Call;
use super::messages::Message;

/// The state of a turn.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub(super) start: Start,
    /// The number of events so far.
    given: u64,
    pub(super) is_begun: bool,
    pub(super) is_over: bool,
    /// The last message that began.
    pub(super) message: Option<Message>,
    /// The number of messages so far.
    pub(super) messages: u64,
    pub(super) calls: Vec<Call>,
}

/// The parameters of a turn's start. The answer does not repeat them.
#[derive(Debug, Default, Clone)]
pub(super) struct Start {
    pub(super) turn_id: String,
    pub(super) previous_turn_id: Value<'static>,
    pub(super) input: Value<'static>,
    /// The names of the client's own tools.
    pub(super) own_tools: Vec<String>,
}

impl Turn {
    /// The same turn from its beginning.
    pub(super) fn restart(&mut self) {
        *self = Self { start: std::mem::take(&mut self.start), ..Self::default() };
    }

    /// The number of the next event.
    pub(super) fn next_number(&mut self) -> u64 {
        self.given += 1;
        self.given
    }

    /// The id of the next event, if it has none of its own.
    pub(super) fn next_id(&self) -> String {
        ids::event(&self.start.turn_id, self.given + 1)
    }

    /// Emits an event.
    pub(super) fn give(&mut self, event: &Object<'_>, sink: &mut dyn EventSink) {
        let number = self.next_number();
        sink.event(number, EventRef::of(event));
    }

    /// Emits an event for data that could not be read.
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
