//! The notifications of the gateway (section 6).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tsify::Tsify;

use super::{TurnItem, TurnRpcThread, TurnRpcTurn};

/// A notification, distinguished by `method`. On the wire it also has `jsonrpc`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "method", content = "params")]
#[allow(clippy::large_enum_variant, reason = "it is read, and not kept")]
pub enum TurnRpcNotification {
    /// A thread is loaded, and this connection receives its messages.
    #[serde(rename = "thread/started")]
    ThreadStarted(ThreadParams),
    /// A thread has a new name.
    #[serde(rename = "thread/updated")]
    ThreadUpdated(ThreadParams),
    /// A thread is unloaded.
    #[serde(rename = "thread/closed")]
    ThreadClosed(ThreadClosedParams),
    /// The list of threads has changed.
    #[serde(rename = "thread/tree/changed")]
    ThreadTreeChanged(TreeChangedParams),
    /// A turn begins.
    #[serde(rename = "turn/started")]
    TurnStarted(TurnParams),
    /// A turn is completed.
    #[serde(rename = "turn/completed")]
    TurnCompleted(TurnParams),
    /// A turn has failed, or was interrupted.
    #[serde(rename = "turn/failed")]
    TurnFailed(TurnParams),
    /// `turn/timeline` has new data.
    #[serde(rename = "turn/timeline/changed")]
    TimelineChanged(TimelineChangedParams),
    /// The turn has reached the limit of tool calls.
    #[serde(rename = "turn/tool_loop/budget_exceeded")]
    ToolLoopBudgetExceeded(ToolLoopBudgetExceeded),
    /// An item begins.
    #[serde(rename = "item/started")]
    ItemStarted(ItemParams),
    /// An item is final.
    #[serde(rename = "item/completed")]
    ItemCompleted(ItemParams),
    /// An item has changed.
    #[serde(rename = "item/updated")]
    ItemUpdated(ItemParams),
    /// A piece of an answer, or of reasoning.
    #[serde(rename = "item/agent_message/delta")]
    AgentMessageDelta(ItemDeltaParams),
    /// A piece of a command's output.
    #[serde(rename = "item/command_execution/output_delta")]
    CommandOutputDelta(ItemDeltaParams),
    /// A piece of the output of a file change.
    #[serde(rename = "item/file_change/output_delta")]
    FileChangeOutputDelta(ItemDeltaParams),
    /// A piece of any tool's output.
    #[serde(rename = "item/tool/progress")]
    ToolProgress(ItemDeltaParams),
    /// An item has timed out.
    #[serde(rename = "item/timeout_detected")]
    TimeoutDetected(TimeoutDetected),
    /// A recovery begins.
    #[serde(rename = "item/recovery_opened")]
    RecoveryOpened(RecoveryOpened),
    /// An item joins a recovery that is under way.
    #[serde(rename = "item/recovery_attached")]
    RecoveryAttached(RecoveryAttached),
    /// A retry is scheduled.
    #[serde(rename = "item/retry_scheduled")]
    RetryScheduled(RetryScheduled),
    /// A retry begins.
    #[serde(rename = "item/retry_attempt_started")]
    RetryAttemptStarted(RecoveryOf),
    /// A recovery has succeeded.
    #[serde(rename = "item/recovery_succeeded")]
    RecoverySucceeded(RecoveryOf),
    /// A recovery has failed for good.
    #[serde(rename = "item/recovery_exhausted")]
    RecoveryExhausted(RecoveryExhausted),
    /// A tool will be called again.
    #[serde(rename = "item/tool/retry_scheduled")]
    ToolRetryScheduled(ToolRetryScheduled),
    /// A tool is not called again.
    #[serde(rename = "item/tool/retry_resolved")]
    ToolRetryResolved(ToolRetryResolved),
    /// The retries of a tool are used up.
    #[serde(rename = "item/tool/retry_exhausted")]
    ToolRetryExhausted(ToolRetryExhausted),
    /// The context is being compressed.
    #[serde(rename = "context/compressing")]
    ContextCompressing(CompressingParams),
    /// The context was compressed.
    #[serde(rename = "context/compressed")]
    ContextCompressed(CompressedParams),
}

/// Declares parameters with the ids of their turn, or of an item in it.
macro_rules! params {
    (item $(#[$meta:meta])* $name:ident { $($fields:tt)* }) => {
        params!($(#[$meta])* $name {
            /// The item.
            pub item_id: String,
            /// The item's type, for example `"agent_message"`.
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
    /// The thread.
    pub thread: TurnRpcThread,
}

/// A thread that is unloaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct ThreadClosedParams {
    /// The workspace.
    pub workspace_id: String,
    /// The thread.
    pub thread_id: String,
}

/// A workspace whose list of threads has changed.
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
    /// The turn.
    pub turn: TurnRpcTurn,
}

params! {
    /// An item.
    ItemParams {
        /// The item.
        pub item: TurnItem,
    }
}

params! {
    /// A piece of an item. Pieces have no numbers, and may be lost.
    ItemDeltaParams {
        /// The item.
        pub item_id: String,
        /// The piece.
        pub delta: String,
        /// What the piece extends; if missing, the method says it.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[tsify(
            type = "\"agent_message\" | \"stdout\" | \"stderr\" | \"tool_progress\" | \"file_change\" | \"generic\""
        )]
        pub stream: Option<String>,
        /// Data of a tool about the piece.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub payload: Option<ToolDeltaPayload>,
        /// The whole text so far, as blocks.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[tsify(type = "unknown")]
        pub markdown: Option<Value>,
        /// The version of the blocks' format: 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub markdown_version: Option<u32>,
    }
}

/// Data of a tool about a piece of its output, distinguished by `kind`: `payload` of `tool.output`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ToolDeltaPayload {
    /// The piece is output.
    OutputChunk {
        /// Whether the output was cut.
        truncated: bool,
    },
    /// Progress of the tool.
    Progress {
        /// The current stage.
        stage: String,
        /// Values, each with its `kind`.
        #[tsify(type = "Record<string, unknown>")]
        metadata: Map<String, Value>,
    },
    /// The tool has created an artifact.
    ArtifactRef {
        /// The artifact's label.
        label: String,
        /// The artifact's URI.
        uri: String,
        /// Values, each with its `kind`.
        #[tsify(type = "Record<string, unknown>")]
        metadata: Map<String, Value>,
    },
    /// A problem.
    Diagnostic {
        /// For people.
        message: String,
        /// The kind of the error, for example `"timeout"`.
        error_class: String,
        /// Values, each with its `kind`.
        #[tsify(type = "Record<string, unknown>")]
        metadata: Map<String, Value>,
    },
}

/// A timeline with new data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct TimelineChangedParams {
    /// The workspace.
    pub workspace_id: String,
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// The task that caused the change.
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
    /// A limit that was reached.
    ToolLoopBudgetExceeded {
        /// The kind of the limit.
        #[tsify(type = "\"agent_rounds\" | \"tool_calls\" | \"provider_returned_tools_after_tools_disabled\"")]
        pub limit_kind: String,
        /// The limit.
        pub limit: u64,
        /// The reached number.
        pub observed: u64,
        /// The consequence.
        #[tsify(type = "\"request_final_no_tools_round\" | \"fail_turn\"")]
        pub action: String,
        /// For people.
        pub reason: String,
    }
}

params! {
    item
    /// An item that has timed out.
    TimeoutDetected {
        /// The number of the attempt, from 1 on.
        pub attempt_number: u32,
        /// The deadline that was exceeded.
        #[tsify(
            type = "\"start_deadline_exceeded\" | \"idle_deadline_exceeded\" | \"hard_deadline_exceeded\" | \"lease_expired\""
        )]
        pub reason: String,
        /// The recovery.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub recovery_job_id: Option<String>,
    }
}

params! {
    item
    /// A recovery.
    RecoveryOpened {
        /// The recovery.
        pub recovery_job_id: String,
        /// Its cause.
        #[tsify(type = "\"timeout\" | \"provider_error\" | \"unknown\"")]
        pub trigger: String,
        /// Its action.
        #[tsify(
            type = "\"retry_attempt\" | \"retry_with_backoff\" | \"restart_turn\" | \"fallback\" | \"mark_failed\""
        )]
        pub action: String,
        /// The number of the attempt, from 1 on.
        pub attempt_number: u32,
    }
}

params! {
    item
    /// An item that joins a recovery.
    RecoveryAttached {
        /// The recovery.
        pub recovery_job_id: String,
        /// The item for which the recovery was opened.
        pub recovery_item_id: String,
        /// The type of that item.
        pub recovery_item_type: String,
        /// The cause.
        #[tsify(type = "\"timeout\" | \"provider_error\" | \"unknown\"")]
        pub trigger: String,
        /// The action.
        #[tsify(
            type = "\"retry_attempt\" | \"retry_with_backoff\" | \"restart_turn\" | \"fallback\" | \"mark_failed\""
        )]
        pub action: String,
        /// The status of the recovery.
        #[tsify(
            type = "\"pending\" | \"active\" | \"succeeded\" | \"failed\" | \"exhausted\" | \"cancelled\""
        )]
        pub existing_status: String,
        /// The number of the next attempt.
        pub next_attempt_number: u32,
    }
}

params! {
    item
    /// A scheduled retry.
    RetryScheduled {
        /// The recovery.
        pub recovery_job_id: String,
        /// The number of the attempt, from 1 on.
        pub attempt_number: u32,
        /// Its time, in seconds since 1970.
        pub next_run_at_unix: u64,
        /// For people.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reason: Option<String>,
    }
}

params! {
    item
    /// The progress of a recovery.
    RecoveryOf {
        /// The recovery.
        pub recovery_job_id: String,
        /// The number of the attempt, from 1 on.
        pub attempt_number: u32,
    }
}

params! {
    item
    /// A recovery that has failed for good.
    RecoveryExhausted {
        /// The recovery.
        pub recovery_job_id: String,
        /// The number of the last attempt, from 1 on.
        pub attempt_number: u32,
        /// The final status.
        #[tsify(
            type = "\"pending\" | \"active\" | \"succeeded\" | \"failed\" | \"exhausted\" | \"cancelled\""
        )]
        pub status: String,
        /// For people.
        pub error_message: String,
    }
}

/// A limit of retries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct RetryBudget {
    /// The kind of the limit.
    #[tsify(type = "\"episode\" | \"error_class\" | \"tool_name\" | \"failure_signature\"")]
    pub kind: String,
    /// The number so far.
    pub used: u32,
    /// The largest number.
    pub limit: u32,
}

params! {
    item
    /// A tool that will be called again.
    ToolRetryScheduled {
        /// The id that these attempts share.
        pub tool_retry_episode_id: String,
        /// The tool.
        pub tool_name: String,
        /// The number of the attempt, from 1 on.
        pub attempt_number: u32,
        /// The kind of the error, for example `"timeout"`.
        pub error_class: String,
        /// What to change for a retry.
        pub retry_hint: String,
        /// The limits of retries.
        #[serde(default)]
        pub budgets: Vec<RetryBudget>,
        /// A fingerprint of the error.
        pub failure_signature_fingerprint: String,
        /// For people.
        pub reason: String,
    }
}

params! {
    item
    /// A tool that is not called again.
    ToolRetryResolved {
        /// The id that these attempts share.
        pub tool_retry_episode_id: String,
        /// The tool.
        pub tool_name: String,
        /// The number of the attempt, from 1 on.
        pub attempt_number: u32,
        /// The reason.
        #[tsify(type = "\"succeeded\" | \"non_retryable\"")]
        pub resolution: String,
        /// The limits of retries.
        #[serde(default)]
        pub budgets: Vec<RetryBudget>,
        /// For people.
        pub reason: String,
    }
}

params! {
    item
    /// A tool whose retries are used up.
    ToolRetryExhausted {
        /// The id that these attempts share.
        pub tool_retry_episode_id: String,
        /// The tool.
        pub tool_name: String,
        /// The number of the attempt, from 1 on.
        pub attempt_number: u32,
        /// The kind of the error, for example `"timeout"`.
        pub error_class: String,
        /// The limit that was reached.
        #[tsify(type = "\"total_retry_rounds\" | \"error_class\" | \"tool_name\" | \"failure_signature\"")]
        pub exhaustion_kind: String,
        /// The limits of retries.
        #[serde(default)]
        pub budgets: Vec<RetryBudget>,
        /// A fingerprint of the error.
        pub failure_signature_fingerprint: String,
        /// For people.
        pub reason: String,
    }
}

/// The context is being compressed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct CompressingParams {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// For people.
    pub message: String,
}

/// The context was compressed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct CompressedParams {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// Its new length in tokens.
    pub compressed_tokens: u64,
}
