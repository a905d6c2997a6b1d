//! An event as JSON, with its type.

use crate::json::Object;

use super::{Event, EventKind, UnknownEvent};

/// An event in turnwire's form, borrowed as JSON.
#[derive(Debug, Clone, Copy)]
pub struct EventRef<'e> {
    /// Its type.
    pub kind: EventKind,
    /// The event's fields, with both spellings filled in. Their types are those of [`Event`].
    pub fields: &'e Object<'e>,
}

impl<'e> EventRef<'e> {
    /// Reads the event from a JSON object in turnwire's form.
    #[must_use]
    pub fn of(fields: &'e Object<'_>) -> Self {
        Self { kind: EventKind::of(fields.text("type")), fields }
    }

    /// Converts the event to its Rust type.
    #[must_use]
    pub fn to_event(&self) -> Event {
        Event::from_json(&self.fields.to_json())
    }
}

impl Event {
    /// Reads an event from JSON in turnwire's form. What does not fit its type becomes [`Event::Unknown`].
    #[must_use]
    pub fn from_json(json: &str) -> Self {
        serde_json::from_str(json).unwrap_or_else(|error| {
            let raw: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
            Self::Unknown(UnknownEvent {
                wire_type: raw.get("type").and_then(|name| name.as_str()).map(str::to_owned),
                raw,
                problem: Some(error.to_string()),
            })
        })
    }
}
