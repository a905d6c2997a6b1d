//! Tool results, questions of tools to the user, and their servers and sandboxes.

use serde::{Deserialize, Serialize};
use tsify::Tsify;

use super::{Suspension, ToolResult, TrackedPatch};

/// The complete result of a tool call (`tool.response`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ToolResponse {
    /// The event's id.
    pub id: String,
    /// The thread of the call.
    pub thread_id: String,
    /// ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The call of this result.
    pub tool_call_id: String,
    /// The result as the agent reads it. tirea stores the JSON of `result`, awaken that of its `data`.
    pub content: String,
    /// The outcome, if the server reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"succeeded\" | \"failed\" | \"suspended\"")]
    pub outcome: Option<String>,
    /// The result with further data of the tool, if the server sends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<ToolResult>,
    /// The result as a list of parts, if the server sends one; `content` is their text. Parts are texts and images (`{
    /// type: "image", url }`). Only the Agent Application Protocol has this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown[]")]
    pub parts: Option<Vec<serde_json::Value>>,
    /// The call's changes to the agent's state, if the server reports them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<TrackedPatch>,
}

/// Output of a running call (`tool.output`). The call's result repeats everything that matters. Only the socket
/// protocols have this.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ToolOutput {
    /// The event's id.
    pub id: String,
    /// The thread of the call.
    pub thread_id: String,
    /// The call.
    pub tool_call_id: String,
    /// The stream: `"stdout"`, `"stderr"`, `"file_change"`, `"tool_progress"`; `"output"` if the server does not
    /// separate them; or a newer value.
    pub stream: String,
    /// Text to append.
    pub delta: String,
    /// Whether `delta` is the whole output of this stream and replaces the earlier pieces, because some were lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[tsify(optional)]
    pub replace: bool,
    /// Further data of the server, such as the tool's stage; from the JSON-RPC turn gateway a `ToolDeltaPayload`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown")]
    pub payload: Option<serde_json::Value>,
}

/// Calls that wait for the client: for approval (`tool.approval_required`) or for a result
/// (`tool.response_required`). The stream ends after it; the next turn's input must answer every call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ToolsRequired {
    /// The event's id.
    pub id: String,
    /// The thread of the calls.
    pub thread_id: String,
    /// ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The waiting calls.
    pub tool_calls: Vec<ToolCallRef>,
}

/// A reference to a tool call in a model message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ToolCallRef {
    /// The call's id.
    pub id: String,
    /// The id of the `model.message` that made the call.
    pub source_event_id: String,
    /// `source_event_id` in the spelling of the reference pages.
    pub event_id: String,
    /// The tool, if the server sends it here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The arguments as JSON text, if the server sends them here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// The question, in the server's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspension: Option<Suspension>,
}

/// MCP servers were initialized for a thread (`mcp.initialize`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct McpInitialize {
    /// The event's id.
    pub id: String,
    /// The thread.
    pub thread_id: String,
    /// ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The servers.
    pub mcp_servers: Vec<McpServer>,
    /// `mcp_servers` in the spelling of the reference pages.
    pub content: Vec<McpServer>,
}

/// An initialized MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct McpServer {
    /// The server's id; its name if there is no id.
    pub id: String,
    /// The server's name.
    pub name: String,
    /// `name` in the spelling of the reference pages.
    pub mcp_server_name: String,
    /// The MCP session, if the server keeps one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// `"streamable-http"`, `"sse"`, or a newer value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport_type: Option<String>,
}

/// MCP servers need the user's authorization (`mcp.auth_required`). After the user has visited `auth_url`, create the
/// next turn without input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct McpAuthRequired {
    /// The event's id.
    pub id: String,
    /// `null`: the event belongs to the whole turn.
    pub thread_id: Option<String>,
    /// ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The servers.
    pub mcp_servers: Vec<McpServerAuth>,
    /// `mcp_servers` in the spelling of the reference pages.
    pub servers: Vec<McpServerAuth>,
}

/// An MCP server that needs authorization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct McpServerAuth {
    /// The server's id; its name if there is no id.
    pub id: String,
    /// The server's name.
    pub name: String,
    /// `name` in the spelling of the reference pages.
    pub mcp_server_name: String,
    /// The page on which the user authorizes the server.
    pub auth_url: String,
    /// The threads that wait for it, if the server says so.
    pub thread_ids: Vec<String>,
}

/// A sandbox was created for the turn (`sandbox.created`); the session keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct SandboxCreated {
    /// The event's id.
    pub id: String,
    /// `null`: the event belongs to the whole turn.
    pub thread_id: Option<String>,
    /// ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The sandbox's id, for file downloads.
    pub sandbox_id: String,
}
