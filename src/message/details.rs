//! The fields of a message that only some servers send.

use crate::json::{Object, ObjectWriter, write_str};

use super::NamedJson;

/// The model, the duration, and opaque reasoning data.
#[derive(Debug, Clone, Default)]
pub(crate) struct Details {
    fields: NamedJson,
    encrypted: Vec<String>,
}

impl Details {
    /// Takes the fields that an event has.
    pub(super) fn take(&mut self, event: &Object<'_>) {
        let encrypted = event.text("reasoning_encrypted");
        if !encrypted.is_empty() {
            self.encrypted.push(encrypted.to_owned());
        }
        for name in ["model", "duration_ms"] {
            if event.contains(name) {
                self.fields.set(name, event.json(name));
            }
        }
    }

    /// Writes the fields.
    pub(crate) fn write(&self, message: &mut ObjectWriter<'_>) {
        for (name, value) in self.fields.iter() {
            message.raw(name, value);
        }
        if !self.encrypted.is_empty() {
            let pieces: Vec<String> = self.encrypted.iter().map(|piece| quoted(piece)).collect();
            message.raw("reasoning_encrypted", &super::array(&pieces));
        }
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    write_str(&mut quoted, text);
    quoted
}
