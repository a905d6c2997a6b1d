// AgentEvent as tirea and awaken speak it. tirea's runs are lost with their reader; awaken keeps all events of a run.
import type { Conversation } from "../conversation.js";
import { told } from "../conversation.js";
import type { Fakes } from "../fake.js";
import type { Asked, Reply, Routes } from "../http.js";
import { missing } from "../http.js";
import { FrameLog } from "../log.js";
import { asText, type Answer, type Ending, type SubAgent, type SubVoice, type ToolCall, type Writer } from "../script.js";
import type { World } from "../world.js";
import { SubAgents } from "./agent-event-threads.js";
import { textOf } from "./truefoundry.js";

type Dialect = "tirea" | "awaken";
type Data = Record<string, any>;

interface Thread {
  readonly id: string;
  title: string | null;
  agent: string;
  readonly talk: Conversation;
  readonly runs: Run[];
  readonly messages: Data[];
}

/** The fakes of this family. */
export const fakes = {
  tirea: { routes: (world) => agentEvent(world, "tirea"), agents: "silent" },
  awaken: { routes: (world) => agentEvent(world, "awaken"), agents: "silent" },
} satisfies Fakes;

/** The routes of a server. */
function agentEvent(world: World, dialect: Dialect): Routes {
  const threads = new Map<string, Thread>();
  const runs = new Map<string, Run>();
  const isTirea = dialect === "tirea";

  const inThread = (answer: (thread: Thread, asked: Asked) => Reply) => (asked: Asked) => {
    const thread = threads.get(asked.names[0]!);
    return thread ? answer(thread, asked) : missing(`thread ${asked.names[0]}`);
  };
  const inRun = (answer: (run: Run, asked: Asked) => Reply) => (asked: Asked) => {
    const run = runs.get(asked.names[0]!);
    return run ? answer(run, asked) : missing(`run ${asked.names[0]}`);
  };
  const stop = ({ talk }: Thread, id: string): Reply => {
    talk.cancel();
    return { status: 202, json: { run_id: id, status: "cancel_requested" } };
  };

  const start = ({ body }: Asked): Reply => {
    const id = body["threadId"] as string;
    const thread: Thread = threads.get(id) ?? { id, title: null, agent: body["agentId"], talk: world.converse(), runs: [], messages: [] };
    threads.set(id, thread);
    thread.agent = body["agentId"];
    const run = new Run(world, dialect, thread, body["runId"] ?? world.nextId("run"), body["parentRunId"] ?? null);
    runs.set(run.id, run);
    thread.runs.push(run);
    run.begin();
    const decisions = (body["decisions"] ?? []) as Data[];
    const messages = (body["messages"] ?? []) as Data[];
    if (decisions.length > 0) {
      const answers = new Map(decisions.map((decision) => [decision["target_id"], answerOf(thread, decision["target_id"], decision["action"], decision["result"], decision["reason"])]));
      for (const { target_id, result, action } of decisions) run.event("tool_call_resumed", { target_id, result: result ?? { approved: action === "resume" } });
      thread.talk.take(answers);
      thread.talk.goOn(run);
    } else {
      for (const { id: given, content } of messages) thread.messages.push({ id: given ?? world.nextId("message"), role: "user", content, run: run.id });
      thread.talk.begin({ text: messages.map(({ content }) => textOf(content)).join("\n"), input: messages, agent: thread.agent, session: id }, run);
    }
    // tirea drops a run whose reader is gone.
    return { log: run.log, from: 0, ...(isTirea && { onLeave: () => run.lose() }) };
  };

  const decide = (run: Run, { body }: Asked): Reply => {
    const { toolCallId, action, payload } = body;
    const { thread } = run;
    run.isResumed = true;
    if (thread.talk.take(new Map([[toolCallId, answerOf(thread, toolCallId, action, payload, payload?.reason)]])).length === 0) return missing(`call ${toolCallId}`);
    if (thread.talk.isAnswered) {
      run.begin();
      run.event("tool_call_resumed", { target_id: toolCallId, result: payload });
      thread.talk.goOn(run);
    }
    return { status: 202, json: { run_id: run.id, status: "decision_submitted", tool_call_id: toolCallId } };
  };

  const listed = (items: readonly object[]): Reply => ({ json: { items, has_more: false } });
  const messages = ({ messages: all }: Thread, { query }: Asked): Reply => {
    const run = query.get("run_id");
    const shown = all.filter((message) => run === null || message["run"] === run).map((message, cursor) => shownMessage(message, dialect, cursor));
    return { json: { messages: query.get("order") === "desc" ? shown.reverse() : shown, has_more: false } };
  };
  const record = (thread: Thread): object => ({
    id: thread.id,
    ...(isTirea ? { messages: thread.messages.map((message) => shownMessage(message, dialect)), state: thread.runs.at(-1)?.state() ?? {} } : { latest_run_id: thread.runs.at(-1)?.id }),
    metadata: { ...(thread.title !== null && { title: thread.title }) },
  });

  return {
    "POST v1/runs": start,
    "GET v1/runs": ({ query }) => listed((threads.get(query.get("thread_id") ?? "")?.runs ?? []).map((run) => run.record())),
    "GET v1/runs/:run": inRun((run) => ({ json: run.record() })),
    "POST v1/runs/:run/cancel": inRun((run) => stop(run.thread, run.id)),
    "POST v1/runs/:run/decision": inRun(decide),
    "GET v1/runs/:run/events": inRun((run, { query }) => ({ json: { items: run.stored.slice(numberOf(query.get("cursor"))), has_more: false, next_cursor: cursorOf(run.stored.length) } })),
    "GET v1/runs/:run/events/stream": inRun((run, { query, headers }) => ({ log: run.storedLog, from: numberOf(query.get("cursor") ?? headers.get("last-event-id")) })),
    "GET v1/threads/summaries": () => ({ json: { items: [...threads.values()].map(({ id, title, agent }) => ({ id, thread_id: id, title, agent_id: agent, updated_at: 0 })), has_more: false } }),
    "GET v1/threads/:thread": inThread((thread) => ({ json: record(thread) })),
    "DELETE v1/threads/:thread": inThread((thread) => {
      threads.delete(thread.id);
      return { json: {} };
    }),
    "PATCH v1/threads/:thread/metadata": inThread((thread, { body }) => {
      thread.title = body["title"] ?? body["metadata"]?.title ?? null;
      return { json: record(thread) };
    }),
    "POST v1/threads/:thread/interrupt": inThread((thread) => stop(thread, thread.id)),
    "GET v1/threads/:thread/messages": inThread(messages),
    // awaken lists no runs for a thread that it does not know.
    "GET v1/threads/:thread/runs": ({ names: [id] }) => listed((threads.get(id!)?.runs ?? []).map((run) => run.record())),
    "GET v1/threads/:thread/runs/latest": inThread((thread) => ({ json: thread.runs.at(-1)!.record() })),
  };
}

function answerOf({ talk }: Thread, id: string, action: string, result: any, reason: unknown): Answer {
  const call = talk.waiting.find((waiting) => waiting.id === id);
  const allowed = action === "resume" && !(call?.waitsFor === "approval" && result?.approved === false);
  return { allowed, reason: allowed ? null : ((reason ?? result?.reason ?? null) as string | null), content: result };
}

function shownMessage({ run, content, ...message }: Data, dialect: Dialect, cursor?: number): object {
  if (dialect === "tirea") return { ...message, content, ...(cursor !== undefined && { cursor }) };
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return { ...message, content: parts, metadata: { ...message["metadata"], run_id: run } };
}

/** Cursors count the events of a run. */
const cursorOf = (number: number): string => `run_${number.toString(16).padStart(8, "0")}`;
const numberOf = (cursor: string | null): number => (cursor === null ? 0 : Number.parseInt(cursor.slice("run_".length), 16));

/** What the event store calls the events of a run. */
const KINDS: Record<string, string> = {
  step_start: "StepStarted",
  step_end: "StepEnded",
  text_delta: "TextDeltaObserved",
  reasoning_delta: "ReasoningDeltaObserved",
  tool_call_start: "ToolCallStarted",
  tool_call_delta: "ToolCallDeltaObserved",
  tool_call_ready: "ToolCallReady",
  tool_call_done: "ToolCallDone",
  tool_call_resumed: "ToolCallResumed",
  inference_complete: "InferenceComplete",
  error: "ErrorRecorded",
};
const FINISHES: Record<string, string> = { natural_end: "RunFinished", suspended: "RunSuspended", cancelled: "RunCancelled", error: "RunErrored" };

const CONSENT = {
  type: "object",
  properties: { approved: { type: "boolean" }, reason: { type: "string" }, remember: { type: "boolean" } },
  required: ["approved"],
  additionalProperties: true,
};

/** Writes one run: its stream, awaken's stored events, and the messages of its thread. */
class Run implements Writer {
  readonly id: string;
  readonly thread: Thread;
  readonly log = new FrameLog();
  /** awaken's events once more, each in its envelope, and as a stream that does not end. */
  readonly stored: object[] = [];
  readonly storedLog = new FrameLog();
  /** Whether the run continues after an answer. */
  isResumed = false;
  readonly #world: World;
  readonly #isTirea: boolean;
  readonly #parent: string | null;
  readonly #createdAt: number;
  readonly #agents: SubAgents;
  #seq = 0;
  #steps = 0;
  /** The message that is written. */
  #message: Data | undefined;
  #words = "";
  #status = "running";
  #termination: Data | null = null;
  #suspended: readonly ToolCall[] = [];
  #isLost = false;

  constructor(world: World, dialect: Dialect, thread: Thread, id: string, parent: string | null) {
    this.#world = world;
    this.#isTirea = dialect === "tirea";
    this.#agents = new SubAgents(this, this.#isTirea);
    this.thread = thread;
    this.id = id;
    this.#parent = parent;
    this.#createdAt = this.#time();
  }

  begin(): void {
    this.#status = "running";
    this.#termination = null;
    this.#suspended = [];
    const about = { thread_id: this.thread.id, run_id: this.id };
    if (this.#isTirea) this.event("run_start", this.#parent === null ? undefined : { parent_run_id: this.#parent });
    else this.event("run_start", { ...about, identity: this.#identity() });
  }

  /** The run as lists show it. */
  record(): object {
    const { type, value } = this.#termination ?? {};
    const about = { run_id: this.id, thread_id: this.thread.id, agent_id: this.thread.agent, status: this.#status, created_at: this.#createdAt, updated_at: this.#time() };
    if (this.#isTirea) {
      const code = { natural_end: "natural", suspended: "input_required", cancelled: "cancelled", error: "error" }[type as string];
      return { ...about, origin: "user", ...(this.#parent !== null && { parent_run_id: this.#parent }), ...(code && { termination_code: code }), ...(value && { termination_detail: value }) };
    }
    const tickets = this.#suspended.map((call) => ({ ticket_id: this.#suspensionId(call), tool_call_id: call.id, tool_name: call.name, arguments: call.arguments, ...this.#mode(call), updated_at: this.#time() }));
    const reason = this.#suspended.some(({ waitsFor }) => waitsFor === "approval") ? "tool_permission" : "user_input";
    const waiting = tickets.length > 0 && { waiting: { reason, ticket_ids: tickets.map(({ ticket_id }) => ticket_id), tickets } };
    return { ...about, parent_run_id: null, ...this.#dispatch(), state: null, steps: this.#steps, ...(this.#termination && { termination_reason: this.#termination }), ...waiting };
  }

  /** tirea's state of the thread: the calls that wait. */
  state(): object {
    const calls = this.#suspended.map((call) => [call.id, { suspended_call: { call_id: call.id, tool_name: call.name, arguments: call.arguments, ...this.#ticket(call) } }]);
    return { __tool_call_scope: Object.fromEntries(calls) };
  }

  /** The reader is gone, and nothing more is said. */
  lose(): void {
    this.#isLost = true;
    this.#message = undefined;
    this.log.close();
  }

  async ready(): Promise<void> {
    if (this.#isTirea) await this.log.drained(() => this.#isLost);
  }

  text(piece: string): void {
    const message = this.#open();
    message["content"] += piece;
    this.#words += piece;
    this.event("text_delta", { delta: piece });
  }

  reasoning(piece: string): void {
    this.#open();
    this.event("reasoning_delta", { delta: piece });
  }

  calls(calls: readonly ToolCall[]): void {
    const message = this.#open();
    message["tool_calls"] = calls.map(({ id, name, arguments: given }) => ({ id, name, arguments: given }));
    for (const { id, name, arguments: given } of calls) {
      this.event("tool_call_start", { id, name });
      this.event("tool_call_delta", { id, args_delta: JSON.stringify(given) });
      if (!this.#isTirea) this.event("tool_call_ready", { id, name, arguments: given });
    }
    if (this.#isTirea) this.#close();
    else this.#infer();
    if (this.#isTirea) for (const { id, name, arguments: given } of calls) this.event("tool_call_ready", { id, name, arguments: given });
  }

  voice(agent: SubAgent): SubVoice {
    return this.#agents.voice(agent);
  }

  result(call: ToolCall, answer: Answer): void {
    this.settle(call, answer.allowed ? null : told(answer), answer.content);
  }

  /** A call is over: it failed, or has a result. */
  settle(call: ToolCall, failure: string | null, data: unknown): void {
    const content = failure ?? asText(data);
    const result = failure === null ? { status: "success", data: data ?? null, message: null } : { status: "error", data: null, message: failure };
    this.#done(call, failure === null ? "succeeded" : "failed", { tool_name: call.name, ...result, ...(this.#isTirea && { metadata: {} }) });
    const kept = this.#isTirea ? JSON.stringify({ tool_name: call.name, ...result, metadata: {} }) : content;
    this.#keep({ id: this.#world.nextId("message"), role: "tool", tool_call_id: call.id, content: kept });
  }

  ask(calls: readonly ToolCall[]): void {
    this.#suspended = calls;
    for (const call of calls) {
      if (!this.#isTirea) {
        const message = `Tool '${call.name}' suspended: awaiting approval`;
        this.#done(call, "suspended", { tool_name: call.name, status: "pending", data: null, message, suspension: this.#ticket(call) });
      } else if (call.waitsFor === "approval") {
        const { id, name, arguments: given } = this.#ticket(call)["pending"];
        this.event("tool_call_start", { id, name });
        this.event("tool_call_ready", { id, name, arguments: given });
      }
    }
    if (this.#isTirea) this.event("state_snapshot", { snapshot: this.state() });
  }

  end(ending: Ending): void {
    // The record of a lost run says for ever that it runs.
    if (this.#isLost) return;
    // Words that were broken off are stored by neither.
    if (ending.status === "error" || ending.status === "cancelled") this.#message = undefined;
    if (this.#message) this.#infer();
    this.#close();
    this.#status = ending.status === "waiting" ? "waiting" : "done";
    const type = { done: "natural_end", waiting: "suspended", cancelled: "cancelled", error: "error" }[ending.status];
    this.#termination = { type, ...("message" in ending && { value: ending.message }) };
    if ("message" in ending && this.#isTirea) this.event("error", { message: ending.message, code: "LLM_ERROR" });
    const result = ending.status === "done" && { result: { response: this.#words } };
    const about = !this.#isTirea && { thread_id: this.thread.id, run_id: this.id, identity: this.#identity() };
    this.event("run_finish", { ...about, ...result, termination: this.#termination });
    this.log.close();
  }

  /** Writes an event, unless its reader has left for good. */
  event(type: string, data?: Data): void {
    if (this.#isLost) return;
    if (this.#isTirea) {
      const about = { run_id: this.id, thread_id: this.thread.id, seq: this.#seq++, timestamp_ms: this.#time() };
      const step = this.#message && { step_id: `step:${this.#steps - 1}` };
      this.log.append(`data: ${JSON.stringify({ type, ...about, ...step, ...(data && { data }) })}\n\n`);
      return;
    }
    const event = { event_type: type, ...data };
    if (!this.log.isClosed) this.log.append(`data: ${JSON.stringify(event)}\n\n`);
    this.#store(event);
  }

  /** An event in the store's envelope. */
  #store(event: Data): void {
    const type = event["event_type"] as string;
    const finish = FINISHES[event["termination"]?.type] ?? "RunTerminated";
    const own = type === "tool_call_done" && event["outcome"] === "suspended" ? "ToolCallSuspended" : KINDS[type];
    const event_kind = type === "run_start" ? (this.isResumed ? "RunResumed" : "RunStarted") : type === "run_finish" ? finish : (own ?? "EventObserved");
    const [thread_id, run_id] = [this.thread.id, this.id];
    const cursor = cursorOf(this.stored.length + 1);
    const scope = { scope_type: "run", run_id };
    const stored = {
      event_id: this.#world.nextId("event"),
      scopes: [scope],
      cursors_by_scope: [{ scope, cursor }],
      event_kind,
      payload: event,
      thread_id,
      run_id,
      origin: "runtime",
      visibility: "public",
      schema_version: 1,
      created_at: this.#time(),
    };
    this.stored.push(stored);
    this.storedLog.append(`id: ${cursor}\ndata: ${JSON.stringify(stored)}\n\n`);
  }

  #open(): Data {
    if (!this.#message) {
      const id = this.#world.nextId("message");
      this.#message = { id, role: "assistant", content: "", metadata: { step_index: this.#steps } };
      this.#steps += 1;
      this.#words = "";
      this.event("step_start", { message_id: id });
    }
    return this.#message;
  }

  #infer(): void {
    this.event("inference_complete", { model: "scripted", usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, duration_ms: 0 });
    if (this.#message) this.#keep(this.#message);
    if (!this.#isTirea) this.#message = undefined;
  }

  /** The step is over: tirea says so before its calls run, awaken after. */
  #close(): void {
    if (this.#isTirea && this.#message) {
      if (this.#message["tool_calls"]) this.#infer();
      this.event("step_end");
    }
    this.#message = undefined;
  }

  #done(call: ToolCall, outcome: string, result: Data): void {
    const message_id = this.#isTirea ? this.#world.nextId("result") : "";
    this.event("tool_call_done", { id: call.id, message_id, outcome, result });
  }

  #keep(message: Data): void {
    if (!this.#isLost) this.thread.messages.push({ ...message, run: this.id });
  }

  /** What a call waits for. */
  #ticket(call: ToolCall): Data {
    const id = this.#suspensionId(call);
    if (call.waitsFor === "response") {
      return { suspension: { id, action: `tool:${call.name}`, parameters: call.arguments }, pending: { id: call.id, name: call.name, arguments: call.arguments }, resume_mode: "use_decision_as_tool_result" };
    }
    const parameters = { tool_name: call.name, tool_args: call.arguments };
    const suspension = { id, action: "tool:PermissionConfirm", message: `Permission required to run tool '${call.name}'`, parameters, response_schema: CONSENT };
    return { suspension, pending: { id, name: "PermissionConfirm", arguments: parameters }, resume_mode: "replay_tool_call" };
  }

  #suspensionId({ id, waitsFor }: ToolCall): string {
    return waitsFor === "response" ? id : `${this.#isTirea ? "fc" : "perm"}_${id}`;
  }

  #mode(call: ToolCall): Data {
    const { suspension, resume_mode } = this.#ticket(call);
    return { reason: suspension.action, resume_mode };
  }

  #identity(): Data {
    return { thread_id: this.thread.id, run_id: this.id, agent_id: this.thread.agent, ...this.#dispatch(), origin: "user" };
  }

  #dispatch(): Data {
    return { dispatch_id: `dispatch_${this.id}`, session_id: `session_${this.id}` };
  }

  /** tirea counts milliseconds, awaken seconds. */
  #time(): number {
    return this.#isTirea ? Date.now() : Math.floor(Date.now() / 1000);
  }
}
