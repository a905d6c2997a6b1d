//! A message with holes: what it shares with those that say the same of another piece of text.
//!
//! A decoder that has understood a message describes it as a template. The carrier then compares the messages that
//! follow. One that equals the template outside its holes has the same meaning, so only its piece of text has to be
//! handed in.

use crate::bytes::utf16_len;
use crate::json::write_u64;

/// What a hole contains. The numbers are those of `templates.ts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// The piece of text: the inside of a string.
    Text = 0,
    /// Digits of a number that does not matter.
    Number = 1,
    /// Anything: what follows is the end of the message. Only the last hole can be this one.
    Rest = 2,
}

/// A part of a message that may differ: its first byte, and the first one after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    /// What it contains.
    pub slot: Slot,
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// A message that is a piece of text, and where others with the same meaning may differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Template {
    /// The decoder's number of it.
    pub number: u32,
    /// In the order of their positions. One is [`Slot::Text`].
    pub holes: Vec<Hole>,
}

impl Template {
    /// The template of this message for JavaScript, as numbers with commas between them: its own, and of each hole the
    /// slot, the start and the end in UTF-16 units.
    #[must_use]
    pub fn to_text(&self, message: &str) -> String {
        let mut text = String::new();
        let units = |at: usize| utf16_len(message.as_bytes().get(..at).unwrap_or_default()) as u64;
        write_u64(&mut text, self.number.into());
        for hole in &self.holes {
            for number in [hole.slot as u64, units(hole.start), units(hole.end)] {
                text.push(',');
                write_u64(&mut text, number);
            }
        }
        text
    }
}
