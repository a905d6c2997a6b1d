//! Reads records back into typed events, for front ends in Rust.

use crate::event::{Event, ModelMessageDelta, OtherFields, TextDelta, TextField};

use super::{EVENT_STRIDE, TextArena, kind};

/// Reads the records of one turn, batch by batch.
#[derive(Debug, Default)]
pub struct EventReader {
    /// The announced names, by number.
    names: Vec<String>,
}

impl EventReader {
    /// Calls `each` for every event in the records, in order, with its sequence number (0 if it has none). Frames that
    /// were recorded unchanged are left out.
    pub fn read(&mut self, records: &[u32], text: &TextArena, each: &mut dyn FnMut(u64, Event)) {
        let mut texts = Texts {
            ascii: str::from_utf8(text.ascii()).unwrap_or_default(),
            wide: str::from_utf8(text.wide()).unwrap_or_default(),
        };
        for record in records.chunks_exact(EVENT_STRIDE) {
            let &[head, message, thread, low, high, start, len, time_start, time_len, call] = record else {
                continue;
            };
            let text = texts.take(head & kind::WIDE != 0, start, len);
            let number = u64::from(high) << 32 | u64::from(low);
            let field = match head & 0xff {
                kind::CONTENT => TextField::Content,
                kind::REASONING => TextField::Reasoning,
                kind::ARGUMENTS => TextField::Arguments(call),
                kind::JSON => {
                    each(number, Event::from_json(text));
                    continue;
                }
                kind::NAME => {
                    self.names.push(text.to_owned());
                    continue;
                }
                _ => continue,
            };
            if head & kind::LIKE != 0 {
                let changed = texts.take(head & kind::WIDE_CHANGED != 0, time_start, time_len);
                let others = OtherFields { outline: self.name(message), changed };
                each(number, Event::from_json(&others.to_json(field, text)));
                continue;
            }
            let created_at = (head & kind::TIMED != 0).then(|| texts.take(false, time_start, time_len));
            let delta: ModelMessageDelta = TextDelta {
                id: self.name(message),
                thread_id: self.name(thread),
                created_at,
                field,
                text,
                others: None,
                source: 0,
            }
            .to_event();
            each(number, Event::ModelMessageDelta(delta));
        }
    }

    fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }
}

/// The texts of a batch. Those of the wide arena are taken in the order in which they were added: their offsets count
/// UTF-16 units.
struct Texts<'t> {
    ascii: &'t str,
    wide: &'t str,
}

impl<'t> Texts<'t> {
    fn take(&mut self, is_wide: bool, start: u32, len: u32) -> &'t str {
        let (start, len) = (start as usize, len as usize);
        if !is_wide {
            return self.ascii.get(start..start + len).unwrap_or_default();
        }
        let mut units = 0;
        let end = self.wide.char_indices().find(|(_, character)| {
            let is_end = units >= len;
            units += character.len_utf16();
            is_end
        });
        let (text, rest) = self.wide.split_at(end.map_or(self.wide.len(), |(at, _)| at));
        self.wide = rest;
        text
    }
}
