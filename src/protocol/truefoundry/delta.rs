//! The hot path: a delta that carries one piece of text, read without building a document.
//!
//! Nearly every frame of a stream is such a delta. [`Templates`] of earlier frames stand before the general
//! reader of [`canonical`](super::canonical); a *scan* of the JSON makes them. Whatever the scan does not know
//! in full, it leaves to the general reader; both must agree with that, and a property test says so.

use crate::event::{TextDelta, TextField};
use crate::json::{RawStr, Scanner, parse_u64};
use crate::protocol::EventSink;
use crate::protocol::template::{Shape, Slot, Templates};
use crate::sse::{Run, WholeFrame};

use super::canonical::{NUMBER, sequence_number};
use super::counting;
use super::schema::MAX_TOOL_CALLS;

/// Reads text deltas.
#[derive(Debug, Default)]
pub(super) struct DeltaReader {
    templates: Templates,
}

impl DeltaReader {
    /// Reads the data of one frame, if it is a delta with exactly one piece of text. Returns the number in its JSON
    /// beside it; 0 if there is none.
    pub(super) fn read<'a>(&'a mut self, data: &'a str) -> Option<(u64, TextDelta<'a>)> {
        let bytes = data.as_bytes();
        let mut hit = self.templates.find(bytes).filter(|hit| hit.len == bytes.len());
        if hit.is_none() {
            let (shape, found) = scan(data)?;
            self.templates.learn(bytes, &shape, found.id, found.thread_id, found.field);
            hit = self.templates.find(bytes).filter(|hit| hit.len == bytes.len());
        }
        let hit = hit?;
        Some((hit.number, self.templates.delta(bytes, &hit)?))
    }

    /// Takes as many whole frames off the front of `bytes` as are text deltas.
    pub(super) fn run(&mut self, bytes: &[u8], sink: &mut dyn EventSink) -> Run {
        let mut run = Run::default();
        while let Some(rest) = bytes.get(run.len..).filter(|rest| !rest.is_empty()) {
            let found = self.templates.find(rest);
            let Some(hit) = found.or_else(|| self.learn(rest).and_then(|()| self.templates.find(rest)))
            else {
                break;
            };
            let Some(delta) = self.templates.delta(rest, &hit) else {
                break;
            };
            let number = counting(hit.id_number, hit.number, sink);
            sink.delta(number, delta);
            if let Some((start, end)) = hit.id {
                run.id = Some((run.len + start, run.len + end));
            }
            run.len += hit.len;
        }
        run
    }

    /// Makes a template of the frame that `bytes` begin with, if it is a text delta.
    fn learn(&mut self, bytes: &[u8]) -> Option<()> {
        let frame = WholeFrame::of(bytes)?;
        let data = str::from_utf8(bytes.get(frame.data.0..frame.data.1)?).ok()?;
        let (mut shape, found) = scan(data)?;
        shape.shift(frame.data.0);
        if let Some((start, end)) = frame.id {
            let at = if start < frame.data.0 { 0 } else { shape.holes.len() };
            shape.holes.insert(at, Slot::FrameId.at(start, end));
        }
        self.templates.learn(bytes.get(..frame.len)?, &shape, found.id, found.thread_id, found.field);
        Some(())
    }
}

/// What a text delta says that its template keeps.
struct Found<'a> {
    id: &'a str,
    thread_id: &'a str,
    field: TextField,
}

/// The members that a text delta may have, each once. The last three cannot be what makes it a text delta.
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

/// Walks the object. `None` for everything that is not exactly a text delta: other types, other known
/// members that are not null, a known member twice, escapes in an id or a name, broken JSON.
fn scan(data: &str) -> Option<(Shape, Found<'_>)> {
    let mut scanner = Scanner::new(data);
    let mut shape = Shape::default();
    let (mut is_delta, mut id, mut thread_id, mut field) = (false, None, None, None);
    scanner.begin_object().ok()?;
    let mut first = true;
    let mut seen = 0_u16;
    let mut has_others = false;
    while let Some(key) = scanner.next_key(&mut first).ok()? {
        let name = key.plain()?;
        let Some(known) = MEMBERS.iter().position(|known| *known == name) else {
            has_others = true;
            let _ = scanner.peek_value();
            let start = scanner.at();
            scanner.skip_value().ok()?;
            shape.hole(Slot::Other, start, scanner.at());
            continue;
        };
        // Once as text and once as null is twice, too.
        (seen & 1 << known == 0).then_some(())?;
        seen |= 1 << known;
        if scanner.peek_value() == Some(b'n') {
            // A null says as little as a missing member; but not for those that a delta must have.
            (known > 1).then_some(())?;
            scanner.accept_literal("null").then_some(())?;
            continue;
        }
        match name {
            // Most other events say first what they are, and are long.
            "type" => (string(&mut scanner)?.1.plain()? == "model.message.delta").then(|| is_delta = true)?,
            "id" => id = Some(string(&mut scanner)?.1.plain()?),
            "thread_id" => thread_id = Some(string(&mut scanner)?.1.plain()?),
            "created_at" => {
                let (at, time) = string(&mut scanner)?;
                let time = time.plain()?;
                shape.hole(Slot::Time, at, at + time.len());
            }
            NUMBER => {
                let _ = scanner.peek_value();
                let at = scanner.at();
                let number = scanner.number().ok()?;
                // One that is not valid is left to the general reader.
                (sequence_number(parse_u64(number.as_bytes())) > 0).then_some(())?;
                shape.hole(Slot::Number, at, at + number.len());
            }
            "content" => text(&mut scanner, &mut shape, &mut field, TextField::Content)?,
            "reasoning_content" => text(&mut scanner, &mut shape, &mut field, TextField::Reasoning)?,
            "tool_calls" => tool_calls(&mut scanner, &mut shape, &mut field)?,
            _ => return None,
        }
    }
    scanner.finish().ok()?;
    is_delta.then_some(())?;
    if has_others {
        // Such an event is handed on as it came, so nothing may be missing that is filled in otherwise.
        thread_id?;
        shape.holes.insert(0, Slot::Edge.at(0, 0));
        shape.hole(Slot::Edge, data.len(), data.len());
    }
    Some((shape, Found { id: id?, thread_id: thread_id.unwrap_or("main"), field: field? }))
}

/// The piece of text, which a delta has once.
fn text(
    scanner: &mut Scanner<'_>,
    shape: &mut Shape,
    field: &mut Option<TextField>,
    is: TextField,
) -> Option<()> {
    let (at, text) = string(scanner)?;
    shape.hole(Slot::Text, at, at + text.raw().len());
    field.replace(is).is_none().then_some(())
}

/// `[{"index": n, "function": {"arguments": "…"}}]` and nothing else.
fn tool_calls(scanner: &mut Scanner<'_>, shape: &mut Shape, field: &mut Option<TextField>) -> Option<()> {
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

fn function(scanner: &mut Scanner<'_>, shape: &mut Shape) -> Option<()> {
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
