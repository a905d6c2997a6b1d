//! What takes the events of decoders that number them themselves.

use serde_json::Value as Json;
use turnwire::event::{EventKind, EventRef, TextDelta};
use turnwire::json::Value;
use turnwire::protocol::EventSink;

use crate::plain;

/// The events, as they can be compared. They must be numbered from 1 on.
#[derive(Debug, Default)]
pub struct Sink(pub Vec<Json>);

impl Sink {
    fn take(&mut self, number: u64, event: Json) {
        self.0.push(event);
        assert_eq!(number, self.0.len() as u64);
    }
}

impl EventSink for Sink {
    fn delta(&mut self, number: u64, delta: TextDelta<'_>) {
        self.take(number, plain::of_delta(&delta));
    }

    fn event(&mut self, number: u64, event: EventRef<'_>) {
        let EventRef { kind, fields } = event;
        assert_eq!(kind, EventKind::of(fields.text("type")));
        let _ = event.to_event();
        self.take(number, plain::of(&Value::from(fields.clone())));
    }
}
