//! Tool results, what tools ask of the user, and the servers and sandboxes behind them.

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
    /// The call that this answers.
    pub tool_call_id: String,
    /// The result as the agent reads it. tirea keeps the JSON of `result`, awaken that of its `data`.
    pub content: String,
    /// How it came out, where the server says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"succeeded\" | \"failed\" | \"suspended\"")]
    pub outcome: Option<String>,
    /// The result with what else the tool says, where the server gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<ToolResult>,
    /// The result as a list of parts, of which `content` is the text, where the server gives it so: texts, and
    /// images (`{ type: "image", url }`). Only the Agent Application Protocol has this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown[]")]
    pub parts: Option<Vec<serde_json::Value>>,
    /// What the call changed in the agent's state, where the server says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<TrackedPatch>,
}

/// What a call puts out while it runs (`tool.output`). Its result says all that counts of it. Only the protocols that
/// are spoken over a socket have this.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ToolOutput {
    /// The event's id.
    pub id: String,
    /// The thread of the call.
    pub thread_id: String,
    /// The call.
    pub tool_call_id: String,
    /// Where it is put out: `"stdout"`, `"stderr"`, `"file_change"`, `"tool_progress"`; `"output"` where the server
    /// does not tell them apart; or a newer word.
    pub stream: String,
    /// Text to append.
    pub delta: String,
    /// Whether `delta` is all that was put out on this stream, in place of the pieces that came: some were missed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[tsify(optional)]
    pub replace: bool,
    /// What else the server says of it, such as the stage that the tool is at: of the JSON-RPC turn gateway a
    /// `ToolDeltaPayload`.
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
    /// The calls that wait.
    pub tool_calls: Vec<ToolCallRef>,
}

/// Points to a tool call in a model message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ToolCallRef {
    /// The call's id.
    pub id: String,
    /// The id of the `model.message` that made the call.
    pub source_event_id: String,
    /// `source_event_id`, as the reference pages spell it.
    pub event_id: String,
    /// The tool, where the server says so here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is called with, JSON text, where the server says so here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// What it waits for, as the server put it.
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
    /// `mcp_servers`, as the reference pages spell it.
    pub content: Vec<McpServer>,
}

/// An initialized MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct McpServer {
    /// The server's id; its name where only that was given.
    pub id: String,
    /// The server's name.
    pub name: String,
    /// `name`, as the reference pages spell it.
    pub mcp_server_name: String,
    /// The MCP session, where the server keeps one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// `"streamable-http"`, `"sse"`, or a newer word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport_type: Option<String>,
}

/// MCP servers need the user's authorization (`mcp.auth_required`). When the user has been through
/// `auth_url`, the next turn is created with no input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct McpAuthRequired {
    /// The event's id.
    pub id: String,
    /// `null`: it concerns the whole turn.
    pub thread_id: Option<String>,
    /// ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The servers.
    pub mcp_servers: Vec<McpServerAuth>,
    /// `mcp_servers`, as the reference pages spell it.
    pub servers: Vec<McpServerAuth>,
}

/// An MCP server that needs authorization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct McpServerAuth {
    /// The server's id; its name where only that was given.
    pub id: String,
    /// The server's name.
    pub name: String,
    /// `name`, as the reference pages spell it.
    pub mcp_server_name: String,
    /// Where the user authorizes it.
    pub auth_url: String,
    /// The threads that wait for it, where the server says so.
    pub thread_ids: Vec<String>,
}

/// A sandbox was made for the turn (`sandbox.created`); the session keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct SandboxCreated {
    /// The event's id.
    pub id: String,
    /// `null`: it concerns the whole turn.
    pub thread_id: Option<String>,
    /// ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Names it in file downloads.
    pub sandbox_id: String,
}
