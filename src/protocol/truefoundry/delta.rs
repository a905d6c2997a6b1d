//! The hot path: a delta with one piece of text, read without building a document.
//!
//! Nearly every frame of a stream is such a delta. [`Templates`] of earlier frames come before the general reader of
//! [`canonical`](super::canonical); a *scan* of the JSON creates them. The scan leaves everything that it does not
//! fully know to the general reader. Both must agree with that reader; a property test checks this.

use crate::bytes::find_quote;
use crate::event::{OtherFields, TextDelta, TextField};
use crate::json::{RawStr, Scanner, parse_u64};
use crate::protocol::EventSink;
use crate::protocol::template::{Known, Piece, Shape, Templates};
use crate::sse::{Run, WholeFrame};

use super::canonical::{NUMBER, sequence_number};
use super::counting;
use super::schema::MAX_TOOL_CALLS;
use super::slots::{Found, Varying};

/// Reads text deltas.
#[derive(Debug, Default)]
pub(super) struct DeltaReader {
    templates: Templates<Varying, Meaning>,
    /// The number of templates created so far.
    made: u32,
    /// The fields of an event that differ from its outline. Its memory serves the next one.
    changed: String,
}

/// What a template says of its deltas, apart from what its holes contain.
#[derive(Debug)]
struct Meaning {
    id: String,
    thread_id: String,
    field: TextField,
    /// The JSON of the template's event, if it has fields that this version does not know; otherwise empty.
    outline: String,
    /// The number of this id and thread.
    source: u32,
}

impl DeltaReader {
    /// Passes on the data of one frame, if it is a delta with exactly one piece of text. `id` is the number that the
    /// frame has, or 0. Returns whether it is such a delta.
    pub(super) fn read(&mut self, data: &str, id: u64, sink: &mut dyn EventSink) -> bool {
        self.pass(data.as_bytes(), Part::Data(id), sink).is_some()
    }

    /// Takes as many whole frames at the start of `bytes` as are text deltas.
    pub(super) fn run(&mut self, bytes: &[u8], sink: &mut dyn EventSink) -> Run {
        let mut run = Run::default();
        while let Some(rest) = bytes.get(run.len..).filter(|rest| !rest.is_empty()) {
            let Some((len, id)) = self.pass(rest, Part::Frame, sink) else {
                break;
            };
            if let Some((start, end)) = id {
                run.id = Some((run.len + start, run.len + end));
            }
            run.len += len;
        }
        run
    }

    /// Passes on the text delta at the start of `bytes`. Returns its length, and the position of its frame's id.
    fn pass(
        &mut self,
        bytes: &[u8],
        part: Part,
        sink: &mut dyn EventSink,
    ) -> Option<(usize, Option<(usize, usize)>)> {
        let Self { templates, made, changed } = self;
        let piece = templates.read(bytes, |bytes| known(bytes, part, made))?;
        let delta = delta(&piece, bytes, changed)?;
        let Piece { len, found, .. } = piece;
        let id = match part {
            Part::Frame => found.id_number,
            Part::Data(id) => {
                (len == bytes.len()).then_some(())?;
                id
            }
        };
        let number = counting(id, found.number, sink);
        sink.delta(number, delta);
        Some((len, found.id))
    }
}

/// What is read.
#[derive(Clone, Copy)]
enum Part {
    /// A whole frame.
    Frame,
    /// A frame's data. The frame has this number as its id, or 0.
    Data(u64),
}

/// Reads the part at the start of `bytes`, if it is a text delta. `made` is the number of templates so far.
fn known<'a>(bytes: &'a [u8], part: Part, made: &mut u32) -> Option<Known<'a, Varying, Meaning>> {
    let frame = match part {
        Part::Frame => WholeFrame::of(bytes)?,
        Part::Data(_) => WholeFrame { data: (0, bytes.len()), len: bytes.len(), ..WholeFrame::default() },
    };
    let data = str::from_utf8(bytes.get(frame.data.0..frame.data.1)?).ok()?;
    let (mut shape, delta) = scan(data)?;
    let outline = if delta.has_others { data } else { "" }.to_owned();
    shape.shift(frame.data.0);
    if let Some((start, end)) = frame.id {
        shape.hole(Varying::FrameId, start, end);
    }
    *made = made.wrapping_add(1);
    let (id, thread_id) = (delta.id.to_owned(), delta.thread_id.to_owned());
    let meaning = Meaning { id, thread_id, field: delta.field, outline, source: *made };
    Some(Known { frame: bytes.get(..frame.len)?, shape, meaning })
}

/// The delta in a frame that a template matched. `None` if its text, or its JSON, is invalid.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call would copy the delta")]
fn delta<'a>(
    piece: &Piece<'a, Varying, Meaning>,
    frame: &'a [u8],
    changed: &'a mut String,
) -> Option<TextDelta<'a>> {
    let &Piece { text, meaning, found, .. } = piece;
    let Meaning { id, thread_id, field, outline, source } = meaning;
    let created_at = match found.time {
        Some((start, end)) => Some(str::from_utf8(frame.get(start..end)?).ok()?),
        None => None,
    };
    let others = if outline.is_empty() {
        None
    } else {
        write_changed(found, created_at, frame, changed)?;
        Some(OtherFields { outline, changed })
    };
    Some(TextDelta { id, thread_id, created_at, field: *field, text, others, source: *source })
}

/// Writes the fields that are not as in the outline, as an object; nothing if there are none.
fn write_changed(found: &Found, created_at: Option<&str>, frame: &[u8], changed: &mut String) -> Option<()> {
    changed.clear();
    if let Some(time) = created_at {
        changed.push_str("{\"created_at\":\"");
        changed.push_str(time);
        changed.push('"');
    }
    for (start, end) in &found.changed {
        changed.push(if changed.is_empty() { '{' } else { ',' });
        changed.push_str(str::from_utf8(frame.get(*start..*end)?).ok()?);
    }
    if !changed.is_empty() {
        changed.push('}');
    }
    Some(())
}

/// The parts of a text delta that its template keeps.
struct Delta<'a> {
    id: &'a str,
    thread_id: &'a str,
    field: TextField,
    /// Whether it has fields that this version does not know.
    has_others: bool,
}

/// The fields that a text delta may have, each once. The last three cannot make it a text delta.
const MEMBERS: [&str; 12] = [
    "type",
    "id",
    "thread_id",
    "created_at",
    NUMBER,
    "content",
    "reasoning_content",
    "tool_calls",
    "name",
    "refusal",
    "finish_reason",
    "usage",
];

/// Walks the object. `None` for everything that is not exactly a text delta: other types, other known fields that are
/// not null, a known field twice, escapes in an id or a name, invalid JSON.
fn scan(data: &str) -> Option<(Shape<Varying>, Delta<'_>)> {
    let mut scanner = Scanner::new(data);
    let mut shape = Shape::new();
    let (mut is_delta, mut id, mut thread_id, mut field) = (false, None, None, None);
    scanner.begin_object().ok()?;
    let mut first = true;
    let mut seen = 0_u16;
    let mut others = Vec::new();
    loop {
        let before = scanner.at();
        let Some(key) = scanner.next_key(&mut first).ok()? else { break };
        let name = key.plain()?;
        let Some(known) = MEMBERS.iter().position(|known| *known == name) else {
            // Of a field that comes twice, the last one counts, whichever has changed.
            (!others.contains(&name)).then_some(())?;
            others.push(name);
            let start = before + find_quote(data.as_bytes().get(before..)?)?;
            let _ = scanner.peek_value();
            let name_len = scanner.at() - start;
            scanner.skip_value().ok()?;
            shape.hole(Varying::Other(name_len), start, scanner.at());
            continue;
        };
        // Once as text and once as null also counts as twice.
        (seen & 1 << known == 0).then_some(())?;
        seen |= 1 << known;
        if scanner.peek_value() == Some(b'n') {
            // A null equals a missing field, except for the fields that a delta must have.
            (known > 1).then_some(())?;
            scanner.accept_literal("null").then_some(())?;
            continue;
        }
        match name {
            // Most other events begin with their type, and are long.
            "type" => (string(&mut scanner)?.1.plain()? == "model.message.delta").then(|| is_delta = true)?,
            "id" => id = Some(string(&mut scanner)?.1.plain()?),
            "thread_id" => thread_id = Some(string(&mut scanner)?.1.plain()?),
            "created_at" => {
                let (at, time) = string(&mut scanner)?;
                let time = time.plain()?;
                shape.hole(Varying::Time, at, at + time.len());
            }
            NUMBER => {
                let _ = scanner.peek_value();
                let at = scanner.at();
                let number = scanner.number().ok()?;
                // The general reader handles an invalid number.
                (sequence_number(parse_u64(number.as_bytes())) > 0).then_some(())?;
                shape.hole(Varying::Number, at, at + number.len());
            }
            "content" => text(&mut scanner, &mut shape, &mut field, TextField::Content)?,
            "reasoning_content" => text(&mut scanner, &mut shape, &mut field, TextField::Reasoning)?,
            "tool_calls" => tool_calls(&mut scanner, &mut shape, &mut field)?,
            _ => return None,
        }
    }
    scanner.finish().ok()?;
    is_delta.then_some(())?;
    let has_others = !others.is_empty();
    if has_others {
        // Such an event is passed on as it came, so it must not need a default.
        thread_id?;
        shape.hole(Varying::Start, 0, 0);
    }
    Some((shape, Delta { id: id?, thread_id: thread_id.unwrap_or("main"), field: field?, has_others }))
}

/// Sets the piece of text, which a delta has once.
fn text(
    scanner: &mut Scanner<'_>,
    shape: &mut Shape<Varying>,
    field: &mut Option<TextField>,
    is: TextField,
) -> Option<()> {
    let (at, text) = string(scanner)?;
    shape.text(at, at + text.raw().len());
    field.replace(is).is_none().then_some(())
}

/// `[{"index": n, "function": {"arguments": "…"}}]` and nothing else.
fn tool_calls(
    scanner: &mut Scanner<'_>,
    shape: &mut Shape<Varying>,
    field: &mut Option<TextField>,
) -> Option<()> {
    let (mut index, mut arguments) = (None, None);
    scanner.begin_array().ok()?;
    let mut first = true;
    if !scanner.next_element(&mut first).ok()? {
        return None;
    }
    scanner.begin_object().ok()?;
    let mut first_key = true;
    while let Some(key) = scanner.next_key(&mut first_key).ok()? {
        let is_first = match key.plain()? {
            "index" => index.replace(parse_u64(scanner.number().ok()?.as_bytes())?).is_none(),
            "function" => arguments.replace(function(scanner, shape)?).is_none(),
            _ => false,
        };
        is_first.then_some(())?;
    }
    if scanner.next_element(&mut first).ok()? {
        return None;
    }
    arguments?;
    let index = u32::try_from(index?).ok().filter(|index| *index < MAX_TOOL_CALLS)?;
    field.replace(TextField::Arguments(index)).is_none().then_some(())
}

fn function(scanner: &mut Scanner<'_>, shape: &mut Shape<Varying>) -> Option<()> {
    scanner.begin_object().ok()?;
    let mut arguments = None;
    let mut first = true;
    while let Some(key) = scanner.next_key(&mut first).ok()? {
        (key.plain()? == "arguments").then_some(())?;
        text(scanner, shape, &mut arguments, TextField::Content)?;
    }
    arguments.map(drop)
}

/// A string, and the offset of its inside.
fn string<'a>(scanner: &mut Scanner<'a>) -> Option<(usize, RawStr<'a>)> {
    (scanner.peek_value()? == b'"').then_some(())?;
    let at = scanner.at() + 1;
    Some((at, scanner.string().ok()?))
}
