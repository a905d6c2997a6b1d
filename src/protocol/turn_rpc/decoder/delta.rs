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
    pub(super) thread_id: &'a str,
    pub(super) turn_id: &'a str,
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

fn source<'a>(method: &str, stream: &'a str) -> Option<Source<'a>> {
    let (_, default) = METHODS.iter().find(|(known, _)| *known == method)?;
    Some(match if stream.is_empty() { default } else { stream } {
        "agent_message" => Source::Text,
        "generic" => Source::Reasoning,
        "part" => Source::Part,
        stream => Source::Output(stream),
    })
}

impl<'a> Piece<'a> {
    /// Reads a notification as a piece.
    pub(super) fn of(method: &'a str, params: &'a Object<'_>) -> Result<Self, Problem> {
        let stream = optional_text(params, "stream")?.unwrap_or_default();
        let source = source(method, stream).ok_or("it is no delta")?;
        let item_id = first_text(params, "item_id, itemId");
        if item_id.is_empty() {
            return Err("the item's id is missing".to_owned());
        }
        let name = if method == "item/mcpToolCall/progress" { "message" } else { "delta" };
        Ok(Self {
            method,
            thread_id: first_text(params, "thread_id, threadId"),
            turn_id: first_text(params, "turn_id, turnId"),
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

#[derive(Default)]
struct Found<'a> {
    method: &'a str,
    thread_id: &'a str,
    turn_id: &'a str,
    item_id: &'a str,
    stream: &'a str,
    text: Option<RawStr<'a>>,
    payload: Option<&'a str>,
}

impl Found<'_> {
    /// Whether everything before the document was read that must be.
    fn is_whole(&self) -> bool {
        let has_payload = self.payload.is_some() || matches!(self.stream, "agent_message" | "generic");
        self.text.is_some() && !self.stream.is_empty() && has_payload
    }
}

impl DeltaReader {
    /// Reads `data` if it is a piece in its simple form.
    pub(super) fn read<'a>(&'a mut self, data: &'a str) -> Option<Piece<'a>> {
        let found = scan(data)?;
        let source = source(found.method, found.stream)?;
        if source == Source::Part || found.item_id.is_empty() {
            return None;
        }
        let payload = match found.payload {
            None | Some("null") => None,
            Some(payload) => Some(Value::parse(payload).ok()?),
        };
        let text = found.text?;
        let text = if let Some(plain) = text.plain() {
            plain
        } else {
            self.text.clear();
            text.unescape_into(&mut self.text);
            &self.text
        };
        let Found { method, thread_id, turn_id, item_id, .. } = found;
        Some(Piece { method, thread_id, turn_id, item_id, source, text, payload })
    }
}

/// Reads the message. Returns `None` if it is not in the simple form: other members, repeated members, escapes in
/// names or ids, or broken JSON before the text.
fn scan(data: &str) -> Option<Found<'_>> {
    let mut scanner = Scanner::new(data);
    let mut found = Found::default();
    let mut has_params = false;
    scanner.begin_object().ok()?;
    let mut first = true;
    while let Some(key) = scanner.next_key(&mut first).ok()? {
        match key.plain()? {
            "jsonrpc" => _ = string(&mut scanner)?,
            "method" => {
                once(&mut found.method, &mut scanner)?;
                if !is_delta(found.method) {
                    return None;
                }
            }
            "params" if !has_params && !found.method.is_empty() => {
                has_params = true;
                if params(&mut found, &mut scanner, data)? {
                    return Some(found);
                }
            }
            "emittedAtMs" => _ = scanner.number().ok()?,
            _ => return None,
        }
    }
    scanner.finish().ok()?;
    Some(found)
}

/// Returns whether the message ends with its parameters.
fn params<'a>(found: &mut Found<'a>, scanner: &mut Scanner<'a>, data: &str) -> Option<bool> {
    scanner.begin_object().ok()?;
    let mut first = true;
    while let Some(key) = scanner.next_key(&mut first).ok()? {
        match key.plain()? {
            "workspace_id" => _ = string(scanner)?,
            "thread_id" | "threadId" => once(&mut found.thread_id, scanner)?,
            "turn_id" | "turnId" => once(&mut found.turn_id, scanner)?,
            "item_id" | "itemId" => once(&mut found.item_id, scanner)?,
            "stream" => once(&mut found.stream, scanner)?,
            "delta" if found.text.is_none() => found.text = Some(string(scanner)?),
            "payload" if found.payload.is_none() => found.payload = Some(scanner.raw_value().ok()?),
            "summaryIndex" | "contentIndex" | "markdown_version" => _ = scanner.number().ok()?,
            "markdown" if found.is_whole() && data.ends_with(AFTER_MARKDOWN) => return Some(true),
            "markdown" => scanner.skip_value().ok()?,
            _ => return None,
        }
    }
    Some(false)
}

fn string<'a>(scanner: &mut Scanner<'a>) -> Option<RawStr<'a>> {
    (scanner.peek_value()? == b'"').then_some(())?;
    scanner.string().ok()
}

/// Sets a member that may be set once and has no escapes; other cases go to the general reader.
fn once<'a>(place: &mut &'a str, scanner: &mut Scanner<'a>) -> Option<()> {
    let text = string(scanner)?.plain()?;
    if !place.is_empty() || text.is_empty() {
        return None;
    }
    *place = text;
    Some(())
}
