//! What came of a stream, for the tests of any protocol whose decoder numbers its events.

use serde_json::{Value as Json, json};

use crate::event::{Event, EventRef, TextDelta, TextField};
use crate::index::EventIndex;
use crate::protocol::EventSink;

/// What came of frames, or of an answer.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) events: Vec<Json>,
    /// How many of them came as pieces of text, by the hot path.
    pub(crate) pieces: usize,
    pub(crate) index: EventIndex,
}

impl PartialEq for Seen {
    fn eq(&self, other: &Self) -> bool {
        (&self.events, self.pieces) == (&other.events, other.pieces)
    }
}

impl EventSink for Seen {
    fn delta(&mut self, sequence_number: u64, delta: TextDelta<'_>) {
        self.pieces += 1;
        self.index.append(&delta);
        self.take(sequence_number, delta_json(&delta));
    }

    fn event(&mut self, sequence_number: u64, event: EventRef<'_>) {
        let text = event.fields.to_json();
        let json: Json = serde_json::from_str(&text).unwrap_or_else(|error| {
            // A number that no float can hold is kept as it is written; the crate refuses it.
            assert!(error.to_string().contains("number out of range"), "an event is JSON: {error}");
            json!({"type": event.fields.text("type"), "text": text})
        });
        let is_unknown = matches!(event.to_event(), Event::Unknown(_));
        assert_eq!(is_unknown, json["type"] == "unknown", "{json} is no event: {:?}", event.to_event());
        self.index.apply(event);
        self.take(sequence_number, json);
    }
}

impl Seen {
    fn take(&mut self, sequence_number: u64, event: Json) {
        self.events.push(event);
        assert_eq!(sequence_number, self.events.len() as u64, "events are numbered from 1 on");
    }

    /// The events of a type.
    pub(crate) fn of<'s>(&'s self, kind: &'s str) -> Vec<&'s Json> {
        self.events.iter().filter(|event| event["type"] == kind).collect()
    }

    pub(crate) fn types(&self) -> Vec<&str> {
        self.events.iter().map(|event| event["type"].as_str().expect("a type")).collect()
    }

    pub(crate) fn last(&self) -> &Json {
        self.events.last().expect("an event")
    }
}

/// A text delta as the event that the wire names.
pub(crate) fn delta_json(delta: &TextDelta<'_>) -> Json {
    if let Some(others) = delta.others {
        return serde_json::from_str(&others.to_json(delta.field, delta.text)).expect("an event is JSON");
    }
    let mut event = json!({"type": "model.message.delta", "id": delta.id, "thread_id": delta.thread_id});
    if let Some(created_at) = delta.created_at {
        event["created_at"] = created_at.into();
    }
    match delta.field {
        TextField::Content => event["content"] = delta.text.into(),
        TextField::Reasoning => event["reasoning_content"] = delta.text.into(),
        TextField::Arguments(index) => {
            event["tool_calls"] = json!([{"index": index, "function": {"arguments": delta.text}}]);
        }
    }
    event
}
