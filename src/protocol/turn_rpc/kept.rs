//! What the servers keep of turns → lists of events: the same events as of a stream, each message whole.

use crate::error::sentence;
use crate::event::{EventKind, EventRef, TextDelta};
use crate::index::EventIndex;
use crate::json::{Object, Value};
use crate::names::Names;
use crate::protocol::EventSink;

use super::decoder::Turn;

/// Takes the events of a turn, and puts its messages together.
#[derive(Default)]
struct Collected {
    index: EventIndex,
    events: Vec<Entry>,
    /// The results that came, by thread and id: in a task's thread a call may be called as in its parent's.
    responses: Names,
}

/// An event in the order of the list.
enum Entry {
    /// The message of this id, as it has become in the end.
    Message(String),
    Event(Object<'static>),
}

impl EventSink for Collected {
    fn delta(&mut self, _: u64, delta: TextDelta<'_>) {
        self.index.append(&delta);
    }

    fn event(&mut self, _: u64, event: EventRef<'_>) {
        let fields = event.fields;
        let id = fields.text("id");
        match event.kind {
            EventKind::ModelMessage if self.index.message(id).is_none() => {
                self.events.push(Entry::Message(id.to_owned()));
            }
            EventKind::ModelMessage | EventKind::ModelMessageDelta => {}
            kind => {
                let thread = fields.text("thread_id");
                if kind == EventKind::ToolResponse && !self.responses.number(&sentence(&[thread, "\0", id])).1
                {
                    // The last result of a call is its result.
                    self.events.retain(|known| match known {
                        Entry::Event(known) => (known.text("thread_id"), known.text("id")) != (thread, id),
                        Entry::Message(_) => true,
                    });
                }
                self.events.push(Entry::Event(fields.clone().into_owned()));
            }
        }
        self.index.apply(event);
    }
}

impl Collected {
    fn into_events(self) -> Vec<Object<'static>> {
        let Self { index, events, .. } = self;
        let events = events.into_iter().filter_map(|entry| match entry {
            Entry::Event(event) => Some(event),
            Entry::Message(id) => {
                let message = index.message(&id)?;
                let thread = index.threads().get(message.thread).map_or("", |thread| &thread.id);
                match Value::parse(&message.to_json(thread)).ok()?.into_owned() {
                    Value::Object(message) => Some(message),
                    _ => None,
                }
            }
        });
        events.collect()
    }
}

/// The events of a turn of which the server keeps these, in its gateway's form. With what says how it began and ended,
/// if that is kept as well.
pub(super) fn of_events(thread_id: &str, turn_id: &str, events: &[&Object<'_>]) -> Vec<Object<'static>> {
    let mut collected = Collected::default();
    Turn::of_kept(thread_id, turn_id).keep_all(events, &mut collected);
    collected.into_events()
}

/// The events of a turn and of the tasks in it, of which this is the timeline.
pub(super) fn of_timeline(thread_id: &str, turn_id: &str, timeline: &Object<'_>) -> Vec<Object<'static>> {
    let mut collected = Collected::default();
    Turn::of_kept(thread_id, turn_id).timeline_read(timeline, &mut collected);
    collected.into_events()
}

/// The events of a turn that the server keeps as a list of its items.
pub(super) fn of_turn(thread_id: &str, turn: &Object<'_>) -> Vec<Object<'static>> {
    let mut collected = Collected::default();
    Turn::of_kept(thread_id, turn.text("id")).keep_turn(turn, &mut collected);
    collected.into_events()
}
