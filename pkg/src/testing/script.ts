// The script of an agent, as plain data without any protocol.

/** A tool call of a scripted agent. */
export interface ToolStep {
  /** The tool's name. */
  tool: string;
  /** The model's arguments. Default: none. */
  arguments?: Record<string, unknown>;
  /** The result of the server's tool: a text, or a value that is sent as JSON. Default: none, the page answers the call. */
  result?: unknown;
  /** Whether the user must allow the call before the server runs it. Default: `false`. */
  approval?: boolean;
}

/** A call that starts a sub-agent with its own thread, if the protocol's servers have those; otherwise it is refused. */
export interface AgentStep {
  /** The sub-agent's name. */
  agent: string;
  /** Its task: the `text` of its script. Default: an empty text. */
  input?: string;
  /** The title of its thread. Default: its name. */
  title?: string;
  /**
   * Its script. An `error` ends its thread as failed, and the turn continues. With `"tirea"` and `"awaken"` a page sees its calls and the
   * progress, and none of its calls can be pending.
   */
  script: Script;
}

/** A file in the session's sandbox, which the page can download (`"truefoundry"`, `"trueforge"`). */
export interface FileStep {
  /** Its absolute path, such as `"/report.csv"`. */
  file: string;
  /** Its content. */
  content: string | Uint8Array;
  /** Its media type. Default: `"application/octet-stream"`. */
  type?: string;
}

/**
 * One step of a scripted agent. A text is one event of the answer, so pass it in pieces: `["Hel", "lo"]`. A new message begins after a
 * `tool` or an `agent`. `wait` is in milliseconds. `error` ends the turn as failed.
 */
export type Step = string | { text: string } | { reasoning: string } | ToolStep | AgentStep | FileStep | { wait: number } | { error: string };

/** The outcome of a tool call. */
export interface Answer {
  /** Whether it was allowed to run. `true` for a call that needed no approval. */
  allowed: boolean;
  /** The reason for a denial, in the user's words. */
  reason: string | null;
  /** The result: the server's, the page's answer, or a sub-agent's last message. */
  content: unknown;
}

/** The facts of the turn that a script plays. */
export interface ScriptTurn {
  /** The text of the user's message. */
  text: string;
  /** The turn's input, as it was sent. */
  input: unknown;
  /** The agent's name. */
  agent: string;
  /** The session's id. */
  session: string;
  /** The number of this message in the session, counted from 1. */
  number: number;
  /** Aborts when the turn is cancelled. */
  signal: AbortSignal;
}

/**
 * The steps of a script: several tools and sub-agents in one list are called in one message. A `yield` of them returns their answers, even
 * if those come with the session's next turn.
 */
export type Steps = Iterator<Step | readonly Step[], void, readonly Answer[]> | AsyncIterator<Step | readonly Step[], void, readonly Answer[]>;

/** The script of an agent: the same text or steps for each message, or a function, usually an async generator. */
export type Script = string | readonly Step[] | ((turn: ScriptTurn) => Steps | Iterable<Step> | string);

/** A call while it is played. */
export interface ToolCall {
  readonly id: string;
  /** The calling agent; `null` is the main agent. */
  readonly by: SubAgent | null;
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  /** The party that must act before it has a result. */
  readonly waitsFor: "server" | "approval" | "response" | "agent";
  /** The result of a server's tool. */
  readonly result: unknown;
}

/** The end of a turn. A pending one continues with the answers. */
export type Ending = { status: "done" } | { status: "waiting" } | { status: "cancelled" } | { status: "error"; message: string };

/** A running sub-agent. */
export interface SubAgent {
  /** The id of its thread. */
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly input: string;
  /** The call that started it. */
  readonly call: ToolCall;
}

/** Writes the events of one thread, in a protocol's form. */
export interface Voice {
  reasoning(piece: string): void;
  text(piece: string): void;
  /** Writes calls of the model, all in one message. */
  calls(calls: readonly ToolCall[]): void;
  /** Writes that a call has its result, or was denied. */
  result(call: ToolCall, answer: Answer): void;
  /** Writes that these calls are pending. The turn's `end` follows, as `waiting`. */
  ask(calls: readonly ToolCall[]): void;
}

/** Writes the thread of a sub-agent. */
export interface SubVoice extends Voice {
  begin(): void;
  /** `failure` is the text of the error that ended it. */
  end(failure: string | null): void;
}

/** Writes one turn, and its main thread. */
export interface Writer extends Voice {
  /** The thread of a sub-agent, which may have begun in an earlier turn. A protocol without sub-agents refuses such scripts. */
  voice?(agent: SubAgent): SubVoice;
  file?(file: FileStep): void;
  end(ending: Ending): void;
  /** Resolves when the script may continue: if unread events are lost, a reader must keep up. */
  ready?(): Promise<void>;
}

/** Throws for what is no script. */
export function demandScript(script: Script): void {
  if (typeof script === "string" || typeof script === "function" || Array.isArray(script)) return;
  throw new TypeError("a script is a text, a list of steps, or a function, usually `async function*`");
}

/** The started steps of a script. */
export function begun(script: Script, turn: ScriptTurn): Steps {
  const steps = typeof script === "function" ? script(turn) : script;
  if (typeof steps === "string") return [steps][Symbol.iterator]() as Steps;
  const started = steps && Symbol.iterator in steps ? steps[Symbol.iterator]() : steps;
  if (typeof started?.next === "function") return started as Steps;
  throw new TypeError("a script that is a function returns a text, or steps: write `async function*` for one that waits");
}

/** A tool's result as text, as servers send it. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
