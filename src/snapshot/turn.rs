//! A turn, its threads, and what it waits for.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use tsify::Tsify;

use crate::error::Error;
use crate::event::{
    AgentInfo, Approval, McpServer, McpServerAuth, Notice, ParentCall, Suspension, ToolInfo, TurnInputItem,
    TurnState,
};
use crate::turn::TurnStatus;

use super::{MessageSnapshot, ToolCallResponse, lenient};

/// A turn at one moment. Cheap to clone: what is large is shared.
#[derive(Debug, Clone, Serialize, Tsify)]
#[tsify(missing_as_null)]
pub struct TurnSnapshot {
    /// `None` until the turn has started.
    pub turn_id: Option<String>,
    /// The status, as this client knows it.
    #[serde(serialize_with = "status")]
    #[tsify(
        type = "\"unstarted\" | \"starting\" | \"running\" | \"done\" | \"cancelled\" | \"error\" | \"incomplete\""
    )]
    pub status: TurnStatus,
    /// The turn's state from the server, once it has ended.
    pub state: Option<Arc<TurnState>>,
    /// Why the turn failed, on the server or in this client.
    #[tsify(type = "{ code: string; message: string; status?: number } | null")]
    pub error: Option<Error>,
    /// The next attempt to reach the server while the connection is lost. Received data stays.
    pub reconnecting: Option<Reconnecting>,
    /// The next poll of a server that can be reached. `None` while a stream is read.
    pub waiting: Option<Waiting>,
    /// The number of the last received event; 0 before the first.
    pub last_sequence_number: u64,
    /// The turn's input.
    #[tsify(type = "TurnInputItem[]")]
    pub input: Arc<Vec<TurnInputItem>>,
    /// The main thread first, then sub-agents in the order in which they appeared.
    #[tsify(type = "ThreadSnapshot[]")]
    pub threads: Vec<Arc<ThreadSnapshot>>,
    /// What is known of the turn besides its threads.
    #[serde(flatten)]
    pub parts: Arc<Parts>,
}

/// What is known of a turn besides its threads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct Parts {
    /// The actions that wait for an answer, of all threads. Each appears once its call is known.
    #[serde(deserialize_with = "lenient::list")]
    pub required_actions: Vec<RequiredAction>,
    /// The tool servers that the turn has used.
    #[serde(deserialize_with = "lenient::list")]
    pub mcp_servers: Vec<McpServer>,
    /// The sandbox, if the turn made one.
    pub sandbox_id: Option<String>,
    /// The agent's own state, if it has one (`AgentEvent`); without the names that begin with `__`.
    #[serde(default)]
    #[tsify(type = "unknown")]
    pub agent_state: Option<serde_json::Value>,
    /// Why the last change of that state failed. The next `state.snapshot` brings the whole state again.
    #[serde(default)]
    pub agent_state_problem: Option<String>,
    /// The last report of each activity, such as a tool's progress.
    #[serde(default, deserialize_with = "lenient::list")]
    pub activities: Vec<Activity>,
    /// The last 256 notices of the turn: retries, timeouts, limits, warnings (`turn-rpc`, `codex`).
    #[serde(default, deserialize_with = "lenient::list")]
    pub notices: Vec<Notice>,
}

impl TurnSnapshot {
    /// The text of the main thread: its messages so far, with an empty line between them.
    #[must_use]
    pub fn text(&self) -> String {
        let main = self.threads.first().map_or([].as_slice(), |thread| &thread.messages);
        let texts: Vec<&str> =
            main.iter().map(|message| &*message.content).filter(|text| !text.is_empty()).collect();
        texts.join("\n\n")
    }

    /// The actions that wait for an answer.
    #[must_use]
    pub fn required_actions(&self) -> &[RequiredAction] {
        &self.parts.required_actions
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn status<S: Serializer>(status: &TurnStatus, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(status.as_str())
}

/// The next attempt to reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Tsify)]
pub struct Reconnecting {
    /// The number of the attempt, from 1 on.
    pub attempt: u32,
    /// The wait before it, in milliseconds.
    pub delay: f64,
}

/// The next poll of the server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Tsify)]
pub struct Waiting {
    /// The wait before it, in milliseconds.
    pub delay: f64,
    /// What the client waits for: the turn's end, its answer in the session's history, or the rest of its list of events.
    #[serde(rename = "for")]
    #[tsify(type = "\"turn\" | \"history\" | \"events\"")]
    pub awaited: &'static str,
}

/// A thread: the main agent's, or a sub-agent's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct ThreadSnapshot {
    /// `"main"`, or the sub-agent's thread id.
    pub id: String,
    /// The title, if the server has one.
    #[serde(deserialize_with = "lenient::option")]
    pub title: Option<String>,
    /// The tool call that started it; `None` for the main thread.
    #[serde(deserialize_with = "lenient::option")]
    pub parent: Option<ParentCall>,
    /// The agent of the thread, if the server says so.
    #[serde(deserialize_with = "lenient::option")]
    pub agent_info: Option<AgentInfo>,
    /// The main thread keeps running: it lives as long as its session.
    pub status: ThreadStatus,
    /// The error of a failed thread.
    pub error: Option<String>,
    /// The thread's messages, oldest first.
    #[serde(default)]
    #[tsify(type = "MessageSnapshot[]")]
    pub messages: Vec<Arc<MessageSnapshot>>,
    /// Results of calls from an earlier turn, for instance from before an approval.
    #[serde(deserialize_with = "lenient::list")]
    pub tool_responses: Vec<EarlierResponse>,
}

/// The status of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "lowercase")]
pub enum ThreadStatus {
    /// It has not ended.
    Running,
    /// It ended normally.
    Done,
    /// It failed.
    Error,
}

/// The result of a call that an earlier turn made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct EarlierResponse {
    /// The call.
    pub tool_call_id: String,
    /// Its result.
    #[serde(flatten)]
    pub response: ToolCallResponse,
}

/// An action that waits for an answer. The next turn's input must answer all of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "type")]
pub enum RequiredAction {
    /// A call that waits for an approval. Answer with [`allow`](WaitingCall::allow) or [`deny`](WaitingCall::deny).
    #[serde(rename = "tool.approval_required")]
    Approval(WaitingCall),
    /// A call, or a question, that waits for its result. Answer with [`respond`](WaitingCall::respond).
    #[serde(rename = "tool.response_required")]
    Response(WaitingCall),
    /// Let the user authorize at the server's `auth_url`, then create a turn without input.
    #[serde(rename = "mcp.auth_required")]
    Authorization {
        /// The server, with its `auth_url`.
        server: McpServerAuth,
    },
}

/// A call that waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct WaitingCall {
    /// The thread of the call.
    pub thread_id: String,
    /// The call's id.
    pub tool_call_id: String,
    /// The tool's display name.
    pub name: String,
    /// JSON text, complete.
    pub arguments: String,
    /// Where the tool comes from, if the server says so.
    #[serde(deserialize_with = "lenient::option")]
    pub tool_info: Option<ToolInfo>,
    /// The question, in the server's words.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient::option")]
    pub suspension: Option<Suspension>,
}

impl WaitingCall {
    /// The answer that allows the call.
    #[must_use]
    pub fn allow(&self) -> TurnInputItem {
        self.decide(Approval::Allow { remember: None, result: None })
    }

    /// The answer that denies the call; the model reads the reason.
    #[must_use]
    pub fn deny(&self, reason: Option<&str>) -> TurnInputItem {
        let reason = reason.map(str::to_owned);
        self.decide(Approval::Deny { remember: None, reason, cancel: None })
    }

    /// The answer with any decision.
    #[must_use]
    pub fn decide(&self, approval: Approval) -> TurnInputItem {
        let (thread_id, tool_call_id) = (self.thread_id.clone(), self.tool_call_id.clone());
        TurnInputItem::ToolApproval { thread_id, tool_call_id, approval }
    }

    /// The answer with the call's result: text, or JSON.
    #[must_use]
    pub fn respond(&self, content: impl Into<String>) -> TurnInputItem {
        let (thread_id, tool_call_id) = (self.thread_id.clone(), self.tool_call_id.clone());
        TurnInputItem::ToolResponse { thread_id, tool_call_id, content: content.into() }
    }
}

/// The last report of an activity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct Activity {
    /// The id of its message.
    pub message_id: String,
    /// The server's name for its kind.
    pub activity_type: String,
    /// The thread in which it happens.
    pub thread_id: String,
    /// The call that it belongs to, if any.
    pub tool_call_id: Option<String>,
    /// The report.
    #[tsify(type = "unknown")]
    pub content: serde_json::Value,
}
