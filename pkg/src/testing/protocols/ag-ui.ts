// AG-UI, version 1.0: one address, runs with the whole conversation in each request, and nothing that can be read again.
import { told, type Conversation } from "../conversation.js";
import type { Fakes } from "../fake.js";
import type { Asked, Reply, Routes } from "../http.js";
import { FrameLog } from "../log.js";
import { asText, type Answer, type Ending, type ToolCall, type Writer } from "../script.js";
import type { World } from "../world.js";
import { textOf } from "./truefoundry.js";

type Data = Record<string, any>;

/** The fakes of this family. */
export const fakes = { "ag-ui": { routes: agUi } } satisfies Fakes;

/** The routes of a server: the base URL is its only address. */
function agUi(world: World): Routes {
  const threads = new Map<string, Conversation>();
  const run = ({ body }: Asked): Reply => {
    const { threadId, runId, messages } = body;
    if (!threadId || !runId || !Array.isArray(messages)) return { status: 422, json: { detail: [{ type: "missing", loc: ["body"], msg: "Field required" }] } };
    const talk = threads.get(threadId) ?? world.converse();
    threads.set(threadId, talk);
    const turn = new Turn(world, { threadId, runId }, (body["tools"] ?? []).map(({ name }: Data) => name));
    const answers = answersOf(talk, messages, body["resume"] ?? []);
    const last = messages.at(-1) as Data | undefined;
    if (answers.size > 0) {
      talk.take(answers);
      talk.goOn(turn);
    } else if (last?.["role"] === "user") {
      talk.begin({ text: textOf(last["content"]), input: messages, agent: world.agents[0] ?? "agent", session: threadId }, turn);
    } else {
      turn.end({ status: "error", message: "there is nothing to answer" });
    }
    return { log: turn.log, from: 0, onLeave: () => talk.cancel() };
  };
  return { "POST ": run };
}

/** The answers to the calls that wait: results in tool messages, and what interrupts got. */
function answersOf({ waiting }: Conversation, messages: readonly Data[], resume: readonly Data[]): Map<string, Answer> {
  const answers = new Map<string, Answer>();
  for (const { id } of waiting) {
    const said = messages.find(({ role, toolCallId }) => role === "tool" && toolCallId === id);
    const entry = resume.find(({ interruptId }) => interruptId === interruptOf(id));
    if (said) answers.set(id, { allowed: true, reason: null, content: textOf(said["content"]) });
    else if (entry) answers.set(id, answerOf(entry));
  }
  return answers;
}

function answerOf({ status, payload }: Data): Answer {
  if (status !== "resolved") return { allowed: false, reason: null, content: null };
  const isApproval = typeof payload === "object" && payload !== null && "approved" in payload;
  return isApproval ? { allowed: payload.approved === true, reason: payload.reason ?? null, content: null } : { allowed: true, reason: null, content: payload };
}

const interruptOf = (callId: string): string => `interrupt_${callId}`;

/** Writes one run. */
class Turn implements Writer {
  readonly log = new FrameLog();
  readonly #world: World;
  readonly #ids: { threadId: string; runId: string };
  /** The tools that the page has declared. */
  readonly #own: readonly string[];
  /** The message that is open, and what it is. */
  #open: { readonly id: string; readonly kind: "TEXT" | "REASONING" } | undefined;
  #interrupts: Data[] = [];
  #pending: string[] = [];

  constructor(world: World, ids: { threadId: string; runId: string }, own: readonly string[]) {
    this.#world = world;
    this.#ids = ids;
    this.#own = own;
    this.#event("RUN_STARTED", { ...ids, protocolVersion: "1.0" });
  }

  text(piece: string): void {
    this.#event("TEXT_MESSAGE_CONTENT", { messageId: this.#begun("TEXT"), delta: piece });
  }

  reasoning(piece: string): void {
    this.#event("REASONING_MESSAGE_CONTENT", { messageId: this.#begun("REASONING"), delta: piece });
  }

  calls(calls: readonly ToolCall[]): void {
    // A message that says nothing is the usual parent of calls.
    const parentMessageId = this.#begun("TEXT");
    this.#close();
    for (const { id: toolCallId, name: toolCallName, arguments: given } of calls) {
      this.#event("TOOL_CALL_START", { toolCallId, toolCallName, parentMessageId });
      this.#event("TOOL_CALL_ARGS", { toolCallId, delta: JSON.stringify(given) });
      this.#event("TOOL_CALL_END", { toolCallId });
    }
  }

  result(call: ToolCall, answer: Answer): void {
    // What the page has answered is not repeated.
    if (this.#isOwn(call)) return;
    const content = answer.allowed ? asText(answer.content) : told(answer);
    this.#event("TOOL_CALL_RESULT", { messageId: this.#world.nextId("result"), toolCallId: call.id, content, role: "tool" });
  }

  ask(calls: readonly ToolCall[]): void {
    for (const call of calls) {
      if (this.#isOwn(call)) this.#pending.push(call.id);
      else this.#interrupts.push(interrupt(call));
    }
  }

  end(ending: Ending): void {
    this.#close();
    if (ending.status === "error") this.#event("RUN_ERROR", { message: ending.message });
    else if (ending.status === "cancelled") this.#event("RUN_FINISHED", { ...this.#ids, outcome: { type: "cancelled" } });
    else this.#event("RUN_FINISHED", { ...this.#ids, outcome: this.#outcome() });
    this.log.close();
  }

  #outcome(): Data {
    if (this.#interrupts.length > 0) return { type: "interrupt", interrupts: this.#interrupts };
    return { type: "success", ...(this.#pending.length > 0 && { pendingToolCallIds: this.#pending }) };
  }

  /** Whether the page has the tool, and answers the call by a message. */
  #isOwn({ name, waitsFor }: ToolCall): boolean {
    return waitsFor === "response" && this.#own.includes(name);
  }

  #begun(kind: "TEXT" | "REASONING"): string {
    if (this.#open?.kind === kind) return this.#open.id;
    this.#close();
    const id = this.#world.nextId("message");
    this.#open = { id, kind };
    this.#event(`${kind}_MESSAGE_START`, { messageId: id, role: kind === "TEXT" ? "assistant" : "reasoning" });
    return id;
  }

  #close(): void {
    if (this.#open) this.#event(`${this.#open.kind}_MESSAGE_END`, { messageId: this.#open.id });
    this.#open = undefined;
  }

  #event(type: string, data: Data): void {
    this.log.append(`data: ${JSON.stringify({ type, ...data })}\n\n`);
  }
}

/** Why a call waits. A question is about no call: its answer is a text. */
function interrupt({ id, name, arguments: given, waitsFor }: ToolCall): Data {
  if (waitsFor === "response") return { id: interruptOf(id), reason: "input_required", message: asText(given["question"] ?? given), responseSchema: { type: "string" } };
  const responseSchema = { type: "object", properties: { approved: { type: "boolean" }, reason: { type: "string" } }, required: ["approved"] };
  return { id: interruptOf(id), reason: "tool_call", toolCallId: id, message: `Approve ${name}?`, responseSchema };
}
