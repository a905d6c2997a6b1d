//! What the server says without being asked (section 6).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tsify::Tsify;

use super::{TurnItem, TurnRpcThread, TurnRpcTurn};

/// A notification, told apart by `method`. On the wire `jsonrpc` stands beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "method", content = "params")]
#[allow(clippy::large_enum_variant, reason = "it is read, and not kept")]
pub enum TurnRpcNotification {
    /// A thread is loaded, and this connection hears of it.
    #[serde(rename = "thread/started")]
    ThreadStarted(ThreadParams),
    /// A thread has another name.
    #[serde(rename = "thread/updated")]
    ThreadUpdated(ThreadParams),
    /// A thread is unloaded.
    #[serde(rename = "thread/closed")]
    ThreadClosed(ThreadClosedParams),
    /// There are other threads.
    #[serde(rename = "thread/tree/changed")]
    ThreadTreeChanged(TreeChangedParams),
    /// A turn begins.
    #[serde(rename = "turn/started")]
    TurnStarted(TurnParams),
    /// A turn is done.
    #[serde(rename = "turn/completed")]
    TurnCompleted(TurnParams),
    /// A turn has failed, or was interrupted.
    #[serde(rename = "turn/failed")]
    TurnFailed(TurnParams),
    /// `turn/timeline` says more than before.
    #[serde(rename = "turn/timeline/changed")]
    TimelineChanged(TimelineChangedParams),
    /// The turn has used up its tools.
    #[serde(rename = "turn/tool_loop/budget_exceeded")]
    ToolLoopBudgetExceeded(ToolLoopBudgetExceeded),
    /// An item begins.
    #[serde(rename = "item/started")]
    ItemStarted(ItemParams),
    /// An item is as it will be.
    #[serde(rename = "item/completed")]
    ItemCompleted(ItemParams),
    /// An item is another than before.
    #[serde(rename = "item/updated")]
    ItemUpdated(ItemParams),
    /// A piece of an answer, or of reasoning.
    #[serde(rename = "item/agent_message/delta")]
    AgentMessageDelta(ItemDeltaParams),
    /// A piece of what a command puts out.
    #[serde(rename = "item/command_execution/output_delta")]
    CommandOutputDelta(ItemDeltaParams),
    /// A piece of what a change of files puts out.
    #[serde(rename = "item/file_change/output_delta")]
    FileChangeOutputDelta(ItemDeltaParams),
    /// A piece of what any tool puts out.
    #[serde(rename = "item/tool/progress")]
    ToolProgress(ItemDeltaParams),
    /// An item takes too long.
    #[serde(rename = "item/timeout_detected")]
    TimeoutDetected(TimeoutDetected),
    /// Something is to be saved.
    #[serde(rename = "item/recovery_opened")]
    RecoveryOpened(RecoveryOpened),
    /// It is saved with something else.
    #[serde(rename = "item/recovery_attached")]
    RecoveryAttached(RecoveryAttached),
    /// Another try will be made.
    #[serde(rename = "item/retry_scheduled")]
    RetryScheduled(RetryScheduled),
    /// Another try is made.
    #[serde(rename = "item/retry_attempt_started")]
    RetryAttemptStarted(RecoveryOf),
    /// It is saved.
    #[serde(rename = "item/recovery_succeeded")]
    RecoverySucceeded(RecoveryOf),
    /// It is not to be saved.
    #[serde(rename = "item/recovery_exhausted")]
    RecoveryExhausted(RecoveryExhausted),
    /// A tool will be called again.
    #[serde(rename = "item/tool/retry_scheduled")]
    ToolRetryScheduled(ToolRetryScheduled),
    /// A tool is not called again.
    #[serde(rename = "item/tool/retry_resolved")]
    ToolRetryResolved(ToolRetryResolved),
    /// A tool cannot be called again.
    #[serde(rename = "item/tool/retry_exhausted")]
    ToolRetryExhausted(ToolRetryExhausted),
    /// What was said before is being made shorter.
    #[serde(rename = "context/compressing")]
    ContextCompressing(CompressingParams),
    /// What was said before is shorter now.
    #[serde(rename = "context/compressed")]
    ContextCompressed(CompressedParams),
}

/// Declares parameters that say which turn, or which item of it, they are about.
macro_rules! params {
    (item $(#[$meta:meta])* $name:ident { $($fields:tt)* }) => {
        params!($(#[$meta])* $name {
            /// The item.
            pub item_id: String,
            /// What it is, for example `"agent_message"`.
            pub item_type: String,
            $($fields)*
        });
    };
    ($(#[$meta:meta])* $name:ident { $($fields:tt)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
        pub struct $name {
            /// The workspace.
            pub workspace_id: String,
            /// The thread.
            pub thread_id: String,
            /// The turn.
            pub turn_id: String,
            $($fields)*
        }
    };
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct ThreadParams {
    /// As it stands.
    pub thread: TurnRpcThread,
}

/// A thread that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct ThreadClosedParams {
    /// The workspace.
    pub workspace_id: String,
    /// The thread.
    pub thread_id: String,
}

/// A workspace whose threads are others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct TreeChangedParams {
    /// The workspace.
    pub workspace_id: String,
}

/// A turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct TurnParams {
    /// The workspace.
    pub workspace_id: String,
    /// The thread.
    pub thread_id: String,
    /// As it stands.
    pub turn: TurnRpcTurn,
}

params! {
    /// An item.
    ItemParams {
        /// As it stands.
        pub item: TurnItem,
    }
}

params! {
    /// A piece of an item. Pieces have no number, and may be lost.
    ItemDeltaParams {
        /// The item.
        pub item_id: String,
        /// The piece.
        pub delta: String,
        /// What it is a piece of; the method says it where this is missing.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[tsify(
            type = "\"agent_message\" | \"stdout\" | \"stderr\" | \"tool_progress\" | \"file_change\" | \"generic\""
        )]
        pub stream: Option<String>,
        /// What a tool says of the piece.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub payload: Option<ToolDeltaPayload>,
        /// All of the text so far, as blocks.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[tsify(type = "unknown")]
        pub markdown: Option<Value>,
        /// Of the form of the blocks: 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub markdown_version: Option<u32>,
    }
}

/// What a tool says of a piece of its output, told apart by `kind`: `payload` of `tool.output`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ToolDeltaPayload {
    /// It is output.
    OutputChunk {
        /// Whether some of it was left out.
        truncated: bool,
    },
    /// The tool is at work.
    Progress {
        /// What it does.
        stage: String,
        /// Values, each with its `kind`.
        #[tsify(type = "Record<string, unknown>")]
        metadata: Map<String, Value>,
    },
    /// The tool has made something.
    ArtifactRef {
        /// What it is called.
        label: String,
        /// Where it is.
        uri: String,
        /// Values, each with its `kind`.
        #[tsify(type = "Record<string, unknown>")]
        metadata: Map<String, Value>,
    },
    /// Something is wrong.
    Diagnostic {
        /// For people.
        message: String,
        /// What it is, for example `"timeout"`.
        error_class: String,
        /// Values, each with its `kind`.
        #[tsify(type = "Record<string, unknown>")]
        metadata: Map<String, Value>,
    },
}

/// A timeline that says more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct TimelineChangedParams {
    /// The workspace.
    pub workspace_id: String,
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The task that is the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Its run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child_thread_id: Option<String>,
    /// Its turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child_turn_id: Option<String>,
    /// What has changed.
    #[tsify(
        type = "\"parent_turn_changed\" | \"task_event_changed\" | \"child_turn_changed\" | \"collapse_state_hint_changed\""
    )]
    pub reason: String,
}

params! {
    /// A limit that is reached.
    ToolLoopBudgetExceeded {
        /// Which.
        #[tsify(type = "\"agent_rounds\" | \"tool_calls\" | \"provider_returned_tools_after_tools_disabled\"")]
        pub limit_kind: String,
        /// How many were allowed.
        pub limit: u64,
        /// How many there were.
        pub observed: u64,
        /// What is done.
        #[tsify(type = "\"request_final_no_tools_round\" | \"fail_turn\"")]
        pub action: String,
        /// For people.
        pub reason: String,
    }
}

params! {
    item
    /// An item that takes too long.
    TimeoutDetected {
        /// Which try it is, from 1 on.
        pub attempt_number: u32,
        /// What was waited for.
        #[tsify(
            type = "\"start_deadline_exceeded\" | \"idle_deadline_exceeded\" | \"hard_deadline_exceeded\" | \"lease_expired\""
        )]
        pub reason: String,
        /// What saves it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub recovery_job_id: Option<String>,
    }
}

params! {
    item
    /// Something that is to be saved.
    RecoveryOpened {
        /// What saves it.
        pub recovery_job_id: String,
        /// What happened.
        #[tsify(type = "\"timeout\" | \"provider_error\" | \"unknown\"")]
        pub trigger: String,
        /// What is done.
        #[tsify(
            type = "\"retry_attempt\" | \"retry_with_backoff\" | \"restart_turn\" | \"fallback\" | \"mark_failed\""
        )]
        pub action: String,
        /// Which try it is, from 1 on.
        pub attempt_number: u32,
    }
}

params! {
    item
    /// Something that is saved with something else.
    RecoveryAttached {
        /// What saves it.
        pub recovery_job_id: String,
        /// What it was opened for.
        pub recovery_item_id: String,
        /// What that is.
        pub recovery_item_type: String,
        /// What happened.
        #[tsify(type = "\"timeout\" | \"provider_error\" | \"unknown\"")]
        pub trigger: String,
        /// What is done.
        #[tsify(
            type = "\"retry_attempt\" | \"retry_with_backoff\" | \"restart_turn\" | \"fallback\" | \"mark_failed\""
        )]
        pub action: String,
        /// Where that stands.
        #[tsify(
            type = "\"pending\" | \"active\" | \"succeeded\" | \"failed\" | \"exhausted\" | \"cancelled\""
        )]
        pub existing_status: String,
        /// Which try is next.
        pub next_attempt_number: u32,
    }
}

params! {
    item
    /// A try that will be made.
    RetryScheduled {
        /// What saves it.
        pub recovery_job_id: String,
        /// Which try it is, from 1 on.
        pub attempt_number: u32,
        /// When, in seconds since 1970.
        pub next_run_at_unix: u64,
        /// For people.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reason: Option<String>,
    }
}

params! {
    item
    /// How the saving goes.
    RecoveryOf {
        /// What saves it.
        pub recovery_job_id: String,
        /// Which try it is, from 1 on.
        pub attempt_number: u32,
    }
}

params! {
    item
    /// Something that is not to be saved.
    RecoveryExhausted {
        /// What should have saved it.
        pub recovery_job_id: String,
        /// Which try it was, from 1 on.
        pub attempt_number: u32,
        /// How that ended.
        #[tsify(
            type = "\"pending\" | \"active\" | \"succeeded\" | \"failed\" | \"exhausted\" | \"cancelled\""
        )]
        pub status: String,
        /// For people.
        pub error_message: String,
    }
}

/// How often something may be tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct RetryBudget {
    /// What is counted.
    #[tsify(type = "\"episode\" | \"error_class\" | \"tool_name\" | \"failure_signature\"")]
    pub kind: String,
    /// How often it was.
    pub used: u32,
    /// How often it may be.
    pub limit: u32,
}

params! {
    item
    /// A tool that will be called again.
    ToolRetryScheduled {
        /// What these tries have in common.
        pub tool_retry_episode_id: String,
        /// The tool.
        pub tool_name: String,
        /// Which try it is, from 1 on.
        pub attempt_number: u32,
        /// What went wrong, for example `"timeout"`.
        pub error_class: String,
        /// What to do otherwise.
        pub retry_hint: String,
        /// How often it may be tried.
        #[serde(default)]
        pub budgets: Vec<RetryBudget>,
        /// A print of what went wrong.
        pub failure_signature_fingerprint: String,
        /// For people.
        pub reason: String,
    }
}

params! {
    item
    /// A tool that is not called again.
    ToolRetryResolved {
        /// What these tries have in common.
        pub tool_retry_episode_id: String,
        /// The tool.
        pub tool_name: String,
        /// Which try it was, from 1 on.
        pub attempt_number: u32,
        /// Why not.
        #[tsify(type = "\"succeeded\" | \"non_retryable\"")]
        pub resolution: String,
        /// How often it may be tried.
        #[serde(default)]
        pub budgets: Vec<RetryBudget>,
        /// For people.
        pub reason: String,
    }
}

params! {
    item
    /// A tool that cannot be called again.
    ToolRetryExhausted {
        /// What these tries have in common.
        pub tool_retry_episode_id: String,
        /// The tool.
        pub tool_name: String,
        /// Which try it was, from 1 on.
        pub attempt_number: u32,
        /// What went wrong, for example `"timeout"`.
        pub error_class: String,
        /// What was used up.
        #[tsify(type = "\"total_retry_rounds\" | \"error_class\" | \"tool_name\" | \"failure_signature\"")]
        pub exhaustion_kind: String,
        /// How often it may be tried.
        #[serde(default)]
        pub budgets: Vec<RetryBudget>,
        /// A print of what went wrong.
        pub failure_signature_fingerprint: String,
        /// For people.
        pub reason: String,
    }
}

/// What was said before is being made shorter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct CompressingParams {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// For people.
    pub message: String,
}

/// What was said before is shorter now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct CompressedParams {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// How long it is now.
    pub compressed_tokens: u64,
}
