//! The changes of an index: one JSON document, and appended text as records.

use crate::event::TextField;
use crate::index::EventIndex;

use super::TextArena;

/// The words of a record: slot of the message, field and arena, index of the tool call, text (start, length). The field
/// is 0 for content, 1 for reasoning, 2 for arguments; 256 is added if the text is in the wide arena.
pub const CHANGE_STRIDE: usize = 5;

/// The changes since the batch was last filled.
#[derive(Debug, Default)]
pub struct ChangeBatch {
    records: Vec<u32>,
    text: TextArena,
}

impl ChangeBatch {
    /// Takes the changes of `index`, and replaces the earlier ones. Returns their document; `None` if nothing changed.
    pub fn fill(&mut self, index: &mut EventIndex) -> Option<String> {
        self.records.clear();
        self.text.clear();
        let Self { records, text } = self;
        index.take_changes(&mut |slot, field, piece| {
            let (field, call) = match field {
                TextField::Content => (0, 0),
                TextField::Reasoning => (1, 0),
                TextField::Arguments(call) => (2, call),
            };
            let span = text.push(piece);
            let slot = u32::try_from(slot).unwrap_or(u32::MAX);
            records.extend_from_slice(&[slot, field | u32::from(span.wide) << 8, call, span.start, span.len]);
        })
    }

    /// The records, [`CHANGE_STRIDE`] words each.
    #[must_use]
    pub fn records(&self) -> &[u32] {
        &self.records
    }

    /// The text of the records.
    #[must_use]
    pub fn text(&self) -> &TextArena {
        &self.text
    }
}
