//! Event records read as JavaScript reads them: words of 32 bits, texts by offsets in UTF-16 units.

use serde_json::Value as Json;
use turnwire::delivery::{EVENT_STRIDE, EventBatch, Span, TextArena, kind};
use turnwire::event::{OtherFields, TextDelta, TextField};

use crate::plain;

/// An event with its sequence number.
pub type Numbered = (u64, Json);

/// Reads the batches of one turn.
#[derive(Debug, Default)]
pub struct Records {
    /// The events that have been read.
    pub events: Vec<Numbered>,
    names: Vec<String>,
    taken: (Vec<u32>, TextArena),
}

impl Records {
    /// Takes what has come.
    pub fn take(&mut self, batch: &mut EventBatch) {
        batch.take(&mut self.taken);
        assert!(batch.is_empty());
        let (records, arena) = &self.taken;
        assert_eq!(records.len() % EVENT_STRIDE, 0);
        let texts = Texts::of(arena);
        for record in records.chunks_exact(EVENT_STRIDE) {
            let &[flags, message, thread, low, high, start, len, time_start, time_len, index] = record else {
                panic!("a record has {EVENT_STRIDE} words");
            };
            let text = texts.get(Span { start, len, wide: flags & kind::WIDE != 0 });
            let field = match flags & 0xFF {
                kind::CONTENT => TextField::Content,
                kind::REASONING => TextField::Reasoning,
                kind::ARGUMENTS => TextField::Arguments(index),
                kind::NAME => {
                    assert!(!self.names.contains(&text), "a name is announced once");
                    self.names.push(text);
                    continue;
                }
                kind::JSON => {
                    self.events.push((number(low, high), plain::of_own_json(&text)));
                    continue;
                }
                other => panic!("a record of kind {other}"),
            };
            if flags & kind::LIKE != 0 {
                let wide = flags & kind::WIDE_CHANGED != 0;
                let changed = texts.get(Span { start: time_start, len: time_len, wide });
                let others = OtherFields { outline: &self.names[message as usize], changed: &changed };
                self.events.push((number(low, high), plain::of_json(&others.to_json(field, &text))));
                continue;
            }
            let time = texts.get(Span { start: time_start, len: time_len, wide: false });
            let delta = TextDelta {
                id: &self.names[message as usize],
                thread_id: &self.names[thread as usize],
                created_at: (flags & kind::TIMED != 0).then_some(&*time),
                field,
                text: &text,
                others: None,
                source: 0,
            };
            self.events.push((number(low, high), plain::of_delta(&delta)));
        }
    }
}

fn number(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// An arena, decoded once.
#[derive(Debug)]
pub struct Texts {
    ascii: Vec<u16>,
    wide: Vec<u16>,
}

impl Texts {
    /// Decodes both of its blocks.
    pub fn of(arena: &TextArena) -> Self {
        assert!(arena.ascii().is_ascii());
        let units = |block| std::str::from_utf8(block).expect("UTF-8").encode_utf16().collect();
        Self { ascii: units(arena.ascii()), wide: units(arena.wide()) }
    }

    /// The text that lies there.
    pub fn get(&self, Span { start, len, wide }: Span) -> String {
        let block = if wide { &self.wide } else { &self.ascii };
        let units = &block[start as usize..][..len as usize];
        String::from_utf16(units).expect("whole characters")
    }
}
