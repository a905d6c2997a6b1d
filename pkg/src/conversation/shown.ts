// One turn as a conversation shows it: its rows, messages, calls and threads. Unchanged parts stay the same objects, so that components
// compare by identity.
import { grown } from "../client/face.js";
import type { TurnwireError } from "../common/errors.js";
import type { MessageSnapshot, ThreadSnapshot, ToolCallResponse, ToolCallSnapshot, TurnSnapshot } from "../snapshot/snapshot.js";
import type { ContentPart } from "../wire/events.js";
import { callName, sentIn } from "./answers.js";
import type { CallBook } from "./calls.js";
import { PartialJson } from "./partial-json.js";
import { fileName, isLive, partsOf, statusOf, textOf, type UserItem } from "./reading.js";
import type { SteeredRows } from "./tracked.js";
import type { Action, AssistantMessage, Branch, Call, GivenAnswer, Message, Part, Row, Thread, TurnView, UserMessage } from "./types.js";

/** A turn to show. */
export interface TurnFacts {
  readonly key: string;
  readonly snapshot: TurnSnapshot;
  /** Its siblings. The same object until they change. */
  readonly branch: Branch | null;
  readonly canRetry: boolean;
  readonly delivery: UserMessage["delivery"];
  /** Why the input was not sent. */
  readonly error: TurnwireError | null;
  /** ISO 8601; `null` if unknown. */
  readonly createdAt: string | null;
  /** Messages steered into it here. The same list until they change. */
  readonly steered: SteeredRows;
}

/** The facts about calls that their own turn lacks. */
export interface CallFacts {
  /** The pending actions, and the answers given here. */
  readonly calls: Pick<CallBook, "pendingOf" | "answerOf">;
  /** The facts in later turns about the call with this name in a turn. */
  later(name: string, turn: string): Later;
}

/** A turn's facts about a call of an earlier turn. */
export interface Later {
  /** The answer in its input. */
  readonly answer?: GivenAnswer | undefined;
  /** The result that came with it. */
  readonly response?: ToolCallResponse | undefined;
}

/** A turn's part of what a conversation shows. */
export interface ShownTurn {
  readonly facts: TurnFacts;
  readonly view: TurnView;
  readonly rows: readonly Row[];
  readonly messages: ReadonlyMap<string, Message>;
  readonly calls: ReadonlyMap<string, Call>;
  /** Its facts about calls of earlier turns, by their names. */
  readonly said: ReadonlyMap<string, Later>;
  /** The readers of the calls' arguments, each with the call as it was read. */
  readonly readers: ReadonlyMap<string, Reader>;
  /** The keys of calls by their names. */
  readonly callKeys: ReadonlyMap<string, string>;
  /** The parts of sub-agents' threads that happen in this turn, by thread. */
  readonly threads: ReadonlyMap<string, Omit<Thread, "call">>;
}

/** The members of a message that are not the turn's, or the same in most messages. */
type Own<M> = M extends Message ? Omit<M, Common> & Partial<Pick<M, Common>> : never;
type Common = "turn" | "id" | "created_at" | "branch" | "canRetry" | "actions";

interface Reader {
  readonly call: ToolCallSnapshot;
  readonly json: PartialJson;
}

/** The actions on a message, by whether it can be sent again. */
const NONE: readonly Action[] = Object.freeze([]);
const RETRY: readonly Action[] = Object.freeze(["retry"]);
const UNHAPPY: readonly string[] = ["error", "incomplete", "cancelled"];

/** Shows a turn; `before` is its last shown part. */
export function show(facts: TurnFacts, about: CallFacts, before?: ShownTurn): ShownTurn {
  const build = new Build(facts, about, before);
  return build.turn();
}

/** Creates one turn's part. */
class Build {
  readonly #facts: TurnFacts;
  readonly #about: CallFacts;
  readonly #before: ShownTurn | undefined;
  readonly #messages = new Map<string, Message>();
  readonly #calls = new Map<string, Call>();
  readonly #readers = new Map<string, Reader>();
  readonly #callKeys = new Map<string, string>();

  constructor(facts: TurnFacts, about: CallFacts, before: ShownTurn | undefined) {
    this.#facts = facts;
    this.#about = about;
    this.#before = before;
  }

  turn(): ShownTurn {
    const { key, snapshot, branch, canRetry } = this.#facts;
    const [main, ...others] = snapshot.threads;
    const rows: Row[] = [];
    snapshot.input.forEach((item, at) => {
      if (item.type === "user.message") rows.push(this.#user(`${key}/input/${at}`, item, false));
    });
    if (main) this.#main(main, rows);
    // The turn's own record does not have them yet.
    for (const [steeredKey, items] of this.#facts.steered) {
      for (const item of items ?? []) if (item.type === "user.message") rows.push(this.#user(steeredKey, item, true));
    }
    if (UNHAPPY.includes(statusOf(snapshot))) rows.push(this.#end(`${key}/end`));
    const threads = new Map<string, Omit<Thread, "call">>();
    for (const thread of others) threads.set(thread.id, this.#thread(thread));
    const { view } = this.#before ?? {};
    const next = { key, branch, canRetry, snapshot };
    return {
      facts: this.#facts,
      view: kept(next, view),
      rows: keptItems(rows, this.#before?.rows),
      messages: this.#messages,
      calls: this.#calls,
      readers: this.#readers,
      callKeys: this.#callKeys,
      said: laterIn(snapshot, this.#before?.said),
      threads,
    };
  }

  /** The main thread's messages, with the user's messages that were sent in between. */
  #main(main: ThreadSnapshot, rows: Row[]): void {
    const steered = steeredIn(this.#facts.snapshot, main.messages);
    // A message that was sent from here keeps its key.
    const recorded = this.#facts.steered.filter(([, items]) => items === null);
    const put = (after: string | null): void => {
      for (const [at, item] of steered.get(after) ?? []) rows.push(this.#user(recorded[at]?.[0] ?? `${this.#facts.key}/steered/${at}`, item, true));
    };
    put(null);
    for (const message of main.messages) {
      rows.push(this.#assistant(message, main));
      put(message.id);
    }
  }

  #thread(thread: ThreadSnapshot): Omit<Thread, "call"> {
    const { id, title, agent_info, status, error, messages } = thread;
    const before = this.#before?.threads.get(id);
    const rows = keptItems(messages.map((message) => this.#assistant(message, thread)), before?.rows);
    const next = { key: id, title, agent_info, status, error, rows };
    return kept(next, before);
  }

  #user(key: string, item: UserItem, steered: boolean): Row {
    const { key: turn, branch, delivery, error } = this.#facts;
    const content = partsOf(item);
    const before = this.#before?.messages.get(key) as UserMessage | undefined;
    return this.#row({
      key,
      text: textOf(content),
      parts: before?.content === content ? before.parts : Object.freeze(content.map((part, at) => userPart(`${key}/${at}`, part))),
      branch: key === `${turn}/input/0` ? branch : null,
      canRetry: !steered && (delivery === "failed" || delivery === "unknown"),
      role: "user",
      content,
      delivery: steered ? "sent" : delivery,
      steered,
      error: steered ? null : error,
    });
  }

  #end(key: string): Row {
    const { canRetry, snapshot } = this.#facts;
    const { error } = snapshot;
    const status = statusOf(snapshot);
    const text = error?.message ?? status;
    const parts = this.#before?.messages.get(key)?.parts ?? [];
    const isSame = parts[0]?.text === text;
    return this.#row({ key, text, parts: isSame ? parts : Object.freeze([textPart(`${key}/text`, text)]), canRetry, role: "end", status, error });
  }

  #assistant(message: MessageSnapshot, thread: ThreadSnapshot): Row {
    const key = `${this.#facts.key}/${message.id}`;
    const isLast = thread.messages.at(-1) === message;
    const streaming = isLast && message.finish_reason === null && thread.status === "running" && isLive(this.#facts.snapshot);
    const before = this.#before?.messages.get(key) as AssistantMessage | undefined;
    return this.#row({
      key,
      id: message.id,
      created_at: message.created_at,
      text: message.content,
      role: "assistant",
      parts: this.#parts(key, message, streaming, before),
      streaming,
      finish_reason: message.finish_reason,
      usage: message.usage,
      ...(message.model !== undefined && { model: message.model }),
    });
  }

  /** Keeps a message, or the earlier object if it is unchanged. Returns its row. */
  #row(own: Own<Message>): Row {
    const { key: turn, createdAt: created_at } = this.#facts;
    const { key, role, canRetry = false } = own;
    const next = { turn, id: null, created_at, branch: null, canRetry, actions: canRetry ? RETRY : NONE, ...own } as Message;
    this.#messages.set(key, kept(next, this.#before?.messages.get(key)));
    return { key, role, turn };
  }

  #parts(key: string, message: MessageSnapshot, streaming: boolean, before: AssistantMessage | undefined): readonly Part[] {
    const { reasoning_content, content, refusal, tool_calls } = message;
    const texts = { reasoning: reasoning_content, text: content, refusal };
    const parts: Part[] = [];
    for (const [type, text] of Object.entries(texts) as ["reasoning" | "text" | "refusal", string][]) {
      if (text !== "") parts.push({ type, key: `${key}/${type}`, text, streaming: false });
    }
    // Text comes before calls: the last part is the one that grows.
    const last = parts.at(-1);
    if (streaming && last && tool_calls.length === 0) parts[parts.length - 1] = { ...last, streaming } as Part;
    for (const call of tool_calls) {
      const callKey = `${key}/call/${call.index}`;
      parts.push({ type: "call", key: callKey, text: `${call.name}: ${call.status}`, call: this.#call(callKey, call, message) });
    }
    const known = before?.parts ?? [];
    return keptList(parts.map((part, at) => (kept(part, known[at]))), known);
  }

  #call(key: string, snapshot: ToolCallSnapshot, { thread_id }: MessageSnapshot): Call {
    const { id } = snapshot;
    const name = callName(thread_id, id);
    if (id !== "") this.#callKeys.set(name, key);
    const later = this.#about.later(name, this.#facts.key);
    const pending = this.#about.calls.pendingOf(key);
    const next: Call = {
      ...snapshot,
      arguments: this.#arguments(key, snapshot),
      argumentsText: snapshot.arguments,
      response: snapshot.response ?? later.response ?? null,
      key,
      pending,
      // An earlier answer does not answer a new question.
      answer: this.#about.calls.answerOf(key) ?? (pending ? null : (later.answer ?? null)),
      thread: snapshot.thread_id,
    };
    const call = kept(next, this.#before?.calls.get(key));
    this.#calls.set(key, call);
    return call;
  }

  /** The value of a call's arguments. If the text has grown, only the new part is read. */
  #arguments(key: string, call: ToolCallSnapshot): unknown {
    const { arguments: text } = call;
    const before = this.#before?.readers.get(key);
    const [grownFrom, added] = grown.get(call) ?? [];
    const piece = before && before.call === grownFrom ? added : undefined;
    // A server may replace the streamed text.
    const json = before && (piece !== undefined || before.json.isBefore(text)) ? before.json : new PartialJson();
    this.#readers.set(key, { call, json });
    return json.read(text, piece);
  }
}

/** A turn's facts about calls of earlier turns, by the calls' names. */
function laterIn({ input, threads }: TurnSnapshot, before: ShownTurn["said"] | undefined): Map<string, Later> {
  const said = new Map<string, Later>();
  const put = (name: string, later: Later): unknown => said.set(name, kept({ ...said.get(name), ...later }, before?.get(name)));
  for (const item of input) if (item.type !== "user.message") put(callName(item.thread_id, item.tool_call_id), { answer: sentIn(item) });
  for (const { id, tool_responses } of threads) for (const response of tool_responses) put(callName(id, response.tool_call_id), { response });
  return said;
}

/** The user's messages that were sent while the turn ran, with their numbers, by the message before them. */
function steeredIn({ notices }: TurnSnapshot, messages: readonly MessageSnapshot[]): Map<string | null, [number, UserItem][]> {
  const steered = new Map<string | null, [number, UserItem][]>();
  let at = 0;
  for (const { code, details } of notices) {
    if (code !== "user_message") continue;
    const { input, after } = details as { input: UserItem[]; after: string | null };
    // After the last message, if the server has not stored the interrupted one.
    const place = after === null || messages.some(({ id }) => id === after) ? after : (messages.at(-1)?.id ?? null);
    steered.set(place, [...(steered.get(place) ?? []), ...input.map((item): [number, UserItem] => [at++, item])]);
  }
  return steered;
}

export function textPart(key: string, text: string): Part {
  return Object.freeze({ type: "text", key, text, streaming: false });
}

function userPart(key: string, content: ContentPart): Part {
  if (content.type === "text") return textPart(key, content.text);
  return Object.freeze({ type: "file", key, text: fileName(content), content });
}

/** The new value, frozen; the known object if it is equal. */
export function kept<T extends object>(next: T, before: T | undefined): T {
  return before && isShallowlySame(before, next) ? before : Object.freeze(next);
}

/** The same for lists of objects with keys. */
export function keptItems<T extends { readonly key: string }>(next: readonly T[], before: readonly T[] = []): readonly T[] {
  const known = new Map(before.map((item) => [item.key, item]));
  return keptList(next.map((item) => kept(item, known.get(item.key))), before);
}

/** The list, frozen; the earlier one if all of its items are the same. */
export function keptList<T>(list: readonly T[], before: readonly T[]): readonly T[] {
  return list.length === before.length && list.every((item, at) => item === before[at]) ? before : Object.freeze(list);
}

/** Whether the members are identical. */
export function isShallowlySame<T extends object>(one: T, other: T): boolean {
  const names = Object.keys(other) as (keyof T)[];
  return names.length === Object.keys(one).length && names.every((name) => one[name] === other[name]);
}
