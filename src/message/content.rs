//! The content of a message: its text, and its parts if it is a list of parts.

use crate::json::{Object, ObjectWriter, Value};

use super::Text;

/// The content of a message.
#[derive(Debug, Clone, Default)]
pub(crate) struct Content {
    /// The text of all parts.
    pub(crate) text: Text,
    parts: Option<Vec<Part>>,
    /// The length of the text when another attempt continued the message.
    pub(crate) continued_at: usize,
}

/// A part of a content.
#[derive(Debug, Clone)]
struct Part {
    is_refusal: bool,
    text: String,
}

impl Part {
    fn to_json(&self) -> String {
        let kind = if self.is_refusal { "refusal" } else { "text" };
        let mut json = String::new();
        ObjectWriter::new(&mut json).str("type", kind).str(kind, &self.text).end();
        json
    }
}

impl Content {
    /// Appends to the text; with parts, to the last one, or to a new one after a refusal.
    pub(super) fn push(&mut self, piece: &str) {
        self.text.push(piece);
        let Some(parts) = self.parts.as_mut().filter(|_| !piece.is_empty()) else {
            return;
        };
        match parts.last_mut() {
            Some(part) if !part.is_refusal => part.text.push_str(piece),
            _ => parts.push(Part { is_refusal: false, text: piece.to_owned() }),
        }
    }

    /// Replaces the content by a text.
    pub(super) fn replace(&mut self, text: &str) {
        *self = Self { text: Text::of(text), ..Self::default() };
    }

    /// Takes the content of a base. Refusals among its parts are added to `refusal`.
    pub(super) fn set(&mut self, base: &Object<'_>, refusal: &mut Text) {
        self.text.push(base.text("content"));
        let Some(parts) = base.get("content").and_then(Value::as_array) else {
            return;
        };
        let mut own = Vec::new();
        for part in parts.iter().filter_map(Value::as_object) {
            let is_refusal = part.text("type") == "refusal";
            let text = part.text(if is_refusal { "refusal" } else { "text" });
            if is_refusal {
                refusal.push(text);
            } else {
                self.text.push(text);
            }
            own.push(Part { is_refusal, text: text.to_owned() });
        }
        self.parts = Some(own);
    }

    /// Writes the content as a whole message has it. Returns the length of the refusals in its parts.
    pub(super) fn write(&self, message: &mut ObjectWriter<'_>) -> usize {
        let Some(parts) = &self.parts else {
            message.str("content", self.text.get());
            return 0;
        };
        let refusals = parts.iter().filter(|part| part.is_refusal).map(|part| part.text.len()).sum();
        let parts: Vec<String> = parts.iter().map(Part::to_json).collect();
        message.raw("content", &super::array(&parts));
        refusals
    }
}
