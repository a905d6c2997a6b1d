//! The hot path: a delta that carries one piece of text, read without building a document.
//!
//! Nearly every frame of a stream is such a delta, and it differs from an earlier one of the same
//! message in nothing but its text and its time. So two readers stand before the general one of
//! [`canonical`](super::canonical): a *template* of an earlier delta, whose fixed parts are compared as bytes, and a
//! *scan* of the JSON, which also makes the templates. Whatever either does not know in full, it leaves
//! to the next; both must agree with the general reader, and a property test says so.

use crate::event::{TextDelta, TextField};
use crate::json::{RawStr, Scanner, parse_u64};

use super::schema::MAX_TOOL_CALLS;

/// One template for each message that streams at a time; sub-agents run five abreast.
const TEMPLATES: usize = 6;

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
    /// Reads `data` if it is a delta with exactly one piece of text and nothing else of note.
    pub(super) fn read<'a>(&'a mut self, data: &'a str) -> Option<TextDelta<'a>> {
        let (created_at, text) = if let Some(variables) = self.matching(data) {
            variables
        } else {
            let found = scan(data)?;
            self.learn(data, &found);
            (found.created_at.map(RawStr::raw), found.text)
        };
        let template = self.templates.get(self.recent)?;
        let text = if let Some(plain) = text.plain() {
            plain
        } else {
            self.text.clear();
            text.unescape_into(&mut self.text);
            &self.text
        };
        Some(TextDelta {
            id: &template.id,
            thread_id: &template.thread_id,
            created_at,
            field: template.field,
            text,
        })
    }

    fn matching<'a>(&mut self, data: &'a str) -> Option<(Option<&'a str>, RawStr<'a>)> {
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

    fn learn(&mut self, data: &str, found: &Found<'_>) {
        if self.templates.len() < TEMPLATES {
            self.recent = self.templates.len();
            self.templates.push(Template::default());
        } else {
            self.recent = (self.recent + 1) % TEMPLATES;
        }
        if let Some(template) = self.templates.get_mut(self.recent) {
            template.set(data, found);
        }
    }
}

/// A delta's fixed parts, with the id, thread and field that they spell.
#[derive(Debug)]
struct Template {
    /// Up to the first variable string.
    head: String,
    /// Between the two variable strings; unused when there is only one.
    middle: String,
    /// After the last variable string.
    tail: String,
    order: Order,
    id: String,
    thread_id: String,
    field: TextField,
}

/// Which variable strings there are, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Text,
    TextTime,
    TimeText,
}

impl Default for Template {
    fn default() -> Self {
        Self {
            head: String::new(),
            middle: String::new(),
            tail: String::new(),
            order: Order::Text,
            id: String::new(),
            thread_id: String::new(),
            field: TextField::Content,
        }
    }
}

impl Template {
    #[inline]
    fn read<'a>(&self, data: &'a str) -> Option<(Option<&'a str>, RawStr<'a>)> {
        let rest = data.strip_prefix(&*self.head)?;
        let (first, rest) = variable(rest)?;
        let (second, rest) = if self.order == Order::Text {
            (None, rest)
        } else {
            let (second, rest) = variable(rest.strip_prefix(&*self.middle)?)?;
            (Some(second), rest)
        };
        if rest != self.tail {
            return None;
        }
        let (time, text) = match (self.order, second) {
            (Order::TimeText, Some(text)) => (Some(first), text),
            (_, time) => (time, first),
        };
        Some((time.map(RawStr::plain).map_or(Some(None), |time| time.map(Some))?, text))
    }

    fn set(&mut self, data: &str, found: &Found<'_>) {
        let text = (found.text_at, found.text.raw());
        let time = found.created_at.map(|time| (found.created_at_at, time.raw()));
        let (first, second) = match time {
            Some(time) if time.0 < text.0 => {
                self.order = Order::TimeText;
                (time, Some(text))
            }
            Some(time) => {
                self.order = Order::TextTime;
                (text, Some(time))
            }
            None => {
                self.order = Order::Text;
                (text, None)
            }
        };
        let mut end = set(&mut self.head, data, 0, first);
        if let Some(second) = second {
            end = set(&mut self.middle, data, end, second);
        }
        replace(&mut self.tail, data.get(end..).unwrap_or_default());
        replace(&mut self.id, found.id);
        replace(&mut self.thread_id, found.thread_id);
        self.field = found.field;
    }
}

/// Keeps the fixed part before a variable string, and gives the offset after its closing quote.
fn set(part: &mut String, data: &str, start: usize, (at, raw): (usize, &str)) -> usize {
    replace(part, data.get(start..at).unwrap_or_default());
    at + raw.len() + 2
}

fn replace(target: &mut String, text: &str) {
    target.clear();
    target.push_str(text);
}

/// Reads a string off the front, and gives what follows its closing quote.
#[inline]
fn variable(text: &str) -> Option<(RawStr<'_>, &str)> {
    let mut scanner = Scanner::new(text);
    let string = scanner.string().ok()?;
    Some((string, text.get(scanner.at()..)?))
}

/// A text delta as the scan found it. Offsets are those of opening quotes.
struct Found<'a> {
    id: &'a str,
    thread_id: &'a str,
    created_at: Option<RawStr<'a>>,
    created_at_at: usize,
    field: TextField,
    text: RawStr<'a>,
    text_at: usize,
}

/// A string and the offset of its opening quote.
type Placed<'a> = (usize, RawStr<'a>);

/// Walks the object. `None` for everything that is not exactly a text delta: other types, other
/// fields that are not null, a field twice, escapes in an id, broken JSON.
fn scan(data: &str) -> Option<Found<'_>> {
    let mut scanner = Scanner::new(data);
    let (mut kind, mut id, mut thread_id, mut created_at) = (None, None, None, None);
    let mut piece: Option<(TextField, Placed<'_>)> = None;
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
        match key.plain()? {
            "type" => once(&mut kind, string(&mut scanner)?)?,
            "id" => once(&mut id, string(&mut scanner)?)?,
            "thread_id" => once(&mut thread_id, string(&mut scanner)?)?,
            "created_at" => once(&mut created_at, string(&mut scanner)?)?,
            "content" => once(&mut piece, (TextField::Content, string(&mut scanner)?))?,
            "reasoning_content" => once(&mut piece, (TextField::Reasoning, string(&mut scanner)?))?,
            "tool_calls" => once(&mut piece, tool_calls(&mut scanner)?)?,
            _ => return None,
        }
    }
    scanner.finish().ok()?;
    let (field, (text_at, text)) = piece?;
    let is_delta = kind?.1.plain() == Some("model.message.delta");
    let (created_at_at, created_at) = created_at.map_or((0, None), |(at, time): Placed<'_>| (at, Some(time)));
    let plain_time = created_at.is_none_or(|time| !time.has_escapes());
    (is_delta && plain_time).then_some(())?;
    Some(Found {
        id: id?.1.plain()?,
        thread_id: match thread_id {
            Some((_, thread)) => thread.plain()?,
            None => "main",
        },
        created_at,
        created_at_at,
        field,
        text,
        text_at,
    })
}

/// A bit for each field that a text delta may have, or have as null.
fn nullable(name: &str) -> u8 {
    match name {
        "thread_id" => 1,
        "created_at" => 2,
        "content" => 4,
        "reasoning_content" => 8,
        "tool_calls" => 16,
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
    let at = scanner.at();
    Some((at, scanner.string().ok()?))
}

/// Sets what may be set once: of a field that comes twice, the general reader knows what to make.
fn once<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.replace(value).is_none().then_some(())
}
