// The Agent Application Protocol, version 3: turns that cannot be read again, and a history of whole messages.
import { told, type Conversation } from "../conversation.js";
import type { Fakes } from "../fake.js";
import type { Asked, Reply, Routes } from "../http.js";
import { FrameLog } from "../log.js";
import { asText, type Answer, type Ending, type ToolCall, type Writer } from "../script.js";
import type { World } from "../world.js";
import { textOf } from "./truefoundry.js";

type Data = Record<string, any>;

interface Session {
  readonly id: string;
  readonly agent: string;
  readonly talk: Conversation;
  readonly history: Data[];
}

/** What an agent can do. Every turn is a stream. */
const CAPABILITIES = { application: { tools: {} }, history: { compacted: {}, full: {} }, image: { data: {}, http: {} }, stream: { delta: {}, message: {} } };

/** The fakes of this family. */
export const fakes = { aap: { routes: aap } } satisfies Fakes;

/** The routes of a server. */
function aap(world: World): Routes {
  const sessions = new Map<string, Session>();
  const inSession = (answer: (session: Session, asked: Asked) => Reply) => (asked: Asked) => {
    const session = sessions.get(asked.names[0]!);
    return session ? answer(session, asked) : { status: 404, json: { error: `session ${asked.names[0]} was not found` } };
  };
  const shown = ({ id, agent }: Session) => ({ sessionId: id, agent: { name: agent } });

  const begin = (session: Session, { body }: Asked): Reply => {
    const messages = (body["messages"] ?? []) as Data[];
    const said = messages.filter(({ role }) => role === "user");
    const turn = new Turn(session, body["stream"] ?? "delta");
    const answers = new Map(messages.filter(({ role }) => role !== "user").map((message) => [message["toolCallId"], answerOf(message)]));
    session.history.push(...said);
    if (answers.size > 0 && session.talk.waiting.length > 0) {
      session.talk.take(answers);
      session.talk.goOn(turn);
    } else {
      session.talk.begin({ text: said.map(({ content }) => textOf(content)).join("\n"), input: messages, agent: session.agent, session: session.id }, turn);
    }
    return { log: turn.log, from: 0 };
  };

  return {
    "GET meta": () => ({ json: { version: 3, agents: world.agents.map((name) => ({ name, title: name, description: "Plays a script.", capabilities: CAPABILITIES, tools: [], options: [] })) } }),
    "GET sessions": () => ({ json: { sessions: [...sessions.values()].map(shown) } }),
    "POST sessions": ({ body }) => {
      const id = world.nextId("session");
      sessions.set(id, { id, agent: body["agent"]?.name ?? "agent", talk: world.converse(), history: [...(body["messages"] ?? [])] });
      return { status: 201, json: { sessionId: id } };
    },
    "GET sessions/:session": inSession((session) => ({ json: shown(session) })),
    "DELETE sessions/:session": inSession(({ id }) => {
      sessions.delete(id);
      return { json: {} };
    }),
    "GET sessions/:session/history": inSession(({ history }, { query }) => ({ json: { history: { [query.get("type") ?? "full"]: history } } })),
    "POST sessions/:session/turns": inSession(begin),
  };
}

function answerOf({ role, granted, reason, content }: Data): Answer {
  return role === "tool_permission" ? { allowed: granted, reason: reason ?? null, content: null } : { allowed: true, reason: null, content: textOf(content) };
}

/** Writes one turn. What is said is stored when its message is whole. */
class Turn implements Writer {
  readonly log = new FrameLog();
  readonly #session: Session;
  readonly #mode: "delta" | "message";
  /** The blocks of the message that is written. */
  #blocks: Data[] = [];

  constructor(session: Session, mode: "delta" | "message") {
    this.#session = session;
    this.#mode = mode;
    this.#event("turn_start", {});
  }

  text(piece: string): void {
    this.#say("text", "text", piece);
  }

  reasoning(piece: string): void {
    this.#say("thinking", "thinking", piece);
  }

  calls(calls: readonly ToolCall[]): void {
    this.#flush();
    for (const { id, name, arguments: input } of calls) {
      this.#blocks.push({ type: "tool_use", toolCallId: id, name, input });
      this.#event("tool_call", { toolCallId: id, name, input });
    }
    this.#store();
  }

  result(call: ToolCall, answer: Answer): void {
    const content = answer.allowed ? asText(answer.content) : told(answer);
    // What the page answered or denied, it knows.
    if (answer.allowed && call.waitsFor !== "response") this.#event("tool_result", { toolCallId: call.id, content });
    this.#session.history.push({ role: "tool", toolCallId: call.id, content });
  }

  ask(): void {}

  end(ending: Ending): void {
    this.#flush();
    this.#store();
    this.#event("turn_stop", { stopReason: { done: "end_turn", waiting: "tool_use", cancelled: "cancelled", error: "error" }[ending.status] });
    this.log.close();
  }

  #say(type: "text" | "thinking", name: "text" | "thinking", piece: string): void {
    let block = this.#blocks.at(-1);
    if (block?.["type"] !== type) {
      this.#flush();
      block = { type, [name]: "" };
      this.#blocks.push(block);
    }
    block[name] += piece;
    if (this.#mode === "delta") this.#event(`${type}_delta`, { delta: piece });
  }

  /** A block is whole. */
  #flush(): void {
    const block = this.#blocks.at(-1);
    if (this.#mode === "delta" || !block) return;
    if (block["type"] !== "tool_use") this.#event(block["type"], { [block["type"]]: block[block["type"]] });
  }

  #store(): void {
    if (this.#blocks.length > 0) this.#session.history.push({ role: "assistant", content: this.#blocks });
    this.#blocks = [];
  }

  #event(name: string, data: Data): void {
    this.log.append(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }
}
