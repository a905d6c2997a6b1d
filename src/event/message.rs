//! Model messages, their deltas, and the tool calls in them.

use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// A model message (`model.message`).
///
/// On a live stream it is the beginning of a message, usually without content; deltas with the same `id` complete it.
/// In event lists, and as a turn's `output`, it is complete.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct ModelMessage {
    /// The id, which every delta of the message shares.
    pub id: String,
    /// `"main"`, or a sub-agent's thread.
    pub thread_id: String,
    /// The id of the message that this one continues under a new id: the server tried again, and keeps the text of the
    /// first attempt. The two are one message, under the new id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continues: Option<String>,
    /// ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The text, or its parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<ModelContent>,
    /// A name for the speaker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Why the model declined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The model's reasoning, if the server sends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
    /// Opaque reasoning data that the model's provider needs to get back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[tsify(optional)]
    pub reasoning_encrypted: Vec<String>,
    /// The tool calls. `null` is a call whose first delta has not arrived yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[tsify(optional)]
    pub tool_calls: Vec<Option<ToolCall>>,
    /// `"stop"`, `"length"`, `"tool_calls"`, `"content_filter"`, `"function_call"`, or a newer value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// Token counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The model that wrote it, if the server says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How long the model took, in milliseconds, if the server says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// The content of a model message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(untagged)]
pub enum ModelContent {
    /// Text.
    Text(String),
    /// Parts, in order.
    Parts(Vec<ModelContentPart>),
}

/// A part of a model message's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ModelContentPart {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A refusal.
    Refusal {
        /// Its text.
        refusal: String,
    },
}

/// A piece of a model message (`model.message.delta`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ModelMessageDelta {
    /// The message's id.
    pub id: String,
    /// The message's thread.
    pub thread_id: String,
    /// ISO 8601. Many servers write it only in the first delta of a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Text to append to `content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Text to append to `refusal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Text to append to `reasoning_content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
    /// An opaque piece of encrypted reasoning to add to the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_encrypted: Option<String>,
    /// Pieces of tool calls, merged by `index`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[tsify(optional)]
    pub tool_calls: Vec<ToolCallDelta>,
    /// The message is complete. A later delta would still be merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// Token counts; they replace earlier ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The model that wrote it, if the server says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How long the model took, in milliseconds, if the server says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// A complete tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ToolCall {
    /// The call's id, as in `tool.response`, in required actions and in their answers.
    pub id: String,
    /// Always `"function"` today.
    pub r#type: String,
    /// The called function and its arguments.
    pub function: ToolCallFunction,
    /// The kind of tool. Show its `name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_info: Option<ToolInfo>,
    /// Further fields of the model's provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "Record<string, unknown>")]
    pub provider_specific_fields: Option<serde_json::Map<String, serde_json::Value>>,
}

/// The function of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct ToolCallFunction {
    /// The function's name on the wire, which may be mangled; show `tool_info.name`.
    pub name: String,
    /// JSON text; incomplete while it streams.
    pub arguments: String,
}

/// A piece of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ToolCallDelta {
    /// The call's index in `tool_calls`.
    pub index: u32,
    /// Usually only in the first piece; overwrites.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Usually only in the first piece; overwrites.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// The piece of the function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<ToolCallFunctionDelta>,
    /// Usually only in the first piece; overwrites.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_info: Option<ToolInfo>,
    /// Merged by name, one level deep.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "Record<string, unknown>")]
    pub provider_specific_fields: Option<serde_json::Map<String, serde_json::Value>>,
}

impl ToolCallDelta {
    /// A piece that has only arguments.
    #[must_use]
    pub fn arguments(index: u32, text: &str) -> Self {
        let function =
            ToolCallFunctionDelta { arguments: Some(text.into()), ..ToolCallFunctionDelta::default() };
        Self { index, function: Some(function), ..Self::default() }
    }
}

/// The function in a piece of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct ToolCallFunctionDelta {
    /// The name. It overwrites, and is never appended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Text to append to the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// The complete arguments. They replace the pieces if those added up to something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole_arguments: Option<String>,
}

/// The kind of a call's tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(tag = "type")]
pub enum ToolInfo {
    /// A tool of an MCP server.
    #[serde(rename = "mcp")]
    Mcp {
        /// The server's id.
        server_id: String,
        /// The server's name.
        server_name: String,
        /// `server_id` in the spelling of the reference pages.
        mcp_server_id: String,
        /// `server_name` in the spelling of the reference pages.
        mcp_server_name: String,
        /// The tool's own name on that server.
        name: String,
        /// Whether the call is deferred, if the server says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        is_deferred: Option<bool>,
    },
    /// A tool of the gateway, for example `ask_user_question` or `create_sub_agent`. Unknown kinds are read as this
    /// one.
    #[serde(rename = "truefoundry-system")]
    System {
        /// The tool's name.
        name: String,
    },
}

impl ToolInfo {
    /// The display name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Mcp { name, .. } | Self::System { name } => name,
        }
    }
}

/// Token counts of one model message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Tokens read from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Tokens written to a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// Reasoning tokens, if the server counts them separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// The sources of the input tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens_breakdown: Option<UsageBreakdown>,
}

/// The sources of input tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct UsageBreakdown {
    /// The agent harness's own text.
    pub harness: u64,
    /// Skills.
    pub skills: u64,
    /// Instructions.
    pub instructions: u64,
    /// Definitions of tools.
    pub tool_definitions: u64,
    /// The conversation.
    pub messages: u64,
}
