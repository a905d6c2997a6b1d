// TrueFoundry's agent gateway, and TrueForge, its open-source server: turns with numbered events, which can be read again.
import type { Conversation } from "../conversation.js";
import { told } from "../conversation.js";
import type { Fakes } from "../fake.js";
import type { Asked, Reply, Routes } from "../http.js";
import { missing } from "../http.js";
import { FrameLog } from "../log.js";
import type { Answer, Ending, FileStep, SubAgent, SubVoice, ToolCall, Writer } from "../script.js";
import { now, type World } from "../world.js";

interface Session {
  readonly record: { id: string; title: string | null; updated_at: string; [name: string]: unknown };
  readonly agent: string;
  readonly talk: Conversation;
  readonly turns: Turn[];
  /** The sandbox and its files, from the first file on. */
  sandbox: { readonly id: string; readonly files: Map<string, FileStep> } | null;
}

interface Item {
  type: string;
  content?: unknown;
  tool_call_id?: string;
  approval?: { status: string; reason?: string };
}

const MAIN = "main";
const ROOTS = { truefoundry: "v1/agents/sessions", trueforge: "api/v1/sessions" };

/** The turn that a new one follows: the newest, none, or the one that the page names. */
function previousOf({ turns }: Session, named: string | undefined = "auto"): string | null {
  if (named === "auto") return turns.at(-1)?.id ?? null;
  return named === "none" ? null : named;
}

/** The fakes of this family. */
export const fakes = {
  truefoundry: { routes: (world) => truefoundry(world, "truefoundry"), agents: "asking", files: true },
  trueforge: { routes: (world) => truefoundry(world, "trueforge"), agents: "asking", files: true },
} satisfies Fakes;

/** The routes of a server. */
function truefoundry(world: World, protocol: "truefoundry" | "trueforge"): Routes {
  const isGateway = protocol === "truefoundry";
  const sessions = new Map<string, Session>();
  const at = ROOTS[protocol];

  const create = (agent: string, title: string | null = null): Reply => {
    const id = world.nextId("session");
    const times = { created_at: now(), updated_at: now() };
    const named = isGateway ? { type: "session", agent_name: agent } : { agent: { type: "reference", id: agent, name: agent } };
    const record = { id, title, ...named, ...times };
    sessions.set(id, { record, agent, talk: world.converse(), turns: [], sandbox: null });
    return { status: 201, json: { data: record } };
  };

  const inSession = (answer: (session: Session, asked: Asked) => Reply) => (asked: Asked) => {
    const session = sessions.get(asked.names[0]!);
    return session ? answer(session, asked) : missing(`session ${asked.names[0]}`);
  };
  const inTurn = (answer: (turn: Turn, asked: Asked) => Reply) =>
    inSession(({ turns }, asked) => {
      const turn = turns.find(({ id }) => id === asked.names[1]);
      return turn ? answer(turn, asked) : missing(`turn ${asked.names[1]}`);
    });

  const begin = (session: Session, { body }: Asked): Reply => {
    const input = (body["input"] ?? []) as Item[];
    const words = input.filter(({ type }) => type === "user.message");
    const stray = [...answersOf(input).keys()].find((id) => !session.talk.waiting.some((call) => call.id === id));
    if (stray !== undefined) return { status: isGateway ? 400 : 422, json: { error: { message: `no open tool call for tool_call_id '${stray}'`, code: "invalid_input", type: "invalid_request_error" } } };
    const turn = new Turn(world, session, input, previousOf(session, body["previous_turn_id"]));
    if (words.length === 0 && session.talk.waiting.length > 0) {
      session.talk.take(answersOf(input));
      session.talk.goOn(turn);
    } else {
      session.talk.begin({ text: words.map(({ content }) => textOf(content)).join("\n"), input, agent: session.agent, session: session.record.id }, turn);
    }
    session.turns.push(turn);
    return { log: turn.log, from: 0 };
  };

  const follow = (turn: Turn, { body, query, headers }: Asked): Reply => {
    const after = body["after_sequence_number"] ?? headers.get("last-event-id") ?? query.get("after_sequence_number") ?? 0;
    return { log: turn.log, from: Number(after) };
  };

  /** A page of a list: all of it, unless fewer are asked for. */
  const list = (all: unknown[], query: URLSearchParams): Reply => {
    const [from, limit] = [Number(query.get("page_token") ?? 0), Number(query.get("limit") ?? all.length)];
    const end = from + limit;
    return { json: { data: all.slice(from, end), pagination: { limit, ...(end < all.length && { next_page_token: String(end) }) } } };
  };

  const download = (sandbox: Session["sandbox"], { query }: Asked): Reply => {
    const path = query.get("path") ?? "";
    const file = sandbox?.files.get(path);
    return file ? { file } : missing(`file ${path}`);
  };
  const downloads: Routes = isGateway
    ? { "GET v1/agents/sandbox/:sandbox/file": (asked) => download([...sessions.values()].find(({ sandbox }) => sandbox?.id === asked.names[0])?.sandbox ?? null, asked) }
    : { [`GET ${at}/:session/turns/:turn/download-sandbox-file`]: inSession(({ sandbox }, asked) => download(sandbox, asked)) };

  return {
    ...downloads,
    [`POST ${at}`]: ({ body }) => create(body["agent_name"] ?? body["agent"]?.name ?? "agent", body["title"]),
    [`GET ${at}`]: ({ query }) => list([...sessions.values()].map(({ record }) => record).reverse(), query),
    [`GET ${at}/:session`]: inSession(({ record }) => ({ json: { data: record } })),
    [`PATCH ${at}/:session`]: inSession(({ record }, { body }) => {
      record.title = body["title"] ?? record.title;
      return { json: { data: record } };
    }),
    [`DELETE ${at}/:session`]: inSession(({ record }) => {
      sessions.delete(record.id);
      return { json: {} };
    }),
    [`POST ${at}/:session/cancel`]: inSession(({ talk }) => {
      talk.cancel();
      return { json: {} };
    }),
    [`POST ${at}/:session/turns`]: inSession(begin),
    // The gateway lists the newest turn first, the open-source server the oldest.
    [`GET ${at}/:session/turns`]: inSession(({ turns }, { query }) => list((isGateway ? [...turns].reverse() : turns).map((turn) => turn.record()), query)),
    [`GET ${at}/:session/turns/:turn`]: inTurn((turn) => ({ json: { data: turn.record() } })),
    [`${isGateway ? "POST" : "GET"} ${at}/:session/turns/:turn/subscribe`]: inTurn(follow),
    [`GET ${at}/:session/turns/:turn/events`]: inTurn((turn, { query }) => {
      const events = isGateway ? turn.kept.filter(({ type }) => !type.startsWith("turn.")) : turn.kept;
      return list(query.get("order") === "desc" ? [...events].reverse() : events, query);
    }),
    [`GET ${at}/:session/events`]: inSession(({ turns }, { query }) => {
      // Up to a turn, if it is named.
      const end = turns.findIndex(({ id }) => id === query.get("last_turn_id")) + 1 || turns.length;
      const over = turns.slice(0, end).filter((turn) => !isGateway || turn.log.isClosed);
      return list(over.flatMap((turn) => turn.kept.map((event) => ({ turn_id: turn.id, event }))).reverse(), query);
    }),
  };
}

/** The answers of an input, by the ids of their calls. */
function answersOf(input: readonly Item[]): Map<string, Answer> {
  return new Map(
    input.flatMap(({ tool_call_id, approval, content }) => {
      if (tool_call_id === undefined) return [];
      const answer = approval ? { allowed: approval.status === "allow", reason: approval.reason ?? null, content: null } : { allowed: true, reason: null, content };
      return [[tool_call_id, answer]];
    }),
  );
}

/** The text of a message: itself, or that of its parts. */
export function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content ?? "");
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}

interface Event {
  type: string;
  id: string;
  [name: string]: unknown;
}

interface Message extends Event {
  content?: string;
  reasoning_content?: string;
  tool_calls?: unknown[];
}

/** Writes one turn, and keeps what lists show of it. */
class Turn implements Writer {
  readonly id: string;
  readonly log = new FrameLog();
  /** Complete events. */
  readonly kept: Event[] = [];
  readonly required: Event[] = [];
  readonly #world: World;
  readonly #session: Session;
  readonly #previous: string | null;
  readonly #input: unknown;
  readonly #createdAt = now();
  readonly #main: Thread;
  /** By their ids. */
  readonly #threads = new Map<string, Thread>();
  #state: Record<string, unknown> = { status: "running" };

  constructor(world: World, session: Session, input: unknown, previous: string | null) {
    this.#world = world;
    this.#session = session;
    this.#input = input;
    this.id = world.nextId("turn");
    this.#previous = previous;
    this.#main = new Thread(this, null);
    this.publish({ ...this.event("turn.created", null), turn_id: this.id, previous_turn_id: this.#previous, input, state: this.#state });
  }

  /** The turn as lists show it. */
  record(): object {
    return { id: this.id, session_id: this.#session.record.id, previous_turn_id: this.#previous, input: this.#input, state: this.#state, created_at: this.#createdAt };
  }

  text(piece: string): void {
    this.#main.text(piece);
  }

  reasoning(piece: string): void {
    this.#main.reasoning(piece);
  }

  calls(calls: readonly ToolCall[]): void {
    this.#main.calls(calls);
  }

  result(call: ToolCall, answer: Answer): void {
    this.#main.result(call, answer);
  }

  ask(calls: readonly ToolCall[]): void {
    this.#main.ask(calls);
  }

  voice(agent: SubAgent): Thread {
    const thread = this.#threads.get(agent.id) ?? new Thread(this, agent);
    this.#threads.set(agent.id, thread);
    return thread;
  }

  file(file: FileStep): void {
    if (!this.#session.sandbox) {
      this.#session.sandbox = { id: this.#world.nextId("sandbox"), files: new Map() };
      this.publish({ ...this.event("sandbox.created", null), sandbox_id: this.#session.sandbox.id });
    }
    this.#session.sandbox.files.set(file.file, file);
  }

  end(ending: Ending): void {
    // A message that was broken off stays open.
    if (ending.status === "done" || ending.status === "waiting") for (const thread of [this.#main, ...this.#threads.values()]) thread.settle();
    const completed_at = now();
    this.#state = {
      done: { status: "done", output: this.#main.output, required_actions: [], completed_at },
      waiting: { status: "done", output: null, required_actions: this.required, completed_at },
      cancelled: { status: "cancelled", reason: "client-cancelled", completed_at },
      error: { status: "error", message: "message" in ending ? ending.message : "", completed_at },
    }[ending.status];
    this.#session.record.updated_at = completed_at;
    this.publish({ ...this.event("turn.done", null), state: this.#state });
    this.log.close();
  }

  event(type: string, thread_id: string | null): Event {
    return { type, id: this.#world.nextId("event"), thread_id, created_at: now() };
  }

  /** An event that is streamed and kept. */
  publish(event: Event): void {
    this.kept.push(event);
    this.send(event);
  }

  send(event: object): void {
    this.log.append(`data: ${JSON.stringify(event)}\nid: ${this.log.frames.length + 1}\n\n`);
  }
}

/** Writes one thread of a turn. */
class Thread implements SubVoice {
  /** The last complete message. */
  output: Message | null = null;
  readonly #turn: Turn;
  readonly #agent: SubAgent | null;
  readonly #id: string;
  /** The message that each call stands in. */
  readonly #sources = new Map<string, string>();
  #message: Message | undefined;

  /** `agent` is the sub-agent that speaks, or `null` for the main one. */
  constructor(turn: Turn, agent: SubAgent | null) {
    this.#turn = turn;
    this.#agent = agent;
    this.#id = agent?.id ?? MAIN;
  }

  begin(): void {
    const { name, input } = this.#agent!;
    this.#turn.publish({ ...this.#event("thread.created"), ...this.#origin(), agent_info: { type: "dynamic", name, input } });
  }

  /** The call that began the thread has an empty result: what came of it is in the thread. */
  end(failure: string | null): void {
    if (failure === null) this.settle();
    const { call } = this.#agent!;
    this.#turn.publish({ ...this.#turn.event("tool.response", call.by?.id ?? MAIN), tool_call_id: call.id, content: "" });
    const output = this.output && { output: this.output };
    const state = failure === null ? { status: "done", output: this.output } : { status: "error", error: failure, ...output };
    this.#turn.publish({ ...this.#event("thread.done"), ...this.#origin(), state });
  }

  text(piece: string): void {
    const message = this.#open();
    message.content = (message.content ?? "") + piece;
    this.#delta({ content: piece });
  }

  reasoning(piece: string): void {
    const message = this.#open();
    message.reasoning_content = (message.reasoning_content ?? "") + piece;
    this.#delta({ reasoning_content: piece });
  }

  calls(calls: readonly ToolCall[]): void {
    const message = this.#open();
    calls.forEach(({ id, name, arguments: given }, index) => {
      const tool_info = { type: "truefoundry-system", name };
      this.#sources.set(id, message.id);
      this.#delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" }, tool_info }] });
      this.#delta({ tool_calls: [{ index, function: { arguments: JSON.stringify(given) } }] });
      (message.tool_calls ??= []).push({ id, type: "function", function: { name, arguments: JSON.stringify(given) }, tool_info });
    });
    this.#close("tool_calls");
  }

  result(call: ToolCall, answer: Answer): void {
    // The page's own answer stands in the turn's input.
    if (call.waitsFor === "response") return;
    this.#turn.publish({ ...this.#event("tool.response"), tool_call_id: call.id, content: told(answer) });
  }

  ask(calls: readonly ToolCall[]): void {
    for (const waitsFor of ["approval", "response"]) {
      const tool_calls = calls.filter((call) => call.waitsFor === waitsFor).map(({ id }) => ({ id, source_event_id: this.#sources.get(id) }));
      if (tool_calls.length === 0) continue;
      const event = { ...this.#event(`tool.${waitsFor}_required`), tool_calls };
      this.#turn.publish(event);
      this.#turn.required.push(event);
    }
  }

  /** Completes the message that is open, if there is one. */
  settle(): void {
    if (this.#message) this.#close("stop");
  }

  /** Where the thread comes from, as its first and its last event say. */
  #origin(): object {
    const { title, call } = this.#agent!;
    return { title, parent: { thread_id: call.by?.id ?? MAIN, tool_call_id: call.id } };
  }

  #open(): Message {
    if (!this.#message) {
      this.#message = this.#event("model.message");
      this.#turn.send(this.#message);
    }
    return this.#message;
  }

  #delta(change: object): void {
    this.#turn.send({ type: "model.message.delta", id: this.#message!.id, thread_id: this.#id, ...change });
  }

  /** The message is complete. */
  #close(finish_reason: string): void {
    this.#delta({ finish_reason });
    this.output = Object.assign(this.#message!, { finish_reason });
    this.#turn.kept.push(this.output);
    this.#message = undefined;
  }

  #event(type: string): Event {
    return this.#turn.event(type, this.#id);
  }
}
