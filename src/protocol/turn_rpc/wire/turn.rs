//! Threads and turns, and what they are started with (sections 3 and 4).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tsify::Tsify;

/// What `createSession` of `turn-rpc` takes as `sessionOptions`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct TurnRpcSessionOptions {
    /// The default workspace otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// Instead of the server's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Who provides the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    /// Instead of the mode that the agent's name says.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"Chat\" | \"Agent\"")]
    pub mode: Option<String>,
    /// What tools may touch.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"FullAccess\"")]
    pub sandbox: Option<String>,
    /// Who began the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"user\" | \"task_run\" | \"system\"")]
    pub origin_kind: Option<String>,
    /// Whether clients list the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"visible\" | \"hidden\"")]
    pub sidebar_visibility: Option<String>,
    /// What the agent is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_nickname: Option<String>,
    /// What the agent is there for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_role: Option<String>,
}

/// What `createTurn` of `turn-rpc` takes as `turnOptions`. All but the capabilities the thread keeps for later turns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct TurnRpcTurnOptions {
    /// Instead of the thread's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Who provides the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    /// How the agent works.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"Chat\" | \"Agent\"")]
    pub mode: Option<String>,
    /// What tools may touch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox_policy: Option<SandboxPolicy>,
    /// What the agent is to use in this turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<TurnCapability>>,
}

/// What tools may touch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct SandboxPolicy {
    /// The only one there is.
    #[tsify(type = "\"FullAccess\"")]
    pub mode: String,
}

/// Something that the agent is to use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct TurnCapability {
    /// Chosen by the client.
    pub id: String,
    /// What it is.
    pub kind: CapabilityKind,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// What a capability is, told apart by `type`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CapabilityKind {
    /// A skill.
    Skill {
        /// Its name.
        slug: String,
        /// Where it comes from, for example `"workspace"`.
        source_kind: String,
    },
    /// All tools of an MCP server.
    McpServer {
        /// Its name.
        name: String,
        /// Whose it is.
        #[tsify(type = "\"workspace\" | \"user\"")]
        scope_kind: String,
    },
    /// One tool of an MCP server.
    McpTool {
        /// The server's name.
        server_name: String,
        /// The tool's name at the server.
        raw_tool_name: String,
        /// Whose the server is.
        #[tsify(type = "\"workspace\" | \"user\"")]
        scope_kind: String,
    },
}

/// A capability that is not to be had: `details.rejected` of the notice `capability.rejected` lists them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct RejectedCapability {
    /// As the client called it.
    pub id: String,
    /// What it is.
    pub kind: CapabilityKind,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Why not.
    #[tsify(
        type = "\"invalid_input\" | \"duplicate\" | \"not_found\" | \"disabled_by_policy\" | \"validation_rejected\" | \"security_blocked\" | \"dependency_missing\" | \"unavailable\" | \"catalog_missing\" | \"tool_missing\" | \"provider_unsupported\" | \"materialization_failed\""
    )]
    pub reason: String,
    /// Why not, for people.
    pub message: String,
}

/// A thread: turnwire's session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct TurnRpcThread {
    /// The workspace that it is in.
    pub workspace_id: String,
    /// Chosen by the client.
    pub id: String,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How it begins.
    pub preview: String,
    /// How the agent works.
    #[tsify(type = "\"Chat\" | \"Agent\"")]
    pub mode: String,
    /// The model's name.
    pub model: String,
    /// Who provides it.
    pub model_provider: String,
    /// Seconds since 1970.
    pub created_at: u64,
    /// Seconds since 1970.
    pub updated_at: u64,
    /// Whether a turn runs.
    #[tsify(type = "\"Active\" | \"Idle\" | \"Closed\"")]
    pub status: String,
    /// Who began it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"user\" | \"task_run\" | \"system\"")]
    pub origin_kind: Option<String>,
    /// Whether clients list it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"visible\" | \"hidden\"")]
    pub sidebar_visibility: Option<String>,
    /// What the agent is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_nickname: Option<String>,
    /// What the agent is there for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_role: Option<String>,
    /// Oldest first.
    pub turns: Vec<TurnRpcTurn>,
}

/// A turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct TurnRpcTurn {
    /// Chosen by the client.
    pub id: String,
    /// Where it stands.
    #[tsify(type = "\"InProgress\" | \"Completed\" | \"Failed\" | \"Interrupted\"")]
    pub status: String,
    /// What it is; a conversation where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"conversation\" | \"task_run\"")]
    pub turn_kind: Option<String>,
    /// Who began it; the user where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "\"user\" | \"scheduled_task\" | \"detached_task\" | \"attached_task\"")]
    pub origin: Option<String>,
    /// Why it failed, or was interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the prompt was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_manifest: Option<PromptManifest>,
}

/// What a turn's prompt was made of: `details` of the notice `prompt_manifest`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct PromptManifest {
    /// What made it.
    pub compiler_version: String,
    /// How much there is of it.
    #[tsify(type = "\"assistant_full\" | \"assistant_minimal\" | \"assistant_none\"")]
    pub profile: String,
    /// Its parts.
    #[serde(default)]
    pub section_ids: Vec<String>,
    /// A print of what stays the same.
    pub fingerprint_stable: String,
    /// A print of what changes.
    pub fingerprint_dynamic: String,
    /// A print of the whole.
    pub fingerprint_full: String,
    /// What is wrong with it.
    #[serde(default)]
    pub diagnostics: Vec<PromptManifestDiagnostic>,
    /// Where hooks come from.
    #[serde(default)]
    #[tsify(type = "unknown[]")]
    pub hook_sources: Vec<Value>,
}

/// Something that is wrong with a prompt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Tsify)]
pub struct PromptManifestDiagnostic {
    /// What it is.
    #[tsify(
        type = "\"missing_file\" | \"file_read_error\" | \"file_truncated\" | \"total_budget_truncated\" | \"file_filtered_by_profile\" | \"dynamic_section_truncated\" | \"dynamic_section_omitted\" | \"hook_diagnostic\" | \"hook_best_effort_failed\" | \"capability_rejected\""
    )]
    pub code: String,
    /// For people.
    pub message: String,
    /// The file that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The part that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section_id: Option<String>,
    /// The hook that says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown")]
    pub hook_source: Option<Value>,
}
