//! The servers' records of turns → lists of events: the same events as from a stream, with whole messages.

use crate::error::sentence;
use crate::event::{EventKind, EventRef, TextDelta};
use crate::json::{Object, Value};
use crate::message::Message;
use crate::names::Names;
use crate::protocol::EventSink;

use super::decoder::Turn;

/// Collects the events of a turn, with whole messages in place of their pieces.
#[derive(Default)]
struct Collected {
    events: Vec<Entry>,
    /// The numbers of messages, by id.
    message_of: Names,
    messages: Vec<Message>,
    /// The results so far, by thread and id: a task's thread may have a call with the id of another thread's call.
    responses: Names,
}

/// An event in the order of the list.
enum Entry {
    /// The message of this number, in the thread of this id.
    Message(usize, String),
    Event(Object<'static>),
}

impl Collected {
    /// The message of this id. A new one takes its place in the list here.
    fn message(&mut self, id: &str, thread_id: &str) -> Option<&mut Message> {
        let (number, is_new) = self.message_of.number(id);
        let number = number as usize;
        if is_new {
            self.messages.push(Message::new(id, 0));
            self.events.push(Entry::Message(number, thread_id.to_owned()));
        }
        self.messages.get_mut(number)
    }

    fn into_events(self) -> Vec<Object<'static>> {
        let mut events = Vec::new();
        for entry in self.events {
            match entry {
                Entry::Event(event) => events.push(event),
                Entry::Message(number, thread_id) => {
                    let json = self.messages.get(number).map(|message| message.to_json(&thread_id));
                    if let Ok(Value::Object(message)) = Value::parse(&json.unwrap_or_default()) {
                        events.push(message.into_owned());
                    }
                }
            }
        }
        events
    }
}

impl EventSink for Collected {
    fn delta(&mut self, _: u64, delta: TextDelta<'_>) {
        if let Some(message) = self.message(delta.id, delta.thread_id) {
            message.append(&delta);
        }
    }

    fn event(&mut self, _: u64, event: EventRef<'_>) {
        let fields = event.fields;
        let (id, thread_id) = (fields.text("id"), fields.text("thread_id"));
        match event.kind {
            EventKind::ModelMessage | EventKind::ModelMessageDelta => {
                let Some(message) = self.message(id, thread_id) else { return };
                if event.kind == EventKind::ModelMessage {
                    message.apply_base(fields);
                } else {
                    message.apply_delta(fields);
                }
            }
            kind => {
                let name = sentence(&[thread_id, "\0", id]);
                if kind == EventKind::ToolResponse && !self.responses.number(&name).1 {
                    // The last result of a call counts.
                    self.events.retain(|known| match known {
                        Entry::Event(known) => (known.text("thread_id"), known.text("id")) != (thread_id, id),
                        Entry::Message(..) => true,
                    });
                }
                self.events.push(Entry::Event(fields.clone().into_owned()));
            }
        }
    }
}

/// The events of a turn, from the events that the gateway records. With its beginning and end, if they are recorded.
pub(super) fn of_events(thread_id: &str, turn_id: &str, events: &[&Object<'_>]) -> Vec<Object<'static>> {
    let mut collected = Collected::default();
    Turn::for_record(thread_id, turn_id).apply_events(events, &mut collected);
    collected.into_events()
}

/// The events of a turn and its tasks, from the timeline.
pub(super) fn of_timeline(thread_id: &str, turn_id: &str, timeline: &Object<'_>) -> Vec<Object<'static>> {
    let mut collected = Collected::default();
    Turn::for_record(thread_id, turn_id).timeline_read(timeline, &mut collected);
    collected.into_events()
}

/// The events of a turn, from its recorded list of items.
pub(super) fn of_turn(thread_id: &str, turn: &Object<'_>) -> Vec<Object<'static>> {
    let mut collected = Collected::default();
    Turn::for_record(thread_id, turn.text("id")).apply_listed_turn(turn, &mut collected);
    collected.into_events()
}
