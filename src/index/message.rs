//! A message of the index, and the tool calls in it.

use crate::json::{ObjectWriter, write_str};

use super::named::NamedJson;

/// JSON text that is kept as it came; empty where there is none.
pub(super) type Json = String;

/// A model message as far as it has come.
#[derive(Debug, Clone)]
pub struct Message {
    /// The message's id.
    pub id: String,
    /// The slot of its thread in [`EventIndex::threads`](super::EventIndex::threads).
    pub thread: usize,
    /// Whether its `model.message` has come, and not only deltas.
    pub has_base: bool,
    /// The text of the content, over all its parts.
    pub(super) text: Text,
    /// The content's parts, if it came in parts.
    pub(super) parts: Option<Vec<Part>>,
    pub(super) reasoning: Text,
    pub(super) refusal: Text,
    pub(super) calls: Vec<Option<MessageCall>>,
    pub(super) finish_reason: String,
    pub(super) created_at: Json,
    pub(super) name: Json,
    pub(super) usage: Json,
    /// Opaque pieces of reasoning.
    pub(super) encrypted: Vec<String>,
    /// What else the server says: the model, how long it took.
    pub(super) notes: NamedJson,
    /// How long the content was when another attempt went on with it.
    pub(super) continued_at: usize,
    /// Whether the list that the message is about to come from has its content and calls only.
    pub(super) is_partial_listing: bool,
    pub(super) marks: Marks,
}

/// A part of a content that came in parts.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) is_refusal: bool,
    pub(super) text: String,
}

/// Text that grows, and how much of it has been taken as a change.
#[derive(Debug, Clone, Default)]
pub(super) struct Text {
    kept: String,
    taken: usize,
    /// The length of what stood before it and was given away.
    given: usize,
}

/// What has changed in a message since changes were taken.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub(super) struct Marks {
    pub(super) listed: bool,
    pub(super) head: bool,
    /// Text was replaced, not only appended.
    pub(super) reset: bool,
    /// The content was replaced, and nothing else.
    pub(super) content_reset: bool,
    /// Arguments were replaced, and nothing else: those of all calls follow whole.
    pub(super) arguments_reset: bool,
}

/// A tool call as far as it has come.
#[derive(Debug, Clone)]
pub struct MessageCall {
    /// The call's id; empty until a delta brings it.
    pub id: String,
    /// `"function"`.
    pub r#type: String,
    /// The function's name.
    pub name: String,
    /// The sub-agent's thread that this call started.
    pub thread_id: Option<String>,
    pub(super) arguments: Text,
    /// The name in the tool's info, the one to show.
    pub(super) tool_name: String,
    pub(super) tool_info: Json,
    pub(super) provider_fields: NamedJson,
    pub(super) response: Json,
    /// The last report on it.
    pub(super) progress: Json,
    /// What it puts out while it runs.
    #[cfg(feature = "tool-output")]
    pub(super) output: super::output::Output,
    /// Whether it will not be made.
    pub is_cancelled: bool,
}

impl Part {
    fn to_json(&self) -> String {
        let kind = if self.is_refusal { "refusal" } else { "text" };
        let mut json = String::new();
        ObjectWriter::new(&mut json).str("type", kind).str(kind, &self.text).end();
        json
    }
}

impl Text {
    pub(super) fn of(text: &str) -> Self {
        Self { kept: text.to_owned(), ..Self::default() }
    }

    pub(super) fn get(&self) -> &str {
        &self.kept
    }

    pub(super) fn push(&mut self, piece: &str) {
        self.kept.push_str(piece);
    }

    /// What was appended since this was last asked.
    pub(super) fn take(&mut self) -> &str {
        let start = std::mem::replace(&mut self.taken, self.kept.len());
        self.kept.get(start..).unwrap_or_default()
    }

    /// Everything counts as appended once more.
    pub(super) fn retake(&mut self) {
        self.taken = 0;
    }

    /// Gives up what is here, all of which was taken.
    pub(super) fn give_away(&mut self) {
        self.given += self.taken;
        *self = Self { given: self.given, ..Self::default() };
    }

    /// How long it is, with what was given away.
    pub(super) fn len(&self) -> usize {
        self.given + self.kept.len()
    }

    /// Whether a whole text begins with this one.
    pub(super) fn begins(&self, whole: &Self) -> bool {
        whole.kept.get(self.given..).is_some_and(|rest| rest.starts_with(&self.kept))
    }

    /// Whether this text, from this length on, is the rest of a whole text, as far as it was kept.
    pub(super) fn says(&self, whole: &Self, from: usize) -> bool {
        let here = self.kept.get(from.saturating_sub(self.given)..);
        here.is_some() && whole.kept.get(self.given.saturating_sub(from)..) == here
    }
}

impl MessageCall {
    pub(super) fn new() -> Self {
        Self {
            id: String::new(),
            r#type: "function".to_owned(),
            name: String::new(),
            thread_id: None,
            arguments: Text::default(),
            tool_name: String::new(),
            tool_info: Json::new(),
            provider_fields: NamedJson::default(),
            response: Json::new(),
            progress: Json::new(),
            #[cfg(feature = "tool-output")]
            output: super::output::Output::default(),
            is_cancelled: false,
        }
    }

    /// The arguments so far: JSON text, complete when the message is.
    #[must_use]
    pub fn arguments(&self) -> &str {
        self.arguments.get()
    }

    /// The name to show.
    #[must_use]
    pub fn display_name(&self) -> &str {
        if self.tool_name.is_empty() { &self.name } else { &self.tool_name }
    }

    /// The `tool.response` that answered it, as JSON.
    #[must_use]
    pub fn response(&self) -> Option<&str> {
        (!self.response.is_empty()).then_some(&*self.response)
    }
}

impl Message {
    pub(super) fn new(id: &str, thread: usize) -> Self {
        // Every field by itself: what takes the rest from a default message is a copy of that in the module.
        Self {
            id: id.to_owned(),
            thread,
            has_base: false,
            text: Text::default(),
            parts: None,
            reasoning: Text::default(),
            refusal: Text::default(),
            calls: Vec::new(),
            finish_reason: String::new(),
            created_at: Json::new(),
            name: Json::new(),
            usage: Json::new(),
            encrypted: Vec::new(),
            notes: NamedJson::default(),
            continued_at: 0,
            is_partial_listing: false,
            marks: Marks { head: true, ..Marks::default() },
        }
    }

    /// The text of the content, over all its parts.
    #[must_use]
    pub fn content(&self) -> &str {
        self.text.get()
    }

    /// The reasoning.
    #[must_use]
    pub fn reasoning(&self) -> &str {
        self.reasoning.get()
    }

    /// Why the model declined; empty if it did not.
    #[must_use]
    pub fn refusal(&self) -> &str {
        self.refusal.get()
    }

    /// Why it ended; empty as long as it has not.
    #[must_use]
    pub fn finish_reason(&self) -> &str {
        &self.finish_reason
    }

    /// The tool calls; a hole is one of which nothing has arrived yet.
    #[must_use]
    pub fn calls(&self) -> &[Option<MessageCall>] {
        &self.calls
    }

    /// The call of this id.
    #[must_use]
    pub fn call(&self, id: &str) -> Option<&MessageCall> {
        self.calls.iter().flatten().rfind(|call| call.id == id)
    }

    pub(super) fn call_mut(&mut self, id: &str) -> Option<&mut MessageCall> {
        self.calls.iter_mut().flatten().rfind(|call| call.id == id)
    }

    /// Writes what only some servers say.
    pub(super) fn write_notes(&self, object: &mut ObjectWriter<'_>) {
        for (name, value) in self.notes.iter() {
            object.raw(name, value);
        }
        if !self.encrypted.is_empty() {
            let pieces: Vec<String> = self.encrypted.iter().map(|piece| quoted(piece)).collect();
            object.raw("reasoning_encrypted", &array(&pieces));
        }
    }

    /// The message as the `model.message` that a server would list.
    #[must_use]
    pub fn to_json(&self, thread_id: &str) -> String {
        let mut json = String::new();
        let mut object = ObjectWriter::new(&mut json);
        object.str("type", "model.message").str("id", &self.id).str("thread_id", thread_id);
        object.raw("created_at", &self.created_at).raw("name", &self.name);
        // What parts refuse stands before what the field itself says, and stays with its part.
        let mut in_parts = 0;
        match &self.parts {
            Some(parts) => {
                in_parts = parts.iter().filter(|part| part.is_refusal).map(|part| part.text.len()).sum();
                let parts: Vec<String> = parts.iter().map(Part::to_json).collect();
                object.raw("content", &array(&parts))
            }
            None => object.str("content", self.content()),
        };
        object
            .str("refusal", self.refusal().get(in_parts..).unwrap_or_default())
            .str("reasoning_content", self.reasoning());
        let calls: Vec<String> =
            self.calls.iter().map(|call| call.as_ref().map_or("null".into(), call_json)).collect();
        object.raw("tool_calls", &array(&calls));
        object.str("finish_reason", &self.finish_reason).raw("usage", &self.usage);
        self.write_notes(&mut object);
        object.end();
        json
    }
}

/// An array of these elements. Not by `join` and `concat`, which are four times as large.
fn array(elements: &[String]) -> String {
    let mut array = String::from("[");
    for (at, element) in elements.iter().enumerate() {
        if at > 0 {
            array.push(',');
        }
        array.push_str(element);
    }
    array.push(']');
    array
}

fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    write_str(&mut quoted, text);
    quoted
}

fn call_json(call: &MessageCall) -> String {
    let mut json = String::new();
    let mut object = ObjectWriter::new(&mut json);
    object.str("id", &call.id).str("type", &call.r#type);
    let mut function = ObjectWriter::new(object.member("function"));
    function.str("name", &call.name).str("arguments", call.arguments()).end();
    object.raw("tool_info", &call.tool_info);
    let mut fields = ObjectWriter::new(object.member("provider_specific_fields"));
    for (name, value) in call.provider_fields.iter() {
        fields.raw(name, value);
    }
    fields.end();
    object.end();
    json
}
