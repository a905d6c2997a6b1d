//! Reads frames by comparing bytes. A *template* is an earlier frame with holes in place of its text, time and numbers.
//!
//! Nearly every frame of a stream has one piece of text, and differs little else from an earlier frame of the same
//! message. A frame that equals a template outside its holes has the same meaning, so nothing has to be parsed. A
//! protocol creates templates from frames that its reader has understood; a property test checks that both have the
//! same result.

use crate::bytes::same;
use crate::event::{TextDelta, TextField};
use crate::json::{RawStr, Scanner};

/// The largest number that JavaScript can count to.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
/// One template for each message that streams at the same time, and each shape of its frames.
const MAX_TEMPLATES: usize = 16;
/// The deepest nesting of unknown fields; the general reader reads deeper ones.
const MAX_UNKNOWN_DEPTH: u32 = 16;

/// What a hole contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// The piece of text: the inside of a string.
    Text,
    /// The time of creation: the inside of a string without escapes.
    Time,
    /// The event's number: a whole number in JSON.
    Number,
    /// The value of the frame's `id` line.
    FrameId,
    /// The value of a field that this version does not know.
    Other,
    /// Nothing: the start or the end of the event's JSON.
    Edge,
}

/// A part of a frame that may differ, and its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hole {
    pub(crate) slot: Slot,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Slot {
    /// A hole for this slot at this position.
    pub(crate) fn at(self, start: usize, end: usize) -> Hole {
        Hole { slot: self, start, end }
    }
}

/// A text delta found in a frame, and the positions where it may differ from others.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    /// In the order of their positions.
    pub(crate) holes: Vec<Hole>,
}

impl Shape {
    pub(crate) fn hole(&mut self, slot: Slot, start: usize, end: usize) {
        self.holes.push(slot.at(start, end));
    }

    /// Moves all positions by so many bytes.
    pub(crate) fn shift(&mut self, by: usize) {
        for hole in &mut self.holes {
            hole.start += by;
            hole.end += by;
        }
    }
}

/// What the matching template says of the delta, apart from its holes.
#[derive(Debug, Default)]
struct Meaning {
    id: String,
    thread_id: String,
    field: TextField,
    /// The number of this id and thread.
    source: u32,
}

/// An earlier frame with holes.
#[derive(Debug, Default)]
struct Template {
    /// The frame without the contents of its holes.
    fixed: Vec<u8>,
    /// The slots of the holes, and their positions in `fixed`.
    holes: Vec<(Slot, usize)>,
    meaning: Meaning,
}

/// The contents of a frame's holes; zeros for missing ones.
#[derive(Debug, Default)]
pub(crate) struct Hit {
    /// The frame's length.
    pub(crate) len: usize,
    /// The number in the event's JSON.
    pub(crate) number: u64,
    /// The position of the frame's id, and its number.
    pub(crate) id: Option<(usize, usize)>,
    pub(crate) id_number: u64,
    text: (usize, usize),
    has_escapes: bool,
    time: Option<(usize, usize)>,
    /// The position of the event's JSON, if it has fields that this version does not know.
    json: Option<(usize, usize)>,
}

impl Template {
    /// Whether `bytes` begin with a frame that this template matches; `hit` receives the contents of its holes.
    #[inline]
    fn read(&self, bytes: &[u8], hit: &mut Hit) -> bool {
        let (mut at, mut from) = (0, 0);
        for (slot, place) in &self.holes {
            let Some(fixed) = self.fixed.get(from..*place) else { return false };
            let Some(rest) = bytes.get(at..) else { return false };
            if !starts_with(rest, fixed) {
                return false;
            }
            at += fixed.len();
            from = *place;
            let Some(rest) = rest.get(fixed.len()..) else { return false };
            let len = match slot {
                Slot::Text => {
                    let Some((len, has_escapes)) = RawStr::inside_len(rest) else { return false };
                    hit.text = (at, at + len);
                    hit.has_escapes = has_escapes;
                    Some(len)
                }
                Slot::FrameId => {
                    let (len, number) = whole_number(rest);
                    hit.id = Some((at, at + len));
                    hit.id_number = number;
                    matches!(rest.get(len), Some(b'\n' | b'\r')).then_some(len)
                }
                Slot::Number => {
                    let (len, number) = whole_number(rest);
                    hit.number = number;
                    // A JSON number does not begin with 0. An invalid one is left to the general reader.
                    (number > 0 && rest.first() != Some(&b'0')).then_some(len)
                }
                Slot::Time => {
                    RawStr::inside_len(rest).filter(|(_, has_escapes)| !has_escapes).map(|(len, _)| {
                        hit.time = Some((at, at + len));
                        len
                    })
                }
                Slot::Other => value_len(rest),
                Slot::Edge => {
                    hit.json = Some((hit.json.map_or(at, |(start, _)| start), at));
                    Some(0)
                }
            };
            let Some(len) = len else { return false };
            at += len;
        }
        let (Some(tail), Some(rest)) = (self.fixed.get(from..), bytes.get(at..)) else { return false };
        hit.len = at + tail.len();
        starts_with(rest, tail)
    }

    /// Sets the template to match frames that differ from this one only in the holes.
    fn set(&mut self, frame: &[u8], shape: &Shape) {
        self.fixed.clear();
        self.holes.clear();
        let mut from = 0;
        for hole in &shape.holes {
            self.fixed.extend_from_slice(frame.get(from..hole.start).unwrap_or_default());
            self.holes.push((hole.slot, self.fixed.len()));
            from = hole.end;
        }
        self.fixed.extend_from_slice(frame.get(from..).unwrap_or_default());
    }
}

/// Reads text deltas with templates of earlier ones.
#[derive(Debug, Default)]
pub(crate) struct Templates {
    known: Vec<Template>,
    /// The template that matched or was created last.
    recent: usize,
    /// A buffer for decoded text.
    text: String,
    /// The number of templates created so far.
    made: u32,
}

impl Templates {
    /// The frame at the start of `bytes`, if a template matches it.
    #[inline]
    pub(crate) fn find(&mut self, bytes: &[u8]) -> Option<Hit> {
        let mut hit = Hit::default();
        let recent = self.known.get(self.recent)?;
        (recent.read(bytes, &mut hit) || self.find_other(bytes, &mut hit)).then_some(hit)
    }

    fn find_other(&mut self, bytes: &[u8], hit: &mut Hit) -> bool {
        for (at, template) in self.known.iter().enumerate() {
            *hit = Hit::default();
            if template.read(bytes, hit) {
                self.recent = at;
                return true;
            }
        }
        false
    }

    /// The delta of the frame found last. `None` if its text is invalid.
    #[inline]
    pub(crate) fn delta<'a>(&'a mut self, frame: &'a [u8], hit: &Hit) -> Option<TextDelta<'a>> {
        let template = self.known.get(self.recent)?;
        let meaning = &template.meaning;
        let mut text = str::from_utf8(frame.get(hit.text.0..hit.text.1)?).ok()?;
        if hit.has_escapes {
            self.text.clear();
            RawStr::escaped(text)?.unescape_into(&mut self.text);
            text = &self.text;
        }
        let created_at = match hit.time {
            Some((start, end)) => Some(str::from_utf8(frame.get(start..end)?).ok()?),
            None => None,
        };
        let json = match hit.json {
            // Lone surrogates would have to be replaced, as in the text.
            Some(_) if hit.has_escapes && text_has_unicode_escapes(frame, hit) => return None,
            Some((start, end)) => Some(str::from_utf8(frame.get(start..end)?).ok()?),
            None => None,
        };
        Some(TextDelta {
            id: &meaning.id,
            thread_id: &meaning.thread_id,
            created_at,
            field: meaning.field,
            text,
            json,
            source: meaning.source,
        })
    }

    /// Creates a template from a frame that is a text delta of this shape.
    pub(crate) fn learn(&mut self, frame: &[u8], shape: &Shape, id: &str, thread_id: &str, field: TextField) {
        if self.known.len() < MAX_TEMPLATES {
            self.recent = self.known.len();
            self.known.push(Template::default());
        } else {
            self.recent = (self.recent + 1) % MAX_TEMPLATES;
        }
        let Some(template) = self.known.get_mut(self.recent) else {
            return;
        };
        self.made = self.made.wrapping_add(1);
        let meaning = &mut template.meaning;
        id.clone_into(&mut meaning.id);
        thread_id.clone_into(&mut meaning.thread_id);
        meaning.field = field;
        meaning.source = self.made;
        template.set(frame, shape);
    }
}

/// Whether `bytes` begins with `prefix`.
#[inline]
fn starts_with(bytes: &[u8], prefix: &[u8]) -> bool {
    bytes.get(..prefix.len()).is_some_and(|head| same(head, prefix))
}

/// Whether the found text has `\u` escapes.
fn text_has_unicode_escapes(frame: &[u8], hit: &Hit) -> bool {
    let text = frame.get(hit.text.0..hit.text.1).unwrap_or_default();
    text.windows(2).any(|two| two == b"\\u")
}

/// The digits at the start of `bytes`: their count, and their number; 0 if it is beyond every valid one.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call costs as much as a few digits")]
fn whole_number(bytes: &[u8]) -> (usize, u64) {
    let (mut len, mut number) = (0, 0_u64);
    for byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        len += 1;
    }
    // More digits are too large in any case.
    (len, if len > 16 || number > MAX_SAFE_INTEGER { 0 } else { number })
}

/// The length of the value at the start of `bytes`, if it is a valid one.
fn value_len(bytes: &[u8]) -> Option<usize> {
    let (mut len, mut depth) = (0, 0);
    loop {
        len += match bytes.get(len)? {
            b'"' => RawStr::inside_len(bytes.get(len + 1..)?)?.0 + 2,
            b'{' | b'[' => {
                depth += 1;
                1
            }
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                1
            }
            // A line's end is not part of a frame's data.
            b'\n' | b'\r' => return None,
            _ => 1,
        };
        let is_between = matches!(bytes.get(len)?, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
        if depth > MAX_UNKNOWN_DEPTH {
            return None;
        }
        if depth == 0 && is_between {
            break;
        }
    }
    let mut scanner = Scanner::new(str::from_utf8(bytes.get(..len)?).ok()?);
    scanner.skip_value().ok()?;
    scanner.finish().ok()?;
    Some(len)
}
