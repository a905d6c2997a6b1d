//! Events and turn states as they are on the wire (TrueFoundry turn events, SDK 0.4.2).

use serde::Serialize;
use serde_json::value::RawValue;

use super::caller::Subject;
use crate::agents::Tool;

/// Every event but the delta. Absent optional fields are left out; turn-level events have
/// `thread_id: null`.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type")]
pub(crate) enum Event {
    #[serde(rename = "turn.created")]
    TurnCreated {
        id: String,
        turn_id: String,
        previous_turn_id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        input: Option<Box<RawValue>>,
        state: TurnState,
        /// Only the gateway names who created a turn.
        #[serde(skip_serializing_if = "Option::is_none")]
        created_by: Option<Subject>,
        created_at: String,
        thread_id: (),
    },
    #[serde(rename = "turn.done")]
    TurnDone { id: String, state: TurnState, created_at: String, thread_id: () },
    #[serde(rename = "tool.response")]
    ToolResponse { id: String, thread_id: String, created_at: String, tool_call_id: String, content: String },
    #[serde(rename = "thread.created")]
    ThreadCreated {
        id: String,
        thread_id: String,
        created_at: String,
        title: String,
        parent: Parent,
        agent_info: AgentInfo,
    },
    #[serde(rename = "thread.done")]
    ThreadDone {
        id: String,
        thread_id: String,
        created_at: String,
        title: String,
        parent: Parent,
        state: ThreadState,
    },
    #[serde(rename = "mcp.initialize")]
    McpInitialize { id: String, thread_id: String, created_at: String, mcp_servers: Vec<McpSession> },
    #[serde(rename = "mcp.auth_required")]
    McpAuthRequired { id: String, thread_id: (), created_at: String, mcp_servers: Vec<McpAuthorization> },
    #[serde(rename = "sandbox.created")]
    SandboxCreated { id: String, thread_id: (), created_at: String, sandbox_id: String },
    #[serde(rename = "tool.approval_required")]
    ApprovalRequired(Required),
    #[serde(rename = "tool.response_required")]
    ResponseRequired(Required),
}

/// The calls of one thread that wait for the user.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Required {
    pub(crate) id: String,
    pub(crate) thread_id: String,
    pub(crate) created_at: String,
    pub(crate) tool_calls: Vec<CallRef>,
}

/// A call, and the message that holds its name and arguments.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct CallRef {
    pub(crate) id: String,
    pub(crate) source_event_id: String,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Parent {
    pub(crate) thread_id: String,
    pub(crate) tool_call_id: String,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct AgentInfo {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) input: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<&'static str>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(crate) enum ThreadState {
    Done {
        output: Option<Box<RawValue>>,
    },
    Error {
        error: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<Box<RawValue>>,
    },
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct McpSession {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) session_id: String,
    pub(crate) transport_type: &'static str,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct McpAuthorization {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) auth_url: String,
}

/// The life of a turn (TrueFoundry objects, `TurnState`).
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(crate) enum TurnState {
    Running,
    Done {
        output: Option<Box<RawValue>>,
        required_actions: Vec<Box<RawValue>>,
        completed_at: String,
        metrics: Metrics,
    },
    Cancelled {
        reason: &'static str,
        completed_at: String,
        metrics: Metrics,
    },
    Error {
        message: String,
        completed_at: String,
        metrics: Metrics,
    },
}

/// Tokens and money of a whole turn.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[allow(clippy::struct_field_names)] // the names of the wire
pub(crate) struct Metrics {
    pub(crate) total_input_tokens: usize,
    pub(crate) total_output_tokens: usize,
    pub(crate) total_tokens: usize,
    pub(crate) total_cost_in_usd: f64,
}

/// Tokens of one message.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Usage {
    pub(crate) input_tokens: usize,
    pub(crate) output_tokens: usize,
    pub(crate) input_tokens_breakdown: Breakdown,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Breakdown {
    pub(crate) harness: usize,
    pub(crate) skills: usize,
    pub(crate) instructions: usize,
    pub(crate) tool_definitions: usize,
    pub(crate) messages: usize,
}

/// `model.message`: complete in lists, empty at the beginning of a streamed message.
#[derive(Debug, Serialize)]
pub(crate) struct ModelMessage<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) thread_id: &'a str,
    pub(crate) created_at: &'a str,
    pub(crate) id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_calls: Option<Vec<ToolCall<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) finish_reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<Usage>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ToolCall<'a> {
    pub(crate) id: &'a str,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) function: Function<'a>,
    pub(crate) tool_info: ToolInfo,
}

#[derive(Debug, Serialize)]
pub(crate) struct Function<'a> {
    pub(crate) name: String,
    pub(crate) arguments: &'a str,
}

/// Who runs a tool, and its own name there.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "type")]
pub(crate) enum ToolInfo {
    #[serde(rename = "mcp")]
    Mcp { server_id: &'static str, server_name: &'static str, name: &'static str },
    #[serde(rename = "truefoundry-system")]
    System { name: &'static str },
}

impl From<Tool> for ToolInfo {
    fn from(tool: Tool) -> Self {
        match tool {
            Tool::Remote { server, name } => {
                Self::Mcp { server_id: server.id, server_name: server.name, name }
            }
            Tool::System { name } => Self::System { name },
        }
    }
}

/// The name by which the model calls a tool: the server's name keeps tools of two servers apart.
pub(crate) fn function_name(tool: Tool) -> String {
    match tool {
        Tool::Remote { server, name } => format!("{}__{name}", server.name),
        Tool::System { name } => name.to_owned(),
    }
}

/// `model.message.delta`, by far the most frequent event: borrowed, written without a copy.
#[derive(Debug, Serialize)]
pub(crate) struct Delta<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) id: &'a str,
    pub(crate) thread_id: &'a str,
    /// Only on a message's first delta.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created_at: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_calls: Option<[ToolCallDelta<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) finish_reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<Usage>,
}

impl<'a> Delta<'a> {
    pub(crate) fn new(id: &'a str, thread_id: &'a str) -> Self {
        Self {
            kind: "model.message.delta",
            id,
            thread_id,
            created_at: None,
            content: None,
            reasoning_content: None,
            tool_calls: None,
            finish_reason: None,
            usage: None,
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct ToolCallDelta<'a> {
    pub(crate) index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<&'a str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<&'static str>,
    pub(crate) function: FunctionDelta<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_info: Option<ToolInfo>,
}

#[derive(Debug, Serialize)]
pub(crate) struct FunctionDelta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) arguments: &'a str,
}
