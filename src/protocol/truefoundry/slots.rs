//! What differs between the frames of text deltas, apart from the text, and how it is read.

use crate::json::{RawStr, Scanner};
use crate::protocol::template::{Slot, starts_with, whole_number};

/// The deepest nesting of unknown fields; the general reader reads deeper ones.
const MAX_UNKNOWN_DEPTH: u32 = 16;

/// What a hole contains.
#[derive(Debug, Clone, Copy)]
pub(super) enum Varying {
    /// The time of creation: the inside of a string without escapes.
    Time,
    /// The event's number: a whole number in JSON.
    Number,
    /// The value of the frame's `id` line.
    FrameId,
    /// A field that this version does not know. Its value comes after so many bytes.
    Other(usize),
    /// Nothing: the start of the event's JSON, if it has such fields.
    Start,
}

/// The contents of a frame's holes; zeros for missing ones. Positions are those of the first byte, and after the last.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The number in the event's JSON.
    pub(super) number: u64,
    /// The position of the frame's id, and its number.
    pub(super) id: Option<(usize, usize)>,
    pub(super) id_number: u64,
    pub(super) time: Option<(usize, usize)>,
    /// The positions of the fields that this version does not know, whose values are not those of the template's frame.
    pub(super) changed: Vec<(usize, usize)>,
}

impl Slot for Varying {
    type Found = Found;

    fn read(self, rest: &[u8], earlier: &[u8], at: usize, found: &mut Found) -> Option<usize> {
        match self {
            Self::FrameId => {
                let (len, number) = whole_number(rest);
                found.id = Some((at, at + len));
                found.id_number = number;
                matches!(rest.get(len), Some(b'\n' | b'\r')).then_some(len)
            }
            Self::Number => {
                let (len, number) = whole_number(rest);
                found.number = number;
                // A JSON number does not begin with 0. An invalid one is left to the general reader.
                (number > 0 && rest.first() != Some(&b'0')).then_some(len)
            }
            Self::Time => {
                let (len, _) = RawStr::inside_len(rest).filter(|(_, has_escapes)| !has_escapes)?;
                found.time = Some((at, at + len));
                Some(len)
            }
            Self::Other(name_len) => {
                if starts_with(rest, earlier) && ends_value(rest.get(earlier.len())) {
                    return Some(earlier.len());
                }
                (rest.get(..name_len) == earlier.get(..name_len)).then_some(())?;
                let len = name_len + value_len(rest.get(name_len..)?)?;
                found.changed.push((at, at + len));
                Some(len)
            }
            Self::Start => {
                found.changed.clear();
                Some(0)
            }
        }
    }
}

/// Whether a value ends before this byte: without it, `1` would be the value in `12`.
fn ends_value(next: Option<&u8>) -> bool {
    matches!(next, Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'))
}

/// The length of the value at the start of `bytes`, if it is a valid one. Whether it is UTF-8 is not checked.
fn value_len(bytes: &[u8]) -> Option<usize> {
    match bytes.first()? {
        b'"' => match RawStr::inside_len(bytes.get(1..)?)? {
            (len, false) => Some(len + 2),
            (len, true) => valid_len(bytes, len + 2),
        },
        b'{' | b'[' => container_len(bytes),
        _ => {
            let len = bytes.iter().position(|byte| ends_value(Some(byte)))?;
            valid_len(bytes, len)
        }
    }
}

fn container_len(bytes: &[u8]) -> Option<usize> {
    let (mut len, mut depth) = (0, 0_u32);
    loop {
        len += match bytes.get(len)? {
            b'"' => RawStr::inside_len(bytes.get(len + 1..)?)?.0 + 2,
            b'{' | b'[' => {
                depth += 1;
                1
            }
            b'}' | b']' => {
                depth -= 1;
                1
            }
            // A line's end is not part of a frame's data.
            b'\n' | b'\r' => return None,
            _ => 1,
        };
        if depth > MAX_UNKNOWN_DEPTH {
            return None;
        }
        if depth == 0 {
            return valid_len(bytes, len);
        }
    }
}

/// This length, if so many bytes are a value.
fn valid_len(bytes: &[u8], len: usize) -> Option<usize> {
    let mut scanner = Scanner::new(str::from_utf8(bytes.get(..len)?).ok()?);
    scanner.skip_value().ok()?;
    scanner.finish().ok()?;
    Some(len)
}
