// Messages of the JSON-RPC turn gateway, as it sends them, and what it takes. Derived from the Rust types in
// `src/protocol/turn_rpc/wire`, whose golden test writes this file: do not edit it.

/**
 * The `sessionOptions` of `createSession` for `turn-rpc`.
 */
export interface TurnRpcSessionOptions {
    /**
     * Default: the default workspace.
     */
    workspaceId?: string;
    /**
     * The model. Default: the server's.
     */
    model?: string;
    /**
     * The provider of the model. Default: the server's.
     */
    modelProvider?: string;
    /**
     * The mode. Default: the one that the agent's name selects.
     */
    mode?: "Chat" | "Agent";
    /**
     * The restrictions on tools. Default: the server's.
     */
    sandbox?: "FullAccess";
    /**
     * The origin of the thread. Default: the server's.
     */
    originKind?: "user" | "task_run" | "system";
    /**
     * Whether clients list the thread. Default: the server's.
     */
    sidebarVisibility?: "visible" | "hidden";
    /**
     * The name of the agent. Default: none.
     */
    agentNickname?: string;
    /**
     * The role of the agent. Default: none.
     */
    agentRole?: string;
}

/**
 * The `turnOptions` of `createTurn` for `turn-rpc`. The thread keeps all of them but the capabilities for later
 * turns.
 */
export interface TurnRpcTurnOptions {
    /**
     * The model. Default: the thread's.
     */
    model?: string;
    /**
     * The provider of the model. Default: the thread's.
     */
    modelProvider?: string;
    /**
     * The mode. Default: the thread's.
     */
    mode?: "Chat" | "Agent";
    /**
     * The restrictions on tools. Default: the thread's.
     */
    sandboxPolicy?: SandboxPolicy;
    /**
     * The capabilities for the agent in this turn. Default: none.
     */
    capabilities?: TurnCapability[];
}

/**
 * The restrictions on tools.
 */
export interface SandboxPolicy {
    /**
     * The only mode.
     */
    mode: "FullAccess";
}

/**
 * A capability for the agent.
 */
export interface TurnCapability {
    /**
     * An id, chosen by the client.
     */
    id: string;
    /**
     * Its kind.
     */
    kind: CapabilityKind;
    /**
     * For people.
     */
    label?: string;
}

/**
 * The kind of a capability, distinguished by `type`.
 */
export type CapabilityKind = { type: "skill"; slug: string; sourceKind: string } | { type: "mcpServer"; name: string; scopeKind: "workspace" | "user" } | { type: "mcpTool"; serverName: string; rawToolName: string; scopeKind: "workspace" | "user" };

/**
 * A rejected capability. `details.rejected` of the notice `capability.rejected` lists them.
 */
export interface RejectedCapability {
    /**
     * The id, chosen by the client.
     */
    id: string;
    /**
     * Its kind.
     */
    kind: CapabilityKind;
    /**
     * For people.
     */
    label?: string;
    /**
     * The reason.
     */
    reason: "invalid_input" | "duplicate" | "not_found" | "disabled_by_policy" | "validation_rejected" | "security_blocked" | "dependency_missing" | "unavailable" | "catalog_missing" | "tool_missing" | "provider_unsupported" | "materialization_failed";
    /**
     * The reason, for people.
     */
    message: string;
}

/**
 * A notification, distinguished by `method`. On the wire it also has `jsonrpc`.
 */
export type TurnRpcNotification = { method: "thread/started"; params: ThreadParams } | { method: "thread/updated"; params: ThreadParams } | { method: "thread/closed"; params: ThreadClosedParams } | { method: "thread/tree/changed"; params: TreeChangedParams } | { method: "turn/started"; params: TurnParams } | { method: "turn/completed"; params: TurnParams } | { method: "turn/failed"; params: TurnParams } | { method: "turn/timeline/changed"; params: TimelineChangedParams } | { method: "turn/tool_loop/budget_exceeded"; params: ToolLoopBudgetExceeded } | { method: "item/started"; params: ItemParams } | { method: "item/completed"; params: ItemParams } | { method: "item/updated"; params: ItemParams } | { method: "item/agent_message/delta"; params: ItemDeltaParams } | { method: "item/command_execution/output_delta"; params: ItemDeltaParams } | { method: "item/file_change/output_delta"; params: ItemDeltaParams } | { method: "item/tool/progress"; params: ItemDeltaParams } | { method: "item/timeout_detected"; params: TimeoutDetected } | { method: "item/recovery_opened"; params: RecoveryOpened } | { method: "item/recovery_attached"; params: RecoveryAttached } | { method: "item/retry_scheduled"; params: RetryScheduled } | { method: "item/retry_attempt_started"; params: RecoveryOf } | { method: "item/recovery_succeeded"; params: RecoveryOf } | { method: "item/recovery_exhausted"; params: RecoveryExhausted } | { method: "item/tool/retry_scheduled"; params: ToolRetryScheduled } | { method: "item/tool/retry_resolved"; params: ToolRetryResolved } | { method: "item/tool/retry_exhausted"; params: ToolRetryExhausted } | { method: "context/compressing"; params: CompressingParams } | { method: "context/compressed"; params: CompressedParams };

/**
 * A thread.
 */
export interface ThreadParams {
    /**
     * The thread.
     */
    thread: TurnRpcThread;
}

/**
 * A thread that is unloaded.
 */
export interface ThreadClosedParams {
    /**
     * The workspace.
     */
    workspaceId: string;
    /**
     * The thread.
     */
    threadId: string;
}

/**
 * A workspace whose list of threads has changed.
 */
export interface TreeChangedParams {
    /**
     * The workspace.
     */
    workspace_id: string;
}

/**
 * A turn.
 */
export interface TurnParams {
    /**
     * The workspace.
     */
    workspace_id: string;
    /**
     * The thread.
     */
    thread_id: string;
    /**
     * The turn.
     */
    turn: TurnRpcTurn;
}

/**
 * An item.
 */
export interface ItemParams {
    /**
     * The workspace.
     */
    workspace_id: string;
    /**
     * The thread.
     */
    thread_id: string;
    /**
     * The turn.
     */
    turn_id: string;
    /**
     * The item.
     */
    item: TurnItem;
}

/**
 * A piece of an item. Pieces have no numbers, and may be lost.
 */
export interface ItemDeltaParams {
    /**
     * The workspace.
     */
    workspace_id: string;
    /**
     * The thread.
     */
    thread_id: string;
    /**
     * The turn.
     */
    turn_id: string;
    /**
     * The item.
     */
    item_id: string;
    /**
     * The piece.
     */
    delta: string;
    /**
     * What the piece extends; if missing, the method says it.
     */
    stream?: "agent_message" | "stdout" | "stderr" | "tool_progress" | "file_change" | "generic";
    /**
     * Data of a tool about the piece.
     */
    payload?: ToolDeltaPayload;
    /**
     * The whole text so far, as blocks.
     */
    markdown?: unknown;
    /**
     * The version of the blocks' format: 1.
     */
    markdown_version?: number;
}

/**
 * Data of a tool about a piece of its output, distinguished by `kind`: `payload` of `tool.output`.
 */
export type ToolDeltaPayload = { kind: "output_chunk"; truncated: boolean } | { kind: "progress"; stage: string; metadata: Record<string, unknown> } | { kind: "artifact_ref"; label: string; uri: string; metadata: Record<string, unknown> } | { kind: "diagnostic"; message: string; errorClass: string; metadata: Record<string, unknown> };

/**
 * A timeline with new data.
 */
export interface TimelineChangedParams {
    /**
     * The workspace.
     */
    workspaceId: string;
    /**
     * The thread.
     */
    threadId: string;
    /**
     * The turn.
     */
    turnId: string;
    /**
     * The task that caused the change.
     */
    taskId?: string;
    /**
     * Its run.
     */
    runId?: string;
    /**
     * Its thread.
     */
    childThreadId?: string;
    /**
     * Its turn.
     */
    childTurnId?: string;
    /**
     * What has changed.
     */
    reason: "parent_turn_changed" | "task_event_changed" | "child_turn_changed" | "collapse_state_hint_changed";
}

/**
 * A limit that was reached.
 */
export interface ToolLoopBudgetExceeded {
    /**
     * The workspace.
     */
    workspace_id: string;
    /**
     * The thread.
     */
    thread_id: string;
    /**
     * The turn.
     */
    turn_id: string;
    /**
     * The kind of the limit.
     */
    limit_kind: "agent_rounds" | "tool_calls" | "provider_returned_tools_after_tools_disabled";
    /**
     * The limit.
     */
    limit: number;
    /**
     * The reached number.
     */
    observed: number;
    /**
     * The consequence.
     */
    action: "request_final_no_tools_round" | "fail_turn";
    /**
     * For people.
     */
    reason: string;
}

/**
 * An item that has timed out.
 */
export interface TimeoutDetected {
    /**
     * The workspace.
     */
    workspace_id: string;
    /**
     * The thread.
     */
    thread_id: string;
    /**
     * The turn.
     */
    turn_id: string;
    /**
     * The item.
     */
    item_id: string;
    /**
     * The item's type, for example `"agent_message"`.
     */
    item_type: string;
    /**
     * The number of the attempt, from 1 on.
     */
    attempt_number: number;
    /**
     * The deadline that was exceeded.
     */
    reason: "start_deadline_exceeded" | "idle_deadline_exceeded" | "hard_deadline_exceeded" | "lease_expired";
    /**
     * The recovery.
     */
    recovery_job_id?: string;
}

/**
 * A recovery.
 */
export interface RecoveryOpened {
    /**
     * The workspace.
     */
    workspace_id: string;
    /**
     * The thread.
     */
    thread_id: string;
    /**
     * The turn.
     */
    turn_id: string;
    /**
     * The item.
     */
    item_id: string;
    /**
     * The item's type, for example `"agent_message"`.
     */
    item_type: string;
    /**
     * The recovery.
     */
    recovery_job_id: string;
    /**
     * Its cause.
     */
    trigger: "timeout" | "provider_error" | "unknown";
    /**
     * Its action.
     */
    action: "retry_attempt" | "retry_with_backoff" | "restart_turn" | "fallback" | "mark_failed";
    /**
     * The number of the attempt, from 1 on.
     */
    attempt_number: number;
}

/**
 * An item that joins a recovery.
 */
export interface RecoveryAttached {
    /**
     * The workspace.
     */
    workspace_id: string;
    /**
     * The thread.
     */
    thread_id: string;
    /**
     * The turn.
     */
    turn_id: string;
    /**
     * The item.
     */
    item_id: string;
    /**
     * The item's type, for example `"agent_message"`.
     */
    item_type: string;
    /**
     * The recovery.
     */
    recovery_job_id: string;
    /**
     * The item for which the recovery was opened.
     */
    recovery_item_id: string;
    /**
     * The type of that item.
     */
    recovery_item_type: string;
    /**
     * The cause.
     */
    trigger: "timeout" | "provider_error" | "unknown";
    /**
     * The action.
     */
    action: "retry_attempt" | "retry_with_backoff" | "restart_turn" | "fallback" | "mark_failed";
    /**
     * The status of the recovery.
     */
    existing_status: "pending" | "active" | "succeeded" | "failed" | "exhausted" | "cancelled";
    /**
     * The number of the next attempt.
     */
    next_attempt_number: number;
}

/**
 * A scheduled retry.
 */
export interface RetryScheduled {
    /**
     * The workspace.
     */
    workspace_id: string;
    /**
     * The thread.
     */
    thread_id: string;
    /**
     * The turn.
     */
    turn_id: string;
    /**
     * The item.
     */
    item_id: string;
    /**
     * The item's type, for example `"agent_message"`.
     */
    item_type: string;
    /**
     * The recovery.
     */
    recovery_job_id: string;
    /**
     * The number of the attempt, from 1 on.
     */
    attempt_number: number;
    /**
     * Its time, in seconds since 1970.
     */
    next_run_at_unix: number;
    /**
     * For people.
     */
    reason?: string;
}

/**
 * The progress of a recovery.
 */
export interface RecoveryOf {
    /**
     * The workspace.
     */
    workspace_id: string;
    /**
     * The thread.
     */
    thread_id: string;
    /**
     * The turn.
     */
    turn_id: string;
    /**
     * The item.
     */
    item_id: string;
    /**
     * The item's type, for example `"agent_message"`.
     */
    item_type: string;
    /**
     * The recovery.
     */
    recovery_job_id: string;
    /**
     * The number of the attempt, from 1 on.
     */
    attempt_number: number;
}

/**
 * A recovery that has failed for good.
 */
export interface RecoveryExhausted {
    /**
     * The workspace.
     */
    workspace_id: string;
    /**
     * The thread.
     */
    thread_id: string;
    /**
     * The turn.
     */
    turn_id: string;
    /**
     * The item.
     */
    item_id: string;
    /**
     * The item's type, for example `"agent_message"`.
     */
    item_type: string;
    /**
     * The recovery.
     */
    recovery_job_id: string;
    /**
     * The number of the last attempt, from 1 on.
     */
    attempt_number: number;
    /**
     * The final status.
     */
    status: "pending" | "active" | "succeeded" | "failed" | "exhausted" | "cancelled";
    /**
     * For people.
     */
    error_message: string;
}

/**
 * A limit of retries.
 */
export interface RetryBudget {
    /**
     * The kind of the limit.
     */
    kind: "episode" | "error_class" | "tool_name" | "failure_signature";
    /**
     * The number so far.
     */
    used: number;
    /**
     * The largest number.
     */
    limit: number;
}

/**
 * A tool that will be called again.
 */
export interface ToolRetryScheduled {
    /**
     * The workspace.
     */
    workspace_id: string;
    /**
     * The thread.
     */
    thread_id: string;
    /**
     * The turn.
     */
    turn_id: string;
    /**
     * The item.
     */
    item_id: string;
    /**
     * The item's type, for example `"agent_message"`.
     */
    item_type: string;
    /**
     * The id that these attempts share.
     */
    tool_retry_episode_id: string;
    /**
     * The tool.
     */
    tool_name: string;
    /**
     * The number of the attempt, from 1 on.
     */
    attempt_number: number;
    /**
     * The kind of the error, for example `"timeout"`.
     */
    error_class: string;
    /**
     * What to change for a retry.
     */
    retry_hint: string;
    /**
     * The limits of retries.
     */
    budgets?: RetryBudget[];
    /**
     * A fingerprint of the error.
     */
    failure_signature_fingerprint: string;
    /**
     * For people.
     */
    reason: string;
}

/**
 * A tool that is not called again.
 */
export interface ToolRetryResolved {
    /**
     * The workspace.
     */
    workspace_id: string;
    /**
     * The thread.
     */
    thread_id: string;
    /**
     * The turn.
     */
    turn_id: string;
    /**
     * The item.
     */
    item_id: string;
    /**
     * The item's type, for example `"agent_message"`.
     */
    item_type: string;
    /**
     * The id that these attempts share.
     */
    tool_retry_episode_id: string;
    /**
     * The tool.
     */
    tool_name: string;
    /**
     * The number of the attempt, from 1 on.
     */
    attempt_number: number;
    /**
     * The reason.
     */
    resolution: "succeeded" | "non_retryable";
    /**
     * The limits of retries.
     */
    budgets?: RetryBudget[];
    /**
     * For people.
     */
    reason: string;
}

/**
 * A tool whose retries are used up.
 */
export interface ToolRetryExhausted {
    /**
     * The workspace.
     */
    workspace_id: string;
    /**
     * The thread.
     */
    thread_id: string;
    /**
     * The turn.
     */
    turn_id: string;
    /**
     * The item.
     */
    item_id: string;
    /**
     * The item's type, for example `"agent_message"`.
     */
    item_type: string;
    /**
     * The id that these attempts share.
     */
    tool_retry_episode_id: string;
    /**
     * The tool.
     */
    tool_name: string;
    /**
     * The number of the attempt, from 1 on.
     */
    attempt_number: number;
    /**
     * The kind of the error, for example `"timeout"`.
     */
    error_class: string;
    /**
     * The limit that was reached.
     */
    exhaustion_kind: "total_retry_rounds" | "error_class" | "tool_name" | "failure_signature";
    /**
     * The limits of retries.
     */
    budgets?: RetryBudget[];
    /**
     * A fingerprint of the error.
     */
    failure_signature_fingerprint: string;
    /**
     * For people.
     */
    reason: string;
}

/**
 * The context is being compressed.
 */
export interface CompressingParams {
    /**
     * The thread.
     */
    thread_id: string;
    /**
     * The turn.
     */
    turn_id: string;
    /**
     * For people.
     */
    message: string;
}

/**
 * The context was compressed.
 */
export interface CompressedParams {
    /**
     * The thread.
     */
    thread_id: string;
    /**
     * The turn.
     */
    turn_id: string;
    /**
     * Its new length in tokens.
     */
    compressed_tokens: number;
}

/**
 * A thread: turnwire's session.
 */
export interface TurnRpcThread {
    /**
     * Its workspace.
     */
    workspace_id: string;
    /**
     * Its id, chosen by the client.
     */
    id: string;
    /**
     * Its title.
     */
    name?: string;
    /**
     * The beginning of its first message.
     */
    preview: string;
    /**
     * The mode of the agent.
     */
    mode: "Chat" | "Agent";
    /**
     * The model.
     */
    model: string;
    /**
     * The provider of the model.
     */
    model_provider: string;
    /**
     * Seconds since 1970.
     */
    created_at: number;
    /**
     * Seconds since 1970.
     */
    updated_at: number;
    /**
     * Whether a turn runs.
     */
    status: "Active" | "Idle" | "Closed";
    /**
     * The origin of the thread.
     */
    origin_kind?: "user" | "task_run" | "system";
    /**
     * Whether clients list the thread.
     */
    sidebar_visibility?: "visible" | "hidden";
    /**
     * The name of the agent.
     */
    agent_nickname?: string;
    /**
     * The role of the agent.
     */
    agent_role?: string;
    /**
     * Its turns, the oldest first.
     */
    turns: TurnRpcTurn[];
}

/**
 * A turn.
 */
export interface TurnRpcTurn {
    /**
     * Its id, chosen by the client.
     */
    id: string;
    /**
     * Its status.
     */
    status: "InProgress" | "Completed" | "Failed" | "Interrupted";
    /**
     * Its kind. Default: a conversation.
     */
    turn_kind?: "conversation" | "task_run";
    /**
     * Its origin. Default: the user.
     */
    origin?: "user" | "scheduled_task" | "detached_task" | "attached_task";
    /**
     * Why it failed, or was interrupted.
     */
    error?: string;
    /**
     * The contents of its prompt.
     */
    prompt_manifest?: PromptManifest;
}

/**
 * The contents of a turn's prompt: `details` of the notice `prompt_manifest`.
 */
export interface PromptManifest {
    /**
     * The version of the prompt compiler.
     */
    compiler_version: string;
    /**
     * The size of the prompt.
     */
    profile: "assistant_full" | "assistant_minimal" | "assistant_none";
    /**
     * Its parts.
     */
    section_ids?: string[];
    /**
     * A fingerprint of the stable part.
     */
    fingerprint_stable: string;
    /**
     * A fingerprint of the changing part.
     */
    fingerprint_dynamic: string;
    /**
     * A fingerprint of the whole.
     */
    fingerprint_full: string;
    /**
     * Its problems.
     */
    diagnostics?: PromptManifestDiagnostic[];
    /**
     * The sources of its hooks.
     */
    hook_sources?: unknown[];
}

/**
 * A problem of a prompt.
 */
export interface PromptManifestDiagnostic {
    /**
     * The kind of the problem.
     */
    code: "missing_file" | "file_read_error" | "file_truncated" | "total_budget_truncated" | "file_filtered_by_profile" | "dynamic_section_truncated" | "dynamic_section_omitted" | "hook_diagnostic" | "hook_best_effort_failed" | "capability_rejected";
    /**
     * For people.
     */
    message: string;
    /**
     * The file.
     */
    file?: string;
    /**
     * The section.
     */
    section_id?: string;
    /**
     * The hook.
     */
    hook_source?: unknown;
}

/**
 * An item of a turn, distinguished by `type`.
 */
export type TurnItem = { type: "userMessage"; id: string; text: string; attachments?: ItemAttachment[] } | { type: "agentMessage"; id: string; text: string; markdown?: unknown; markdownVersion?: number } | { type: "reasoning"; id: string; summary?: string[]; content?: string[] } | { type: "systemEvent"; id: string; level: "info" | "warning" | "error"; message: string; code?: string; details?: unknown } | { type: "task"; id: string; taskId: string; title: string; status: string; triggerKind: string; executorKind: string; depth: number; maxDepth: number; createdAt: number; updatedAt: number; runId?: string; rootTaskId?: string; parentTaskId?: string; childThreadId?: string; childTurnId?: string; agentRole?: string; nextFireAt?: number; resultPreview?: string; errorPreview?: string } | ({ type: "commandExecution" } & { command?: string[]; cwd?: string } & ToolItem) | ({ type: "fileChange" } & { changedFiles?: string[]; exitCode?: number; stdout?: string; stderr?: string } & ToolItem) | ({ type: "webSearch" } & { query?: string; provider?: string; tookMs?: number; resultCount?: number; results?: { rank: number; title: string; url: string; snippet: string; source: string; publishedAt?: string }[] } & ToolItem) | ({ type: "webFetch" } & { url?: string; finalUrl?: string; statusCode?: number; contentType?: string; extractMode?: string; resolvedMode?: string; bytesReceived?: number; elapsedMs?: number; truncated?: unknown; title?: string; wordCount?: number; links?: { text: string; url: string }[] } & ToolItem) | ({ type: "download" } & { url?: string; finalUrl?: string; statusCode?: number; path?: string; bytesWritten?: number; sha256?: string; contentType?: string; elapsedMs?: number; truncated?: boolean } & ToolItem) | ({ type: "dynamicToolCall" } & {} & ToolItem);

/**
 * The fields of the items of all tools. `result.data` of a tool's result is the whole item.
 */
export interface ToolItem {
    /**
     * The call's id, from the model's provider.
     */
    id: string;
    /**
     * The name of the tool.
     */
    toolName: string;
    /**
     * The arguments.
     */
    arguments: unknown;
    /**
     * The status.
     */
    status: "in_progress" | "completed" | "failed";
    /**
     * The rules for retries.
     */
    recoveryPolicy?: unknown;
    /**
     * The rules for the visibility of its output.
     */
    outputPolicy: unknown;
    /**
     * The part that is shown.
     */
    display: ToolDisplay;
    /**
     * The part that is stored.
     */
    storage: unknown;
    /**
     * The data for a retry.
     */
    recovery?: unknown;
    /**
     * Whether it succeeded.
     */
    success?: boolean;
    /**
     * The outcome.
     */
    outcome?: ToolOutcome;
    /**
     * Who observed the result, and when.
     */
    observation?: unknown;
}

/**
 * The part of a tool's call that is shown, distinguished by `kind`.
 */
export type ToolDisplay = { kind: "shell"; truncated: boolean; stdout?: string; stderr?: string; aggregated_output?: string; exit_code?: number; duration_ms?: number; timed_out?: boolean } | { kind: "summary"; title: string; lines?: string[]; metadata: Record<string, unknown>; truncated: boolean } | { kind: "progress"; stage: string; metadata: Record<string, unknown> } | { kind: "hidden" };

/**
 * The outcome of a tool's call.
 */
export interface ToolOutcome {
    /**
     * The status.
     */
    status: "ok" | "recoverable_error" | "fatal_error" | "partial_success";
    /**
     * Whether a retry may succeed.
     */
    shouldRetry: boolean;
    /**
     * Whether the result is incomplete.
     */
    incomplete: boolean;
    /**
     * The kind of the error, for example `"timeout"` or `"permission_denied"`.
     */
    errorClass?: string;
    /**
     * What to change for a retry.
     */
    retryHint?: string;
    /**
     * Why the result is incomplete.
     */
    incompleteReason?: string;
}

/**
 * An attachment of a user's message, distinguished by `type`.
 */
export type ItemAttachment = { type: "image"; url: string } | { type: "file"; url: string } | { type: "audio"; url: string } | { type: "video"; url: string } | { type: "localImage"; path: string } | { type: "localFile"; path: string } | { type: "localAudio"; path: string } | { type: "localVideo"; path: string } | { type: "artifact"; artifact: { artifact_id: string; version_id?: string; display_name: string; kind: string; mime_type?: string; size_bytes?: number; sha256?: string; status: string; preview?: unknown } } | { type: "skill"; capability: { id: string; label: string; slug: string; sourceKind: string } } | { type: "mcpServer"; capability: { id: string; label: string; name: string; scopeKind: "workspace" | "user" } } | { type: "mcpTool"; capability: { id: string; label: string; serverName: string; rawToolName: string; scopeKind: "workspace" | "user" } };
