//! The hot path: a piece of an item, read without building a document.
//!
//! The gateway adds the whole text so far to each piece, as a document (`markdown`), so a frame is as long as the
//! message. The reader knows what follows the document, and so skips it unread. All other frames go to the general
//! reader. Both must agree; a property test checks this.

use crate::json::{Object, RawStr, Scanner, Value};
use crate::protocol::fields::{Problem, optional_text, put, text};

use super::super::fields::first_text;

/// What a piece extends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source<'a> {
    /// The text of an answer.
    Text,
    /// The text of reasoning.
    Reasoning,
    /// The end of a part of reasoning.
    Part,
    /// The output of a call on this stream.
    Output(&'a str),
}

/// A piece of an item.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    pub(super) method: &'a str,
    pub(super) item_id: &'a str,
    pub(super) source: Source<'a>,
    pub(super) text: &'a str,
    /// Further data of a tool.
    pub(super) payload: Option<Value<'a>>,
}

/// The methods, with the default stream.
const METHODS: [(&str, &str); 11] = [
    ("item/agent_message/delta", "agent_message"),
    ("item/agentMessage/delta", "agent_message"),
    ("item/reasoning/summaryTextDelta", "generic"),
    ("item/reasoning/textDelta", "generic"),
    ("item/reasoning/summaryPartAdded", "part"),
    ("item/command_execution/output_delta", "stdout"),
    ("item/commandExecution/outputDelta", "output"),
    ("item/file_change/output_delta", "file_change"),
    ("item/fileChange/outputDelta", "file_change"),
    ("item/tool/progress", "tool_progress"),
    ("item/mcpToolCall/progress", "tool_progress"),
];

/// Whether a notification is a piece of an item.
pub(super) fn is_delta(method: &str) -> bool {
    METHODS.iter().any(|(known, _)| *known == method)
}

impl<'a> Source<'a> {
    fn of(method: &str, stream: &'a str) -> Option<Self> {
        let (_, default) = METHODS.iter().find(|(known, _)| *known == method)?;
        Some(match if stream.is_empty() { default } else { stream } {
            "agent_message" => Self::Text,
            "generic" => Self::Reasoning,
            "part" => Self::Part,
            stream => Self::Output(stream),
        })
    }
}

impl<'a> Piece<'a> {
    /// Reads a notification as a piece.
    pub(super) fn of(method: &'a str, params: &'a Object<'_>) -> Result<Self, Problem> {
        let stream = optional_text(params, "stream")?.unwrap_or_default();
        let source = Source::of(method, stream).ok_or("it is no delta")?;
        let item_id = first_text(params, "item_id, itemId");
        if item_id.is_empty() {
            return Err("the item's id is missing".to_owned());
        }
        let name = if method == "item/mcpToolCall/progress" { "message" } else { "delta" };
        Ok(Self {
            method,
            item_id,
            source,
            text: if source == Source::Part { "\n\n" } else { text(params, name)? },
            payload: params.get("payload").filter(|payload| !payload.is_null()).cloned(),
        })
    }

    /// The piece as JSON, for an event about an unreadable piece.
    pub(super) fn to_value(&self) -> Value<'static> {
        let mut piece = Object::new();
        put(&mut piece, "item_id", self.item_id);
        put(&mut piece, "delta", self.text);
        piece.into()
    }
}

/// Reads pieces of text.
#[derive(Debug, Default)]
pub(super) struct DeltaReader {
    /// A buffer for decoded text.
    text: String,
}

/// What the gateway writes after the document.
const AFTER_MARKDOWN: &str = ",\"markdown_version\":1}}";

/// What a message says besides its piece of text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Found<'a> {
    method: &'a str,
    pub(super) thread_id: &'a str,
    pub(super) turn_id: &'a str,
    pub(super) item_id: &'a str,
    stream: &'a str,
    payload: Option<&'a str>,
}

impl<'a> Found<'a> {
    /// Whether everything before the document was read that must be.
    fn is_whole(&self) -> bool {
        let has_payload = self.payload.is_some() || matches!(self.stream, "agent_message" | "generic");
        !self.stream.is_empty() && has_payload
    }

    /// The piece of text that the message is.
    fn piece(self, text: &'a str) -> Option<Piece<'a>> {
        let source = Source::of(self.method, self.stream)?;
        if source == Source::Part || self.item_id.is_empty() {
            return None;
        }
        let payload = match self.payload {
            None | Some("null") => None,
            Some(payload) => Some(Value::parse(payload).ok()?),
        };
        Some(Piece { method: self.method, item_id: self.item_id, source, text, payload })
    }
}

/// A message that is a piece in its simple form, and its parts, as
/// [`EventDecoder::template`](crate::protocol::EventDecoder::template) has them, if nothing else varies than holes.
pub(super) fn parts(data: &str) -> Option<(Found<'_>, String)> {
    let (found, _, parts) = Scan::new(data, true).run()?;
    found.piece("")?;
    Some((found, parts?))
}

impl DeltaReader {
    /// Reads `data` if it is a piece in its simple form. Returns also the ids of its thread and turn.
    pub(super) fn read<'a>(&'a mut self, data: &'a str) -> Option<((&'a str, &'a str), Piece<'a>)> {
        let (found, text, _) = Scan::new(data, false).run()?;
        Some(((found.thread_id, found.turn_id), found.piece(text_of(text, &mut self.text))?))
    }

    /// Takes the first string of `texts`, which has the inside of each, and the quote after it.
    pub(super) fn take_text<'a, 't: 'a>(&'a mut self, texts: &mut &'t str) -> Option<&'a str> {
        let (len, has_escapes) = RawStr::inside_len(texts.as_bytes())?;
        let (inside, rest) = texts.split_at_checked(len)?;
        let text = if has_escapes { text_of(RawStr::escaped(inside)?, &mut self.text) } else { inside };
        *texts = rest.get(1..)?;
        Some(text)
    }
}

/// The text of a string, decoded in `buffer` if it has escapes.
fn text_of<'a>(text: RawStr<'a>, buffer: &'a mut String) -> &'a str {
    if let Some(plain) = text.plain() {
        return plain;
    }
    buffer.clear();
    text.unescape_into(buffer);
    buffer
}

/// Reads a message once, from its beginning.
struct Scan<'a> {
    data: &'a str,
    scanner: Scanner<'a>,
    found: Found<'a>,
    text: Option<RawStr<'a>>,
    /// The parts before the holes so far, if they are wanted, and if nothing varies outside of holes.
    parts: Option<String>,
    /// Where the next part begins.
    part: usize,
}

/// What a message says, its text, and its parts.
type Scanned<'a> = (Found<'a>, RawStr<'a>, Option<String>);

impl<'a> Scan<'a> {
    fn new(data: &'a str, wants_parts: bool) -> Self {
        Self {
            data,
            scanner: Scanner::new(data),
            found: Found::default(),
            text: None,
            parts: wants_parts.then(|| "\0".to_owned()),
            part: 0,
        }
    }

    /// Returns `None` if the message is not in the simple form: other members, repeated members, escapes in names or ids,
    /// or broken JSON before the text.
    fn run(mut self) -> Option<Scanned<'a>> {
        let mut has_params = false;
        self.scanner.begin_object().ok()?;
        let mut first = true;
        while let Some(key) = self.scanner.next_key(&mut first).ok()? {
            match key.plain()? {
                "jsonrpc" => _ = self.string()?,
                "method" => {
                    let method = self.once(self.found.method)?;
                    if !is_delta(method) {
                        return None;
                    }
                    self.found.method = method;
                }
                "params" if !has_params && !self.found.method.is_empty() => {
                    has_params = true;
                    if self.params()? {
                        return self.end();
                    }
                }
                "emittedAtMs" => self.number()?,
                _ => return None,
            }
        }
        self.scanner.finish().ok()?;
        self.end()
    }

    fn end(mut self) -> Option<Scanned<'a>> {
        self.end_part(self.data.len());
        Some((self.found, self.text?, self.parts))
    }

    /// A part of the message ends here.
    fn end_part(&mut self, end: usize) {
        if let Some(parts) = &mut self.parts {
            parts.push_str(self.data.get(self.part..end).unwrap_or_default());
        }
    }

    /// Here is a hole, of this kind.
    fn hole(&mut self, start: usize, kind: &str, end: usize) {
        self.end_part(start);
        if let Some(parts) = &mut self.parts {
            parts.push_str(kind);
        }
        self.part = end;
    }

    /// Returns whether the message ends with its parameters.
    fn params(&mut self) -> Option<bool> {
        self.scanner.begin_object().ok()?;
        let mut first = true;
        while let Some(key) = self.scanner.next_key(&mut first).ok()? {
            match key.plain()? {
                "workspace_id" => _ = self.string()?,
                "thread_id" | "threadId" => self.found.thread_id = self.once(self.found.thread_id)?,
                "turn_id" | "turnId" => self.found.turn_id = self.once(self.found.turn_id)?,
                "item_id" | "itemId" => self.found.item_id = self.once(self.found.item_id)?,
                "stream" => self.found.stream = self.once(self.found.stream)?,
                "delta" if self.text.is_none() => {
                    let text = self.string()?;
                    let end = self.scanner.at() - 1;
                    self.hole(end - text.raw().len(), "\0t", end);
                    self.text = Some(text);
                }
                "payload" if self.found.payload.is_none() => {
                    self.parts = None;
                    self.found.payload = Some(self.scanner.raw_value().ok()?);
                }
                "summaryIndex" | "contentIndex" | "markdown_version" => self.number()?,
                "markdown" => {
                    let is_last = self.text.is_some() && self.found.is_whole();
                    if is_last && self.data.ends_with(AFTER_MARKDOWN) {
                        let end = self.data.len() - AFTER_MARKDOWN.len();
                        self.hole(self.scanner.at(), "\0r", end);
                        return Some(true);
                    }
                    self.parts = None;
                    self.scanner.skip_value().ok()?;
                }
                _ => return None,
            }
        }
        Some(false)
    }

    fn number(&mut self) -> Option<()> {
        let number = self.scanner.number().ok()?;
        let end = self.scanner.at();
        // Numbers with a sign or a fraction do not vary.
        if number.bytes().all(|byte| byte.is_ascii_digit()) {
            self.hole(end - number.len(), "\0n", end);
        }
        Some(())
    }

    fn string(&mut self) -> Option<RawStr<'a>> {
        (self.scanner.peek_value()? == b'"').then_some(())?;
        self.scanner.string().ok()
    }

    /// Reads a member that may be set once and has no escapes; other cases go to the general reader.
    fn once(&mut self, known: &str) -> Option<&'a str> {
        let text = self.string()?.plain()?;
        (known.is_empty() && !text.is_empty()).then_some(text)
    }
}
