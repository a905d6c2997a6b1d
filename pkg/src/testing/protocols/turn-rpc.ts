// turn-rpc over a socket: items that begin, grow and are completed, and records of them. Its server asks the user nothing.
import { told, type Conversation } from "../conversation.js";
import { asText, type Answer, type Ending, type ToolCall, type Writer } from "../script.js";
import type { Fakes } from "../fake.js";
import type { Peer, Speak } from "../socket.js";
import type { World } from "../world.js";
import { codex } from "./codex.js";
import { inputText, Refusal, respond } from "./json-rpc.js";

type Data = Record<string, any>;

interface Thread {
  readonly id: string;
  readonly mode: string;
  readonly talk: Conversation;
  readonly turns: Turn[];
  readonly peers: Set<Peer>;
}

const WORKSPACE = "workspace_1";
const seconds = (): number => Math.floor(Date.now() / 1000);

/** The fakes of this family. */
export const fakes = { "turn-rpc": { speak: turnRpc }, codex: { speak: codex } } satisfies Fakes;

/** What the server does with messages. */
function turnRpc(world: World): Speak {
  const threads = new Map<string, Thread>();
  const find = ({ thread_id, threadId }: Data): Thread => {
    const thread = threads.get(thread_id ?? threadId);
    if (!thread) throw new Refusal(`thread \`${thread_id ?? threadId}\` was not found`);
    return thread;
  };
  const findTurn = (params: Data): Turn => {
    const id = params["turn_id"] ?? params["turnId"];
    const turn = find(params).turns.find((one) => one.id === id);
    if (!turn) throw new Refusal(`turn \`${id}\` was not found`);
    return turn;
  };
  const workspace = { id: WORKSPACE, name: "Default", is_active: true, is_current: true, created_at: 0, updated_at: 0 };
  const shown = (thread: Thread): object => ({
    id: thread.id,
    workspace_id: WORKSPACE,
    mode: thread.mode,
    model: "scripted",
    model_provider: "scripted",
    origin_kind: "user",
    preview: "",
    sidebar_visibility: "visible",
    status: thread.talk.isRunning ? "Running" : "Idle",
    turns: thread.turns.map((turn) => turn.record()),
    created_at: 0,
    updated_at: seconds(),
  });

  const methods: Record<string, (params: Data, peer: Peer) => object> = {
    "workspace/default": () => ({ workspace }),
    "workspace/list": () => ({ workspaces: [workspace] }),
    "thread/start": (params, peer) => {
      const id = params["thread_id"] as string;
      const thread = threads.get(id) ?? { id, mode: params["mode"] ?? "Chat", talk: world.converse(), turns: [], peers: new Set() };
      threads.set(id, thread);
      thread.peers.add(peer);
      if (thread.talk.isRunning) peer.begin();
      return { thread: shown(thread), sandbox: { mode: "FullAccess" } };
    },
    "thread/get": (params) => ({ thread: shown(find(params)) }),
    "thread/history": (params) => ({ workspace_id: WORKSPACE, thread_id: find(params).id, events: find(params).turns.flatMap((turn) => turn.history()) }),
    "turn/get": (params) => ({ thread_id: find(params).id, workspace_id: WORKSPACE, turn: findTurn(params).record() }),
    "turn/items": (params) => {
      const { id, events } = findTurn(params);
      return { thread_id: find(params).id, workspace_id: WORKSPACE, turn_id: id, events, last_sequence: events.length };
    },
    "turn/timeline": (params) => ({ threadId: find(params).id, turnId: findTurn(params).id, workspaceId: WORKSPACE, items: [], lastSequence: findTurn(params).events.length }),
    "turn/cancel": (params) => {
      find(params).talk.cancel();
      return { thread_id: find(params).id, workspace_id: WORKSPACE, turn: findTurn(params).record() };
    },
    "turn/start": (params) => {
      const thread = find(params);
      if (thread.talk.isRunning) throw new Refusal(`failed to start turn: thread \`${thread.id}\` already has a running turn`);
      const turn = new Turn(world, thread, params["turn_id"], params["input"] ?? []);
      thread.turns.push(turn);
      return { turn: turn.record() };
    },
  };

  return {
    take({ id, method, params = {} }, peer) {
      const isAnswered = respond(peer, id, () => {
        const run = methods[method];
        if (!run) throw new Refusal(`unknown method \`${method}\``, -32601);
        return run(params, peer);
      });
      if (!isAnswered || method !== "turn/start") return;
      const thread = find(params);
      const turn = thread.turns.at(-1)!;
      peer.begin();
      turn.begin();
      thread.talk.begin({ text: inputText(params["input"] ?? []), input: params["input"], agent: thread.mode, session: thread.id }, turn);
    },
    leave(peer) {
      for (const { peers } of threads.values()) peers.delete(peer);
    },
  };
}

/** Writes one turn to all who listen to its thread. */
class Turn implements Writer {
  readonly id: string;
  /** What is kept: items as they began and as they were completed. */
  readonly events: object[] = [];
  readonly #world: World;
  readonly #thread: Thread;
  readonly #input: readonly Data[];
  #status = "InProgress";
  #error: string | undefined;
  /** The item that is written. */
  #item: Data | undefined;

  constructor(world: World, thread: Thread, id: string, input: readonly Data[]) {
    this.#world = world;
    this.#thread = thread;
    this.id = id;
    this.#input = input;
  }

  record(): object {
    return { id: this.id, status: this.#status, turn_kind: "conversation", origin: "user", ...(this.#error !== undefined && { error: this.#error }) };
  }

  /** The turn in the history of its thread. */
  history(): object[] {
    const about = { threadId: this.#thread.id, workspaceId: WORKSPACE };
    const begun = { ...about, type: "turnStarted", input: this.#input, turn: { ...this.record(), status: "InProgress" } };
    const ended = { ...about, type: this.#error === undefined ? "turnCompleted" : "turnFailed", turn: this.record() };
    const kept = (payload: object, sequence: number) => ({ turn_id: this.id, sequence, created_at: seconds(), payload });
    return [kept(begun, 0), ...this.events, ...(this.#status === "InProgress" ? [] : [kept(ended, this.events.length + 1)])];
  }

  begin(): void {
    this.#tell("turn/started", { turn: this.record() });
    const message = { type: "userMessage", id: `user_${this.id}`, text: inputText(this.#input) };
    this.#tellItem("itemStarted", message);
    this.#tellItem("itemCompleted", message);
  }

  text(piece: string): void {
    const item = this.#open("agentMessage", () => ({ text: "", markdown: { blocks: [] }, markdownVersion: 1 }));
    item["text"] += piece;
    this.#delta(item, "agent_message", piece, item["text"]);
  }

  reasoning(piece: string): void {
    const item = this.#open("reasoning", () => ({ summary: [], content: [] }));
    item["content"] = [(item["content"][0] ?? "") + piece];
    this.#delta(item, "generic", piece, item["content"][0]);
  }

  calls(calls: readonly ToolCall[]): void {
    this.#close();
    for (const call of calls) this.#tellItem("itemStarted", { ...this.#call(call), status: "in_progress", display: { kind: "progress", stage: "running", metadata: {} } });
  }

  result(call: ToolCall, answer: Answer): void {
    const display = { kind: "summary", title: call.name, lines: [answer.allowed ? asText(answer.content) : told(answer)], truncated: false, metadata: {} };
    this.#tellItem("itemCompleted", { ...this.#call(call), status: "completed", success: answer.allowed, display, outcome: { status: "ok", incomplete: false, shouldRetry: false } });
  }

  /** There are no questions in this protocol: what would wait is allowed, and answered with nothing. */
  ask(calls: readonly ToolCall[]): void {
    this.#thread.talk.take(new Map(calls.map(({ id }) => [id, { allowed: true, reason: null, content: "" }])));
  }

  end(ending: Ending): void {
    if (ending.status === "waiting") return this.#thread.talk.goOn(this);
    if (ending.status === "done") this.#close();
    this.#status = { done: "Completed", cancelled: "Interrupted", error: "Failed" }[ending.status];
    if (ending.status !== "done") this.#error = "message" in ending ? ending.message : "turn cancelled by user";
    this.#tell(ending.status === "done" ? "turn/completed" : "turn/failed", { turn: this.record() }, true);
  }

  #call({ id, name, arguments: given }: ToolCall): Data {
    return { type: "dynamicToolCall", id, toolName: name, arguments: given, storage: { kind: "metadata", metadata: {} } };
  }

  #open(type: string, empty: () => Data): Data {
    if (this.#item?.["type"] !== type) {
      this.#close();
      this.#item = { type, id: this.#world.nextId("item"), ...empty() };
      this.#tellItem("itemStarted", { ...this.#item });
    }
    return this.#item!;
  }

  #close(): void {
    if (this.#item) this.#tellItem("itemCompleted", this.#item);
    this.#item = undefined;
  }

  #delta(item: Data, stream: string, delta: string, whole: string): void {
    const markdown = { blocks: [{ type: "paragraph", text: whole, marks: [] }] };
    this.#tell("item/agent_message/delta", { turn_id: this.id, item_id: item["id"], delta, stream, markdown, markdown_version: 1 });
  }

  /** Sends and stores an item's beginning or end. */
  #tellItem(type: "itemStarted" | "itemCompleted", item: Data): void {
    const payload = { type, item, threadId: this.#thread.id, turnId: this.id, workspaceId: WORKSPACE };
    this.events.push({ turn_id: this.id, sequence: this.events.length + 1, created_at: seconds(), payload });
    this.#tell(type === "itemStarted" ? "item/started" : "item/completed", { turn_id: this.id, item });
  }

  #tell(method: string, params: object, isLast = false): void {
    const message = { jsonrpc: "2.0", method, params: { thread_id: this.#thread.id, workspace_id: WORKSPACE, ...params } };
    for (const peer of this.#thread.peers) peer.tell(message, isLast);
  }
}
