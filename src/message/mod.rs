//! A message of the agent, which grows by its deltas.
//!
//! The index has one for each message of a turn, and a protocol whose server lists only pieces puts messages together
//! with it. It knows events and JSON, and nothing of an index, a protocol or a turn.

mod call;
mod content;
mod details;
mod merge;
mod named;
mod output;
mod text;

pub use call::MessageCall;
pub(crate) use content::Content;
pub(crate) use details::Details;
pub(crate) use named::{Json, NamedJson};
pub(crate) use text::Text;

use crate::features::{AgentStates, Part};
use crate::json::ObjectWriter;

/// A model message as received so far.
#[derive(Debug, Clone)]
pub struct Message {
    /// The message's id.
    pub id: String,
    /// The slot of its thread in [`EventIndex::threads`](crate::index::EventIndex::threads).
    pub thread: usize,
    /// Whether its `model.message` was received, and not only deltas.
    pub has_base: bool,
    pub(crate) content: Content,
    pub(crate) reasoning: Text,
    pub(crate) refusal: Text,
    pub(crate) calls: Vec<Option<MessageCall>>,
    pub(crate) finish_reason: String,
    /// The fields that only a `model.message` has.
    pub(crate) base: Base,
    pub(crate) usage: Json,
    pub(crate) details: Part<Details, { AgentStates::COUNT }>,
    /// Whether the next base comes from a list that has only contents and calls.
    pub(crate) is_partial_listing: bool,
    pub(crate) marks: Marks,
}

/// The fields of a message that only its `model.message` has.
#[derive(Debug, Clone, Default)]
pub(crate) struct Base {
    pub(crate) created_at: Json,
    pub(crate) name: Json,
}

/// What has changed in a message since changes were last taken.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(crate) struct Marks {
    /// Whether the message is in the list of changed messages.
    pub(crate) listed: bool,
    /// Fields other than texts.
    pub(crate) head: bool,
    /// All texts were replaced, not only extended.
    pub(crate) reset: bool,
    /// Only the content was replaced.
    pub(crate) content_reset: bool,
    /// Only arguments were replaced. The arguments of all calls follow whole.
    pub(crate) arguments_reset: bool,
}

impl Message {
    pub(crate) fn new(id: &str, thread: usize) -> Self {
        // Each field is listed: `..Self::default()` would copy that function into the module.
        Self {
            id: id.to_owned(),
            thread,
            has_base: false,
            content: Content::default(),
            reasoning: Text::default(),
            refusal: Text::default(),
            calls: Vec::new(),
            finish_reason: String::new(),
            base: Base::default(),
            usage: Json::new(),
            details: Part::default(),
            is_partial_listing: false,
            marks: Marks { head: true, ..Marks::default() },
        }
    }

    /// The text of the content, over all its parts.
    #[must_use]
    pub fn content(&self) -> &str {
        self.content.text.get()
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

    /// Why it ended; empty until then.
    #[must_use]
    pub fn finish_reason(&self) -> &str {
        &self.finish_reason
    }

    /// The tool calls by index; `None` for a call of which nothing was received.
    #[must_use]
    pub fn calls(&self) -> &[Option<MessageCall>] {
        &self.calls
    }

    /// The call of this id.
    #[must_use]
    pub fn call(&self, id: &str) -> Option<&MessageCall> {
        self.calls.iter().flatten().rfind(|call| call.id == id)
    }

    pub(crate) fn call_mut(&mut self, id: &str) -> Option<&mut MessageCall> {
        self.calls.iter_mut().flatten().rfind(|call| call.id == id)
    }

    /// The message as the `model.message` that a server would list.
    #[must_use]
    pub fn to_json(&self, thread_id: &str) -> String {
        let mut json = String::new();
        let mut object = ObjectWriter::new(&mut json);
        object.str("type", "model.message").str("id", &self.id).str("thread_id", thread_id);
        object.raw("created_at", &self.base.created_at).raw("name", &self.base.name);
        // `refusal` begins with the refusals in the parts, which are written with their parts.
        let in_parts = self.content.write(&mut object);
        object
            .str("refusal", self.refusal().get(in_parts..).unwrap_or_default())
            .str("reasoning_content", self.reasoning());
        let calls: Vec<String> =
            self.calls.iter().map(|call| call.as_ref().map_or("null".into(), MessageCall::to_json)).collect();
        object.raw("tool_calls", &array(&calls));
        object.str("finish_reason", &self.finish_reason).raw("usage", &self.usage);
        if let Some(details) = self.details.get() {
            details.write(&mut object);
        }
        object.end();
        json
    }
}

/// A JSON array of these elements. `join` and `concat` would be four times as large.
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
