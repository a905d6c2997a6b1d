// Events, inputs and records, as they are on the wire. Derived from the Rust types in `src/event`, whose
// golden test writes this file: do not edit it.

/** The types of events. @internal */
export const EVENT_TYPES = [
    "turn.created",
    "turn.done",
    "model.message",
    "model.message.delta",
    "tool.response",
    "tool.output",
    "thread.created",
    "thread.done",
    "mcp.initialize",
    "mcp.auth_required",
    "sandbox.created",
    "tool.approval_required",
    "tool.response_required",
    "tool.resumed",
    "tool.cancelled",
    "message.reset",
    "state.snapshot",
    "state.delta",
    "messages.snapshot",
    "activity.snapshot",
    "activity.delta",
    "server.error",
    "notice",
    "unknown",
] as const satisfies Event["type"][];

/**
 * One event of a turn; `type` tells the variants apart.
 *
 * The stream delivers all of these. The event list of a finished turn has no `turn.created`, no `turn.done`
 * and no deltas; a session's event list has all but deltas.
 */
export type Event = ({ type: "turn.created" } & TurnCreated) | ({ type: "turn.done" } & TurnDone) | ({ type: "model.message" } & ModelMessage) | ({ type: "model.message.delta" } & ModelMessageDelta) | ({ type: "tool.response" } & ToolResponse) | ({ type: "tool.output" } & ToolOutput) | ({ type: "thread.created" } & ThreadCreated) | ({ type: "thread.done" } & ThreadDone) | ({ type: "mcp.initialize" } & McpInitialize) | ({ type: "mcp.auth_required" } & McpAuthRequired) | ({ type: "sandbox.created" } & SandboxCreated) | ({ type: "tool.approval_required" } & ToolsRequired) | ({ type: "tool.response_required" } & ToolsRequired) | ({ type: "tool.resumed" } & ToolResumed) | ({ type: "tool.cancelled" } & ToolCancelled) | ({ type: "message.reset" } & MessageReset) | ({ type: "state.snapshot" } & StateSnapshot) | ({ type: "state.delta" } & StateDelta) | ({ type: "messages.snapshot" } & MessagesSnapshot) | ({ type: "activity.snapshot" } & ActivitySnapshot) | ({ type: "activity.delta" } & ActivityDelta) | ({ type: "server.error" } & ServerError) | ({ type: "notice" } & Notice) | ({ type: "unknown" } & UnknownEvent);

/**
 * The first event of a stream (`turn.created`).
 */
export interface TurnCreated {
    /**
     * The event's id.
     */
    id: string;
    /**
     * The turn's id.
     */
    turn_id: string;
    /**
     * The turn that this one follows; `null` for a first turn.
     */
    previous_turn_id: string | null;
    /**
     * `null`: the event belongs to the whole turn.
     */
    thread_id: string | null;
    /**
     * ISO 8601.
     */
    created_at?: string;
    /**
     * The turn's creator: a subject, or in the spelling of the reference pages a name.
     */
    created_by?: CreatedBy;
    /**
     * `created_by`, if it is a subject.
     */
    created_by_subject?: Subject;
    /**
     * The turn's input; empty if it has none.
     */
    input: TurnInputItem[];
    /**
     * Always running.
     */
    state: RunningState;
}

/**
 * The last event of a stream (`turn.done`).
 */
export interface TurnDone {
    /**
     * The event's id.
     */
    id: string;
    /**
     * `null`: the event belongs to the whole turn.
     */
    thread_id: string | null;
    /**
     * ISO 8601.
     */
    created_at?: string;
    /**
     * How the turn ended.
     */
    state: TerminalState;
}

/**
 * A model message (`model.message`).
 *
 * On a live stream it is the beginning of a message, usually without content; deltas with the same `id` complete it.
 * In event lists, and as a turn's `output`, it is complete.
 */
export interface ModelMessage {
    /**
     * The id, which every delta of the message shares.
     */
    id: string;
    /**
     * `"main"`, or a sub-agent's thread.
     */
    thread_id: string;
    /**
     * The id of the message that this one continues under a new id: the server tried again, and keeps the text of the
     * first attempt. The two are one message, under the new id.
     */
    continues?: string;
    /**
     * ISO 8601.
     */
    created_at?: string;
    /**
     * The text, or its parts.
     */
    content?: ModelContent;
    /**
     * A name for the speaker.
     */
    name?: string;
    /**
     * Why the model declined.
     */
    refusal?: string;
    /**
     * The model's reasoning, if the server sends it.
     */
    reasoning_content?: string;
    /**
     * Opaque reasoning data that the model's provider needs to get back.
     */
    reasoning_encrypted?: string[];
    /**
     * The tool calls. `null` is a call whose first delta has not arrived yet.
     */
    tool_calls?: (ToolCall | null)[];
    /**
     * `"stop"`, `"length"`, `"tool_calls"`, `"content_filter"`, `"function_call"`, or a newer value.
     */
    finish_reason?: string;
    /**
     * Token counts.
     */
    usage?: Usage;
    /**
     * The model that wrote it, if the server says so.
     */
    model?: string;
    /**
     * How long the model took, in milliseconds, if the server says so.
     */
    duration_ms?: number;
}

/**
 * A piece of a model message (`model.message.delta`).
 */
export interface ModelMessageDelta {
    /**
     * The message's id.
     */
    id: string;
    /**
     * The message's thread.
     */
    thread_id: string;
    /**
     * ISO 8601. Many servers write it only in the first delta of a message.
     */
    created_at?: string;
    /**
     * Text to append to `content`.
     */
    content?: string;
    /**
     * Text to append to `refusal`.
     */
    refusal?: string;
    /**
     * Text to append to `reasoning_content`.
     */
    reasoning_content?: string;
    /**
     * An opaque piece of encrypted reasoning to add to the list.
     */
    reasoning_encrypted?: string;
    /**
     * Pieces of tool calls, merged by `index`.
     */
    tool_calls?: ToolCallDelta[];
    /**
     * The message is complete. A later delta would still be merged.
     */
    finish_reason?: string;
    /**
     * Token counts; they replace earlier ones.
     */
    usage?: Usage;
    /**
     * The model that wrote it, if the server says so.
     */
    model?: string;
    /**
     * How long the model took, in milliseconds, if the server says so.
     */
    duration_ms?: number;
}

/**
 * The complete result of a tool call (`tool.response`).
 */
export interface ToolResponse {
    /**
     * The event's id.
     */
    id: string;
    /**
     * The thread of the call.
     */
    thread_id: string;
    /**
     * ISO 8601.
     */
    created_at?: string;
    /**
     * The call of this result.
     */
    tool_call_id: string;
    /**
     * The result as the agent reads it. tirea stores the JSON of `result`, awaken that of its `data`.
     */
    content: string;
    /**
     * The outcome, if the server reports it.
     */
    outcome?: "succeeded" | "failed" | "suspended";
    /**
     * The result with further data of the tool, if the server sends it.
     */
    result?: ToolResult;
    /**
     * The result as a list of parts, if the server sends one; `content` is their text. Parts are texts and images (`{
     * type: "image", url }`). Only the Agent Application Protocol has this.
     */
    parts?: unknown[];
    /**
     * The call's changes to the agent's state, if the server reports them.
     */
    patch?: TrackedPatch;
}

/**
 * Output of a running call (`tool.output`). The call's result repeats everything that matters. Only the socket
 * protocols have this.
 */
export interface ToolOutput {
    /**
     * The event's id.
     */
    id: string;
    /**
     * The thread of the call.
     */
    thread_id: string;
    /**
     * The call.
     */
    tool_call_id: string;
    /**
     * The stream: `"stdout"`, `"stderr"`, `"file_change"`, `"tool_progress"`; `"output"` if the server does not
     * separate them; or a newer value.
     */
    stream: string;
    /**
     * Text to append.
     */
    delta: string;
    /**
     * Whether `delta` is the whole output of this stream and replaces the earlier pieces, because some were lost.
     */
    replace?: boolean;
    /**
     * Further data of the server, such as the tool's stage; from the JSON-RPC turn gateway a `ToolDeltaPayload`.
     */
    payload?: unknown;
}

/**
 * A sub-agent's thread began (`thread.created`). The main thread has no such event.
 */
export interface ThreadCreated {
    /**
     * The event's id.
     */
    id: string;
    /**
     * The new thread.
     */
    thread_id: string;
    /**
     * ISO 8601.
     */
    created_at?: string;
    /**
     * A label for people.
     */
    title?: string;
    /**
     * The tool call that started it.
     */
    parent?: ParentCall;
    /**
     * The sub-agent.
     */
    agent_info?: AgentInfo;
}

/**
 * A sub-agent's thread ended (`thread.done`). The turn continues.
 *
 * Servers nest the outcome in `state`; the reference pages have flat fields (`status`, `output`, `message`). An event
 * has both.
 */
export interface ThreadDone {
    /**
     * The event's id.
     */
    id: string;
    /**
     * The thread that ended.
     */
    thread_id: string;
    /**
     * ISO 8601.
     */
    created_at?: string;
    /**
     * A label for people.
     */
    title?: string;
    /**
     * The tool call that started it.
     */
    parent?: ParentCall;
    /**
     * How it ended.
     */
    state: ThreadState;
    /**
     * `state.status` in the spelling of the reference pages.
     */
    status: "done" | "error";
    /**
     * `state.output` in the spelling of the reference pages.
     */
    output?: ModelMessage;
    /**
     * `state.error` in the spelling of the reference pages.
     */
    message?: string;
}

/**
 * MCP servers were initialized for a thread (`mcp.initialize`).
 */
export interface McpInitialize {
    /**
     * The event's id.
     */
    id: string;
    /**
     * The thread.
     */
    thread_id: string;
    /**
     * ISO 8601.
     */
    created_at?: string;
    /**
     * The servers.
     */
    mcp_servers: McpServer[];
    /**
     * `mcp_servers` in the spelling of the reference pages.
     */
    content: McpServer[];
}

/**
 * MCP servers need the user's authorization (`mcp.auth_required`). After the user has visited `auth_url`, create the
 * next turn without input.
 */
export interface McpAuthRequired {
    /**
     * The event's id.
     */
    id: string;
    /**
     * `null`: the event belongs to the whole turn.
     */
    thread_id: string | null;
    /**
     * ISO 8601.
     */
    created_at?: string;
    /**
     * The servers.
     */
    mcp_servers: McpServerAuth[];
    /**
     * `mcp_servers` in the spelling of the reference pages.
     */
    servers: McpServerAuth[];
}

/**
 * A sandbox was created for the turn (`sandbox.created`); the session keeps it.
 */
export interface SandboxCreated {
    /**
     * The event's id.
     */
    id: string;
    /**
     * `null`: the event belongs to the whole turn.
     */
    thread_id: string | null;
    /**
     * ISO 8601.
     */
    created_at?: string;
    /**
     * The sandbox's id, for file downloads.
     */
    sandbox_id: string;
}

/**
 * Calls that wait for the client: for approval (`tool.approval_required`) or for a result
 * (`tool.response_required`). The stream ends after it; the next turn's input must answer every call.
 */
export interface ToolsRequired {
    /**
     * The event's id.
     */
    id: string;
    /**
     * The thread of the calls.
     */
    thread_id: string;
    /**
     * ISO 8601.
     */
    created_at?: string;
    /**
     * The waiting calls.
     */
    tool_calls: ToolCallRef[];
}

/**
 * An answer has reached the call that waited for it (`tool.resumed`); its result follows.
 */
export interface ToolResumed {
    /**
     * The event's id.
     */
    id: string;
    /**
     * The thread of the call.
     */
    thread_id: string;
    /**
     * The call.
     */
    tool_call_id: string;
    /**
     * The answer; `null` if the question was cancelled instead.
     */
    result: unknown;
}

/**
 * A call that had begun will not be made (`tool.cancelled`).
 */
export interface ToolCancelled {
    /**
     * The event's id.
     */
    id: string;
    /**
     * The thread of the call.
     */
    thread_id: string;
    /**
     * The call.
     */
    tool_call_id: string;
    /**
     * The reason.
     */
    reason: string;
}

/**
 * Discards a message's content so far (`message.reset`): its text, reasoning and calls begin again.
 */
export interface MessageReset {
    /**
     * The message's id.
     */
    id: string;
    /**
     * The message's thread.
     */
    thread_id: string;
    /**
     * The reason.
     */
    reason: string;
}

/**
 * The agent's whole state (`state.snapshot`). It replaces the earlier state.
 */
export interface StateSnapshot {
    /**
     * The event's id.
     */
    id: string;
    /**
     * `null`: the event belongs to the whole turn.
     */
    thread_id: string | null;
    /**
     * The state as the server sent it. Names that begin with `__` are internal to the server; snapshots leave them
     * out.
     */
    snapshot: unknown;
}

/**
 * A change of the agent's state (`state.delta`).
 */
export interface StateDelta {
    /**
     * The event's id.
     */
    id: string;
    /**
     * `null`: the event belongs to the whole turn.
     */
    thread_id: string | null;
    /**
     * A JSON Patch (RFC 6902).
     */
    delta: PatchOperation[];
}

/**
 * The session's messages as the server keeps them (`messages.snapshot`).
 */
export interface MessagesSnapshot {
    /**
     * The event's id.
     */
    id: string;
    /**
     * `null`: the event belongs to the whole turn.
     */
    thread_id: string | null;
    /**
     * The messages, oldest first.
     */
    messages: ThreadMessage[];
}

/**
 * A whole report of an activity (`activity.snapshot`). Reports of one activity share `message_id`.
 */
export interface ActivitySnapshot {
    /**
     * The event's id.
     */
    id: string;
    /**
     * The thread of the activity.
     */
    thread_id: string;
    /**
     * The activity's id: for a tool's progress `"tool_call:"` and the call's id, or the id alone.
     */
    message_id: string;
    /**
     * `"tool-call-progress"` and `"progress"` report on a tool call ([`ToolProgress`]); agents may use other types.
     */
    activity_type: string;
    /**
     * The report.
     */
    content: ToolProgress | Record<string, unknown>;
    /**
     * `false` if the report counts only while none is known.
     */
    replace?: boolean;
    /**
     * The tool call of the activity, if there is one.
     */
    tool_call_id?: string;
}

/**
 * A change of an earlier report (`activity.delta`).
 */
export interface ActivityDelta {
    /**
     * The event's id.
     */
    id: string;
    /**
     * The thread of the activity.
     */
    thread_id: string;
    /**
     * The id of the activity whose report changes.
     */
    message_id: string;
    /**
     * As in [`ActivitySnapshot`].
     */
    activity_type: string;
    /**
     * A JSON Patch (RFC 6902) of the report's content.
     */
    patch: PatchOperation[];
}

/**
 * An error on the server (`server.error`). The turn's end says whether the turn failed.
 */
export interface ServerError {
    /**
     * The event's id.
     */
    id: string;
    /**
     * `null`: the event belongs to the whole turn.
     */
    thread_id: string | null;
    /**
     * What happened.
     */
    message: string;
    /**
     * `"LLM_ERROR"`, `"STATE_ERROR"`, `"RELAY_ERROR"`, or a newer value.
     */
    code?: string;
}

/**
 * A notice about a turn, apart from its messages (`notice`): retries, timeouts, limits, warnings; and messages that
 * the user sent while it ran (`user_message`). Only the socket protocols have this.
 */
export interface Notice {
    /**
     * The event's id.
     */
    id: string;
    /**
     * `null` if the notice belongs to the whole turn.
     */
    thread_id: string | null;
    /**
     * The severity.
     */
    level: "info" | "warning" | "error";
    /**
     * The kind of notice, in the server's words, for example `"item/retry_scheduled"` or `"capability.rejected"`.
     */
    code: string;
    /**
     * For people; may be empty.
     */
    message: string;
    /**
     * The message or call that the notice belongs to.
     */
    item_id?: string;
    /**
     * The server's data: for `"capability.rejected"` `{ rejected: RejectedCapability[] }`, for `"prompt_manifest"` a
     * `PromptManifest`, for a notification (`"item/retry_scheduled"`) its parameters.
     */
    details?: unknown;
}

/**
 * An event that is malformed, or of a type that this version does not know.
 */
export interface UnknownEvent {
    /**
     * The `type` on the wire, if there was one.
     */
    wire_type: string | null;
    /**
     * The received JSON, parsed; the text itself if it is not JSON.
     */
    raw: unknown;
    /**
     * Why it could not be read as its type. Absent for an unknown type.
     */
    problem?: string;
}

/**
 * The state of a turn; `status` tells the variants apart.
 */
export type TurnState = TerminalState | RunningState;

/**
 * How a turn ended; `status` tells the variants apart.
 */
export type TerminalState = { status: "done"; output: ModelMessage | null; required_actions: RequiredActionEvent[]; completed_at?: string; metrics?: TurnMetrics; termination?: Termination; result?: unknown } | { status: "cancelled"; reason: string | null; completed_at?: string; metrics?: TurnMetrics; termination?: Termination } | { status: "error"; message: string; completed_at?: string; metrics?: TurnMetrics; termination?: Termination; code?: string };

/**
 * The state of a turn that has not ended.
 */
export interface RunningState {
    /**
     * Always `"running"`.
     */
    status: "running";
}

/**
 * An event that requires an action of the client.
 */
export type RequiredActionEvent = ({ type: "tool.approval_required" } & ToolsRequired) | ({ type: "tool.response_required" } & ToolsRequired) | ({ type: "mcp.auth_required" } & McpAuthRequired);

/**
 * Token counts of a whole turn.
 */
export interface TurnMetrics {
    /**
     * Tokens read.
     */
    total_input_tokens: number;
    /**
     * Tokens written.
     */
    total_output_tokens: number;
    /**
     * The sum of both.
     */
    total_tokens: number;
    /**
     * Tokens read from a cache.
     */
    total_cache_read_tokens?: number;
    /**
     * Tokens written to a cache.
     */
    total_cache_write_tokens?: number;
    /**
     * Tokens of reasoning.
     */
    total_reasoning_tokens?: number;
    /**
     * US dollars.
     */
    total_cost_in_usd?: number;
}

/**
 * A user or a service account.
 */
export interface Subject {
    /**
     * Its id.
     */
    subject_id: string;
    /**
     * The kind, for example `"user"`.
     */
    subject_type: string;
    /**
     * A name for people.
     */
    subject_slug: string;
}

/**
 * The creator of something.
 */
export type CreatedBy = Subject | string;

/**
 * The content of a model message.
 */
export type ModelContent = string | ModelContentPart[];

/**
 * A part of a model message's content.
 */
export type ModelContentPart = { type: "text"; text: string } | { type: "refusal"; refusal: string };

/**
 * A complete tool call.
 */
export interface ToolCall {
    /**
     * The call's id, as in `tool.response`, in required actions and in their answers.
     */
    id: string;
    /**
     * Always `"function"` today.
     */
    type: string;
    /**
     * The called function and its arguments.
     */
    function: ToolCallFunction;
    /**
     * The kind of tool. Show its `name`.
     */
    tool_info?: ToolInfo;
    /**
     * Further fields of the model's provider.
     */
    provider_specific_fields?: Record<string, unknown>;
}

/**
 * A piece of a tool call.
 */
export interface ToolCallDelta {
    /**
     * The call's index in `tool_calls`.
     */
    index: number;
    /**
     * Usually only in the first piece; overwrites.
     */
    id?: string;
    /**
     * Usually only in the first piece; overwrites.
     */
    type?: string;
    /**
     * The piece of the function.
     */
    function?: ToolCallFunctionDelta;
    /**
     * Usually only in the first piece; overwrites.
     */
    tool_info?: ToolInfo;
    /**
     * Merged by name, one level deep.
     */
    provider_specific_fields?: Record<string, unknown>;
}

/**
 * The function of a tool call.
 */
export interface ToolCallFunction {
    /**
     * The function's name on the wire, which may be mangled; show `tool_info.name`.
     */
    name: string;
    /**
     * JSON text; incomplete while it streams.
     */
    arguments: string;
}

/**
 * The function in a piece of a tool call.
 */
export interface ToolCallFunctionDelta {
    /**
     * The name. It overwrites, and is never appended.
     */
    name?: string;
    /**
     * Text to append to the arguments.
     */
    arguments?: string;
    /**
     * The complete arguments. They replace the pieces if those added up to something else.
     */
    whole_arguments?: string;
}

/**
 * The kind of a call's tool.
 */
export type ToolInfo = { type: "mcp"; server_id: string; server_name: string; mcp_server_id: string; mcp_server_name: string; name: string; is_deferred?: boolean } | { type: "truefoundry-system"; name: string };

/**
 * A reference to a tool call in a model message.
 */
export interface ToolCallRef {
    /**
     * The call's id.
     */
    id: string;
    /**
     * The id of the `model.message` that made the call.
     */
    source_event_id: string;
    /**
     * `source_event_id` in the spelling of the reference pages.
     */
    event_id: string;
    /**
     * The tool, if the server sends it here.
     */
    name?: string;
    /**
     * The arguments as JSON text, if the server sends them here.
     */
    arguments?: string;
    /**
     * The question, in the server's words.
     */
    suspension?: Suspension;
}

/**
 * Token counts of one model message.
 */
export interface Usage {
    /**
     * Tokens read.
     */
    input_tokens: number;
    /**
     * Tokens written.
     */
    output_tokens: number;
    /**
     * Tokens read from a cache.
     */
    cache_read_tokens?: number;
    /**
     * Tokens written to a cache.
     */
    cache_write_tokens?: number;
    /**
     * Reasoning tokens, if the server counts them separately.
     */
    reasoning_tokens?: number;
    /**
     * The sources of the input tokens.
     */
    input_tokens_breakdown?: UsageBreakdown;
}

/**
 * The sources of input tokens.
 */
export interface UsageBreakdown {
    /**
     * The agent harness's own text.
     */
    harness: number;
    /**
     * Skills.
     */
    skills: number;
    /**
     * Instructions.
     */
    instructions: number;
    /**
     * Definitions of tools.
     */
    tool_definitions: number;
    /**
     * The conversation.
     */
    messages: number;
}

/**
 * How a thread ended.
 */
export type ThreadState = { status: "done"; output?: ModelMessage } | { status: "error"; error: string; output?: ModelMessage };

/**
 * The tool call that started a thread.
 */
export interface ParentCall {
    /**
     * The thread in which the call was made.
     */
    thread_id: string;
    /**
     * The call.
     */
    tool_call_id: string;
}

/**
 * The agent of a thread.
 */
export interface AgentInfo {
    /**
     * Currently always `"dynamic"`.
     */
    type: string;
    /**
     * The agent's name.
     */
    name: string;
    /**
     * The parent's instructions.
     */
    input?: string;
    /**
     * Its model.
     */
    model?: string;
}

/**
 * The result of a tool, with its further data.
 */
export interface ToolResult {
    /**
     * The tool.
     */
    tool_name: string;
    /**
     * `"warning"` is also a success. A denied, unknown or wrongly called tool is an `"error"`.
     */
    status: "success" | "warning" | "pending" | "error";
    /**
     * The result itself.
     */
    data: unknown;
    /**
     * For people, and for the agent.
     */
    message: string | null;
    /**
     * Further data of the tool.
     */
    metadata?: Record<string, unknown>;
}

/**
 * Why a call waits, in the server's words.
 */
export interface Suspension {
    /**
     * The id of the question; the call's own id also identifies it.
     */
    id: string;
    /**
     * The source of the question, for example `"tool:PermissionConfirm"`.
     */
    action: string;
    /**
     * The question, for people.
     */
    message?: string;
    /**
     * When the question expires (ISO 8601), if the server says so: a later answer cancels it.
     */
    expires_at?: string;
    /**
     * The parameters of the question.
     */
    parameters?: unknown;
    /**
     * A JSON Schema of the answer.
     */
    response_schema?: unknown;
    /**
     * What happens with the answer: it lets the call run, is the call's result, or goes to the tool.
     */
    resume_mode?: "replay_tool_call" | "use_decision_as_tool_result" | "pass_decision_to_tool" | (string & {});
}

/**
 * Why a run ended.
 */
export interface Termination {
    /**
     * `"natural_end"`, `"behavior_requested"`, `"stopped"`, `"cancelled"`, `"suspended"`, `"error"`, `"blocked"`, or a
     * newer value.
     */
    type: string;
    /**
     * For `"stopped"` a [`StopReason`], for `"error"` and `"blocked"` a text.
     */
    value?: StopReason | string;
}

/**
 * Why a run was stopped.
 */
export interface StopReason {
    /**
     * `"max_rounds_reached"`, `"timeout_reached"`, `"token_budget_exceeded"`, `"consecutive_errors_exceeded"`,
     * `"tool_called"`, `"content_matched"`, `"loop_detected"`, or a code of the agent.
     */
    code: string;
    /**
     * Details; for `"tool_called"` the tool.
     */
    detail?: string;
}

/**
 * The progress of a tool call (`tool-call-progress.v1`; the older `progress` has only the first three fields).
 */
export interface ToolProgress {
    /**
     * Usually from 0 to 1.
     */
    progress?: number;
    /**
     * The total amount of work, in the tool's own unit.
     */
    total?: number;
    /**
     * For people.
     */
    message?: string;
    /**
     * The amount of work done, in the tool's own unit.
     */
    loaded?: number;
    /**
     * `"pending"`, `"running"`, `"done"`, `"failed"`, `"cancelled"`, or a newer value.
     */
    status?: string;
    /**
     * The call.
     */
    call_id?: string;
    /**
     * The tool.
     */
    tool_name?: string;
    /**
     * The call that made this one.
     */
    parent_call_id?: string;
    /**
     * `"tool_call:"` and the call's id.
     */
    node_id?: string;
    /**
     * `"tool_call:"` and the parent call's id, or `"run:"` and the run's id.
     */
    parent_node_id?: string;
    /**
     * The run that makes the call. It differs from the turn's if a sub-agent makes the call.
     */
    run_id?: string;
    /**
     * The run that started that run.
     */
    parent_run_id?: string;
    /**
     * The session of that run.
     */
    thread_id?: string;
    /**
     * Milliseconds since 1970.
     */
    updated_at_ms?: number;
    /**
     * `"tool-call-progress.v1"`.
     */
    schema?: string;
}

/**
 * A tool call's changes to the agent's state. The following `state.snapshot` includes them.
 */
export interface TrackedPatch {
    /**
     * The operations, in order.
     */
    patch: StateOperations;
    /**
     * The patch's id.
     */
    id?: string;
    /**
     * Milliseconds since 1970.
     */
    timestamp?: number;
    /**
     * The patch's source, for example `"tool:get_weather"`.
     */
    source?: string;
    /**
     * For people.
     */
    description?: string;
}

/**
 * The operations of a [`TrackedPatch`].
 */
export interface StateOperations {
    /**
     * In order.
     */
    ops: StateOperation[];
}

/**
 * An operation on the agent's state. Unlike in a JSON Patch, paths are lists, and `[]` is the whole state.
 */
export type StateOperation = { op: "set"; path: StateKey[]; value: unknown } | { op: "delete"; path: StateKey[] } | { op: "append"; path: StateKey[]; value: unknown } | { op: "merge_object"; path: StateKey[]; value: unknown } | { op: "increment"; path: StateKey[]; amount: number } | { op: "decrement"; path: StateKey[]; amount: number } | { op: "insert"; path: StateKey[]; index: number; value: unknown } | { op: "remove"; path: StateKey[]; value: unknown } | { op: "lattice_merge"; path: StateKey[]; value: unknown };

/**
 * One step of a path into the state: a name, or an index from 0 on.
 */
export type StateKey = number | string;

/**
 * An operation of a JSON Patch (RFC 6902).
 */
export type PatchOperation = { op: "add"; path: string; value: unknown } | { op: "remove"; path: string } | { op: "replace"; path: string; value: unknown } | { op: "move"; from: string; path: string } | { op: "copy"; from: string; path: string } | { op: "test"; path: string; value: unknown };

/**
 * A message in the form of an `AgentEvent` server.
 */
export interface ThreadMessage {
    /**
     * The id; missing if the sender set none.
     */
    id?: string;
    /**
     * The role of the sender.
     */
    role: "system" | "user" | "assistant" | "tool" | (string & {});
    /**
     * A text; for a tool its [`ToolResult`](super::ToolResult) as JSON. Newer servers may send parts.
     */
    content: string | unknown[];
    /**
     * The calls that it makes.
     */
    tool_calls?: ThreadToolCall[];
    /**
     * The call that it answers.
     */
    tool_call_id?: string;
    /**
     * `"internal"` if users should not see the message.
     */
    visibility?: string;
    /**
     * The index among the session's messages, from 0 on, if the server sends it.
     */
    cursor?: number;
    /**
     * Further data of the server.
     */
    metadata?: Record<string, unknown>;
}

/**
 * A tool call in a [`ThreadMessage`].
 */
export interface ThreadToolCall {
    /**
     * The call's id.
     */
    id: string;
    /**
     * The tool.
     */
    name: string;
    /**
     * The arguments.
     */
    arguments: unknown;
}

/**
 * An initialized MCP server.
 */
export interface McpServer {
    /**
     * The server's id; its name if there is no id.
     */
    id: string;
    /**
     * The server's name.
     */
    name: string;
    /**
     * `name` in the spelling of the reference pages.
     */
    mcp_server_name: string;
    /**
     * The MCP session, if the server keeps one.
     */
    session_id?: string;
    /**
     * `"streamable-http"`, `"sse"`, or a newer value.
     */
    transport_type?: string;
}

/**
 * An MCP server that needs authorization.
 */
export interface McpServerAuth {
    /**
     * The server's id; its name if there is no id.
     */
    id: string;
    /**
     * The server's name.
     */
    name: string;
    /**
     * `name` in the spelling of the reference pages.
     */
    mcp_server_name: string;
    /**
     * The page on which the user authorizes the server.
     */
    auth_url: string;
    /**
     * The threads that wait for it, if the server says so.
     */
    thread_ids: string[];
}

/**
 * One item of a turn's input.
 *
 * User messages cannot be mixed with approvals and responses. Approvals and responses can be mixed with each other,
 * and together they must answer every waiting call. A turn paused by `mcp.auth_required` is resumed without input.
 *
 * A field that an item, a part or an approval does not accept is refused before anything is sent, with an error that
 * names it. You may build an answer from an action of `snapshot().required_actions`, as `{ ...action, type, approval
 * }`: the action's `name`, `arguments`, `tool_info` and `suspension` are left out.
 */
export type TurnInputItem = { type: "user.message"; content: UserContent } | { type: "user.tool_approval"; thread_id: string; tool_call_id: string; approval: Approval } | { type: "user.tool_response"; thread_id: string; tool_call_id: string; content: string };

/**
 * The content of a user's message.
 */
export type UserContent = string | ContentPart[];

/**
 * A part of a user's message.
 */
export type ContentPart = { type: "text"; text: string; textElements?: TextElement[] } | { type: "file"; name: string; data: string; file?: FileUpload } | { type: "file_upload"; file: FileUpload; name?: string; data?: string } | { type: "image"; url: string } | { type: "audio"; url: string } | { type: "video"; url: string } | { type: "localImage"; path: string } | { type: "localFile"; path: string } | { type: "localAudio"; path: string } | { type: "localVideo"; path: string } | { type: "artifact"; artifactId: string; versionId?: string } | { type: "mention"; name: string; path: string } | { type: "skill"; name: string; path: string };

/**
 * A piece of a text that represents something else.
 */
export interface TextElement {
    /**
     * The position of the piece in the text.
     */
    byte_range: ByteRange;
    /**
     * The placeholder that it replaces.
     */
    placeholder?: string;
}

/**
 * A range of a text, in UTF-8 bytes.
 */
export interface ByteRange {
    /**
     * The first byte.
     */
    start: number;
    /**
     * The byte after the last one.
     */
    end: number;
}

/**
 * A file in the spelling of the reference pages.
 */
export interface FileUpload {
    /**
     * The file's name, as the agent sees it.
     */
    filename: string;
    /**
     * `data:<mime>;base64,<payload>`
     */
    file_data: string;
}

/**
 * The decision on a tool call.
 */
export type Approval = { status: "allow"; remember?: boolean; result?: Record<string, unknown> } | { status: "deny"; remember?: boolean; reason?: string; cancel?: boolean };

/**
 * A server's record of a session or of a draft; `type` says which.
 */
export interface SessionRecord {
    /**
     * `"session"`, or `"session/draft"` for a session whose agent can still be changed.
     */
    type: "session" | "session/draft";
    /**
     * The session's id.
     */
    id: string;
    /**
     * The saved agent's name; a draft may have none.
     */
    agent_name: string | null;
    /**
     * A label for people; servers derive it from the first message.
     */
    title: string | null;
    /**
     * The session's creator.
     */
    created_by_subject: Subject | null;
    /**
     * ISO 8601.
     */
    created_at: string | null;
    /**
     * ISO 8601.
     */
    updated_at: string | null;
    /**
     * A draft's agent, in the server's schema.
     */
    agent_spec?: Record<string, unknown>;
    /**
     * The session's workspace. Only the JSON-RPC turn gateway has this.
     */
    workspace_id?: string;
    /**
     * Whether the session has no messages yet, if the server says so (Codex app-server).
     */
    is_new?: boolean;
    /**
     * The actions for which the last turn waits, if the server returns them with the session.
     */
    required_actions?: RequiredActionEvent[];
}

/**
 * A server's record of a turn.
 */
export interface TurnRecord {
    /**
     * The turn's id.
     */
    id: string;
    /**
     * Its session.
     */
    session_id: string | null;
    /**
     * The turn that it follows; `null` for a first turn.
     */
    previous_turn_id: string | null;
    /**
     * The turn's input; also empty if the server does not keep it with the turn.
     */
    input?: TurnInputItem[];
    /**
     * The turn's state.
     */
    state: TurnState;
    /**
     * The turn's creator.
     */
    created_by?: CreatedBy;
    /**
     * The turn's creator, if it is a subject.
     */
    created_by_subject: Subject | null;
    /**
     * ISO 8601.
     */
    created_at: string | null;
    /**
     * The agent, if every turn names it.
     */
    agent_name?: string;
}

/**
 * An item of a session's list of events.
 */
export interface SessionEvent {
    /**
     * The turn that the event belongs to.
     */
    turn_id: string;
    /**
     * The event; never a delta.
     */
    event: Event;
}
