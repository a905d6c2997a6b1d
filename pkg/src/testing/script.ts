// What a scripted agent says and does, as plain data. No protocol is named here.

/** A tool call of a scripted agent. */
export interface ToolStep {
  /** The tool's name. */
  tool: string;
  /** What the model passes to it. Default: no arguments. */
  arguments?: Record<string, unknown>;
  /** What the server's tool returns: text, or a value that is sent as JSON. Default: none, the page answers the call. */
  result?: unknown;
  /** Whether the user must allow the call before the server runs it. Default: `false`. */
  approval?: boolean;
}

/** A call that begins a sub-agent, which has a thread of its own, where the servers of the protocol have those; elsewhere it is refused. */
export interface AgentStep {
  /** The sub-agent's name. */
  agent: string;
  /** What it is to do: the `text` of its script. Default: an empty text. */
  input?: string;
  /** The title of its thread. Default: its name. */
  title?: string;
  /**
   * What it says and does. An `error` ends its thread as failed, and the turn goes on. With `"tirea"` and `"awaken"` a page sees
   * its calls and the progress, and none of its calls can wait.
   */
  script: Script;
}

/** A file in the session's sandbox, which the page can download (`"truefoundry"`, `"trueforge"`). */
export interface FileStep {
  /** Its absolute path, such as `"/report.csv"`. */
  file: string;
  /** What is in it. */
  content: string | Uint8Array;
  /** Its media type. Default: `"application/octet-stream"`. */
  type?: string;
}

/**
 * One thing that a scripted agent does. A text is one event of the answer, so give it in pieces: `["Hel", "lo"]`. A `tool` or
 * an `agent` begins a new message after it. `wait` is in milliseconds. `error` ends the turn as failed.
 */
export type Step = string | { text: string } | { reasoning: string } | ToolStep | AgentStep | FileStep | { wait: number } | { error: string };

/** What became of a tool call. */
export interface Answer {
  /** Whether it was allowed to run. `true` for a call that needed no approval. */
  allowed: boolean;
  /** Why not, in the user's words. */
  reason: string | null;
  /** The result: the server's, what the page answered, or a sub-agent's last message. */
  content: unknown;
}

/** What a script knows of the turn that it plays. */
export interface ScriptTurn {
  /** The text of the user's message. */
  text: string;
  /** The turn's input as it was sent. */
  input: unknown;
  /** The agent's name. */
  agent: string;
  /** The session's id. */
  session: string;
  /** Which message of the session this is, counted from 1. */
  number: number;
  /** Aborts when the turn is cancelled. */
  signal: AbortSignal;
}

/**
 * The steps of a script: several tools and sub-agents in one list are called in one message. A `yield` of them returns their
 * answers, also when those come with the session's next turn.
 */
export type Steps = Iterator<Step | readonly Step[], void, readonly Answer[]> | AsyncIterator<Step | readonly Step[], void, readonly Answer[]>;

/** What an agent answers: the same text or steps to each message, or a function, most often an async generator. */
export type Script = string | readonly Step[] | ((turn: ScriptTurn) => Steps | Iterable<Step> | string);

/** A call while it is played. */
export interface ToolCall {
  readonly id: string;
  /** Who makes it; `null` is the main agent. */
  readonly by: SubAgent | null;
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  /** Who has to act before it has a result. */
  readonly waitsFor: "server" | "approval" | "response" | "agent";
  /** The result of a server's tool. */
  readonly result: unknown;
}

/** How a turn ends. One that waits goes on with the answers. */
export type Ending = { status: "done" } | { status: "waiting" } | { status: "cancelled" } | { status: "error"; message: string };

/** A sub-agent at work. */
export interface SubAgent {
  /** The id of its thread. */
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly input: string;
  /** The call that began it. */
  readonly call: ToolCall;
}

/** What writes the events of one thread, in the words of a protocol. */
export interface Voice {
  reasoning(piece: string): void;
  text(piece: string): void;
  /** Calls that the model makes, all in one message. */
  calls(calls: readonly ToolCall[]): void;
  /** A call has its result, or was denied. */
  result(call: ToolCall, answer: Answer): void;
  /** These calls wait. The turn's `end` follows, as `waiting`. */
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
  /** The thread of a sub-agent, which may have begun in an earlier turn. Where there are none, scripts are refused. */
  voice?(agent: SubAgent): SubVoice;
  file?(file: FileStep): void;
  end(ending: Ending): void;
  /** Resolves when the script may go on: where unread words are lost, a reader has to keep up. */
  ready?(): Promise<void>;
}

/** The steps of a script, begun. */
export function begun(script: Script, turn: ScriptTurn): Steps {
  const steps = typeof script === "function" ? script(turn) : script;
  if (typeof steps === "string") return [steps][Symbol.iterator]() as Steps;
  return (Symbol.iterator in steps ? steps[Symbol.iterator]() : steps) as Steps;
}

/** A tool's result as the text that servers send. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
