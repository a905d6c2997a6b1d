//! Model messages, their deltas, and the tool calls in them.

use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// A model message (`model.message`).
///
/// On a live stream it is the beginning of a message, usually with no content, which deltas of the
/// same `id` complete. In event lists, and as a turn's `output`, it is complete.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct ModelMessage {
    /// Shared with every delta of the message.
    pub id: String,
    /// `"main"`, or a sub-agent's thread.
    pub thread_id: String,
    /// The message that this one goes on with, under a new id: the server tried again, and what that one
    /// said stays. There is only one message then, this one.
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
    /// The model's reasoning, where it shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
    /// What the model's provider wants to have back of its reasoning, opaque.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[tsify(optional)]
    pub reasoning_encrypted: Vec<String>,
    /// The tool calls. A hole (`null`) is a call of which no delta has arrived yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[tsify(optional)]
    pub tool_calls: Vec<Option<ToolCall>>,
    /// `"stop"`, `"length"`, `"tool_calls"`, `"content_filter"`, `"function_call"`, or a newer word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// Token counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The model that wrote it, where the server says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How long the model took, in milliseconds, where the server says so.
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
    /// ISO 8601; many servers stamp only the first delta of a message.
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
    /// An opaque piece of encrypted reasoning, to be added to the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_encrypted: Option<String>,
    /// Pieces of tool calls, merged by `index`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[tsify(optional)]
    pub tool_calls: Vec<ToolCallDelta>,
    /// The message is complete, though a later delta would still be merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// Token counts; replaces earlier ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The model that wrote it, where the server says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How long the model took, in milliseconds, where the server says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// A complete tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ToolCall {
    /// Names the call in `tool.response`, in required actions and in their answers.
    pub id: String,
    /// Always `"function"` today.
    pub r#type: String,
    /// What is called, with what.
    pub function: ToolCallFunction,
    /// What kind of tool it is; its `name` is the one to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_info: Option<ToolInfo>,
    /// Whatever the model's provider adds.
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
    /// The call's place in `tool_calls`.
    pub index: u32,
    /// First piece only, usually; overwrites.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// First piece only, usually; overwrites.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// The function's piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<ToolCallFunctionDelta>,
    /// First piece only, usually; overwrites.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_info: Option<ToolInfo>,
    /// Merged by name, one level deep.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "Record<string, unknown>")]
    pub provider_specific_fields: Option<serde_json::Map<String, serde_json::Value>>,
}

impl ToolCallDelta {
    /// A piece of arguments and nothing else.
    #[must_use]
    pub fn arguments(index: u32, text: &str) -> Self {
        let function =
            ToolCallFunctionDelta { arguments: Some(text.into()), ..ToolCallFunctionDelta::default() };
        Self { index, function: Some(function), ..Self::default() }
    }
}

/// The function's part of a tool call's piece.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct ToolCallFunctionDelta {
    /// Overwrites the name: it is never appended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Text to append to the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// The arguments whole, in place of what came in pieces, where that was something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole_arguments: Option<String>,
}

/// What kind of tool a call is for.
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
        /// `server_id`, as the reference pages spell it.
        mcp_server_id: String,
        /// `server_name`, as the reference pages spell it.
        mcp_server_name: String,
        /// The tool's own name on that server.
        name: String,
        /// Whether the call is deferred, where the server says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        is_deferred: Option<bool>,
    },
    /// A tool that the gateway brings, for example `ask_user_question` or `create_sub_agent`.
    /// A kind that is newer than this version is read as this one.
    #[serde(rename = "truefoundry-system")]
    System {
        /// The tool's name.
        name: String,
    },
}

impl ToolInfo {
    /// The name to show.
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
    /// Tokens of reasoning, where the server counts them apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Where the tokens read came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens_breakdown: Option<UsageBreakdown>,
}

/// Where input tokens came from.
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
