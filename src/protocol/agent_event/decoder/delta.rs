//! The hot path: a piece of text, read without building a document.
//!
//! Nearly every frame of a stream is such a piece. It differs from an earlier one of its kind only in its text and its
//! envelope, which is not reliable (section 1.2). So two readers come before the general one: a *template* of an
//! earlier frame, whose fixed parts are compared as bytes, and a *scan* of the JSON, which also creates the templates.
//! Each leaves everything that it does not fully know to the next one. Both must agree with the general reader; a
//! property test checks this.

use crate::json::{RawStr, Scanner};

use super::messages::DeltaField;

/// One template for each kind of piece, and one more for a second tool that is called at the same time.
const TEMPLATES: usize = 4;

/// The envelope's fields, which change from frame to frame and are ignored.
const ENVELOPE: [&str; 5] = ["run_id", "thread_id", "seq", "timestamp_ms", "step_id"];

/// A piece of text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) field: DeltaField,
    /// The call whose arguments it extends; empty for other fields.
    pub(super) call_id: &'a str,
    pub(super) text: &'a str,
}

/// Reads pieces of text.
#[derive(Debug, Default)]
pub(super) struct DeltaReader {
    templates: Vec<Template>,
    /// The template that matched or was created last.
    recent: usize,
    /// A buffer for decoded text.
    text: String,
}

impl DeltaReader {
    /// Reads `data` if it is a delta of any dialect, with no other data.
    pub(super) fn read<'a>(&'a mut self, data: &'a str) -> Option<Piece<'a>> {
        let text = if let Some(text) = self.matching(data) {
            text
        } else {
            let found = scan(data)?;
            self.learn(data, &found);
            found.text
        };
        let template = self.templates.get(self.recent)?;
        let text = if let Some(plain) = text.plain() {
            plain
        } else {
            self.text.clear();
            text.unescape_into(&mut self.text);
            &self.text
        };
        Some(Piece { field: template.field, call_id: &template.call_id, text })
    }

    /// The number of templates created.
    #[cfg(test)]
    pub(super) fn learnt(&self) -> usize {
        self.templates.len()
    }

    fn matching<'a>(&mut self, data: &'a str) -> Option<RawStr<'a>> {
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

/// A frame's fixed parts, with its field and call.
#[derive(Debug)]
struct Template {
    /// The fixed part before each variable.
    parts: Vec<(String, Variable)>,
    /// The fixed part after the last one.
    tail: String,
    field: DeltaField,
    call_id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variable {
    /// A number that is ignored.
    Number,
    /// A string that is ignored.
    String,
    /// The piece of text.
    Text,
}

impl Default for Template {
    fn default() -> Self {
        Self { parts: Vec::new(), tail: String::new(), field: DeltaField::Content, call_id: String::new() }
    }
}

impl Template {
    #[inline]
    fn read<'a>(&self, data: &'a str) -> Option<RawStr<'a>> {
        let mut rest = data;
        let mut text = None;
        for (part, variable) in &self.parts {
            rest = rest.strip_prefix(&**part)?;
            let mut scanner = Scanner::new(rest);
            match variable {
                Variable::Number => {
                    scanner.number().ok()?;
                }
                Variable::String => {
                    scanner.string().ok()?;
                }
                Variable::Text => text = Some(scanner.string().ok()?),
            }
            rest = rest.get(scanner.at()..)?;
        }
        if rest == self.tail { text } else { None }
    }

    fn set(&mut self, data: &str, found: &Found<'_>) {
        let text_end = found.text_at + found.text.raw().len() + 2;
        let mut variables = found.envelope.clone();
        let place = variables.iter().position(|(at, ..)| *at > found.text_at).unwrap_or(variables.len());
        variables.insert(place, (found.text_at, text_end, Variable::Text));
        let mut last = 0;
        self.parts.clear();
        for (at, end, variable) in variables {
            self.parts.push((data.get(last..at).unwrap_or_default().to_owned(), variable));
            last = end;
        }
        data.get(last..).unwrap_or_default().clone_into(&mut self.tail);
        found.call_id.clone_into(&mut self.call_id);
        self.field = found.field;
    }
}

/// A piece of text as the scan found it. Offsets are those of values, from their first byte to after their last.
struct Found<'a> {
    field: DeltaField,
    call_id: &'a str,
    text: RawStr<'a>,
    text_at: usize,
    envelope: Vec<(usize, usize, Variable)>,
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
fn scan(data: &str) -> Option<Found<'_>> {
    let mut scanner = Scanner::new(data);
    let (mut nested_type, mut flat_type) = (None, None);
    let (mut nested, mut flat) = (None, Payload::default());
    let mut envelope = Vec::new();
    scanner.begin_object().ok()?;
    let mut first = true;
    while let Some(key) = scanner.next_key(&mut first).ok()? {
        match key.plain()? {
            "type" => once(&mut nested_type, string(&mut scanner)?.1.plain()?)?,
            "event_type" => once(&mut flat_type, string(&mut scanner)?.1.plain()?)?,
            "data" => once(&mut nested, payload(&mut scanner)?)?,
            "event_kind" => return None,
            name if ENVELOPE.contains(&name) && envelope.len() < ENVELOPE.len() => {
                let variable = variable(&mut scanner)?;
                let at = scanner.at();
                scanner.skip_value().ok()?;
                envelope.push((at, scanner.at(), variable));
            }
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
    let (text_at, text) = text?;
    let call_id = if field == DeltaField::Arguments { payload.id? } else { "" };
    Some(Found { field, call_id, text, text_at, envelope })
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

/// The kinds of values that may replace the next one.
fn variable(scanner: &mut Scanner<'_>) -> Option<Variable> {
    match scanner.peek_value()? {
        b'"' => Some(Variable::String),
        b'-' | b'0'..=b'9' => Some(Variable::Number),
        _ => None,
    }
}

fn string<'a>(scanner: &mut Scanner<'a>) -> Option<(usize, RawStr<'a>)> {
    (scanner.peek_value()? == b'"').then_some(())?;
    let at = scanner.at();
    Some((at, scanner.string().ok()?))
}

/// Sets what may be set once; the general reader handles repeated fields.
fn once<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.replace(value).is_none().then_some(())
}
