//! Threads and turns, and the options for them (sections 3 and 4).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tsify::Tsify;

/// The `sessionOptions` of `createSession` for `turn-rpc`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct TurnRpcSessionOptions {
    /// Default: the default workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// The model. Default: the server's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The provider of the model. Default: the server's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    /// The mode. Default: the one that the agent's name selects.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"Chat\" | \"Agent\"")]
    pub mode: Option<String>,
    /// The restrictions on tools. Default: the server's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"FullAccess\"")]
    pub sandbox: Option<String>,
    /// The origin of the thread. Default: the server's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"user\" | \"task_run\" | \"system\"")]
    pub origin_kind: Option<String>,
    /// Whether clients list the thread. Default: the server's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"visible\" | \"hidden\"")]
    pub sidebar_visibility: Option<String>,
    /// The name of the agent. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_nickname: Option<String>,
    /// The role of the agent. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_role: Option<String>,
}

/// The `turnOptions` of `createTurn` for `turn-rpc`. The thread keeps all of them but the capabilities for later
/// turns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct TurnRpcTurnOptions {
    /// The model. Default: the thread's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The provider of the model. Default: the thread's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    /// The mode. Default: the thread's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"Chat\" | \"Agent\"")]
    pub mode: Option<String>,
    /// The restrictions on tools. Default: the thread's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox_policy: Option<SandboxPolicy>,
    /// The capabilities for the agent in this turn. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<TurnCapability>>,
}

/// The restrictions on tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct SandboxPolicy {
    /// The only mode.
    #[tsify(type = "\"FullAccess\"")]
    pub mode: String,
}

/// A capability for the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct TurnCapability {
    /// An id, chosen by the client.
    pub id: String,
    /// Its kind.
    pub kind: CapabilityKind,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// The kind of a capability, distinguished by `type`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CapabilityKind {
    /// A skill.
    Skill {
        /// Its name.
        slug: String,
        /// Its source, for example `"workspace"`.
        source_kind: String,
    },
    /// All tools of an MCP server.
    McpServer {
        /// Its name.
        name: String,
        /// The scope of the server.
        #[tsify(type = "\"workspace\" | \"user\"")]
        scope_kind: String,
    },
    /// One tool of an MCP server.
    McpTool {
        /// The server's name.
        server_name: String,
        /// The tool's name at the server.
        raw_tool_name: String,
        /// The scope of the server.
        #[tsify(type = "\"workspace\" | \"user\"")]
        scope_kind: String,
    },
}

/// A rejected capability. `details.rejected` of the notice `capability.rejected` lists them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct RejectedCapability {
    /// The id, chosen by the client.
    pub id: String,
    /// Its kind.
    pub kind: CapabilityKind,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The reason.
    #[tsify(
        type = "\"invalid_input\" | \"duplicate\" | \"not_found\" | \"disabled_by_policy\" | \"validation_rejected\" | \"security_blocked\" | \"dependency_missing\" | \"unavailable\" | \"catalog_missing\" | \"tool_missing\" | \"provider_unsupported\" | \"materialization_failed\""
    )]
    pub reason: String,
    /// The reason, for people.
    pub message: String,
}

/// A thread: turnwire's session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct TurnRpcThread {
    /// Its workspace.
    pub workspace_id: String,
    /// Its id, chosen by the client.
    pub id: String,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The beginning of its first message.
    pub preview: String,
    /// The mode of the agent.
    #[tsify(type = "\"Chat\" | \"Agent\"")]
    pub mode: String,
    /// The model.
    pub model: String,
    /// The provider of the model.
    pub model_provider: String,
    /// Seconds since 1970.
    pub created_at: u64,
    /// Seconds since 1970.
    pub updated_at: u64,
    /// Whether a turn runs.
    #[tsify(type = "\"Active\" | \"Idle\" | \"Closed\"")]
    pub status: String,
    /// The origin of the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"user\" | \"task_run\" | \"system\"")]
    pub origin_kind: Option<String>,
    /// Whether clients list the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"visible\" | \"hidden\"")]
    pub sidebar_visibility: Option<String>,
    /// The name of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_nickname: Option<String>,
    /// The role of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_role: Option<String>,
    /// Its turns, the oldest first.
    pub turns: Vec<TurnRpcTurn>,
}

/// A turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct TurnRpcTurn {
    /// Its id, chosen by the client.
    pub id: String,
    /// Its status.
    #[tsify(type = "\"InProgress\" | \"Completed\" | \"Failed\" | \"Interrupted\"")]
    pub status: String,
    /// Its kind. Default: a conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"conversation\" | \"task_run\"")]
    pub turn_kind: Option<String>,
    /// Its origin. Default: the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"user\" | \"scheduled_task\" | \"detached_task\" | \"attached_task\"")]
    pub origin: Option<String>,
    /// Why it failed, or was interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The contents of its prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_manifest: Option<PromptManifest>,
}

/// The contents of a turn's prompt: `details` of the notice `prompt_manifest`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct PromptManifest {
    /// The version of the prompt compiler.
    pub compiler_version: String,
    /// The size of the prompt.
    #[tsify(type = "\"assistant_full\" | \"assistant_minimal\" | \"assistant_none\"")]
    pub profile: String,
    /// Its parts.
    #[serde(default)]
    pub section_ids: Vec<String>,
    /// A fingerprint of the stable part.
    pub fingerprint_stable: String,
    /// A fingerprint of the changing part.
    pub fingerprint_dynamic: String,
    /// A fingerprint of the whole.
    pub fingerprint_full: String,
    /// Its problems.
    #[serde(default)]
    pub diagnostics: Vec<PromptManifestDiagnostic>,
    /// The sources of its hooks.
    #[serde(default)]
    #[tsify(type = "unknown[]")]
    pub hook_sources: Vec<Value>,
}

/// A problem of a prompt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct PromptManifestDiagnostic {
    /// The kind of the problem.
    #[tsify(
        type = "\"missing_file\" | \"file_read_error\" | \"file_truncated\" | \"total_budget_truncated\" | \"file_filtered_by_profile\" | \"dynamic_section_truncated\" | \"dynamic_section_omitted\" | \"hook_diagnostic\" | \"hook_best_effort_failed\" | \"capability_rejected\""
    )]
    pub code: String,
    /// For people.
    pub message: String,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The section.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section_id: Option<String>,
    /// The hook.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown")]
    pub hook_source: Option<Value>,
}
