// The base of tests of a conversation: turns and sessions that do what a test says.

import type {
  Client,
  RequiredAction,
  RunOptions,
  Session,
  Tools,
  Turn,
  TurnInputItem,
  TurnSnapshot,
} from "turnwire";
import { vi } from "vitest";
import { Conversation } from "./Conversation";

const EMPTY = {
  turn_id: null,
  status: "running",
  threads: [],
  error: null,
  reconnecting: null,
  waiting: null,
  required_actions: [],
  input: [],
} as unknown as TurnSnapshot;

/** A turn that does what the test says. */
export class FakeTurn {
  id: string | null = null;
  readonly session = { id: "s1" };
  readonly previousTurnId: string | null;
  status = "running";
  cancelled = 0;
  #snapshot: TurnSnapshot = EMPTY;
  #listeners = new Set<() => void>();

  readonly input: TurnInputItem[];

  constructor(input: TurnInputItem[], previousTurnId: string | null) {
    this.input = input;
    this.previousTurnId = previousTurnId;
  }

  readonly snapshot = () => this.#snapshot;
  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  on = (topic: string, listener: (told: never) => void) => {
    const listeners = this.listeners.get(topic) ?? new Set();
    this.listeners.set(topic, listeners.add(listener));
    return () => listeners.delete(listener);
  };
  readonly listeners = new Map<string, Set<(told: never) => void>>();
  signals: AbortSignal[] = [];
  waitForCompletion = ({ signal }: { signal: AbortSignal }) => {
    this.signals.push(signal);
    return new Promise<void>((resolve) => (this.end = resolve));
  };
  end = (): void => {};
  stream = async function* (this: FakeTurn, options: { signal: AbortSignal }) {
    yield* [];
    await this.waitForCompletion(options);
  };
  cancel = async () => void (this.cancelled += 1);
  answer = vi.fn(async (_: readonly TurnInputItem[]): Promise<unknown> => this);

  tell(topic: string, told: object): void {
    for (const listener of this.listeners.get(topic) ?? []) listener(told as never);
  }

  change(part: Partial<TurnSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...part };
    for (const listener of this.#listeners) listener();
  }
}

const CAPABILITIES = { rename: false, titles: true, liveAnswers: false, resume: "cursor" };

export function fakeSession(history: FakeTurn[] = [], can: object = {}) {
  const created: FakeTurn[] = [];
  const session = {
    id: "s1",
    createTurn({
      input = [],
      previousTurnId,
    }: { input?: TurnInputItem | TurnInputItem[]; previousTurnId?: string | null } = {}) {
      const turn = new FakeTurn(Array.isArray(input) ? input : [input], previousTurnId ?? null);
      created.push(turn);
      return turn as unknown as Turn;
    },
    title: "a title",
    capabilities: { ...CAPABILITIES, ...can },
    /** The names of its tools. */
    tools: vi.fn((tools?: Tools) => Object.keys(tools ?? {})),
    /** A run of one turn, unless the test says otherwise. */
    run(input: TurnInputItem | TurnInputItem[] | null, { signal: _, ...options }: RunOptions = {}) {
      const turns = input === null ? [] : [session.createTurn({ input, ...options })];
      return { turns, [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }) };
    },
    rename: vi.fn(async () => {}),
    resume: async () => history,
    listTurns: () => history.toReversed().values(),
  };
  return { session: session as unknown as Session, created };
}

export function conversationWith(session: Session, sessionId: string | null = null, can: object = {}) {
  const createSession = vi.fn(async () => session);
  const agents = { createSession, getSession: async () => session };
  const client = { agents, protocol: "truefoundry", capabilities: { ...CAPABILITIES, ...can } } as unknown as Client;
  const onActivity = vi.fn();
  const onTurn = vi.fn();
  return {
    conversation: new Conversation({ client, agentName: "bot", sessionId, onActivity, onLoad: () => {}, onTurn }),
    createSession,
    onActivity,
    onTurn,
  };
}

export const message = (content: string): TurnInputItem => ({ type: "user.message", content });
export const approval = (tool_call_id: string, thread_id = "main"): RequiredAction => ({
  type: "tool.approval_required",
  thread_id,
  tool_call_id,
  name: "act",
  arguments: "{}",
  tool_info: null,
});
export const question = (tool_call_id: string): RequiredAction => ({
  type: "tool.response_required",
  thread_id: "main",
  tool_call_id,
  name: "ask",
  arguments: "{}",
  tool_info: null,
});
