// Messages of the JSON-RPC turn gateway, as it sends them, and what it takes. Derived from the Rust types in
// `src/protocol/turn_rpc/wire`, whose golden test writes this file: do not edit it.

/**
 * What `createSession` of `turn-rpc` takes as `sessionOptions`.
 */
export interface TurnRpcSessionOptions {
    /**
     * The default workspace otherwise.
     */
    workspaceId?: string;
    /**
     * Instead of the server's.
     */
    model?: string;
    /**
     * Who provides the model.
     */
    modelProvider?: string;
    /**
     * Instead of the mode that the agent's name says.
     */
    mode?: "Chat" | "Agent";
    /**
     * What tools may touch.
     */
    sandbox?: "FullAccess";
    /**
     * Who began the thread.
     */
    originKind?: "user" | "task_run" | "system";
    /**
     * Whether clients list the thread.
     */
    sidebarVisibility?: "visible" | "hidden";
    /**
     * What the agent is called.
     */
    agentNickname?: string;
    /**
     * What the agent is there for.
     */
    agentRole?: string;
}

/**
 * What `createTurn` of `turn-rpc` takes as `turnOptions`. All but the capabilities the thread keeps for later turns.
 */
export interface TurnRpcTurnOptions {
    /**
     * Instead of the thread's.
     */
    model?: string;
    /**
     * Who provides the model.
     */
    modelProvider?: string;
    /**
     * How the agent works.
     */
    mode?: "Chat" | "Agent";
    /**
     * What tools may touch.
     */
    sandboxPolicy?: SandboxPolicy;
    /**
     * What the agent is to use in this turn.
     */
    capabilities?: TurnCapability[];
}

/**
 * What tools may touch.
 */
export interface SandboxPolicy {
    /**
     * The only one there is.
     */
    mode: "FullAccess";
}

/**
 * Something that the agent is to use.
 */
export interface TurnCapability {
    /**
     * Chosen by the client.
     */
    id: string;
    /**
     * What it is.
     */
    kind: CapabilityKind;
    /**
     * For people.
     */
    label?: string;
}

/**
 * What a capability is, told apart by `type`.
 */
export type CapabilityKind = { type: "skill"; slug: string; sourceKind: string } | { type: "mcpServer"; name: string; scopeKind: "workspace" | "user" } | { type: "mcpTool"; serverName: string; rawToolName: string; scopeKind: "workspace" | "user" };

/**
 * A capability that is not to be had: `details.rejected` of the notice `capability.rejected` lists them.
 */
export interface RejectedCapability {
    /**
     * As the client called it.
     */
    id: string;
    /**
     * What it is.
     */
    kind: CapabilityKind;
    /**
     * For people.
     */
    label?: string;
    /**
     * Why not.
     */
    reason: "invalid_input" | "duplicate" | "not_found" | "disabled_by_policy" | "validation_rejected" | "security_blocked" | "dependency_missing" | "unavailable" | "catalog_missing" | "tool_missing" | "provider_unsupported" | "materialization_failed";
    /**
     * Why not, for people.
     */
    message: string;
}

/**
 * A notification, told apart by `method`. On the wire `jsonrpc` stands beside it.
 */
export type TurnRpcNotification = { method: "thread/started"; params: ThreadParams } | { method: "thread/updated"; params: ThreadParams } | { method: "thread/closed"; params: ThreadClosedParams } | { method: "thread/tree/changed"; params: TreeChangedParams } | { method: "turn/started"; params: TurnParams } | { method: "turn/completed"; params: TurnParams } | { method: "turn/failed"; params: TurnParams } | { method: "turn/timeline/changed"; params: TimelineChangedParams } | { method: "turn/tool_loop/budget_exceeded"; params: ToolLoopBudgetExceeded } | { method: "item/started"; params: ItemParams } | { method: "item/completed"; params: ItemParams } | { method: "item/updated"; params: ItemParams } | { method: "item/agent_message/delta"; params: ItemDeltaParams } | { method: "item/command_execution/output_delta"; params: ItemDeltaParams } | { method: "item/file_change/output_delta"; params: ItemDeltaParams } | { method: "item/tool/progress"; params: ItemDeltaParams } | { method: "item/timeout_detected"; params: TimeoutDetected } | { method: "item/recovery_opened"; params: RecoveryOpened } | { method: "item/recovery_attached"; params: RecoveryAttached } | { method: "item/retry_scheduled"; params: RetryScheduled } | { method: "item/retry_attempt_started"; params: RecoveryOf } | { method: "item/recovery_succeeded"; params: RecoveryOf } | { method: "item/recovery_exhausted"; params: RecoveryExhausted } | { method: "item/tool/retry_scheduled"; params: ToolRetryScheduled } | { method: "item/tool/retry_resolved"; params: ToolRetryResolved } | { method: "item/tool/retry_exhausted"; params: ToolRetryExhausted } | { method: "context/compressing"; params: CompressingParams } | { method: "context/compressed"; params: CompressedParams };

/**
 * A thread.
 */
export interface ThreadParams {
    /**
     * As it stands.
     */
    thread: TurnRpcThread;
}

/**
 * A thread that is gone.
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
 * A workspace whose threads are others.
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
     * As it stands.
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
     * As it stands.
     */
    item: TurnItem;
}

/**
 * A piece of an item. Pieces have no number, and may be lost.
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
     * What it is a piece of; the method says it where this is missing.
     */
    stream?: "agent_message" | "stdout" | "stderr" | "tool_progress" | "file_change" | "generic";
    /**
     * What a tool says of the piece.
     */
    payload?: ToolDeltaPayload;
    /**
     * All of the text so far, as blocks.
     */
    markdown?: unknown;
    /**
     * Of the form of the blocks: 1.
     */
    markdown_version?: number;
}

/**
 * What a tool says of a piece of its output, told apart by `kind`: `payload` of `tool.output`.
 */
export type ToolDeltaPayload = { kind: "output_chunk"; truncated: boolean } | { kind: "progress"; stage: string; metadata: Record<string, unknown> } | { kind: "artifact_ref"; label: string; uri: string; metadata: Record<string, unknown> } | { kind: "diagnostic"; message: string; errorClass: string; metadata: Record<string, unknown> };

/**
 * A timeline that says more.
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
     * The task that is the cause.
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
 * A limit that is reached.
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
     * Which.
     */
    limit_kind: "agent_rounds" | "tool_calls" | "provider_returned_tools_after_tools_disabled";
    /**
     * How many were allowed.
     */
    limit: number;
    /**
     * How many there were.
     */
    observed: number;
    /**
     * What is done.
     */
    action: "request_final_no_tools_round" | "fail_turn";
    /**
     * For people.
     */
    reason: string;
}

/**
 * An item that takes too long.
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
     * What it is, for example `"agent_message"`.
     */
    item_type: string;
    /**
     * Which try it is, from 1 on.
     */
    attempt_number: number;
    /**
     * What was waited for.
     */
    reason: "start_deadline_exceeded" | "idle_deadline_exceeded" | "hard_deadline_exceeded" | "lease_expired";
    /**
     * What saves it.
     */
    recovery_job_id?: string;
}

/**
 * Something that is to be saved.
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
     * What it is, for example `"agent_message"`.
     */
    item_type: string;
    /**
     * What saves it.
     */
    recovery_job_id: string;
    /**
     * What happened.
     */
    trigger: "timeout" | "provider_error" | "unknown";
    /**
     * What is done.
     */
    action: "retry_attempt" | "retry_with_backoff" | "restart_turn" | "fallback" | "mark_failed";
    /**
     * Which try it is, from 1 on.
     */
    attempt_number: number;
}

/**
 * Something that is saved with something else.
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
     * What it is, for example `"agent_message"`.
     */
    item_type: string;
    /**
     * What saves it.
     */
    recovery_job_id: string;
    /**
     * What it was opened for.
     */
    recovery_item_id: string;
    /**
     * What that is.
     */
    recovery_item_type: string;
    /**
     * What happened.
     */
    trigger: "timeout" | "provider_error" | "unknown";
    /**
     * What is done.
     */
    action: "retry_attempt" | "retry_with_backoff" | "restart_turn" | "fallback" | "mark_failed";
    /**
     * Where that stands.
     */
    existing_status: "pending" | "active" | "succeeded" | "failed" | "exhausted" | "cancelled";
    /**
     * Which try is next.
     */
    next_attempt_number: number;
}

/**
 * A try that will be made.
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
     * What it is, for example `"agent_message"`.
     */
    item_type: string;
    /**
     * What saves it.
     */
    recovery_job_id: string;
    /**
     * Which try it is, from 1 on.
     */
    attempt_number: number;
    /**
     * When, in seconds since 1970.
     */
    next_run_at_unix: number;
    /**
     * For people.
     */
    reason?: string;
}

/**
 * How the saving goes.
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
     * What it is, for example `"agent_message"`.
     */
    item_type: string;
    /**
     * What saves it.
     */
    recovery_job_id: string;
    /**
     * Which try it is, from 1 on.
     */
    attempt_number: number;
}

/**
 * Something that is not to be saved.
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
     * What it is, for example `"agent_message"`.
     */
    item_type: string;
    /**
     * What should have saved it.
     */
    recovery_job_id: string;
    /**
     * Which try it was, from 1 on.
     */
    attempt_number: number;
    /**
     * How that ended.
     */
    status: "pending" | "active" | "succeeded" | "failed" | "exhausted" | "cancelled";
    /**
     * For people.
     */
    error_message: string;
}

/**
 * How often something may be tried.
 */
export interface RetryBudget {
    /**
     * What is counted.
     */
    kind: "episode" | "error_class" | "tool_name" | "failure_signature";
    /**
     * How often it was.
     */
    used: number;
    /**
     * How often it may be.
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
     * What it is, for example `"agent_message"`.
     */
    item_type: string;
    /**
     * What these tries have in common.
     */
    tool_retry_episode_id: string;
    /**
     * The tool.
     */
    tool_name: string;
    /**
     * Which try it is, from 1 on.
     */
    attempt_number: number;
    /**
     * What went wrong, for example `"timeout"`.
     */
    error_class: string;
    /**
     * What to do otherwise.
     */
    retry_hint: string;
    /**
     * How often it may be tried.
     */
    budgets?: RetryBudget[];
    /**
     * A print of what went wrong.
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
     * What it is, for example `"agent_message"`.
     */
    item_type: string;
    /**
     * What these tries have in common.
     */
    tool_retry_episode_id: string;
    /**
     * The tool.
     */
    tool_name: string;
    /**
     * Which try it was, from 1 on.
     */
    attempt_number: number;
    /**
     * Why not.
     */
    resolution: "succeeded" | "non_retryable";
    /**
     * How often it may be tried.
     */
    budgets?: RetryBudget[];
    /**
     * For people.
     */
    reason: string;
}

/**
 * A tool that cannot be called again.
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
     * What it is, for example `"agent_message"`.
     */
    item_type: string;
    /**
     * What these tries have in common.
     */
    tool_retry_episode_id: string;
    /**
     * The tool.
     */
    tool_name: string;
    /**
     * Which try it was, from 1 on.
     */
    attempt_number: number;
    /**
     * What went wrong, for example `"timeout"`.
     */
    error_class: string;
    /**
     * What was used up.
     */
    exhaustion_kind: "total_retry_rounds" | "error_class" | "tool_name" | "failure_signature";
    /**
     * How often it may be tried.
     */
    budgets?: RetryBudget[];
    /**
     * A print of what went wrong.
     */
    failure_signature_fingerprint: string;
    /**
     * For people.
     */
    reason: string;
}

/**
 * What was said before is being made shorter.
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
 * What was said before is shorter now.
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
     * How long it is now.
     */
    compressed_tokens: number;
}

/**
 * A thread: turnwire's session.
 */
export interface TurnRpcThread {
    /**
     * The workspace that it is in.
     */
    workspace_id: string;
    /**
     * Chosen by the client.
     */
    id: string;
    /**
     * Its title.
     */
    name?: string;
    /**
     * How it begins.
     */
    preview: string;
    /**
     * How the agent works.
     */
    mode: "Chat" | "Agent";
    /**
     * The model's name.
     */
    model: string;
    /**
     * Who provides it.
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
     * Who began it.
     */
    origin_kind?: "user" | "task_run" | "system";
    /**
     * Whether clients list it.
     */
    sidebar_visibility?: "visible" | "hidden";
    /**
     * What the agent is called.
     */
    agent_nickname?: string;
    /**
     * What the agent is there for.
     */
    agent_role?: string;
    /**
     * Oldest first.
     */
    turns: TurnRpcTurn[];
}

/**
 * A turn.
 */
export interface TurnRpcTurn {
    /**
     * Chosen by the client.
     */
    id: string;
    /**
     * Where it stands.
     */
    status: "InProgress" | "Completed" | "Failed" | "Interrupted";
    /**
     * What it is; a conversation where it is missing.
     */
    turn_kind?: "conversation" | "task_run";
    /**
     * Who began it; the user where it is missing.
     */
    origin?: "user" | "scheduled_task" | "detached_task" | "attached_task";
    /**
     * Why it failed, or was interrupted.
     */
    error?: string;
    /**
     * What the prompt was made of.
     */
    prompt_manifest?: PromptManifest;
}

/**
 * What a turn's prompt was made of: `details` of the notice `prompt_manifest`.
 */
export interface PromptManifest {
    /**
     * What made it.
     */
    compiler_version: string;
    /**
     * How much there is of it.
     */
    profile: "assistant_full" | "assistant_minimal" | "assistant_none";
    /**
     * Its parts.
     */
    section_ids?: string[];
    /**
     * A print of what stays the same.
     */
    fingerprint_stable: string;
    /**
     * A print of what changes.
     */
    fingerprint_dynamic: string;
    /**
     * A print of the whole.
     */
    fingerprint_full: string;
    /**
     * What is wrong with it.
     */
    diagnostics?: PromptManifestDiagnostic[];
    /**
     * Where hooks come from.
     */
    hook_sources?: unknown[];
}

/**
 * Something that is wrong with a prompt.
 */
export interface PromptManifestDiagnostic {
    /**
     * What it is.
     */
    code: "missing_file" | "file_read_error" | "file_truncated" | "total_budget_truncated" | "file_filtered_by_profile" | "dynamic_section_truncated" | "dynamic_section_omitted" | "hook_diagnostic" | "hook_best_effort_failed" | "capability_rejected";
    /**
     * For people.
     */
    message: string;
    /**
     * The file that it is about.
     */
    file?: string;
    /**
     * The part that it is about.
     */
    section_id?: string;
    /**
     * The hook that says it.
     */
    hook_source?: unknown;
}

/**
 * An item of a turn, told apart by `type`.
 */
export type TurnItem = { type: "userMessage"; id: string; text: string; attachments?: ItemAttachment[] } | { type: "agentMessage"; id: string; text: string; markdown?: unknown; markdownVersion?: number } | { type: "reasoning"; id: string; summary?: string[]; content?: string[] } | { type: "systemEvent"; id: string; level: "info" | "warning" | "error"; message: string; code?: string; details?: unknown } | { type: "task"; id: string; taskId: string; title: string; status: string; triggerKind: string; executorKind: string; depth: number; maxDepth: number; createdAt: number; updatedAt: number; runId?: string; rootTaskId?: string; parentTaskId?: string; childThreadId?: string; childTurnId?: string; agentRole?: string; nextFireAt?: number; resultPreview?: string; errorPreview?: string } | ({ type: "commandExecution" } & { command?: string[]; cwd?: string } & ToolItem) | ({ type: "fileChange" } & { changedFiles?: string[]; exitCode?: number; stdout?: string; stderr?: string } & ToolItem) | ({ type: "webSearch" } & { query?: string; provider?: string; tookMs?: number; resultCount?: number; results?: { rank: number; title: string; url: string; snippet: string; source: string; publishedAt?: string }[] } & ToolItem) | ({ type: "webFetch" } & { url?: string; finalUrl?: string; statusCode?: number; contentType?: string; extractMode?: string; resolvedMode?: string; bytesReceived?: number; elapsedMs?: number; truncated?: unknown; title?: string; wordCount?: number; links?: { text: string; url: string }[] } & ToolItem) | ({ type: "download" } & { url?: string; finalUrl?: string; statusCode?: number; path?: string; bytesWritten?: number; sha256?: string; contentType?: string; elapsedMs?: number; truncated?: boolean } & ToolItem) | ({ type: "dynamicToolCall" } & {} & ToolItem);

/**
 * What the items of all tools have. `result.data` of a tool's result is the whole item.
 */
export interface ToolItem {
    /**
     * The call's id, which the model's provider made.
     */
    id: string;
    /**
     * The tool.
     */
    toolName: string;
    /**
     * What it was given.
     */
    arguments: unknown;
    /**
     * Where it stands.
     */
    status: "in_progress" | "completed" | "failed";
    /**
     * How it may be tried again.
     */
    recoveryPolicy?: unknown;
    /**
     * Who is told how much of what it puts out.
     */
    outputPolicy: unknown;
    /**
     * What of it is to be shown.
     */
    display: ToolDisplay;
    /**
     * What of it is kept.
     */
    storage: unknown;
    /**
     * What another try needs to know.
     */
    recovery?: unknown;
    /**
     * Whether it did what it should.
     */
    success?: boolean;
    /**
     * How it came out.
     */
    outcome?: ToolOutcome;
    /**
     * Who saw it, and when.
     */
    observation?: unknown;
}

/**
 * What of a tool's call is to be shown, told apart by `kind`.
 */
export type ToolDisplay = { kind: "shell"; truncated: boolean; stdout?: string; stderr?: string; aggregated_output?: string; exit_code?: number; duration_ms?: number; timed_out?: boolean } | { kind: "summary"; title: string; lines?: string[]; metadata: Record<string, unknown>; truncated: boolean } | { kind: "progress"; stage: string; metadata: Record<string, unknown> } | { kind: "hidden" };

/**
 * How a tool's call came out.
 */
export interface ToolOutcome {
    /**
     * In a word.
     */
    status: "ok" | "recoverable_error" | "fatal_error" | "partial_success";
    /**
     * Whether another try may go better.
     */
    shouldRetry: boolean;
    /**
     * Whether something is missing.
     */
    incomplete: boolean;
    /**
     * What went wrong, for example `"timeout"` or `"permission_denied"`.
     */
    errorClass?: string;
    /**
     * What to do otherwise.
     */
    retryHint?: string;
    /**
     * Why something is missing.
     */
    incompleteReason?: string;
}

/**
 * What came with a user's words, told apart by `type`.
 */
export type ItemAttachment = { type: "image"; url: string } | { type: "file"; url: string } | { type: "audio"; url: string } | { type: "video"; url: string } | { type: "localImage"; path: string } | { type: "localFile"; path: string } | { type: "localAudio"; path: string } | { type: "localVideo"; path: string } | { type: "artifact"; artifact: { artifact_id: string; version_id?: string; display_name: string; kind: string; mime_type?: string; size_bytes?: number; sha256?: string; status: string; preview?: unknown } } | { type: "skill"; capability: { id: string; label: string; slug: string; sourceKind: string } } | { type: "mcpServer"; capability: { id: string; label: string; name: string; scopeKind: "workspace" | "user" } } | { type: "mcpTool"; capability: { id: string; label: string; serverName: string; rawToolName: string; scopeKind: "workspace" | "user" } };
