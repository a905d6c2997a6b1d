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
 * One event of a turn, told apart by `type`.
 *
 * The stream delivers all of these. The event list of a finished turn holds neither
 * `turn.created`, `turn.done` nor deltas; a session's event list holds all but deltas.
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
     * `null`: it concerns the whole turn.
     */
    thread_id: string | null;
    /**
     * ISO 8601.
     */
    created_at?: string;
    /**
     * Who created the turn: a subject, or in the reference pages' spelling its name.
     */
    created_by?: CreatedBy;
    /**
     * `created_by` where it is a subject.
     */
    created_by_subject?: Subject;
    /**
     * What the turn was given; empty when nothing.
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
     * `null`: it concerns the whole turn.
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
 * On a live stream it is the beginning of a message, usually with no content, which deltas of the
 * same `id` complete. In event lists, and as a turn's `output`, it is complete.
 */
export interface ModelMessage {
    /**
     * Shared with every delta of the message.
     */
    id: string;
    /**
     * `"main"`, or a sub-agent's thread.
     */
    thread_id: string;
    /**
     * The message that this one goes on with, under a new id: the server tried again, and what that one
     * said stays. There is only one message then, this one.
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
     * The model's reasoning, where it shows it.
     */
    reasoning_content?: string;
    /**
     * What the model's provider wants to have back of its reasoning, opaque.
     */
    reasoning_encrypted?: string[];
    /**
     * The tool calls. A hole (`null`) is a call of which no delta has arrived yet.
     */
    tool_calls?: (ToolCall | null)[];
    /**
     * `"stop"`, `"length"`, `"tool_calls"`, `"content_filter"`, `"function_call"`, or a newer word.
     */
    finish_reason?: string;
    /**
     * Token counts.
     */
    usage?: Usage;
    /**
     * The model that wrote it, where the server says so.
     */
    model?: string;
    /**
     * How long the model took, in milliseconds, where the server says so.
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
     * ISO 8601; many servers stamp only the first delta of a message.
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
     * An opaque piece of encrypted reasoning, to be added to the list.
     */
    reasoning_encrypted?: string;
    /**
     * Pieces of tool calls, merged by `index`.
     */
    tool_calls?: ToolCallDelta[];
    /**
     * The message is complete, though a later delta would still be merged.
     */
    finish_reason?: string;
    /**
     * Token counts; replaces earlier ones.
     */
    usage?: Usage;
    /**
     * The model that wrote it, where the server says so.
     */
    model?: string;
    /**
     * How long the model took, in milliseconds, where the server says so.
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
     * The call that this answers.
     */
    tool_call_id: string;
    /**
     * The result as the agent reads it. tirea keeps the JSON of `result`, awaken that of its `data`.
     */
    content: string;
    /**
     * How it came out, where the server says so.
     */
    outcome?: "succeeded" | "failed" | "suspended";
    /**
     * The result with what else the tool says, where the server gives it.
     */
    result?: ToolResult;
    /**
     * The result as a list of parts, of which `content` is the text, where the server gives it so: texts, and
     * images (`{ type: "image", url }`). Only the Agent Application Protocol has this.
     */
    parts?: unknown[];
    /**
     * What the call changed in the agent's state, where the server says so.
     */
    patch?: TrackedPatch;
}

/**
 * What a call puts out while it runs (`tool.output`). Its result says all that counts of it. Only the protocols that
 * are spoken over a socket have this.
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
     * Where it is put out: `"stdout"`, `"stderr"`, `"file_change"`, `"tool_progress"`; `"output"` where the server
     * does not tell them apart; or a newer word.
     */
    stream: string;
    /**
     * Text to append.
     */
    delta: string;
    /**
     * Whether `delta` is all that was put out on this stream, in place of the pieces that came: some were missed.
     */
    replace?: boolean;
    /**
     * What else the server says of it, such as the stage that the tool is at: of the JSON-RPC turn gateway a
     * `ToolDeltaPayload`.
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
 * A sub-agent's thread ended (`thread.done`). The turn goes on.
 *
 * Servers nest the outcome in `state`; the reference pages have it flat (`status`, `output`,
 * `message`). Both are here.
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
     * The tool call that had started it.
     */
    parent?: ParentCall;
    /**
     * How it ended.
     */
    state: ThreadState;
    /**
     * `state.status`, as the reference pages spell it.
     */
    status: "done" | "error";
    /**
     * `state.output`, as the reference pages spell it.
     */
    output?: ModelMessage;
    /**
     * `state.error`, as the reference pages spell it.
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
     * `mcp_servers`, as the reference pages spell it.
     */
    content: McpServer[];
}

/**
 * MCP servers need the user's authorization (`mcp.auth_required`). When the user has been through
 * `auth_url`, the next turn is created with no input.
 */
export interface McpAuthRequired {
    /**
     * The event's id.
     */
    id: string;
    /**
     * `null`: it concerns the whole turn.
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
     * `mcp_servers`, as the reference pages spell it.
     */
    servers: McpServerAuth[];
}

/**
 * A sandbox was made for the turn (`sandbox.created`); the session keeps it.
 */
export interface SandboxCreated {
    /**
     * The event's id.
     */
    id: string;
    /**
     * `null`: it concerns the whole turn.
     */
    thread_id: string | null;
    /**
     * ISO 8601.
     */
    created_at?: string;
    /**
     * Names it in file downloads.
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
     * The calls that wait.
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
     * The answer.
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
     * Why.
     */
    reason: string;
}

/**
 * What a message said so far does not count (`message.reset`): its text, reasoning and calls begin anew.
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
     * Why.
     */
    reason: string;
}

/**
 * The agent's whole state (`state.snapshot`). It replaces whatever was known of it.
 */
export interface StateSnapshot {
    /**
     * The event's id.
     */
    id: string;
    /**
     * `null`: it concerns the whole turn.
     */
    thread_id: string | null;
    /**
     * The state as the server sent it. Names that begin with `__` are the server's own business; snapshots
     * leave them out.
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
     * `null`: it concerns the whole turn.
     */
    thread_id: string | null;
    /**
     * A JSON Patch (RFC 6902).
     */
    delta: PatchOperation[];
}

/**
 * The session's messages (`messages.snapshot`), as the server keeps them.
 */
export interface MessagesSnapshot {
    /**
     * The event's id.
     */
    id: string;
    /**
     * `null`: it concerns the whole turn.
     */
    thread_id: string | null;
    /**
     * The messages, oldest first.
     */
    messages: ThreadMessage[];
}

/**
 * A report of what is going on (`activity.snapshot`), whole. Reports of one thing share `message_id`.
 */
export interface ActivitySnapshot {
    /**
     * The event's id.
     */
    id: string;
    /**
     * The thread that it is of.
     */
    thread_id: string;
    /**
     * Names what it is about: for a tool's progress `"tool_call:"` and the call's id, or the id alone.
     */
    message_id: string;
    /**
     * `"tool-call-progress"` and `"progress"` report on a tool call ([`ToolProgress`]); others are free.
     */
    activity_type: string;
    /**
     * The report.
     */
    content: ToolProgress | Record<string, unknown>;
    /**
     * `false` if it counts only where nothing is known yet.
     */
    replace?: boolean;
    /**
     * The tool call that it reports on, where it does.
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
     * The thread that it is of.
     */
    thread_id: string;
    /**
     * The report that changes.
     */
    message_id: string;
    /**
     * As in [`ActivitySnapshot`].
     */
    activity_type: string;
    /**
     * A JSON Patch (RFC 6902) of its content.
     */
    patch: PatchOperation[];
}

/**
 * Something went wrong on the server (`server.error`). The turn's end says whether it failed.
 */
export interface ServerError {
    /**
     * The event's id.
     */
    id: string;
    /**
     * `null`: it concerns the whole turn.
     */
    thread_id: string | null;
    /**
     * What happened.
     */
    message: string;
    /**
     * `"LLM_ERROR"`, `"STATE_ERROR"`, `"RELAY_ERROR"`, or a newer word.
     */
    code?: string;
}

/**
 * What the server tells of a turn beside what is said in it (`notice`): retries, timeouts, limits, warnings;
 * and what the user said while it ran (`user_message`). Only the protocols that are spoken over a socket have this.
 */
export interface Notice {
    /**
     * The event's id.
     */
    id: string;
    /**
     * `null` where it concerns the whole turn.
     */
    thread_id: string | null;
    /**
     * How bad it is.
     */
    level: "info" | "warning" | "error";
    /**
     * What it is, in the server's words, for example `"item/retry_scheduled"` or `"capability.rejected"`.
     */
    code: string;
    /**
     * For people; may be empty.
     */
    message: string;
    /**
     * The message or call that it is about.
     */
    item_id?: string;
    /**
     * All that the server says of it: of `"capability.rejected"` `{ rejected: RejectedCapability[] }`, of
     * `"prompt_manifest"` a `PromptManifest`, of a notification (`"item/retry_scheduled"`) its parameters.
     */
    details?: unknown;
}

/**
 * An event of a type that this version does not know, or a malformed one.
 */
export interface UnknownEvent {
    /**
     * The `type` on the wire, where there was one.
     */
    wire_type: string | null;
    /**
     * The JSON that came, parsed; the text itself where it was not JSON.
     */
    raw: unknown;
    /**
     * Why it could not be read as the type it names. Absent for a type that is merely new.
     */
    problem?: string;
}

/**
 * The state of a turn, told apart by `status`.
 */
export type TurnState = TerminalState | RunningState;

/**
 * How a turn ended, told apart by `status`.
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
 * An event that asks something of the client.
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
     * Both together.
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
     * Its kind, for example `"user"`.
     */
    subject_type: string;
    /**
     * A name for people.
     */
    subject_slug: string;
}

/**
 * Who created something.
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
     * Names the call in `tool.response`, in required actions and in their answers.
     */
    id: string;
    /**
     * Always `"function"` today.
     */
    type: string;
    /**
     * What is called, with what.
     */
    function: ToolCallFunction;
    /**
     * What kind of tool it is; its `name` is the one to show.
     */
    tool_info?: ToolInfo;
    /**
     * Whatever the model's provider adds.
     */
    provider_specific_fields?: Record<string, unknown>;
}

/**
 * A piece of a tool call.
 */
export interface ToolCallDelta {
    /**
     * The call's place in `tool_calls`.
     */
    index: number;
    /**
     * First piece only, usually; overwrites.
     */
    id?: string;
    /**
     * First piece only, usually; overwrites.
     */
    type?: string;
    /**
     * The function's piece.
     */
    function?: ToolCallFunctionDelta;
    /**
     * First piece only, usually; overwrites.
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
 * The function's part of a tool call's piece.
 */
export interface ToolCallFunctionDelta {
    /**
     * Overwrites the name: it is never appended.
     */
    name?: string;
    /**
     * Text to append to the arguments.
     */
    arguments?: string;
    /**
     * The arguments whole, in place of what came in pieces, where that was something else.
     */
    whole_arguments?: string;
}

/**
 * What kind of tool a call is for.
 */
export type ToolInfo = { type: "mcp"; server_id: string; server_name: string; mcp_server_id: string; mcp_server_name: string; name: string; is_deferred?: boolean } | { type: "truefoundry-system"; name: string };

/**
 * Points to a tool call in a model message.
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
     * `source_event_id`, as the reference pages spell it.
     */
    event_id: string;
    /**
     * The tool, where the server says so here.
     */
    name?: string;
    /**
     * What it is called with, JSON text, where the server says so here.
     */
    arguments?: string;
    /**
     * What it waits for, as the server put it.
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
     * Tokens of reasoning, where the server counts them apart.
     */
    reasoning_tokens?: number;
    /**
     * Where the tokens read came from.
     */
    input_tokens_breakdown?: UsageBreakdown;
}

/**
 * Where input tokens came from.
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
     * `"dynamic"` today.
     */
    type: string;
    /**
     * The agent's name.
     */
    name: string;
    /**
     * What the parent handed to it.
     */
    input?: string;
    /**
     * Its model.
     */
    model?: string;
}

/**
 * The result of a tool, with what else it says.
 */
export interface ToolResult {
    /**
     * The tool.
     */
    tool_name: string;
    /**
     * `"warning"` is a success, too. A denied, unknown or wrongly called tool is an `"error"`.
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
     * Whatever the tool adds.
     */
    metadata?: Record<string, unknown>;
}

/**
 * What a call waits for, as the server put it.
 */
export interface Suspension {
    /**
     * Names what waits; the call's own id names it as well.
     */
    id: string;
    /**
     * Who asks, for example `"tool:PermissionConfirm"`.
     */
    action: string;
    /**
     * The question, for people.
     */
    message?: string;
    /**
     * What it is about.
     */
    parameters?: unknown;
    /**
     * A JSON Schema of the answer.
     */
    response_schema?: unknown;
    /**
     * What the answer does: lets the call run, is its result, or is handed to the tool.
     */
    resume_mode?: "replay_tool_call" | "use_decision_as_tool_result" | "pass_decision_to_tool" | (string & {});
}

/**
 * Why a run ended.
 */
export interface Termination {
    /**
     * `"natural_end"`, `"behavior_requested"`, `"stopped"`, `"cancelled"`, `"suspended"`, `"error"`,
     * `"blocked"`, or a newer word.
     */
    type: string;
    /**
     * Of `"stopped"` a [`StopReason`], of `"error"` and `"blocked"` a text.
     */
    value?: StopReason | string;
}

/**
 * What stopped a run.
 */
export interface StopReason {
    /**
     * `"max_rounds_reached"`, `"timeout_reached"`, `"token_budget_exceeded"`,
     * `"consecutive_errors_exceeded"`, `"tool_called"`, `"content_matched"`, `"loop_detected"`, or the
     * agent's own word.
     */
    code: string;
    /**
     * More of it; of `"tool_called"` the tool.
     */
    detail?: string;
}

/**
 * How far a tool call is (`tool-call-progress.v1`; the older `progress` has the first three only).
 */
export interface ToolProgress {
    /**
     * From 0 to 1, as a rule.
     */
    progress?: number;
    /**
     * How much there is to do, in the tool's own unit.
     */
    total?: number;
    /**
     * For people.
     */
    message?: string;
    /**
     * How much is done, in the tool's own unit.
     */
    loaded?: number;
    /**
     * `"pending"`, `"running"`, `"done"`, `"failed"`, `"cancelled"`, or a newer word.
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
     * The call inside of which this one is made.
     */
    parent_call_id?: string;
    /**
     * `"tool_call:"` and the call's id.
     */
    node_id?: string;
    /**
     * `"tool_call:"` and the parent call's id, or `"run:"` and the run's.
     */
    parent_node_id?: string;
    /**
     * The run that makes the call: another one than the turn's if a sub-agent makes it.
     */
    run_id?: string;
    /**
     * The run that started that one.
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
 * What a tool call changed in the agent's state. The `state.snapshot` that follows has it, too.
 */
export interface TrackedPatch {
    /**
     * The operations, in order.
     */
    patch: StateOperations;
    /**
     * Names the patch.
     */
    id?: string;
    /**
     * Milliseconds since 1970.
     */
    timestamp?: number;
    /**
     * Who made it, for example `"tool:get_weather"`.
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
 * An operation on the agent's state. Not a JSON Patch: paths are lists, `[]` is the whole state.
 */
export type StateOperation = { op: "set"; path: StateKey[]; value: unknown } | { op: "delete"; path: StateKey[] } | { op: "append"; path: StateKey[]; value: unknown } | { op: "merge_object"; path: StateKey[]; value: unknown } | { op: "increment"; path: StateKey[]; amount: number } | { op: "decrement"; path: StateKey[]; amount: number } | { op: "insert"; path: StateKey[]; index: number; value: unknown } | { op: "remove"; path: StateKey[]; value: unknown } | { op: "lattice_merge"; path: StateKey[]; value: unknown };

/**
 * One step of the way into the state: a name, or an index from 0 on.
 */
export type StateKey = number | string;

/**
 * An operation of a JSON Patch (RFC 6902).
 */
export type PatchOperation = { op: "add"; path: string; value: unknown } | { op: "remove"; path: string } | { op: "replace"; path: string; value: unknown } | { op: "move"; from: string; path: string } | { op: "copy"; from: string; path: string } | { op: "test"; path: string; value: unknown };

/**
 * A message as an `AgentEvent` server keeps it.
 */
export interface ThreadMessage {
    /**
     * Missing where its sender gave none.
     */
    id?: string;
    /**
     * Who speaks.
     */
    role: "system" | "user" | "assistant" | "tool" | (string & {});
    /**
     * A text; of a tool, its [`ToolResult`](super::ToolResult) as JSON. Newer servers may give parts.
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
     * `"internal"` for what users are not meant to see.
     */
    visibility?: string;
    /**
     * Its place among the session's messages, from 0 on, where the server says.
     */
    cursor?: number;
    /**
     * Whatever the server adds.
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
     * What it is called with.
     */
    arguments: unknown;
}

/**
 * An initialized MCP server.
 */
export interface McpServer {
    /**
     * The server's id; its name where only that was given.
     */
    id: string;
    /**
     * The server's name.
     */
    name: string;
    /**
     * `name`, as the reference pages spell it.
     */
    mcp_server_name: string;
    /**
     * The MCP session, where the server keeps one.
     */
    session_id?: string;
    /**
     * `"streamable-http"`, `"sse"`, or a newer word.
     */
    transport_type?: string;
}

/**
 * An MCP server that needs authorization.
 */
export interface McpServerAuth {
    /**
     * The server's id; its name where only that was given.
     */
    id: string;
    /**
     * The server's name.
     */
    name: string;
    /**
     * `name`, as the reference pages spell it.
     */
    mcp_server_name: string;
    /**
     * Where the user authorizes it.
     */
    auth_url: string;
    /**
     * The threads that wait for it, where the server says so.
     */
    thread_ids: string[];
}

/**
 * One item of a turn's input.
 *
 * User messages cannot be mixed with approvals and responses; approvals and responses can be mixed
 * with each other, and together they must answer every call that waits. A turn paused by
 * `mcp.auth_required` is resumed with no input at all.
 *
 * A field that an item, a part or an approval does not take is refused by its name, before anything is sent. An answer
 * may be made of an action of `snapshot().required_actions`, `{ ...action, type, approval }`: the action's `name`,
 * `arguments`, `tool_info` and `suspension` are left out.
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
 * A piece of a text that stands for something else.
 */
export interface TextElement {
    /**
     * Which piece of the text.
     */
    byte_range: ByteRange;
    /**
     * What stands there.
     */
    placeholder?: string;
}

/**
 * A piece of a text, in bytes of its UTF-8.
 */
export interface ByteRange {
    /**
     * Its first byte.
     */
    start: number;
    /**
     * The byte after its last.
     */
    end: number;
}

/**
 * A file in the reference pages' spelling.
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
 * The verdict on a tool call.
 */
export type Approval = { status: "allow"; remember?: boolean; result?: Record<string, unknown> } | { status: "deny"; remember?: boolean; reason?: string; cancel?: boolean };

/**
 * A session, or a draft of one (`type` tells which), as a server keeps it.
 */
export interface SessionRecord {
    /**
     * `"session"`, or `"session/draft"` for one whose agent is still being written.
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
     * Who created it.
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
     * A draft's agent, as the server's schema has it.
     */
    agent_spec?: Record<string, unknown>;
    /**
     * The workspace that it is in. Only the JSON-RPC turn gateway has this.
     */
    workspace_id?: string;
    /**
     * Whether nothing was said in it yet, where the server says so (Codex app-server).
     */
    is_new?: boolean;
    /**
     * What its last turn waits for, where the server says so with the session.
     */
    required_actions?: RequiredActionEvent[];
}

/**
 * A turn as a server keeps it.
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
     * What it was given; empty also where the server does not keep it with the turn.
     */
    input?: TurnInputItem[];
    /**
     * Where it stands.
     */
    state: TurnState;
    /**
     * Who created it.
     */
    created_by?: CreatedBy;
    /**
     * Who created it, where that is a subject.
     */
    created_by_subject: Subject | null;
    /**
     * ISO 8601.
     */
    created_at: string | null;
    /**
     * The agent, where every turn names it.
     */
    agent_name?: string;
}

/**
 * An entry of a session's event list.
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
