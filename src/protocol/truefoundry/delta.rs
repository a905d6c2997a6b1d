//! The hot path: a delta that carries one piece of text, read without building a document.
//!
//! Nearly every frame of a stream is such a delta, and it differs from an earlier one of the same
//! message in nothing but its text, its time and its number. So two readers stand before the general one of
//! [`canonical`](super::canonical): a *template* of an earlier delta, whose fixed parts are compared as bytes, and a
//! *scan* of the JSON, which also makes the templates. Whatever either does not know in full, it leaves
//! to the next; both must agree with the general reader, and a property test says so.

use crate::event::{TextDelta, TextField};
use crate::json::{RawStr, Scanner, parse_u64};

use super::canonical::{NUMBER, sequence_number};
use super::schema::MAX_TOOL_CALLS;

/// One template for each message that streams at a time; sub-agents run five abreast.
const TEMPLATES: usize = 6;

/// Templates are kept, so that a longer delta makes none.
const MAX_LEARNT: usize = 4096;

/// Reads text deltas.
#[derive(Debug, Default)]
pub(super) struct DeltaReader {
    templates: Vec<Template>,
    /// The template that matched last, or was made last.
    recent: usize,
    /// Where a text with escapes is undone.
    text: String,
}

impl DeltaReader {
    /// Reads `data` if it is a delta with exactly one piece of text and nothing else of note. Returns the number
    /// that it says, 0 if it says none, and the delta.
    pub(super) fn read<'a>(&'a mut self, data: &'a str) -> Option<(u64, TextDelta<'a>)> {
        let (source, shape, variables) = if let Some(variables) = self.matching(data) {
            let template = self.templates.get(self.recent)?;
            (&*template.source, template.shape, variables)
        } else {
            let (shape, variables) = scan(data)?;
            self.learn(data, shape);
            (data, shape, variables)
        };
        let Variables { number, created_at, text } = variables;
        let text = if let Some(plain) = text.plain() {
            plain
        } else {
            self.text.clear();
            text.unescape_into(&mut self.text);
            &self.text
        };
        let delta = TextDelta {
            id: inside(source, shape.id),
            thread_id: shape.thread_id.map_or("main", |thread_id| inside(source, thread_id)),
            created_at,
            field: shape.field,
            text,
        };
        Some((number, delta))
    }

    fn matching<'a>(&mut self, data: &'a str) -> Option<Variables<'a>> {
        if let Some(found) = self.templates.get(self.recent)?.read(data) {
            return Some(found);
        }
        for (at, template) in self.templates.iter().enumerate() {
            if let Some(found) = template.read(data) {
                self.recent = at;
                return Some(found);
            }
        }
        None
    }

    fn learn(&mut self, data: &str, shape: Shape) {
        if data.len() > MAX_LEARNT {
            return;
        }
        if self.templates.len() < TEMPLATES {
            self.recent = self.templates.len();
            self.templates.push(Template { source: String::new(), shape });
        } else {
            self.recent = (self.recent + 1) % TEMPLATES;
        }
        if let Some(template) = self.templates.get_mut(self.recent) {
            template.source.clear();
            template.source.push_str(data);
            template.shape = shape;
        }
    }
}

/// What differs from delta to delta of a message.
#[derive(Debug, Clone, Copy)]
struct Variables<'a> {
    /// 0 if it says none.
    number: u64,
    created_at: Option<&'a str>,
    text: RawStr<'a>,
}

/// One of the variables.
#[derive(Debug, Clone, Copy)]
enum Variable {
    Text,
    Time,
    Number,
}

/// Where something begins and ends in the source; of a string, with its quotes.
type Span = (usize, usize);

/// What a delta says where.
#[derive(Debug, Clone, Copy)]
struct Shape {
    id: Span,
    thread_id: Option<Span>,
    field: TextField,
    /// The variables in their order. The rest is fixed.
    places: [Option<(Variable, Span)>; 3],
}

/// An earlier delta. Whatever differs from it in nothing but the variables has the same id, thread and field.
#[derive(Debug)]
struct Template {
    source: String,
    shape: Shape,
}

impl Template {
    #[inline]
    fn read<'a>(&self, data: &'a str) -> Option<Variables<'a>> {
        let (mut number, mut created_at, mut text) = (0, None, None);
        let (mut from, mut rest) = (0, data);
        for (variable, (start, end)) in self.shape.places.iter().flatten() {
            rest = rest.strip_prefix(self.source.get(from..*start)?)?;
            from = *end;
            let mut scanner = Scanner::new(rest);
            match variable {
                Variable::Text => text = Some(scanner.string().ok()?),
                Variable::Time => created_at = Some(scanner.string().ok()?.plain()?),
                Variable::Number => number = valid_number(&mut scanner)?,
            }
            rest = rest.get(scanner.at()..)?;
        }
        (rest == self.source.get(from..)?).then_some(Variables { number, created_at, text: text? })
    }
}

/// What is between the quotes of a string.
#[inline]
fn inside(source: &str, (start, end): Span) -> &str {
    source.get(start + 1..end - 1).unwrap_or_default()
}

/// A string, and where it is.
type Placed<'a> = (RawStr<'a>, Span);

/// Walks the object. `None` for everything that is not exactly a text delta: other types, other
/// fields that are not null, a field twice, escapes in an id, broken JSON.
fn scan(data: &str) -> Option<(Shape, Variables<'_>)> {
    let mut scanner = Scanner::new(data);
    let (mut kind, mut id, mut thread_id, mut created_at, mut number) = (None, None, None, None, None);
    let mut piece = None;
    let mut places = [None; 3];
    scanner.begin_object().ok()?;
    let mut first = true;
    let mut seen = 0_u8;
    while let Some(key) = scanner.next_key(&mut first).ok()? {
        // Once as text and once as null is twice, too.
        let bit = nullable(key.plain()?);
        if seen & bit != 0 {
            return None;
        }
        seen |= bit;
        if scanner.peek_value() == Some(b'n') {
            // A null says as little as a missing field; but not for the fields that a delta must have.
            if matches!(key.plain()?, "type" | "id") {
                return None;
            }
            scanner.accept_literal("null").then_some(())?;
            continue;
        }
        let (variable, span) = match key.plain()? {
            "type" => {
                once(&mut kind, string(&mut scanner)?.0)?;
                continue;
            }
            "id" => {
                once(&mut id, plain(&mut scanner)?.1)?;
                continue;
            }
            "thread_id" => {
                once(&mut thread_id, plain(&mut scanner)?.1)?;
                continue;
            }
            "created_at" => {
                let (time, span) = plain(&mut scanner)?;
                once(&mut created_at, time)?;
                (Variable::Time, span)
            }
            NUMBER => {
                let start = scanner.at();
                once(&mut number, valid_number(&mut scanner)?)?;
                (Variable::Number, (start, scanner.at()))
            }
            name => {
                let (field, (text, span)) = match name {
                    "content" => (TextField::Content, string(&mut scanner)?),
                    "reasoning_content" => (TextField::Reasoning, string(&mut scanner)?),
                    "tool_calls" => tool_calls(&mut scanner)?,
                    _ => return None,
                };
                once(&mut piece, (field, text))?;
                (Variable::Text, span)
            }
        };
        *places.iter_mut().find(|place| place.is_none())? = Some((variable, span));
    }
    scanner.finish().ok()?;
    let (field, text) = piece?;
    (kind?.plain() == Some("model.message.delta")).then_some(())?;
    let variables = Variables { number: number.unwrap_or(0), created_at, text };
    Some((Shape { id: id?, thread_id, field, places }, variables))
}

/// A bit for each field that a text delta may have, or have as null.
fn nullable(name: &str) -> u8 {
    match name {
        "thread_id" => 1,
        "created_at" => 2,
        "content" => 4,
        "reasoning_content" => 8,
        "tool_calls" => 16,
        NUMBER => 32,
        _ => 0,
    }
}

/// `[{"index": n, "function": {"arguments": "…"}}]` and nothing else.
fn tool_calls<'a>(scanner: &mut Scanner<'a>) -> Option<(TextField, Placed<'a>)> {
    let (mut index, mut arguments) = (None, None);
    scanner.begin_array().ok()?;
    let mut first = true;
    if !scanner.next_element(&mut first).ok()? {
        return None;
    }
    scanner.begin_object().ok()?;
    let mut first_key = true;
    while let Some(key) = scanner.next_key(&mut first_key).ok()? {
        match key.plain()? {
            "index" => once(&mut index, parse_u64(scanner.number().ok()?.as_bytes())?)?,
            "function" => once(&mut arguments, function(scanner)?)?,
            _ => return None,
        }
    }
    if scanner.next_element(&mut first).ok()? {
        return None;
    }
    let index = u32::try_from(index?).ok().filter(|index| *index < MAX_TOOL_CALLS)?;
    Some((TextField::Arguments(index), arguments?))
}

fn function<'a>(scanner: &mut Scanner<'a>) -> Option<Placed<'a>> {
    scanner.begin_object().ok()?;
    let mut arguments = None;
    let mut first = true;
    while let Some(key) = scanner.next_key(&mut first).ok()? {
        match key.plain()? {
            "arguments" => once(&mut arguments, string(scanner)?)?,
            _ => return None,
        }
    }
    arguments
}

fn string<'a>(scanner: &mut Scanner<'a>) -> Option<Placed<'a>> {
    (scanner.peek_value()? == b'"').then_some(())?;
    let start = scanner.at();
    Some((scanner.string().ok()?, (start, scanner.at())))
}

/// A string without escapes, and where it is.
fn plain<'a>(scanner: &mut Scanner<'a>) -> Option<(&'a str, Span)> {
    let (text, span) = string(scanner)?;
    Some((text.plain()?, span))
}

/// A sequence number. One that is not valid is left to the general reader.
fn valid_number(scanner: &mut Scanner<'_>) -> Option<u64> {
    let number = sequence_number(parse_u64(scanner.number().ok()?.as_bytes()));
    (number > 0).then_some(number)
}

/// Sets what may be set once: of a field that comes twice, the general reader knows what to make.
fn once<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.replace(value).is_none().then_some(())
}
