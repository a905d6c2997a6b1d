//! The hot path: a piece of text, read without building a document.
//!
//! Nearly every frame of a stream is such a piece. It differs from an earlier one of its kind only in its text and its
//! envelope, which is not reliable (section 1.2). So [`Templates`] of earlier frames come before the general reader; a
//! *scan* of the JSON creates them, and leaves everything that it does not fully know to the general reader. Both must
//! agree with that reader; property tests check this.

use crate::json::{RawStr, Scanner};
use crate::protocol::template::{self, Known, Shape, Slot, Templates, whole_number};
use crate::sse::{WholeFrame, line_len};

use super::messages::DeltaField;

/// The envelope's fields, which change from frame to frame and are ignored.
const ENVELOPE: [&str; 5] = ["run_id", "thread_id", "seq", "timestamp_ms", "step_id"];

/// A piece of text.
pub(super) type Piece<'a> = template::Piece<'a, Varying, Meaning>;

/// What all pieces of a template are pieces of.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    pub(super) field: DeltaField,
    /// The call whose arguments they extend; empty for other fields.
    pub(super) call_id: String,
}

/// What differs between the frames of pieces, apart from the text.
#[derive(Debug, Clone, Copy)]
pub(super) enum Varying {
    /// A whole number that is ignored.
    Number,
    /// The inside of a string that is ignored.
    String,
    /// The value of the frame's `id` line.
    FrameId,
}

/// The contents of a frame's holes.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The position of the frame's id.
    pub(super) id: Option<(usize, usize)>,
}

impl Slot for Varying {
    type Found = Found;

    fn read(self, rest: &[u8], _: &[u8], at: usize, found: &mut Found) -> Option<usize> {
        match self {
            Self::Number => {
                let (len, _) = whole_number(rest);
                // A number in JSON does not begin with 0.
                (len == 1 || len > 0 && rest.first() != Some(&b'0')).then_some(len)
            }
            Self::String => match RawStr::inside_len(rest)? {
                (len, false) => Some(len),
                (len, true) => RawStr::escaped(str::from_utf8(rest.get(..len)?).ok()?).map(|_| len),
            },
            Self::FrameId => {
                let len = line_len(rest)?;
                let id = rest.get(..len)?;
                // The standard ignores an id with this character.
                (!id.contains(&0) && str::from_utf8(id).is_ok()).then_some(())?;
                found.id = Some((at, at + len));
                Some(len)
            }
        }
    }
}

/// Reads pieces of text.
#[derive(Debug, Default)]
pub(super) struct DeltaReader {
    templates: Templates<Varying, Meaning>,
}

impl DeltaReader {
    /// Reads the part at the start of `bytes`, if it is a delta of any dialect, with no other data.
    pub(super) fn read<'a>(&'a mut self, bytes: &'a [u8], part: Part) -> Option<Piece<'a>> {
        let piece = self.templates.read(bytes, |bytes| known(bytes, part))?;
        (part == Part::Frame || piece.len == bytes.len()).then_some(piece)
    }

    /// The number of templates.
    #[cfg(test)]
    pub(super) fn learnt(&self) -> usize {
        self.templates.count()
    }
}

/// What is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A whole frame.
    Frame,
    /// All data of a frame.
    Data,
}

/// Reads the part at the start of `bytes`, if it is a simple delta.
fn known(bytes: &[u8], part: Part) -> Option<Known<'_, Varying, Meaning>> {
    let frame = match part {
        Part::Frame => WholeFrame::of(bytes)?,
        Part::Data => WholeFrame { data: (0, bytes.len()), len: bytes.len(), ..WholeFrame::default() },
    };
    let data = str::from_utf8(bytes.get(frame.data.0..frame.data.1)?).ok()?;
    let (mut shape, meaning) = scan(data)?;
    shape.shift(frame.data.0);
    if let Some((start, end)) = frame.id {
        shape.hole(Varying::FrameId, start, end);
    }
    Some(Known { frame: bytes.get(..frame.len)?, shape, meaning })
}

/// The fields that a delta's payload may have.
#[derive(Default)]
struct Payload<'a> {
    delta: Option<(usize, RawStr<'a>)>,
    args_delta: Option<(usize, RawStr<'a>)>,
    id: Option<&'a str>,
}

/// Walks the object. `None` for everything that is not a simple delta: other types, a repeated field, escapes in names,
/// objects and lists in the wrong place, invalid JSON.
fn scan(data: &str) -> Option<(Shape<Varying>, Meaning)> {
    let mut scanner = Scanner::new(data);
    let (mut nested_type, mut flat_type) = (None, None);
    let (mut nested, mut flat) = (None, Payload::default());
    let mut shape = Shape::new();
    scanner.begin_object().ok()?;
    let mut first = true;
    while let Some(key) = scanner.next_key(&mut first).ok()? {
        match key.plain()? {
            "type" => once(&mut nested_type, string(&mut scanner)?.1.plain()?)?,
            "event_type" => once(&mut flat_type, string(&mut scanner)?.1.plain()?)?,
            "data" => once(&mut nested, payload(&mut scanner)?)?,
            "event_kind" => return None,
            name if ENVELOPE.contains(&name) => envelope(&mut scanner, &mut shape)?,
            name => flat.field(name, &mut scanner)?,
        }
    }
    scanner.finish().ok()?;
    let (kind, payload) = match (flat_type, nested_type) {
        (Some(kind), None) => (kind, flat),
        (None, Some(kind)) => (kind, nested?),
        _ => return None,
    };
    let (field, text) = match kind {
        "text_delta" => (DeltaField::Content, payload.delta),
        "reasoning_delta" => (DeltaField::Reasoning, payload.delta),
        "tool_call_delta" => (DeltaField::Arguments, payload.args_delta),
        _ => return None,
    };
    let (at, text) = text?;
    shape.text(at, at + text.raw().len());
    let call_id = if field == DeltaField::Arguments { payload.id? } else { "" };
    Some((shape, Meaning { field, call_id: call_id.to_owned() }))
}

fn payload<'a>(scanner: &mut Scanner<'a>) -> Option<Payload<'a>> {
    let mut payload = Payload::default();
    scanner.begin_object().ok()?;
    let mut first = true;
    while let Some(key) = scanner.next_key(&mut first).ok()? {
        payload.field(key.plain()?, scanner)?;
    }
    Some(payload)
}

impl<'a> Payload<'a> {
    /// Reads a field's value. Skips one that is ignored, unless it is an object or a list.
    fn field(&mut self, name: &str, scanner: &mut Scanner<'a>) -> Option<()> {
        match name {
            "delta" => once(&mut self.delta, string(scanner)?),
            "args_delta" => once(&mut self.args_delta, string(scanner)?),
            "id" => once(&mut self.id, string(scanner)?.1.plain()?),
            _ if matches!(scanner.peek_value()?, b'{' | b'[') => None,
            _ => scanner.skip_value().ok(),
        }
    }
}

/// Reads a field of the envelope, which may have any value of its kind.
fn envelope(scanner: &mut Scanner<'_>, shape: &mut Shape<Varying>) -> Option<()> {
    if scanner.peek_value()? == b'"' {
        let (at, value) = string(scanner)?;
        shape.hole(Varying::String, at, at + value.raw().len());
    } else {
        let at = scanner.at();
        scanner.number().ok()?;
        shape.hole(Varying::Number, at, scanner.at());
    }
    Some(())
}

/// A string, and the offset of its inside.
fn string<'a>(scanner: &mut Scanner<'a>) -> Option<(usize, RawStr<'a>)> {
    (scanner.peek_value()? == b'"').then_some(())?;
    let at = scanner.at() + 1;
    Some((at, scanner.string().ok()?))
}

/// Sets what may be set once; the general reader handles repeated fields.
fn once<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.replace(value).is_none().then_some(())
}
