// Codex app-server over a socket: the server sends the page its own requests while the turn runs.
import { told, type Conversation } from "../conversation.js";
import { asText, type Answer, type Ending, type ToolCall, type Writer } from "../script.js";
import type { Peer, Speak } from "../socket.js";
import type { World } from "../world.js";
import { inputText, Refusal, respond } from "./json-rpc.js";

type Data = Record<string, any>;

interface Thread {
  readonly id: string;
  title: string | null;
  readonly talk: Conversation;
  readonly turns: Turn[];
  readonly peers: Set<Peer>;
  /** Requests that have no response yet, by their ids. */
  readonly asked: Map<string, { call: ToolCall; message: object }>;
}

/** What the server does with messages. */
export function codex(world: World): Speak {
  const threads = new Map<string, Thread>();
  const find = ({ threadId }: Data): Thread => {
    const thread = threads.get(threadId);
    if (!thread) throw new Refusal(`no rollout found for thread id ${threadId}`);
    return thread;
  };
  const shown = (thread: Thread, withTurns = false): object => ({
    id: thread.id,
    preview: "",
    name: thread.title,
    modelProvider: "scripted",
    model: "scripted",
    createdAt: 0,
    updatedAt: 0,
    status: thread.talk.isRunning || thread.asked.size > 0 ? { type: "active", activeFlags: thread.asked.size > 0 ? ["waitingOnApproval"] : [] } : { type: "idle" },
    turns: withTurns ? thread.turns.map((turn) => turn.record()) : [],
  });

  const methods: Record<string, (params: Data, peer: Peer) => object> = {
    "initialize": () => ({ userAgent: "turnwire-testing/0.169.0", codexHome: "/", platformFamily: "unix", platformOs: "linux" }),
    "thread/loaded/list": () => ({ data: [...threads.keys()], nextCursor: null }),
    "model/list": () => ({ data: [{ id: "scripted", model: "scripted", displayName: "Scripted", isDefault: true }], nextCursor: null }),
    "thread/start": (_, peer) => {
      const thread: Thread = { id: world.nextId("thread"), title: null, talk: world.converse(), turns: [], peers: new Set([peer]), asked: new Map() };
      threads.set(thread.id, thread);
      return { thread: shown(thread), model: "scripted", modelProvider: "scripted" };
    },
    "thread/resume": (params, peer) => {
      const thread = find(params);
      thread.peers.add(peer);
      return { thread: shown(thread, params["excludeTurns"] !== true), model: "scripted", modelProvider: "scripted" };
    },
    "thread/read": (params) => ({ thread: shown(find(params), params["includeTurns"] === true) }),
    "thread/list": () => ({ data: [...threads.values()].map((thread) => shown(thread)).reverse(), nextCursor: null }),
    "thread/turns/list": (params) => {
      const turns = find(params).turns.map((turn) => turn.record());
      return { data: params["sortDirection"] === "asc" ? turns : turns.reverse(), nextCursor: null };
    },
    "thread/name/set": (params) => {
      find(params).title = params["name"];
      return {};
    },
    "thread/delete": (params) => {
      threads.delete(find(params).id);
      return {};
    },
    "turn/start": (params) => {
      const thread = find(params);
      if (thread.talk.isRunning) throw new Refusal("the thread has a turn that runs");
      const turn = new Turn(world, thread, params["input"] ?? []);
      thread.turns.push(turn);
      return { turn: { ...turn.record(), items: [] } };
    },
    "turn/steer": (params) => {
      const thread = find(params);
      const turn = thread.turns.at(-1);
      if (!thread.talk.isRunning || turn?.id !== params["expectedTurnId"]) throw new Refusal("no active turn to steer");
      return { turnId: turn!.id };
    },
    "turn/interrupt": (params) => {
      find(params).asked.clear();
      find(params).turns.at(-1)?.interrupt();
      return {};
    },
  };

  return {
    take({ id, method, params = {}, result, error }, peer) {
      if (method === undefined) return answered([...threads.values()].find(({ asked }) => asked.has(String(id))), String(id), error ? { decision: "decline" } : result);
      // A notification.
      if (id === undefined) return;
      const isAnswered = respond(peer, id, () => {
        const run = methods[method];
        if (!run) throw new Refusal(`Invalid request: unknown variant \`${method}\``);
        return run(params, peer);
      });
      if (!isAnswered) return;
      if (method === "turn/start") {
        const thread = find(params);
        const turn = thread.turns.at(-1)!;
        peer.begin();
        turn.begin();
        thread.talk.begin({ text: inputText(params["input"] ?? []), input: params["input"], agent: "codex", session: thread.id }, turn);
      } else if (method === "turn/steer") {
        find(params).turns.at(-1)!.say(params["input"] ?? []);
      } else if (method === "thread/resume") {
        const thread = find(params);
        if (thread.talk.isRunning || thread.asked.size > 0) peer.begin();
        // What waits is asked again.
        for (const { message } of thread.asked.values()) peer.tell(message);
      }
    },
    leave(peer) {
      for (const { peers } of threads.values()) peers.delete(peer);
    },
  };
}

/** Takes the response to a request of the server. */
function answered(thread: Thread | undefined, id: string, result: Data): void {
  if (!thread) return;
  const { call } = thread.asked.get(id)!;
  thread.asked.delete(id);
  const turn = thread.turns.at(-1)!;
  turn.resolved(id);
  if (result["decision"] === "cancel") return turn.interrupt();
  const content = call.waitsFor === "response" ? inputText(result["contentItems"] ?? []) : null;
  const allowed = call.waitsFor === "response" || String(result["decision"]).startsWith("accept");
  thread.talk.take(new Map([[call.id, { allowed, reason: null, content }]]));
  if (thread.talk.isAnswered) thread.talk.goOn(turn);
}

/** Writes one turn to all who listen to its thread. */
class Turn implements Writer {
  readonly id: string;
  readonly #world: World;
  readonly #thread: Thread;
  readonly #input: readonly Data[];
  /** Items that are complete. */
  readonly #items: Data[] = [];
  #status = "inProgress";
  #error: string | null = null;
  /** The item that is written. */
  #item: Data | undefined;

  constructor(world: World, thread: Thread, input: readonly Data[]) {
    this.#world = world;
    this.#thread = thread;
    this.#input = input;
    this.id = world.nextId("turn");
  }

  record(): Data {
    const error = this.#error === null ? null : { message: this.#error, codexErrorInfo: "other", additionalDetails: null };
    return { id: this.id, items: this.#items, itemsView: "full", status: this.#status, error, startedAt: 0, completedAt: null, durationMs: null };
  }

  begin(): void {
    this.#tellStatus("active");
    this.#tell("turn/started", { turn: { ...this.record(), items: [] } });
    this.say(this.#input);
  }

  /** Takes a message of the user: the first one, or one that is steered into the turn. */
  say(content: readonly Data[]): void {
    const message = { type: "userMessage", id: this.#world.nextId("item"), clientId: null, content };
    this.#close();
    this.#started(message);
    this.#completed(message);
  }

  text(piece: string): void {
    const item = this.#open("agentMessage", () => ({ text: "", phase: null }));
    item["text"] += piece;
    this.#tell("item/agentMessage/delta", { turnId: this.id, itemId: item["id"], delta: piece });
  }

  reasoning(piece: string): void {
    const item = this.#open("reasoning", () => ({ summary: [], content: [] }));
    if (item["summary"].length === 0) this.#tell("item/reasoning/summaryPartAdded", { turnId: this.id, itemId: item["id"], summaryIndex: 0 });
    item["summary"] = [(item["summary"][0] ?? "") + piece];
    this.#tell("item/reasoning/summaryTextDelta", { turnId: this.id, itemId: item["id"], delta: piece, summaryIndex: 0 });
  }

  calls(calls: readonly ToolCall[]): void {
    this.#close();
    for (const call of calls) this.#started(this.#call(call, "inProgress"));
  }

  result(call: ToolCall, answer: Answer): void {
    const output = answer.allowed ? asText(answer.content) : told(answer);
    const status = answer.allowed ? "completed" : "declined";
    this.#completed({ ...this.#call(call, status), ...(call.waitsFor === "approval" ? { aggregatedOutput: answer.allowed ? output : null, exitCode: answer.allowed ? 0 : null } : { contentItems: [{ type: "inputText", text: output }], success: answer.allowed }) });
  }

  ask(calls: readonly ToolCall[]): void {
    for (const call of calls) {
      const id = this.#world.nextId("request");
      const about = { threadId: this.#thread.id, turnId: this.id };
      const message =
        call.waitsFor === "approval"
          ? { id, method: "item/commandExecution/requestApproval", params: { kind: "command", ...about, itemId: call.id, command: command(call), cwd: "/", availableDecisions: ["accept", "cancel"] } }
          : { id, method: "item/tool/call", params: { ...about, callId: call.id, tool: call.name, arguments: call.arguments } };
      this.#thread.asked.set(id, { call, message });
      for (const peer of this.#thread.peers) peer.tell(message);
    }
  }

  /** Another connection may have answered a request. */
  resolved(requestId: string): void {
    this.#tell("serverRequest/resolved", { requestId });
  }

  /** Ends the turn, also while it waits. */
  interrupt(): void {
    if (this.#thread.talk.isRunning) this.#thread.talk.cancel();
    else if (this.#status === "inProgress") this.end({ status: "cancelled" });
  }

  end(ending: Ending): void {
    if (ending.status === "waiting") return;
    if (ending.status === "done") this.#close();
    this.#status = { done: "completed", cancelled: "interrupted", error: "failed" }[ending.status];
    if ("message" in ending) this.#error = ending.message;
    this.#tellStatus("idle");
    this.#tell("turn/completed", { turn: { ...this.record(), itemsView: "summary" } }, true);
  }

  /** A command can be allowed or declined; a tool is the page's own, or one of the server's. */
  #call(call: ToolCall, status: string): Data {
    if (call.waitsFor === "approval") return { type: "commandExecution", id: call.id, command: command(call), cwd: "/", status, aggregatedOutput: null, exitCode: null, durationMs: null };
    return { type: "dynamicToolCall", id: call.id, tool: call.name, arguments: call.arguments, status, contentItems: null, success: null };
  }

  #open(type: string, empty: () => Data): Data {
    if (this.#item?.["type"] !== type) {
      this.#close();
      this.#item = { type, id: this.#world.nextId("item"), ...empty() };
      this.#started({ ...this.#item });
    }
    return this.#item!;
  }

  #close(): void {
    if (this.#item) this.#completed(this.#item);
    this.#item = undefined;
  }

  #started(item: Data): void {
    this.#tell("item/started", { item, turnId: this.id, startedAtMs: Date.now() });
  }

  #completed(item: Data): void {
    this.#items.push(item);
    this.#tell("item/completed", { item, turnId: this.id, completedAtMs: Date.now() });
  }

  #tellStatus(type: string): void {
    this.#tell("thread/status/changed", { status: type === "idle" ? { type } : { type, activeFlags: [] } });
  }

  #tell(method: string, params: object, isLast = false): void {
    const message = { method, params: { threadId: this.#thread.id, ...params }, emittedAtMs: Date.now() };
    for (const peer of this.#thread.peers) peer.tell(message, isLast);
  }
}

/** A call as a command line. */
function command({ name, arguments: given }: ToolCall): string {
  return [name, ...Object.values(given).map((value) => asText(value))].join(" ");
}
