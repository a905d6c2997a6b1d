//! The events of one or more network chunks as records.

use crate::event::{TextDelta, TextField};
use crate::json::Object;
use crate::names::Names;

use super::{Span, TextArena};

/// The kinds of records, the lowest byte of a record's first word.
pub mod kind {
    /// A delta of `content`.
    pub const CONTENT: u32 = 0;
    /// A delta of `reasoning_content`.
    pub const REASONING: u32 = 1;
    /// A delta of a tool call's arguments.
    pub const ARGUMENTS: u32 = 2;
    /// Any other event: its JSON.
    pub const JSON: u32 = 3;
    /// Not an event: a frame's data as it came.
    pub const NATIVE: u32 = 4;
    /// Not an event: the next name (an id of a message or a thread) that records refer to by number.
    pub const NAME: u32 = 5;
    /// Flag: the text lies in the wide arena.
    pub const WIDE: u32 = 1 << 8;
    /// Flag: the delta has a `created_at`.
    pub const TIMED: u32 = 1 << 9;
}

/// Words of a record: kind and flags, message's name, thread's name, sequence number (low, high), text
/// (start, length), `created_at` (start, length), index of the tool call.
pub const EVENT_STRIDE: usize = 10;

/// Records and their text.
#[derive(Debug, Default)]
pub struct EventBatch {
    records: Vec<u32>,
    text: TextArena,
    names: Names,
}

impl EventBatch {
    /// Adds a text delta.
    #[inline]
    pub fn delta(&mut self, sequence_number: u64, delta: &TextDelta<'_>) {
        let message = self.name(delta.id);
        let thread = self.name(delta.thread_id);
        let (kind, index) = match delta.field {
            TextField::Content => (kind::CONTENT, 0),
            TextField::Reasoning => (kind::REASONING, 0),
            TextField::Arguments(index) => (kind::ARGUMENTS, index),
        };
        let text = self.text.push(delta.text);
        // Times are ASCII, or they are not times: those fall back to an empty one.
        let time = delta.created_at.filter(|time| time.is_ascii()).map(|time| self.text.push(time));
        let timed = if time.is_some() { kind::TIMED } else { 0 };
        let time = time.unwrap_or(Span { start: 0, len: 0, wide: false });
        self.record(kind | timed, message, thread, sequence_number, text, time, index);
    }

    /// Adds an event as its JSON.
    pub fn event(&mut self, sequence_number: u64, event: &Object<'_>) {
        let text = event.to_json();
        let span = self.text.push(&text);
        self.record(kind::JSON, 0, 0, sequence_number, span, Span { start: 0, len: 0, wide: false }, 0);
    }

    /// Adds a frame's data as it came.
    pub fn native(&mut self, data: &str) {
        let span = self.text.push(data);
        self.record(kind::NATIVE, 0, 0, 0, span, Span { start: 0, len: 0, wide: false }, 0);
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

    /// The text that the records point into.
    #[must_use]
    pub fn text(&self) -> &TextArena {
        &self.text
    }

    /// Swaps the records and their text for `taken`, which is forgotten. The names stay: JavaScript has
    /// learnt those.
    pub fn take(&mut self, taken: &mut (Vec<u32>, TextArena)) {
        std::mem::swap(&mut self.records, &mut taken.0);
        std::mem::swap(&mut self.text, &mut taken.1);
        self.records.clear();
        self.text.clear();
    }

    /// A name's number; a new name is announced by a record of its own.
    #[inline]
    fn name(&mut self, name: &str) -> u32 {
        let (number, is_new) = self.names.number(name);
        if is_new {
            let text = self.text.push(name);
            self.record(kind::NAME, 0, 0, 0, text, Span { start: 0, len: 0, wide: false }, 0);
        }
        number
    }

    #[inline]
    #[expect(clippy::too_many_arguments, reason = "the words of a record, in their order")]
    fn record(
        &mut self,
        kind: u32,
        name: u32,
        thread: u32,
        sequence: u64,
        text: Span,
        time: Span,
        index: u32,
    ) {
        let wide = if text.wide { kind::WIDE } else { 0 };
        #[expect(clippy::cast_possible_truncation, reason = "the two halves of the number")]
        let (low, high) = (sequence as u32, (sequence >> 32) as u32);
        self.records.extend_from_slice(&[
            kind | wide,
            name,
            thread,
            low,
            high,
            text.start,
            text.len,
            time.start,
            time.len,
            index,
        ]);
    }
}
