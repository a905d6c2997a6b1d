// Tools that run in the page: their registry, and the handling of calls.
import { demand, demandNames, demandWhole, isObject } from "../common/check.js";
import { messageOf } from "../common/errors.js";
import type { RequiredAction } from "../snapshot/snapshot.js";
import { onAbort } from "../transport/clocks.js";
import { orAborted, stopped } from "../transport/transport.js";
import type { Turn } from "../turn/turn.js";
import type { TurnInputItem } from "../wire/events.js";
import type { ToolSpec } from "./spec.js";

/** What a tool receives in addition to its input. */
export interface ToolContext {
  /** Aborts when the result is no longer needed: the run was aborted, or the tool has taken too long. */
  readonly signal: AbortSignal;
  /** The call's id. */
  readonly callId: string;
  /** The name by which it was called. */
  readonly name: string;
}

/** The function of a tool. Declared as a method, so that its parameter may have the type of the tool's schema. */
interface ToolRunner {
  run(input: Record<string, unknown>, context: ToolContext): unknown;
}

/** A tool that runs in the page. */
export interface ToolDefinition {
  /** The name for people; none by default. */
  title?: string | undefined;
  /** What the tool does, for the model. */
  description: string;
  /** The JSON Schema of the input, which is an object; any object by default. turnwire does not check the input. */
  parameters?: object | undefined;
  /** The longest time for a call, in milliseconds; 0 for no limit. By default the value of `session.tools()`. */
  timeout?: number | undefined;
  /**
   * Runs the tool. A returned string is the result; any other value is sent as JSON. The message of an exception goes
   * to the model, without the stack. `null` only declares the tool: its calls wait for an answer, for instance of a
   * person.
   */
  run: ToolRunner["run"] | null;
}

/** Tools by their names. */
export type Tools = Readonly<Record<string, ToolDefinition>>;

/** The options of `session.tools()`. */
export interface ToolsOptions {
  /**
   * The longest time for a call of a tool, in milliseconds; 60 seconds by default, 0 for no limit. A tool's own value
   * overrides it.
   */
  timeout?: number | undefined;
}

/** A call that waits for its result. @internal */
export type WaitingCall = Extract<RequiredAction, { type: "tool.response_required" }>;

/** The answer to such a call. @internal */
export type ToolAnswer = Extract<TurnInputItem, { type: "user.tool_response" }>;

/** A tool that runs, or has run. */
interface Running {
  /** The content of the answer. Rejects only if the tool is aborted. */
  readonly content: Promise<string>;
  readonly cutting: AbortController;
  /** Detaches the tool from the signal that would abort it. */
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
   * Replaces all tools. Throws an `InputError` that names the wrong tool, or what `demandNew` throws for their names.
   * Then nothing has changed.
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

  /** The names of the tools. */
  get toolNames(): string[] {
    return [...this.#tools.keys()];
  }

  /** The tools as declared to servers that need them. */
  toolSpecs(): ToolSpec[] {
    return Array.from(this.#tools, ([name, { title, description, parameters }]) => ({
      name,
      ...(title == null ? {} : { title }),
      description,
      parameters: parameters ?? { type: "object", properties: {} },
    }));
  }

  /** Another object represents the turn from now on. */
  transfer(from: Turn, to: Turn): void {
    if (this.#turn === from) this.#turn = to;
  }

  /**
   * The calls of the page's tools for which a turn waits. Drops the results of all other calls: another call may come
   * under the same id, in this turn or in one that continues. A call that was read again is the same while it waits.
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
   * Runs one of those calls, and returns its answer, which is kept. A call that runs already, or has run, does not run
   * again. Rejects when `signal` aborts, which aborts the tool.
   */
  async answerOf(call: WaitingCall, signal: AbortSignal | undefined): Promise<ToolAnswer> {
    if (signal?.aborted) throw stopped(signal);
    const key = callKey(call);
    const own = this.#running.get(key) ?? this.#start(call);
    this.#running.set(key, own);
    // Only the last caller may abort it: the run before has ended, and left it to this one.
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

  /** Runs a tool; returns the content of the answer. */
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

/** The key of a call among those of a turn. @internal */
export function callKey({ thread_id, tool_call_id }: { thread_id: string; tool_call_id: string }): string {
  return JSON.stringify([thread_id, tool_call_id]);
}

/** The arguments of a call, if they are an object. The text of a call without arguments may be empty. @internal */
export function inputOf(json: string): Record<string, unknown> | undefined {
  try {
    const input: unknown = JSON.parse(json || "{}");
    return isObject(input) && !Array.isArray(input) ? (input as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the value can be sent as JSON. */
function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

/** The model's information about a tool that threw. */
function failed(cause: unknown): string {
  try {
    const text = isObject(cause) && !(cause instanceof Error) ? JSON.stringify(cause) : messageOf(cause);
    return text === "{}" ? FAILED : `${FAILED}: ${text}`;
  } catch {
    // Not every thrown value can be converted to a string.
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
