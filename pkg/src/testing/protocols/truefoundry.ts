// TrueFoundry's agent gateway, and TrueForge, its open-source server: turns with numbered events, which can be read again.
import type { Conversation } from "../conversation.js";
import { told } from "../conversation.js";
import type { Asked, Reply, Routes } from "../http.js";
import { missing } from "../http.js";
import { FrameLog } from "../log.js";
import type { Answer, Ending, ToolCall, Writer } from "../script.js";
import { now, type World } from "../world.js";

interface Session {
  readonly record: { id: string; title: string | null; updated_at: string; [name: string]: unknown };
  readonly agent: string;
  readonly talk: Conversation;
  readonly turns: Turn[];
}

interface Item {
  type: string;
  content?: unknown;
  tool_call_id?: string;
  approval?: { status: string; reason?: string };
}

const THREAD = "main";
const ROOTS = { truefoundry: "v1/agents/sessions", trueforge: "api/v1/sessions" };

/** The turn that a new one follows: the newest, none, or the one that the page names. */
function previousOf({ turns }: Session, named: string | undefined = "auto"): string | null {
  if (named === "auto") return turns.at(-1)?.id ?? null;
  return named === "none" ? null : named;
}

/** The routes of a server. */
export function truefoundry(world: World, protocol: "truefoundry" | "trueforge"): Routes {
  const isGateway = protocol === "truefoundry";
  const sessions = new Map<string, Session>();
  const at = ROOTS[protocol];

  const create = (agent: string, title: string | null = null): Reply => {
    const id = world.nextId("session");
    const times = { created_at: now(), updated_at: now() };
    const named = isGateway ? { type: "session", agent_name: agent } : { agent: { type: "reference", id: agent, name: agent } };
    const record = { id, title, ...named, ...times };
    sessions.set(id, { record, agent, talk: world.converse(), turns: [] });
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

  const list = (data: unknown[]): Reply => ({ json: { data, pagination: { limit: 100 } } });

  return {
    [`POST ${at}`]: ({ body }) => create(body["agent_name"] ?? body["agent"]?.name ?? "agent", body["title"]),
    [`GET ${at}`]: () => list([...sessions.values()].map(({ record }) => record).reverse()),
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
    [`GET ${at}/:session/turns`]: inSession(({ turns }) => list((isGateway ? [...turns].reverse() : turns).map((turn) => turn.record()))),
    [`GET ${at}/:session/turns/:turn`]: inTurn((turn) => ({ json: { data: turn.record() } })),
    [`${isGateway ? "POST" : "GET"} ${at}/:session/turns/:turn/subscribe`]: inTurn(follow),
    [`GET ${at}/:session/turns/:turn/events`]: inTurn((turn, { query }) => {
      const events = isGateway ? turn.kept.filter(({ type }) => !type.startsWith("turn.")) : turn.kept;
      return list(query.get("order") === "desc" ? [...events].reverse() : events);
    }),
    [`GET ${at}/:session/events`]: inSession(({ turns }) => {
      const over = turns.filter((turn) => !isGateway || turn.log.isClosed);
      return list(over.flatMap((turn) => turn.kept.map((event) => ({ turn_id: turn.id, event }))).reverse());
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
  readonly #world: World;
  readonly #session: Session;
  readonly #previous: string | null;
  readonly #input: unknown;
  readonly #createdAt = now();
  readonly #required: Event[] = [];
  /** The message that each call stands in. */
  readonly #sources = new Map<string, string>();
  #state: Record<string, unknown> = { status: "running" };
  #message: Message | undefined;
  #output: Message | null = null;

  constructor(world: World, session: Session, input: unknown, previous: string | null) {
    this.#world = world;
    this.#session = session;
    this.#input = input;
    this.id = world.nextId("turn");
    this.#previous = previous;
    this.#publish({ type: "turn.created", id: world.nextId("event"), turn_id: this.id, previous_turn_id: this.#previous, input, state: this.#state, created_at: this.#createdAt, thread_id: null });
  }

  /** The turn as lists show it. */
  record(): object {
    return { id: this.id, session_id: this.#session.record.id, previous_turn_id: this.#previous, input: this.#input, state: this.#state, created_at: this.#createdAt };
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
    this.#publish({ ...this.#event("tool.response"), tool_call_id: call.id, content: told(answer) });
  }

  ask(calls: readonly ToolCall[]): void {
    for (const waitsFor of ["approval", "response"]) {
      const tool_calls = calls.filter((call) => call.waitsFor === waitsFor).map(({ id }) => ({ id, source_event_id: this.#sources.get(id) }));
      if (tool_calls.length === 0) continue;
      const event = { ...this.#event(`tool.${waitsFor}_required`), tool_calls };
      this.#publish(event);
      this.#required.push(event);
    }
  }

  end(ending: Ending): void {
    // A message that was broken off stays open.
    if (ending.status === "done" && this.#message) this.#close("stop");
    const completed_at = now();
    this.#state = {
      done: { status: "done", output: this.#output, required_actions: [], completed_at },
      waiting: { status: "done", output: null, required_actions: this.#required, completed_at },
      cancelled: { status: "cancelled", reason: "client-cancelled", completed_at },
      error: { status: "error", message: "message" in ending ? ending.message : "", completed_at },
    }[ending.status];
    this.#session.record.updated_at = completed_at;
    this.#publish({ type: "turn.done", id: this.#world.nextId("event"), state: this.#state, created_at: completed_at, thread_id: null });
    this.log.close();
  }

  #open(): Message {
    if (!this.#message) {
      this.#message = this.#event("model.message");
      this.#send(this.#message);
    }
    return this.#message;
  }

  #delta(change: object): void {
    this.#send({ type: "model.message.delta", id: this.#message!.id, thread_id: THREAD, ...change });
  }

  /** The message is complete. */
  #close(finish_reason: string): void {
    this.#delta({ finish_reason });
    this.#output = Object.assign(this.#message!, { finish_reason });
    this.kept.push(this.#output);
    this.#message = undefined;
  }

  #event(type: string): Event {
    return { type, id: this.#world.nextId("event"), thread_id: THREAD, created_at: now() };
  }

  #publish(event: Event): void {
    this.kept.push(event);
    this.#send(event);
  }

  #send(event: object): void {
    this.log.append(`data: ${JSON.stringify(event)}\nid: ${this.log.frames.length + 1}\n\n`);
  }
}
