// Immutable snapshots of a turn. Only changed parts are created again.
import type { CoreTurn } from "../boundary/boundary.js";
import type { TurnwireError } from "../common/errors.js";
import type { Reconnecting, Waiting } from "../delivery/connection-topics.js";
import { type JsonParser, lend } from "../delivery/delivery.js";
import type { AgentInfo, McpServer, McpServerAuth, Notice, ParentCall, Suspension, ToolInfo, ToolProgress, ToolResult, TurnInputItem, TurnState, Usage } from "../wire/events.js";

/** The status of a turn. */
export type TurnStatus = "unstarted" | "starting" | "running" | "done" | "cancelled" | "error" | "incomplete";

/** A turn at one moment. Immutable: parts that did not change since the last snapshot are the same objects. */
export interface TurnSnapshot {
  /** `null` until the turn has started. */
  readonly turn_id: string | null;
  /** The status, as this client knows it. */
  readonly status: TurnStatus;
  /** The turn's state from the server, once it has ended. */
  readonly state: TurnState | null;
  /**
   * Why the turn failed, whichever way: a `TurnFailedError` if the server ended it with an error (`status` is
   * `"error"`), else why its stream ended before the turn did.
   */
  readonly error: TurnwireError | null;
  /** The next attempt to reach the server while the connection is lost. Received data stays. */
  readonly reconnecting: Reconnecting | null;
  /** The next poll of a server that can be reached. `null` while a stream is read. */
  readonly waiting: Waiting | null;
  /** The number of the last received event; 0 before the first. */
  readonly last_sequence_number: number;
  /** The turn's input. */
  readonly input: readonly TurnInputItem[];
  /** The main thread first, then sub-agents in the order in which they appeared. */
  readonly threads: readonly ThreadSnapshot[];
  /** The actions that wait for an answer, of all threads. Each appears once its call is known. */
  readonly required_actions: readonly RequiredAction[];
  /** The tool servers that the turn has used. */
  readonly mcp_servers: readonly McpServer[];
  /** The sandbox, if the turn made one. */
  readonly sandbox_id: string | null;
  /** The agent's own state, if it has one (`AgentEvent`); without the names that begin with `__`. */
  readonly agent_state: unknown;
  /** Why the last change of that state failed. The next `state.snapshot` brings the whole state again. */
  readonly agent_state_problem: string | null;
  /** The last report of each activity, such as a tool's progress. */
  readonly activities: readonly Activity[];
  /** The last 256 notices of the turn: retries, timeouts, limits, warnings (`"turn-rpc"`, `"codex"`). */
  readonly notices: readonly Notice[];
}

/** The last report of an activity. */
export interface Activity {
  /** The id of its message. */
  readonly message_id: string;
  /** The server's name for its kind. */
  readonly activity_type: string;
  /** The thread in which it happens. */
  readonly thread_id: string;
  /** The call that it belongs to, if any. */
  readonly tool_call_id: string | null;
  /** The report. */
  readonly content: ToolProgress | Readonly<Record<string, unknown>>;
}

/** A thread: the main agent's, or a sub-agent's. */
export interface ThreadSnapshot {
  /** `"main"`, or the sub-agent's thread id. */
  readonly id: string;
  /** The title, if the server has one. */
  readonly title: string | null;
  /** The tool call that started it; `null` for the main thread. */
  readonly parent: ParentCall | null;
  /** The agent of the thread, if the server says so. */
  readonly agent_info: AgentInfo | null;
  /** The main thread stays `"running"`: it lives as long as its session. */
  readonly status: "running" | "done" | "error";
  /** The error of a failed thread. */
  readonly error: string | null;
  /** The thread's messages, oldest first. */
  readonly messages: readonly MessageSnapshot[];
  /** Results of calls from an earlier turn, for instance from before an approval. */
  readonly tool_responses: readonly (ToolCallResponse & { readonly tool_call_id: string })[];
}

/** A model message, as received so far. */
export interface MessageSnapshot {
  /** The id, which no other message of the turn has. */
  readonly id: string;
  /** The thread that it belongs to. */
  readonly thread_id: string;
  /** ISO 8601; `null` if the server does not say. */
  readonly created_at: string | null;
  /** The author's name, if the server says so. */
  readonly name: string | null;
  /** The text. It grows while the message streams. */
  readonly content: string;
  /** The reasoning before the text; empty if there is none. */
  readonly reasoning_content: string;
  /** The words with which the model refused; empty if it did not. */
  readonly refusal: string;
  /** The calls, by their index. */
  readonly tool_calls: readonly ToolCallSnapshot[];
  /** `null` while it streams. */
  readonly finish_reason: string | null;
  /** The tokens used, once the server has said so. */
  readonly usage: Usage | null;
  /** The model that wrote it, if the server says so. */
  readonly model?: string;
  /** How long the model took, in milliseconds, if the server says so. */
  readonly duration_ms?: number;
  /** Opaque reasoning data that the model's provider needs to get back. */
  readonly reasoning_encrypted?: readonly string[];
}

/** A tool call, as received so far. */
export interface ToolCallSnapshot {
  /** The call's id; empty until it is known. */
  readonly id: string;
  /** Its position among the message's calls. */
  readonly index: number;
  /** The display name. */
  readonly name: string;
  /** JSON text; incomplete while `status` is `"streaming"`. */
  readonly arguments: string;
  /** Where the tool comes from, if the server says so. */
  readonly tool_info: ToolInfo | null;
  /** How far the call is. */
  readonly status: "streaming" | "running" | "approval_required" | "response_required" | "cancelled" | "done";
  /** The result; `null` until there is one, and if the page gave it: then the next turn has it. */
  readonly response: ToolCallResponse | null;
  /** The sub-agent's thread that this call started. */
  readonly thread_id: string | null;
  /** The call's progress, if the server reports it. */
  readonly progress?: ToolProgress;
  /**
   * The output so far, by stream (`"stdout"`, `"stderr"`, …), if the server reports it: the end of each stream, at
   * least 32 KiB.
   */
  readonly output?: Readonly<Record<string, string>>;
}

/** The result of a tool call. */
export interface ToolCallResponse {
  /** The response's id. */
  readonly id: string;
  /** The text that the model reads. */
  readonly content: string;
  /** ISO 8601; `null` if the server does not say. */
  readonly created_at: string | null;
  /** The outcome, if the server reports it. */
  readonly outcome?: "succeeded" | "failed" | "suspended";
  /** The result with further data of the tool, if the server sends it. */
  readonly result?: ToolResult;
}

/** A call that waits for an approval. Answer with `allow` or `deny`. */
export interface ApprovalAction extends WaitingCall {
  /** Tells the actions apart. */
  readonly type: "tool.approval_required";
}

/** A call, or a question, that waits for its result. Answer with `respond`. */
export interface ResponseAction extends WaitingCall {
  /** Tells the actions apart. */
  readonly type: "tool.response_required";
}

interface WaitingCall {
  /** The thread of the call. */
  readonly thread_id: string;
  /** The call's id. */
  readonly tool_call_id: string;
  /** The tool's display name. */
  readonly name: string;
  /** JSON text, complete. */
  readonly arguments: string;
  /** Where the tool comes from, if the server says so. */
  readonly tool_info: ToolInfo | null;
  /** The question, in the server's words. */
  readonly suspension?: Suspension;
}

/** Let the user authorize at the server's `auth_url`, then create a turn without input. */
export interface AuthorizationAction {
  /** Tells the actions apart. */
  readonly type: "mcp.auth_required";
  /** The server, with its `auth_url`. */
  readonly server: McpServerAuth;
}

/** An action that waits for an answer. The next turn's input must answer all of them. */
export type RequiredAction = ApprovalAction | ResponseAction | AuthorizationAction;

/** The parts of a snapshot that come from the turn itself. */
export type TurnFacts = Pick<
  TurnSnapshot,
  "turn_id" | "status" | "state" | "error" | "reconnecting" | "waiting" | "last_sequence_number" | "input"
>;

// The document of `EventIndex::take_changes`.
interface Changes {
  restart?: boolean;
  turn?: TurnPart;
  threads?: Omit<ThreadSnapshot, "messages">[];
  messages?: ChangedMessage[];
}

/** The parts of a turn besides its threads. */
type TurnPart = Pick<TurnSnapshot, "required_actions" | "mcp_servers" | "sandbox_id"> &
  Partial<Special>;

/** The parts that only some servers have. */
type Special = Pick<TurnSnapshot, "agent_state" | "agent_state_problem" | "activities" | "notices">;

const SPECIAL: Special = {
  agent_state: null,
  agent_state_problem: null,
  activities: Object.freeze([]),
  notices: Object.freeze([]),
};

interface ChangedMessage extends Omit<MessageSnapshot, "content" | "reasoning_content" | "tool_calls"> {
  slot: number;
  reset: boolean;
  content_reset?: boolean;
  arguments_reset?: boolean;
  tool_calls: (Omit<ToolCallSnapshot, "arguments" | "index"> | null)[];
}

const STRIDE = 5;
const CONTENT = 0;
const REASONING = 1;
const WIDE = 1 << 8;

/** Mirrors a turn's index. The cost depends on what changed, not on the length of the history. */
export class SnapshotMirror {
  readonly #core: CoreTurn;
  readonly #json: JsonParser;
  readonly #messages: MessageSnapshot[] = [];
  #threads: readonly ThreadSnapshot[] = [];
  #turn: TurnPart & Special = { required_actions: [], mcp_servers: [], sandbox_id: null, ...SPECIAL };
  #snapshot: TurnSnapshot | undefined;
  #isChanged = false;

  constructor(core: CoreTurn, json: JsonParser) {
    this.#core = core;
    this.#json = json;
  }

  /** The snapshot with these facts; the same object as before if nothing changed. */
  take(facts: TurnFacts): TurnSnapshot {
    this.follow();
    const last = this.#snapshot;
    if (!this.#isChanged && last !== undefined && sameFacts(last, facts)) return last;
    this.#isChanged = false;
    frozenDeep(facts.state);
    frozenDeep(facts.input);
    return (this.#snapshot = Object.freeze({ ...facts, threads: this.#threads, ...this.#turn }));
  }

  /** Reads the changes from the core. The core does not keep text that was read. */
  follow(): void {
    const document = this.#core.takeChanges();
    if (document === "") return;
    this.#isChanged = true;
    this.#apply(this.#json.parse(document) as Changes);
  }

  #apply(changes: Changes): void {
    const touched = new Set<string>();
    if (changes.restart) {
      this.#messages.length = 0;
      this.#threads = [];
    }
    for (const head of changes.messages ?? []) {
      touched.add(head.thread_id);
      this.#messages[head.slot] = this.#withHead(this.#messages[head.slot], head);
    }
    const grown = this.#append();
    for (const id of grown) touched.add(id);
    if (changes.turn) this.#turn = kept(this.#turn, changes.turn);
    if (changes.threads || touched.size > 0) this.#arrange(changes.threads ?? this.#threads, touched, grown);
  }

  #withHead(before: MessageSnapshot | undefined, head: ChangedMessage): MessageSnapshot {
    const { slot: _slot, reset, content_reset, arguments_reset, tool_calls, ...fields } = head;
    const kept = reset ? undefined : before;
    const calls = tool_calls.map((call, index): ToolCallSnapshot => {
      const known = kept?.tool_calls[index];
      const next = { ...(call ?? HOLE), index, arguments: (arguments_reset ? "" : known?.arguments) ?? "" };
      return known && isSame(known, next) ? known : frozenDeep(next);
    });
    return Object.freeze({
      ...fields,
      usage: frozenDeep(fields.usage),
      content: (content_reset ? "" : kept?.content) ?? "",
      reasoning_content: kept?.reasoning_content ?? "",
      tool_calls: Object.freeze(calls),
    });
  }

  /** Appends the pieces of text that came with the changes; returns the threads of their messages. */
  #append(): Set<string> {
    const { words, from, to, ascii, wide } = lend(this.#core.memory, this.#core.changeRecords());
    const threads = new Set<string>();
    for (let at = from; at < to; at += STRIDE) {
      const slot = words[at]!;
      const field = words[at + 1]!;
      const call = words[at + 2]!;
      const start = words[at + 3]!;
      const length = words[at + 4]!;
      const came = (field & WIDE ? wide : ascii).slice(start, start + length);
      const text = this.#json.text?.(came) ?? came;
      const message = (this.#messages[slot] = Object.freeze(appended(this.#messages[slot]!, field & 0xff, call, text)));
      threads.add(message.thread_id);
    }
    return threads;
  }

  /** Creates the changed threads again: those that changed themselves, or in one of their messages. Those that have grown did. */
  #arrange(
    heads: readonly (Omit<ThreadSnapshot, "messages"> & Partial<ThreadSnapshot>)[],
    touched: Set<string>,
    grown: Set<string>,
  ): void {
    const before = new Map(this.#threads.map((thread) => [thread.id, thread]));
    const messages = new Map<string, MessageSnapshot[]>();
    for (const id of touched) messages.set(id, []);
    if (touched.size > 0) {
      for (const message of this.#messages) messages.get(message.thread_id)?.push(message);
    }
    const threads = heads.map((head): ThreadSnapshot => {
      const known = before.get(head.id);
      if (head === known && !touched.has(head.id)) return known;
      const own = messages.get(head.id) ?? known?.messages ?? [];
      const next = { ...head, messages: Object.freeze(own) };
      // Comparing or freezing all parts would take most of the time of a frame that only has more text.
      if (head === known && grown.has(head.id)) return Object.freeze(next) as ThreadSnapshot;
      return known && isSame(known, next) ? known : (frozenDeep(next) as ThreadSnapshot);
    });
    this.#threads = Object.freeze(threads);
  }
}

/** A call without any delta yet. */
const HOLE: Omit<ToolCallSnapshot, "arguments" | "index"> = {
  id: "",
  name: "",
  tool_info: null,
  status: "streaming",
  response: null,
  thread_id: null,
};

/** The call that each one has grown from, and by what: only the last step, so that no more than one earlier call is kept. */
export const grown = new WeakMap<ToolCallSnapshot, readonly [before: ToolCallSnapshot, piece: string]>();

function appended(message: MessageSnapshot, field: number, call: number, text: string): MessageSnapshot {
  switch (field) {
    case CONTENT:
      return { ...message, content: message.content + text };
    case REASONING:
      return { ...message, reasoning_content: message.reasoning_content + text };
    default: {
      const calls = [...message.tool_calls];
      const known = calls[call]!;
      const next = (calls[call] = Object.freeze({ ...known, arguments: known.arguments + text }));
      grown.delete(known);
      grown.set(next, [known, text]);
      return { ...message, tool_calls: Object.freeze(calls) };
    }
  }
}

function sameFacts(last: TurnSnapshot, facts: TurnFacts): boolean {
  return (Object.keys(facts) as (keyof TurnFacts)[]).every((name) => last[name] === facts[name]);
}

/** The new parts. A part that equals the known one stays the same object. */
function kept(known: TurnPart & Special, part: TurnPart): TurnPart & Special {
  const next = { ...SPECIAL, ...part };
  return {
    required_actions: isSame(known.required_actions, next.required_actions)
      ? known.required_actions
      : frozenDeep(next.required_actions),
    mcp_servers: isSame(known.mcp_servers, next.mcp_servers) ? known.mcp_servers : frozenDeep(next.mcp_servers),
    sandbox_id: next.sandbox_id,
    agent_state: isSame(known.agent_state, next.agent_state) ? known.agent_state : frozenDeep(next.agent_state),
    agent_state_problem: next.agent_state_problem,
    activities: isSame(known.activities, next.activities) ? known.activities : frozenDeep(next.activities),
    notices: keptNotices(known.notices, next.notices),
  };
}

/** Notices do not change. Known ones stay the same objects, even when the first ones are no longer kept. */
function keptNotices(known: readonly Notice[], next: readonly Notice[]): readonly Notice[] {
  if (isSame(known, next)) return known;
  const byId = new Map(known.map((notice) => [notice.id, notice]));
  return frozenDeep(next.map((notice) => {
    const same = byId.get(notice.id);
    return same && isSame(same, notice) ? same : notice;
  }));
}

/** Whether two parts of a snapshot are equal. Identical objects are not compared further. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const names = Object.keys(a);
  const same = (name: string): boolean => isSame(a[name as keyof typeof a], b[name as keyof typeof b]);
  return names.length === Object.keys(b).length && names.every(same);
}

/** Freezes a small JSON document. A frozen value is frozen completely. */
function frozenDeep<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    // Not what a getter returns: a long text stays undecoded.
    for (const part of Object.values(Object.getOwnPropertyDescriptors(value))) frozenDeep(part.value);
  }
  return value;
}
