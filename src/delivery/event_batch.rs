//! The events of one or more network chunks as records.

use crate::bytes::is_ascii;
use crate::event::{OtherFields, TextDelta, TextField};
use crate::features::UnknownFields;
use crate::json::Object;
use crate::names::Names;

use super::{Span, TextArena};

/// The kinds of records: the lowest byte of a record's first word.
pub mod kind {
    /// A delta of `content`.
    pub const CONTENT: u32 = 0;
    /// A delta of `reasoning_content`.
    pub const REASONING: u32 = 1;
    /// A delta of a tool call's arguments.
    pub const ARGUMENTS: u32 = 2;
    /// Any other event: its JSON.
    pub const JSON: u32 = 3;
    /// Not an event: a frame's data, unchanged.
    pub const NATIVE: u32 = 4;
    /// Not an event: the next name (an id of a message or a thread, or an outline). Records refer to names by number.
    pub const NAME: u32 = 5;
    /// Flag: the text is in the wide arena.
    pub const WIDE: u32 = 1 << 8;
    /// Flag: the delta has a `created_at`.
    pub const TIMED: u32 = 1 << 9;
    /// Flag: the delta has fields that this version does not know, and is like the outline whose number is in place of
    /// the message's.
    pub const LIKE: u32 = 1 << 10;
    /// Flag: the fields that differ from the outline's are in the wide arena.
    pub const WIDE_CHANGED: u32 = 1 << 11;
}

/// The words of a record: kind and flags, message's name, thread's name, sequence number (low, high), text (start,
/// length), `created_at` or the fields that differ from the outline's (start, length), index of the tool call.
pub const EVENT_STRIDE: usize = 10;

/// Records and their text.
#[derive(Debug, Default)]
pub struct EventBatch {
    records: Vec<u32>,
    text: TextArena,
    names: Names,
    /// The JSON of the last event. Its memory serves the next one.
    json: String,
}

impl EventBatch {
    /// Adds a text delta.
    #[inline]
    pub fn delta(&mut self, sequence_number: u64, delta: &TextDelta<'_>) {
        let source = delta.source.wrapping_mul(2);
        let others = if UnknownFields::EXISTS { delta.others } else { None };
        // A time must be ASCII; otherwise it is left empty.
        let time = delta.created_at.filter(|time| is_ascii(time.as_bytes()));
        let (name, flag, more) = match others {
            Some(OtherFields { outline, changed }) => (outline, kind::LIKE, Some(changed)),
            None => (delta.id, kind::TIMED, time),
        };
        let message = self.name(source, name);
        let thread = self.name(source + 1, delta.thread_id);
        let (kind, index) = match delta.field {
            TextField::Content => (kind::CONTENT, 0),
            TextField::Reasoning => (kind::REASONING, 0),
            TextField::Arguments(index) => (kind::ARGUMENTS, index),
        };
        let text = self.text.push(delta.text);
        let mut record = [kind, message, thread, 0, 0, 0, 0, 0, 0, index];
        if let Some(more) = more {
            let more = self.text.push(more);
            record[0] |= flag | if more.wide { kind::WIDE_CHANGED } else { 0 };
            (record[7], record[8]) = (more.start, more.len);
        }
        self.record(record, sequence_number, text);
    }

    /// Adds an event as its JSON.
    pub fn event(&mut self, sequence_number: u64, event: &Object<'_>) {
        self.json.clear();
        event.write(&mut self.json);
        let span = self.text.push(&self.json);
        self.record(bare(kind::JSON), sequence_number, span);
    }

    /// Adds a frame's data, unchanged.
    pub fn native(&mut self, data: &str) {
        let span = self.text.push(data);
        self.record(bare(kind::NATIVE), 0, span);
    }

    /// Whether there is nothing to deliver.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The records, [`EVENT_STRIDE`] words each.
    #[must_use]
    pub fn records(&self) -> &[u32] {
        &self.records
    }

    /// The text of the records.
    #[must_use]
    pub fn text(&self) -> &TextArena {
        &self.text
    }

    /// Swaps the records and their text for `taken`, whose old content is dropped. The names stay: JavaScript knows
    /// them.
    pub fn take(&mut self, taken: &mut (Vec<u32>, TextArena)) {
        std::mem::swap(&mut self.records, &mut taken.0);
        std::mem::swap(&mut self.text, &mut taken.1);
        self.records.clear();
        self.text.clear();
    }

    /// A name's number. A new name gets a record of its own.
    #[inline]
    fn name(&mut self, source: u32, name: &str) -> u32 {
        let (number, is_new) = self.names.number_of(source, name);
        if is_new {
            let text = self.text.push(name);
            self.record(bare(kind::NAME), 0, text);
        }
        number
    }

    #[inline]
    fn record(&mut self, mut record: [u32; EVENT_STRIDE], sequence_number: u64, text: Span) {
        if text.wide {
            record[0] |= kind::WIDE;
        }
        #[expect(clippy::cast_possible_truncation, reason = "the two halves of the number")]
        let (low, high) = (sequence_number as u32, (sequence_number >> 32) as u32);
        (record[3], record[4], record[5], record[6]) = (low, high, text.start, text.len);
        self.records.extend_from_slice(&record);
    }
}

fn bare(kind: u32) -> [u32; EVENT_STRIDE] {
    let mut record = [0; EVENT_STRIDE];
    record[0] = kind;
    record
}
