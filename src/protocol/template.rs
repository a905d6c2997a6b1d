//! Reads frames by comparing bytes. A *template* is an earlier frame with holes in place of its piece of text, and of
//! everything else that differs from frame to frame.
//!
//! Nearly every frame of a stream has one piece of text, and differs little else from an earlier frame of the same
//! message. A frame that equals a template outside its holes has the same meaning, so nothing has to be parsed. A
//! protocol names the parts of its frames that vary ([`Slot`]), and creates templates from frames that its reader has
//! understood; its property tests check that both have the same result.

use std::convert::Infallible;

use crate::bytes::same;
use crate::json::RawStr;

/// One template for each message that streams at the same time, and each shape of its frames.
const MAX_TEMPLATES: usize = 16;
/// The largest number that JavaScript can count to.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// What a hole contains in the frames of one protocol, apart from the piece of text.
pub(crate) trait Slot: Copy {
    /// The contents of a frame's holes.
    type Found: std::fmt::Debug + Default;

    /// Reads the hole at the start of `rest`, which is at position `at` of its frame. `earlier` is what the template's
    /// own frame has there. Returns the hole's length; `None` if this is not its content.
    fn read(self, rest: &[u8], earlier: &[u8], at: usize, found: &mut Self::Found) -> Option<usize>;
}

/// For protocols whose frames differ in nothing but their text.
impl Slot for Infallible {
    type Found = ();

    fn read(self, _: &[u8], _: &[u8], _: usize, (): &mut ()) -> Option<usize> {
        match self {}
    }
}

/// A part of a frame that may differ, and its position. Without a slot it is the piece of text: the inside of a string.
#[derive(Debug, Clone, Copy)]
struct Hole<S> {
    slot: Option<S>,
    start: usize,
    end: usize,
}

/// The positions where a frame may differ from others.
#[derive(Debug)]
pub(crate) struct Shape<S> {
    /// In the order of their positions.
    holes: Vec<Hole<S>>,
}

impl<S: Slot> Shape<S> {
    pub(crate) fn new() -> Self {
        Self { holes: Vec::new() }
    }

    /// Adds the piece of text.
    pub(crate) fn text(&mut self, start: usize, end: usize) {
        self.insert(Hole { slot: None, start, end });
    }

    /// Adds another hole.
    pub(crate) fn hole(&mut self, slot: S, start: usize, end: usize) {
        self.insert(Hole { slot: Some(slot), start, end });
    }

    fn insert(&mut self, hole: Hole<S>) {
        let after = self.holes.iter().position(|other| other.start >= hole.end);
        self.holes.insert(after.unwrap_or(self.holes.len()), hole);
    }

    /// Moves all positions by so many bytes.
    pub(crate) fn shift(&mut self, by: usize) {
        for hole in &mut self.holes {
            hole.start += by;
            hole.end += by;
        }
    }
}

/// A frame that a protocol's reader has understood.
pub(crate) struct Known<'f, S, M> {
    pub(crate) frame: &'f [u8],
    pub(crate) shape: Shape<S>,
    /// What all frames of the shape say, apart from their holes.
    pub(crate) meaning: M,
}

/// A frame that a template matched.
#[derive(Debug)]
pub(crate) struct Piece<'a, S: Slot, M> {
    /// The frame's length.
    pub(crate) len: usize,
    /// The decoded text.
    pub(crate) text: &'a str,
    pub(crate) meaning: &'a M,
    /// The contents of all other holes.
    pub(crate) found: &'a S::Found,
}

/// An earlier frame with holes.
#[derive(Debug)]
struct Template<S, M> {
    /// The frame without its piece of text, which may be long.
    own: Vec<u8>,
    /// The holes, at their positions in `own`, where that of the text is empty.
    shape: Shape<S>,
    meaning: M,
}

/// The contents of the holes of a frame.
#[derive(Debug)]
struct Hit<F> {
    len: usize,
    text: (usize, usize),
    has_escapes: bool,
    found: F,
}

impl<S: Slot, M> Template<S, M> {
    /// A template that matches frames that differ from this one only in the holes.
    fn of(known: Known<'_, S, M>) -> Self {
        let Known { frame, mut shape, meaning } = known;
        let (mut own, mut from, mut left_out) = (Vec::new(), 0, 0);
        for Hole { slot, start, end } in &mut shape.holes {
            let kept_to = if slot.is_some() { *end } else { *start };
            own.extend_from_slice(frame.get(from..kept_to).unwrap_or_default());
            from = *end;
            *start -= left_out;
            left_out += *end - kept_to;
            *end -= left_out;
        }
        own.extend_from_slice(frame.get(from..).unwrap_or_default());
        Self { own, shape, meaning }
    }

    /// Whether `bytes` begin with a frame that this template matches; `hit` receives the contents of its holes.
    fn matches(&self, bytes: &[u8], hit: &mut Hit<S::Found>) -> bool {
        let (mut at, mut from) = (0, 0);
        for Hole { slot, start, end } in &self.shape.holes {
            let (Some(fixed), Some(rest)) = (self.own.get(from..*start), bytes.get(at..)) else {
                return false;
            };
            if !starts_with(rest, fixed) {
                return false;
            }
            at += fixed.len();
            from = *end;
            let Some(rest) = rest.get(fixed.len()..) else { return false };
            let len = match slot {
                None => RawStr::inside_len(rest).map(|(len, has_escapes)| {
                    hit.text = (at, at + len);
                    hit.has_escapes = has_escapes;
                    len
                }),
                Some(slot) => {
                    let earlier = self.own.get(*start..*end).unwrap_or_default();
                    slot.read(rest, earlier, at, &mut hit.found)
                }
            };
            let Some(len) = len else { return false };
            at += len;
        }
        let (Some(tail), Some(rest)) = (self.own.get(from..), bytes.get(at..)) else { return false };
        hit.len = at + tail.len();
        starts_with(rest, tail)
    }
}

/// Reads pieces of text with templates of earlier ones.
#[derive(Debug)]
pub(crate) struct Templates<S: Slot, M> {
    known: Vec<Template<S, M>>,
    /// The template that matched or was created last.
    recent: usize,
    /// What it found. Here, because copying it took as long as matching a short frame. Holes that the template does not
    /// have are empty.
    hit: Hit<S::Found>,
    /// A buffer for decoded text.
    text: String,
}

impl<S: Slot, M> Default for Templates<S, M> {
    fn default() -> Self {
        Self { known: Vec::new(), recent: 0, hit: Hit::empty(), text: String::new() }
    }
}

impl<F: Default> Hit<F> {
    fn empty() -> Self {
        Self { len: 0, text: (0, 0), has_escapes: false, found: F::default() }
    }
}

impl<S: Slot, M> Templates<S, M> {
    /// Reads the frame at the start of `bytes`. If no template matches it, `learn` reads it, so that one does. `None`
    /// for every other frame, and for text that is invalid.
    pub(crate) fn read<'a>(
        &'a mut self,
        bytes: &'a [u8],
        learn: impl FnOnce(&'a [u8]) -> Option<Known<'a, S, M>>,
    ) -> Option<Piece<'a, S, M>> {
        if !self.find(bytes) {
            let known = learn(bytes)?;
            self.add(Template::of(known));
            self.find(bytes).then_some(())?;
        }
        self.piece(bytes)
    }

    /// Whether a template matches the frame at the start of `bytes`.
    fn find(&mut self, bytes: &[u8]) -> bool {
        let recent = self.known.get(self.recent);
        recent.is_some_and(|recent| recent.matches(bytes, &mut self.hit)) || self.find_other(bytes)
    }

    fn find_other(&mut self, bytes: &[u8]) -> bool {
        for (at, template) in self.known.iter().enumerate() {
            self.hit = Hit::empty();
            if template.matches(bytes, &mut self.hit) {
                self.recent = at;
                return true;
            }
        }
        self.hit = Hit::empty();
        false
    }

    /// The piece in the frame that was found last.
    fn piece<'a>(&'a mut self, frame: &'a [u8]) -> Option<Piece<'a, S, M>> {
        let Self { known, recent, hit, text: buffer } = self;
        let meaning = &known.get(*recent)?.meaning;
        let raw = str::from_utf8(frame.get(hit.text.0..hit.text.1)?).ok()?;
        let (len, found) = (hit.len, &hit.found);
        if !hit.has_escapes {
            return Some(Piece { len, text: raw, meaning, found });
        }
        buffer.clear();
        RawStr::escaped(raw)?.unescape_into(buffer);
        Some(Piece { len, text: buffer, meaning, found })
    }

    fn add(&mut self, template: Template<S, M>) {
        if self.known.len() < MAX_TEMPLATES {
            self.recent = self.known.len();
            self.known.push(template);
            return;
        }
        self.recent = (self.recent + 1) % MAX_TEMPLATES;
        if let Some(replaced) = self.known.get_mut(self.recent) {
            *replaced = template;
        }
    }

    /// The number of templates.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.known.len()
    }
}

/// Whether `bytes` begins with `prefix`.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call costs as much as a comparison")]
pub(crate) fn starts_with(bytes: &[u8], prefix: &[u8]) -> bool {
    match bytes.get(..prefix.len()) {
        Some(head) => same(head, prefix),
        None => false,
    }
}

/// The digits at the start of `bytes`: their count, and their number; 0 if that is larger than JavaScript can count.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call costs as much as a few digits")]
pub(crate) fn whole_number(bytes: &[u8]) -> (usize, u64) {
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
