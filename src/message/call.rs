//! A tool call of a message.

use crate::features::{Part, ToolOutputs};
use crate::json::ObjectWriter;

use super::output::Output;
use super::{Json, NamedJson, Text};

/// A tool call as received so far.
#[derive(Debug, Clone)]
pub struct MessageCall {
    /// The call's id; empty until a delta has it.
    pub id: String,
    /// `"function"`.
    pub r#type: String,
    /// The function's name.
    pub name: String,
    /// The thread of the sub-agent that this call started.
    pub thread_id: Option<String>,
    pub(crate) arguments: Text,
    /// The name in the tool's info, which is shown in place of `name`.
    pub(crate) tool_name: String,
    pub(crate) tool_info: Json,
    pub(crate) provider_fields: NamedJson,
    pub(crate) response: Json,
    /// The last report of its progress.
    pub(crate) progress: Json,
    /// Its output while it runs.
    pub(crate) output: Part<Output, { ToolOutputs::COUNT }>,
    /// Whether a later turn brought its result.
    pub is_answered: bool,
    /// Whether it was cancelled, so that it gets no result.
    pub is_cancelled: bool,
}

impl MessageCall {
    pub(crate) fn new() -> Self {
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
            output: Part::default(),
            is_answered: false,
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

    /// The call as a whole message has it.
    pub(super) fn to_json(&self) -> String {
        let mut json = String::new();
        let mut object = ObjectWriter::new(&mut json);
        object.str("id", &self.id).str("type", &self.r#type);
        let mut function = ObjectWriter::new(object.member("function"));
        function.str("name", &self.name).str("arguments", self.arguments()).end();
        object.raw("tool_info", &self.tool_info);
        let mut fields = ObjectWriter::new(object.member("provider_specific_fields"));
        for (name, value) in self.provider_fields.iter() {
            fields.raw(name, value);
        }
        fields.end();
        object.end();
        json
    }
}
