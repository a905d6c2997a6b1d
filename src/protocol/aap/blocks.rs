//! The content of messages (section 3): blocks, or a plain text.

use crate::json::{Object, Value};
use crate::protocol::fields::{Problem, missing, text};

/// A block of a message.
pub(super) enum Block<'v, 'a> {
    Text(&'v str),
    Thinking(&'v str),
    /// A call of a tool.
    Call(&'v Object<'a>),
    /// An image, by URL or as a data URI, and its block.
    Image(&'v str, &'v Value<'a>),
    /// Something that this version does not know.
    Other(&'v Value<'a>),
}

/// The blocks of a content.
pub(super) fn blocks<'v, 'a>(content: &'v Value<'a>) -> impl Iterator<Item = Block<'v, 'a>> {
    let elements = match content {
        Value::Null => &[],
        Value::Array(elements) => &**elements,
        one => std::slice::from_ref(one),
    };
    elements.iter().map(move |element| match element {
        // A content may be a plain text, but among blocks a text is unknown.
        Value::String(text) if content.as_array().is_none() => Block::Text(text),
        Value::Object(block) => of(block, element).unwrap_or(Block::Other(element)),
        _ => Block::Other(element),
    })
}

fn of<'v, 'a>(block: &'v Object<'a>, element: &'v Value<'a>) -> Option<Block<'v, 'a>> {
    let said = |name: &str| block.get(name).and_then(Value::as_str);
    match block.text("type") {
        "text" => said("text").map(Block::Text),
        "thinking" => said("thinking").map(Block::Thinking),
        "image" => said("url").map(|url| Block::Image(url, element)),
        "tool_use" => Some(Block::Call(block)),
        _ => None,
    }
}

/// The content of a message; `null` if it has none.
pub(super) fn content<'v, 'a>(message: &'v Object<'a>) -> &'v Value<'a> {
    message.get("content").unwrap_or(&Value::Null)
}

/// The text of a content.
pub(super) fn text_of(content: &Value<'_>) -> String {
    let mut said = String::new();
    for block in blocks(content) {
        if let Block::Text(text) = block {
            said.push_str(text);
        }
    }
    said
}

/// A call, from a block or from an event of a stream.
#[derive(Debug, Default)]
pub(super) struct ToolUse {
    pub(super) id: String,
    pub(super) name: String,
    /// JSON text.
    pub(super) arguments: String,
}

impl ToolUse {
    pub(super) fn of(fields: &Object<'_>) -> Result<Self, Problem> {
        let (id, name) = (text(fields, "toolCallId")?, text(fields, "name")?);
        if id.is_empty() {
            return Err(missing("toolCallId"));
        }
        // Inputs should be objects. The code that runs the tool sees what was received instead.
        let arguments = match fields.get("input") {
            None | Some(Value::Null) => "{}".to_owned(),
            Some(input) => input.to_json(),
        };
        Ok(Self { id: id.to_owned(), name: name.to_owned(), arguments })
    }

    /// The call in the form of a whole message.
    pub(super) fn to_call<'a>(&self) -> Object<'a> {
        let mut function = Object::new();
        function.set("name", self.name.clone().into());
        function.set("arguments", self.arguments.clone().into());
        let mut call = Object::new();
        call.set("id", self.id.clone().into());
        call.set("type", "function".into());
        call.set("function", function.into());
        call
    }
}
