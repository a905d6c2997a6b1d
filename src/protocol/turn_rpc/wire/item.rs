//! The items of a turn (section 5).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tsify::Tsify;

/// An item of a turn, told apart by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[allow(
    clippy::large_enum_variant,
    reason = "items of the largest types are the most frequent but for messages"
)]
pub enum TurnItem {
    /// What the user says.
    UserMessage {
        /// `"user_"` and the turn's id.
        id: String,
        /// The words, with their white space evened out.
        text: String,
        /// What came with them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[tsify(optional)]
        attachments: Vec<ItemAttachment>,
    },
    /// What the agent says.
    AgentMessage {
        /// The item's id.
        id: String,
        /// As much of it as there is.
        text: String,
        /// The text as blocks.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[tsify(type = "unknown")]
        markdown: Option<Value>,
        /// Of the form of the blocks: 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        markdown_version: Option<u32>,
    },
    /// What the agent thinks.
    Reasoning {
        /// The item's id.
        id: String,
        /// In short.
        #[serde(default)]
        summary: Vec<String>,
        /// In full.
        #[serde(default)]
        content: Vec<String>,
    },
    /// News of the turn. It is completed without having been started.
    SystemEvent {
        /// The item's id.
        id: String,
        /// How bad it is.
        #[tsify(type = "\"info\" | \"warning\" | \"error\"")]
        level: String,
        /// For people.
        message: String,
        /// What it is, for example `"capability.rejected"`.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// What belongs to the code.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[tsify(type = "unknown")]
        details: Option<Value>,
    },
    /// A task that another agent has, or a schedule.
    Task {
        /// The item's id.
        id: String,
        /// The task's.
        task_id: String,
        /// What it is called.
        title: String,
        /// Where it stands.
        status: String,
        /// What starts it.
        trigger_kind: String,
        /// What carries it out.
        executor_kind: String,
        /// How many tasks it is in.
        depth: u32,
        /// How many it may be in.
        max_depth: u32,
        /// Seconds since 1970.
        created_at: u64,
        /// Seconds since 1970.
        updated_at: u64,
        /// Its run.
        #[serde(skip_serializing_if = "Option::is_none")]
        run_id: Option<String>,
        /// The outermost task that it is in.
        #[serde(skip_serializing_if = "Option::is_none")]
        root_task_id: Option<String>,
        /// The task that it is in.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_task_id: Option<String>,
        /// The thread of its agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        child_thread_id: Option<String>,
        /// The turn of its agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        child_turn_id: Option<String>,
        /// What its agent is there for.
        #[serde(skip_serializing_if = "Option::is_none")]
        agent_role: Option<String>,
        /// When a schedule starts it next, in seconds since 1970.
        #[serde(skip_serializing_if = "Option::is_none")]
        next_fire_at: Option<u64>,
        /// How its result begins.
        #[serde(skip_serializing_if = "Option::is_none")]
        result_preview: Option<String>,
        /// How its error begins.
        #[serde(skip_serializing_if = "Option::is_none")]
        error_preview: Option<String>,
    },
    /// A command that is run.
    CommandExecution {
        /// What every tool has.
        #[serde(flatten)]
        tool: ToolItem,
        /// The program and its arguments.
        #[serde(default)]
        command: Vec<String>,
        /// Where it is run.
        #[serde(skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
    /// Files that are changed.
    FileChange {
        /// What every tool has.
        #[serde(flatten)]
        tool: ToolItem,
        /// Their paths.
        #[serde(default)]
        changed_files: Vec<String>,
        /// Of the program that changes them.
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// What it said.
        #[serde(skip_serializing_if = "Option::is_none")]
        stdout: Option<String>,
        /// What it said of errors.
        #[serde(skip_serializing_if = "Option::is_none")]
        stderr: Option<String>,
    },
    /// A search of the web.
    WebSearch {
        /// What every tool has.
        #[serde(flatten)]
        tool: ToolItem,
        /// What is searched.
        #[serde(skip_serializing_if = "Option::is_none")]
        query: Option<String>,
        /// Who searches.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        /// In milliseconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        took_ms: Option<u64>,
        /// How many were found.
        #[serde(skip_serializing_if = "Option::is_none")]
        result_count: Option<u64>,
        /// The best of them.
        #[serde(default)]
        #[tsify(
            type = "{ rank: number; title: string; url: string; snippet: string; source: string; publishedAt?: string }[]"
        )]
        results: Vec<Map<String, Value>>,
    },
    /// A page that is read.
    WebFetch {
        /// What every tool has.
        #[serde(flatten)]
        tool: ToolItem,
        /// What was asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// Where it was found.
        #[serde(skip_serializing_if = "Option::is_none")]
        final_url: Option<String>,
        /// Of the answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        status_code: Option<u16>,
        /// Of the answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        content_type: Option<String>,
        /// What was to be taken of it.
        #[serde(skip_serializing_if = "Option::is_none")]
        extract_mode: Option<String>,
        /// What was taken of it.
        #[serde(skip_serializing_if = "Option::is_none")]
        resolved_mode: Option<String>,
        /// How long the answer was.
        #[serde(skip_serializing_if = "Option::is_none")]
        bytes_received: Option<u64>,
        /// In milliseconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        elapsed_ms: Option<u64>,
        /// How it was cut, if it was.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[tsify(type = "unknown")]
        truncated: Option<Value>,
        /// Of the page.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Of the page.
        #[serde(skip_serializing_if = "Option::is_none")]
        word_count: Option<u64>,
        /// Of the page.
        #[serde(default)]
        #[tsify(type = "{ text: string; url: string }[]")]
        links: Vec<Map<String, Value>>,
    },
    /// A file that is fetched.
    Download {
        /// What every tool has.
        #[serde(flatten)]
        tool: ToolItem,
        /// What was asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// Where it was found.
        #[serde(skip_serializing_if = "Option::is_none")]
        final_url: Option<String>,
        /// Of the answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        status_code: Option<u16>,
        /// Where it was put, on the gateway's machine.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// How long it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        bytes_written: Option<u64>,
        /// In hexadecimal digits.
        #[serde(skip_serializing_if = "Option::is_none")]
        sha256: Option<String>,
        /// Of the answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        content_type: Option<String>,
        /// In milliseconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        elapsed_ms: Option<u64>,
        /// Whether it was cut.
        #[serde(skip_serializing_if = "Option::is_none")]
        truncated: Option<bool>,
    },
    /// Any other tool: those of MCP servers, of skills, of tasks.
    DynamicToolCall {
        /// What every tool has.
        #[serde(flatten)]
        tool: ToolItem,
    },
}

/// What the items of all tools have. `result.data` of a tool's result is the whole item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct ToolItem {
    /// The call's id, which the model's provider made.
    pub id: String,
    /// The tool.
    pub tool_name: String,
    /// What it was given.
    #[tsify(type = "unknown")]
    pub arguments: Value,
    /// Where it stands.
    #[tsify(type = "\"in_progress\" | \"completed\" | \"failed\"")]
    pub status: String,
    /// How it may be tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown")]
    pub recovery_policy: Option<Value>,
    /// Who is told how much of what it puts out.
    #[tsify(type = "unknown")]
    pub output_policy: Value,
    /// What of it is to be shown.
    pub display: ToolDisplay,
    /// What of it is kept.
    #[tsify(type = "unknown")]
    pub storage: Value,
    /// What another try needs to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown")]
    pub recovery: Option<Value>,
    /// Whether it did what it should.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// How it came out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<ToolOutcome>,
    /// Who saw it, and when.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "unknown")]
    pub observation: Option<Value>,
}

/// What of a tool's call is to be shown, told apart by `kind`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToolDisplay {
    /// What a command has put out.
    Shell {
        /// Whether some of it was left out.
        truncated: bool,
        /// Its output.
        #[serde(skip_serializing_if = "Option::is_none")]
        stdout: Option<String>,
        /// Its errors.
        #[serde(skip_serializing_if = "Option::is_none")]
        stderr: Option<String>,
        /// Both, as they came.
        #[serde(skip_serializing_if = "Option::is_none")]
        aggregated_output: Option<String>,
        /// How it ended.
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// In milliseconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
        /// Whether it took too long.
        #[serde(skip_serializing_if = "Option::is_none")]
        timed_out: Option<bool>,
    },
    /// What it came to.
    Summary {
        /// In a line.
        title: String,
        /// In some lines.
        #[serde(default)]
        lines: Vec<String>,
        /// Values, each with its `kind`.
        #[tsify(type = "Record<string, unknown>")]
        metadata: Map<String, Value>,
        /// Whether some of it was left out.
        truncated: bool,
    },
    /// It is at work.
    Progress {
        /// What it does.
        stage: String,
        /// Values, each with its `kind`.
        #[tsify(type = "Record<string, unknown>")]
        metadata: Map<String, Value>,
    },
    /// Nothing.
    Hidden,
}

/// How a tool's call came out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct ToolOutcome {
    /// In a word.
    #[tsify(type = "\"ok\" | \"recoverable_error\" | \"fatal_error\" | \"partial_success\"")]
    pub status: String,
    /// Whether another try may go better.
    pub should_retry: bool,
    /// Whether something is missing.
    pub incomplete: bool,
    /// What went wrong, for example `"timeout"` or `"permission_denied"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_class: Option<String>,
    /// What to do otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_hint: Option<String>,
    /// Why something is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete_reason: Option<String>,
}

/// What came with a user's words, told apart by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum ItemAttachment {
    /// A picture.
    Image {
        /// Its address.
        url: String,
    },
    /// A file.
    File {
        /// Its address.
        url: String,
    },
    /// A sound.
    Audio {
        /// Its address.
        url: String,
    },
    /// A film.
    Video {
        /// Its address.
        url: String,
    },
    /// A picture on the gateway's machine.
    LocalImage {
        /// Where it is.
        path: String,
    },
    /// A file on the gateway's machine.
    LocalFile {
        /// Where it is.
        path: String,
    },
    /// A sound on the gateway's machine.
    LocalAudio {
        /// Where it is.
        path: String,
    },
    /// A film on the gateway's machine.
    LocalVideo {
        /// Where it is.
        path: String,
    },
    /// Something that an agent has made.
    Artifact {
        /// What it is.
        #[tsify(
            type = "{ artifact_id: string; version_id?: string; display_name: string; kind: string; mime_type?: string; size_bytes?: number; sha256?: string; status: string; preview?: unknown }"
        )]
        artifact: Map<String, Value>,
    },
    /// A skill that was accepted.
    Skill {
        /// Which.
        #[tsify(type = "{ id: string; label: string; slug: string; sourceKind: string }")]
        capability: Map<String, Value>,
    },
    /// An MCP server that was accepted.
    McpServer {
        /// Which.
        #[tsify(type = "{ id: string; label: string; name: string; scopeKind: \"workspace\" | \"user\" }")]
        capability: Map<String, Value>,
    },
    /// A tool of an MCP server that was accepted.
    McpTool {
        /// Which.
        #[tsify(
            type = "{ id: string; label: string; serverName: string; rawToolName: string; scopeKind: \"workspace\" | \"user\" }"
        )]
        capability: Map<String, Value>,
    },
}
