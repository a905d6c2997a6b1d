// Tools that run in the page: which there are, and what becomes of a call.
import { demand, demandNames, demandWhole, isObject } from "../common/check.js";
import { messageOf } from "../common/errors.js";
import type { RequiredAction } from "../snapshot/snapshot.js";
import { onAbort } from "../transport/clocks.js";
import { orAborted, stopped } from "../transport/transport.js";
import type { Turn } from "../turn/turn.js";
import type { TurnInputItem } from "../wire/events.js";
import type { ToolSpec } from "./spec.js";

/** What a tool is told beside its input. */
export interface ToolContext {
  /** Aborts when the result is not wanted any more: the run was aborted, or the tool has taken too long. */
  readonly signal: AbortSignal;
  /** The call's id. */
  readonly callId: string;
  /** The name by which it was called. */
  readonly name: string;
}

/** What runs a tool. As a method, so that the type of its parameter may say what the model was told to give. */
interface ToolRunner {
  run(input: Record<string, unknown>, context: ToolContext): unknown;
}

/** A tool that runs in the page. */
export interface ToolDefinition {
  /** The name for people. */
  title?: string;
  /** What it does, for the model. */
  description: string;
  /** The JSON Schema of its input, which is an object; any object by default. It is not checked here. */
  parameters?: object;
  /** How long it may take, in milliseconds; 0 as long as it likes. By default as `session.tools()` was told. */
  timeout?: number;
  /**
   * Runs the tool. A text that it gives is the result as it stands, anything else is sent as JSON. What it throws
   * goes to the model as a message, without a stack. `null` only declares the tool: its calls wait for an answer, as
   * those do that a person gives.
   */
  run: ToolRunner["run"] | null;
}

/** Tools by their names. */
export type Tools = Readonly<Record<string, ToolDefinition>>;

/** What `session.tools()` takes beside the tools. */
export interface ToolsOptions {
  /** How long a tool may take, in milliseconds; 60 seconds by default, 0 as long as it likes. A tool's own wins. */
  timeout?: number;
}

/** A call that waits for its result. @internal */
export type WaitingCall = Extract<RequiredAction, { type: "tool.response_required" }>;

/** The answer to one. @internal */
export type ToolAnswer = Extract<TurnInputItem, { type: "user.tool_response" }>;

/** A tool that runs, or has run. */
interface Running {
  /** The content of the answer. Rejects only if the tool is cut off. */
  readonly content: Promise<string>;
  readonly cutting: AbortController;
  /** Frees it of the signal that would cut it off. */
  release(): void;
}

const TIMEOUT = 60_000;
const FAILED = "Tool execution failed";

/** The tools of a session, and the results that were not sent yet. @internal */
export class ToolRegistry {
  readonly #tools = new Map<string, ToolDefinition>();
  #timeout = TIMEOUT;
  /** The turn whose calls run, or have run. */
  #turn: Turn | undefined;
  readonly #running = new Map<string, Running>();

  /**
   * Takes the place of all tools. Throws an `InputError` that names the wrong one, or what `demandNew` throws at their
   * names, and then nothing has changed.
   */
  putTools(tools: Tools, options: ToolsOptions, demandNew: (names: string[]) => void): void {
    demand(isObject(tools) && !(Symbol.iterator in tools), "`tools` takes an object of tools by their names");
    const { timeout } = options;
    demandWhole("timeout", timeout ?? TIMEOUT);
    const entries = Object.entries(tools);
    for (const [name, tool] of entries) demandTool(name, tool);
    demandNew(Object.keys(tools));
    this.#tools.clear();
    for (const [name, tool] of entries) this.#tools.set(name, tool);
    this.#timeout = timeout ?? TIMEOUT;
  }

  /** Their names. */
  get toolNames(): string[] {
    return [...this.#tools.keys()];
  }

  /** The tools as they are declared to servers that want to know them. */
  toolSpecs(): ToolSpec[] {
    return Array.from(this.#tools, ([name, { title, description, parameters }]) => ({
      name,
      ...(title == null ? {} : { title }),
      description,
      parameters: parameters ?? { type: "object", properties: {} },
    }));
  }

  /** Another object stands for a turn from now on. */
  move(from: Turn, to: Turn): void {
    if (this.#turn === from) this.#turn = to;
  }

  /**
   * The calls of tools that run here which a turn waits for. What was kept of all others is dropped: a call may be made
   * once more under its id, and so may a turn that goes on. One that was read anew is the same as long as it waits.
   */
  callsOf(turn: Turn): WaitingCall[] {
    const isTool = (action: RequiredAction): action is WaitingCall =>
      action.type === "tool.response_required" && !!this.#tools.get(action.name)?.run;
    const calls = turn.snapshot().required_actions.filter(isTool);
    const known = this.#turn;
    const isSame = known === turn || (known?.id === turn.id && known.snapshot().required_actions.length > 0);
    const waiting = calls.map(callKey);
    for (const key of this.#running.keys()) if (!isSame || !waiting.includes(key)) this.#running.delete(key);
    this.#turn = turn;
    return calls;
  }

  /**
   * Runs one of those calls, and gives its answer, which is kept. A call that runs already, or has run, does not run
   * again. Rejects when `signal` aborts, which cuts the tool off.
   */
  async answerOf(call: WaitingCall, signal: AbortSignal | undefined): Promise<ToolAnswer> {
    if (signal?.aborted) throw stopped(signal);
    const key = callKey(call);
    const own = this.#running.get(key) ?? this.#start(call);
    this.#running.set(key, own);
    // Whoever asks last may cut it off: the run that asked before has ended, and left it to this one.
    own.release();
    const release = onAbort(signal, () => {
      if (this.#running.get(key) === own) this.#running.delete(key);
      own.cutting.abort(signal!.reason);
    });
    own.release = release;
    const { thread_id, tool_call_id } = call;
    try {
      return { type: "user.tool_response", thread_id, tool_call_id, content: await orAborted(own.content, signal) };
    } finally {
      release();
    }
  }

  #start(call: WaitingCall): Running {
    const cutting = new AbortController();
    return { content: this.#content(call, cutting), cutting, release() {} };
  }

  /** Runs a tool; gives the content of the answer. */
  async #content({ name, arguments: json, tool_call_id: callId }: WaitingCall, cutting: AbortController): Promise<string> {
    const tool = this.#tools.get(name)!;
    const input = inputOf(json);
    if (!input) return `${FAILED}: the arguments are not a JSON object`;
    const timeout = tool.timeout ?? this.#timeout;
    const late = new DOMException(`Tool execution timed out after ${timeout} ms`, "TimeoutError");
    const timer = timeout > 0 ? setTimeout(() => cutting.abort(late), timeout) : undefined;
    const { signal } = cutting;
    try {
      const run = async (): Promise<unknown> => tool.run!(input, { signal, callId, name });
      const result = await orAborted(run(), signal);
      // A content must not be empty.
      return (typeof result === "string" && result) || (JSON.stringify(result) ?? "null");
    } catch (cause) {
      if (signal.reason === late) return late.message;
      if (signal.aborted) throw stopped(signal);
      return failed(cause);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Names a call among those of a turn. @internal */
export function callKey({ thread_id, tool_call_id }: { thread_id: string; tool_call_id: string }): string {
  return JSON.stringify([thread_id, tool_call_id]);
}

/** The arguments of a call, if they are an object. A call without any may have no text. @internal */
export function inputOf(json: string): Record<string, unknown> | undefined {
  try {
    const input: unknown = JSON.parse(json || "{}");
    return isObject(input) && !Array.isArray(input) ? (input as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether something can be sent. */
function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

/** What the model is told of a tool that has thrown. */
function failed(cause: unknown): string {
  try {
    const text = isObject(cause) && !(cause instanceof Error) ? JSON.stringify(cause) : messageOf(cause);
    return text === "{}" ? FAILED : `${FAILED}: ${text}`;
  } catch {
    // Not everything that can be thrown has a text.
    return FAILED;
  }
}

function demandTool(name: string, tool: ToolDefinition): void {
  const method = `tools.${name}`;
  demand(name !== "", "a tool must have a name");
  demandNames(method, tool, ["title", "description", "parameters", "timeout", "run"]);
  const { title, description, parameters, timeout, run } = tool;
  demand(title == null || typeof title === "string", `\`${method}.title\` must be a string`);
  demand(typeof description === "string", `\`${method}.description\` must be a string`);
  demand(
    parameters == null || (isObject(parameters) && (parameters as { type?: unknown }).type === "object"),
    `\`${method}.parameters\` must be the JSON Schema of an object`,
  );
  demand(isJson(parameters), `\`${method}.parameters\` must be JSON`);
  demandWhole(`${method}.timeout`, timeout ?? TIMEOUT);
  demand(run === null || typeof run === "function", `\`${method}.run\` must be a function, or null`);
}
