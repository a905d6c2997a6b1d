//! The items of a turn (section 5).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tsify::Tsify;

/// An item of a turn, distinguished by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[allow(
    clippy::large_enum_variant,
    reason = "items of the largest types are the most frequent but for messages"
)]
pub enum TurnItem {
    /// A message of the user.
    UserMessage {
        /// `"user_"` and the turn's id.
        id: String,
        /// The text, with normalized white space.
        text: String,
        /// The attachments.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[tsify(optional)]
        attachments: Vec<ItemAttachment>,
    },
    /// A message of the agent.
    AgentMessage {
        /// The item's id.
        id: String,
        /// The text so far.
        text: String,
        /// The text as blocks.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[tsify(type = "unknown")]
        markdown: Option<Value>,
        /// The version of the blocks' format: 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        markdown_version: Option<u32>,
    },
    /// Reasoning of the agent.
    Reasoning {
        /// The item's id.
        id: String,
        /// The summary.
        #[serde(default)]
        summary: Vec<String>,
        /// The full text.
        #[serde(default)]
        content: Vec<String>,
    },
    /// A notice about the turn. It is completed without having been started.
    SystemEvent {
        /// The item's id.
        id: String,
        /// The level.
        #[tsify(type = "\"info\" | \"warning\" | \"error\"")]
        level: String,
        /// For people.
        message: String,
        /// A code, for example `"capability.rejected"`.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// Data about the code.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[tsify(type = "unknown")]
        details: Option<Value>,
    },
    /// A task of another agent, or a schedule.
    Task {
        /// The item's id.
        id: String,
        /// The task's id.
        task_id: String,
        /// The task's title.
        title: String,
        /// The status.
        status: String,
        /// The kind of its trigger.
        trigger_kind: String,
        /// The kind of its executor.
        executor_kind: String,
        /// The number of tasks that contain it.
        depth: u32,
        /// The largest number of tasks that may contain it.
        max_depth: u32,
        /// Seconds since 1970.
        created_at: u64,
        /// Seconds since 1970.
        updated_at: u64,
        /// The id of its run.
        #[serde(skip_serializing_if = "Option::is_none")]
        run_id: Option<String>,
        /// The outermost task that contains it.
        #[serde(skip_serializing_if = "Option::is_none")]
        root_task_id: Option<String>,
        /// The task that contains it.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_task_id: Option<String>,
        /// The thread of its agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        child_thread_id: Option<String>,
        /// The turn of its agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        child_turn_id: Option<String>,
        /// The role of its agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        agent_role: Option<String>,
        /// The next start by its schedule, in seconds since 1970.
        #[serde(skip_serializing_if = "Option::is_none")]
        next_fire_at: Option<u64>,
        /// The beginning of its result.
        #[serde(skip_serializing_if = "Option::is_none")]
        result_preview: Option<String>,
        /// The beginning of its error.
        #[serde(skip_serializing_if = "Option::is_none")]
        error_preview: Option<String>,
    },
    /// A command.
    CommandExecution {
        /// The fields of all tools.
        #[serde(flatten)]
        tool: ToolItem,
        /// The program and its arguments.
        #[serde(default)]
        command: Vec<String>,
        /// The working directory.
        #[serde(skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
    /// A change of files.
    FileChange {
        /// The fields of all tools.
        #[serde(flatten)]
        tool: ToolItem,
        /// The paths of the changed files.
        #[serde(default)]
        changed_files: Vec<String>,
        /// The exit code of the program that changes them.
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// Its standard output.
        #[serde(skip_serializing_if = "Option::is_none")]
        stdout: Option<String>,
        /// Its standard error.
        #[serde(skip_serializing_if = "Option::is_none")]
        stderr: Option<String>,
    },
    /// A web search.
    WebSearch {
        /// The fields of all tools.
        #[serde(flatten)]
        tool: ToolItem,
        /// The search terms.
        #[serde(skip_serializing_if = "Option::is_none")]
        query: Option<String>,
        /// The search provider.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        /// In milliseconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        took_ms: Option<u64>,
        /// The number of results.
        #[serde(skip_serializing_if = "Option::is_none")]
        result_count: Option<u64>,
        /// The best results.
        #[serde(default)]
        #[tsify(
            type = "{ rank: number; title: string; url: string; snippet: string; source: string; publishedAt?: string }[]"
        )]
        results: Vec<Map<String, Value>>,
    },
    /// A page that is read.
    WebFetch {
        /// The fields of all tools.
        #[serde(flatten)]
        tool: ToolItem,
        /// The requested URL.
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// The URL after redirects.
        #[serde(skip_serializing_if = "Option::is_none")]
        final_url: Option<String>,
        /// The status of the response.
        #[serde(skip_serializing_if = "Option::is_none")]
        status_code: Option<u16>,
        /// The `Content-Type` of the response.
        #[serde(skip_serializing_if = "Option::is_none")]
        content_type: Option<String>,
        /// The requested kind of extraction.
        #[serde(skip_serializing_if = "Option::is_none")]
        extract_mode: Option<String>,
        /// The applied kind of extraction.
        #[serde(skip_serializing_if = "Option::is_none")]
        resolved_mode: Option<String>,
        /// The length of the response in bytes.
        #[serde(skip_serializing_if = "Option::is_none")]
        bytes_received: Option<u64>,
        /// In milliseconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        elapsed_ms: Option<u64>,
        /// How the content was cut, if it was.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[tsify(type = "unknown")]
        truncated: Option<Value>,
        /// The title of the page.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The number of words on the page.
        #[serde(skip_serializing_if = "Option::is_none")]
        word_count: Option<u64>,
        /// The links on the page.
        #[serde(default)]
        #[tsify(type = "{ text: string; url: string }[]")]
        links: Vec<Map<String, Value>>,
    },
    /// A file that is downloaded.
    Download {
        /// The fields of all tools.
        #[serde(flatten)]
        tool: ToolItem,
        /// The requested URL.
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// The URL after redirects.
        #[serde(skip_serializing_if = "Option::is_none")]
        final_url: Option<String>,
        /// The status of the response.
        #[serde(skip_serializing_if = "Option::is_none")]
        status_code: Option<u16>,
        /// The path of the file on the gateway's machine.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The length of the file in bytes.
        #[serde(skip_serializing_if = "Option::is_none")]
        bytes_written: Option<u64>,
        /// In hexadecimal digits.
        #[serde(skip_serializing_if = "Option::is_none")]
        sha256: Option<String>,
        /// The `Content-Type` of the response.
        #[serde(skip_serializing_if = "Option::is_none")]
        content_type: Option<String>,
        /// In milliseconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        elapsed_ms: Option<u64>,
        /// Whether the file was cut.
        #[serde(skip_serializing_if = "Option::is_none")]
        truncated: Option<bool>,
    },
    /// Any other tool, for example of MCP servers, skills and tasks.
    DynamicToolCall {
        /// The fields of all tools.
        #[serde(flatten)]
        tool: ToolItem,
    },
}

/// The fields of the items of all tools. `result.data` of a tool's result is the whole item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct ToolItem {
    /// The call's id, from the model's provider.
    pub id: String,
    /// The name of the tool.
    pub tool_name: String,
    /// The arguments.
    #[tsify(type = "unknown")]
    pub arguments: Value,
    /// The status.
    #[tsify(type = "\"in_progress\" | \"completed\" | \"failed\"")]
    pub status: String,
    /// The rules for retries.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown")]
    pub recovery_policy: Option<Value>,
    /// The rules for the visibility of its output.
    #[tsify(type = "unknown")]
    pub output_policy: Value,
    /// The part that is shown.
    pub display: ToolDisplay,
    /// The part that is stored.
    #[tsify(type = "unknown")]
    pub storage: Value,
    /// The data for a retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown")]
    pub recovery: Option<Value>,
    /// Whether it succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// The outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<ToolOutcome>,
    /// Who observed the result, and when.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown")]
    pub observation: Option<Value>,
}

/// The part of a tool's call that is shown, distinguished by `kind`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToolDisplay {
    /// The output of a command.
    Shell {
        /// Whether the output was cut.
        truncated: bool,
        /// The standard output.
        #[serde(skip_serializing_if = "Option::is_none")]
        stdout: Option<String>,
        /// The standard error.
        #[serde(skip_serializing_if = "Option::is_none")]
        stderr: Option<String>,
        /// Both, in their order.
        #[serde(skip_serializing_if = "Option::is_none")]
        aggregated_output: Option<String>,
        /// The exit code.
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// In milliseconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
        /// Whether it timed out.
        #[serde(skip_serializing_if = "Option::is_none")]
        timed_out: Option<bool>,
    },
    /// A summary of the result.
    Summary {
        /// One line.
        title: String,
        /// Further lines.
        #[serde(default)]
        lines: Vec<String>,
        /// Values, each with its `kind`.
        #[tsify(type = "Record<string, unknown>")]
        metadata: Map<String, Value>,
        /// Whether the summary was cut.
        truncated: bool,
    },
    /// Progress of a running tool.
    Progress {
        /// The current stage.
        stage: String,
        /// Values, each with its `kind`.
        #[tsify(type = "Record<string, unknown>")]
        metadata: Map<String, Value>,
    },
    /// Nothing.
    Hidden,
}

/// The outcome of a tool's call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct ToolOutcome {
    /// The status.
    #[tsify(type = "\"ok\" | \"recoverable_error\" | \"fatal_error\" | \"partial_success\"")]
    pub status: String,
    /// Whether a retry may succeed.
    pub should_retry: bool,
    /// Whether the result is incomplete.
    pub incomplete: bool,
    /// The kind of the error, for example `"timeout"` or `"permission_denied"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_class: Option<String>,
    /// What to change for a retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_hint: Option<String>,
    /// Why the result is incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete_reason: Option<String>,
}

/// An attachment of a user's message, distinguished by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum ItemAttachment {
    /// An image.
    Image {
        /// Its URL.
        url: String,
    },
    /// A file.
    File {
        /// Its URL.
        url: String,
    },
    /// An audio file.
    Audio {
        /// Its URL.
        url: String,
    },
    /// A video.
    Video {
        /// Its URL.
        url: String,
    },
    /// An image on the gateway's machine.
    LocalImage {
        /// Its path.
        path: String,
    },
    /// A file on the gateway's machine.
    LocalFile {
        /// Its path.
        path: String,
    },
    /// An audio file on the gateway's machine.
    LocalAudio {
        /// Its path.
        path: String,
    },
    /// A video on the gateway's machine.
    LocalVideo {
        /// Its path.
        path: String,
    },
    /// An artifact that an agent has created.
    Artifact {
        /// The artifact.
        #[tsify(
            type = "{ artifact_id: string; version_id?: string; display_name: string; kind: string; mime_type?: string; size_bytes?: number; sha256?: string; status: string; preview?: unknown }"
        )]
        artifact: Map<String, Value>,
    },
    /// An accepted skill.
    Skill {
        /// The skill.
        #[tsify(type = "{ id: string; label: string; slug: string; sourceKind: string }")]
        capability: Map<String, Value>,
    },
    /// An accepted MCP server.
    McpServer {
        /// The server.
        #[tsify(type = "{ id: string; label: string; name: string; scopeKind: \"workspace\" | \"user\" }")]
        capability: Map<String, Value>,
    },
    /// An accepted tool of an MCP server.
    McpTool {
        /// The tool.
        #[tsify(
            type = "{ id: string; label: string; serverName: string; rawToolName: string; scopeKind: \"workspace\" | \"user\" }"
        )]
        capability: Map<String, Value>,
    },
}
