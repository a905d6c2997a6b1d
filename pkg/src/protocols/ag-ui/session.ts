// A session whose conversation the client keeps, for servers that need not remember anything: one run at a time, each with the
// whole conversation, which is stored as it grows (AG-UI).
import type { CoreSession, Exports } from "../../boundary/boundary.js";
import type { Capabilities } from "../../boundary/capabilities.js";
import { adopting, busy, capabilitiesOf, demandNames } from "../../client/face.js";
import type { History, HistoryPage } from "../../client/history.js";
import type { ConversationHost } from "../../client/load.js";
import type { ManagedSession, SessionListening } from "../../client/managed-session.js";
import type { RunSettings } from "./types.js";
import type { TurnStatus } from "../../snapshot/snapshot.js";
import type { ToolSpec } from "../../tools/spec.js";
import type { TurnInputItem, TurnState } from "../../wire/events.js";
import type { AgUiSetup } from "./agents.js";
import { demandRunSettings, RUN_SETTINGS } from "./settings.js";
import { readConversation } from "../conversation.js";
import { Turnstile } from "../turnstile.js";

export { AgUiAgents } from "./agents.js";

/** The exports that only the core of these protocols has. */
type ConversationExports = Exports & { conversationOf(session: number): number };

/** Reads a page of a session's history from the client's own conversation. */
export function readHistory(host: ConversationHost, page: HistoryPage): Promise<History> {
  // An earlier turn may have the same input.
  return readConversation(host, page, (live, { id }) => live.id === id);
}

/** The session. */
export class AgUiSession implements ManagedSession {
  readonly agent = null;
  readonly on: SessionListening;
  readonly #core: CoreSession;
  readonly #keep: AgUiSetup["keep"];
  readonly #stop: AgUiSetup["stop"];
  /** Its turns, one at a time. */
  readonly #turnstile = new Turnstile();
  /** The last stored conversation. */
  #kept: string;
  #terms: Record<string, unknown> = {};

  constructor(core: CoreSession, { settings, conversation, keep, stop, on }: AgUiSetup) {
    this.#core = core;
    this.on = on;
    this.#keep = keep;
    this.#stop = stop;
    this.#kept = this.#conversation(conversation);
    this.#set(settings);
  }

  /** A server that repeats runs has more capabilities than others. */
  get capabilities(): Capabilities {
    return capabilitiesOf(adopting(() => this.#core.capabilities()))[0];
  }

  /** Calls that read the history pass the conversation as a parameter. */
  toJSON(): object {
    return { conversation: this.messages() };
  }

  messages(): string {
    return this.#conversation("");
  }

  demandTools(): void {}

  declare(tools: readonly ToolSpec[]): void {
    this.#tell({ tools: JSON.parse(JSON.stringify(tools)) });
  }

  configure(settings: RunSettings): void {
    demandNames("update", settings, RUN_SETTINGS);
    demandRunSettings(settings);
    this.#set(settings);
    this.#store();
  }

  enter(_: readonly TurnInputItem[], whenBusy: "wait" | "fail", signal: AbortSignal): Promise<void> | undefined {
    if (this.#turnstile.isTaken && whenBusy === "fail") throw busy();
    if (this.#turnstile.isTaken) return this.#turnstile.enter(signal);
    this.#turnstile.take();
    return undefined;
  }

  began(): void {
    this.#store();
  }

  leave(status: TurnStatus, state: TurnState | null): void {
    this.#store();
    const isLeft = status === "cancelled" && state?.status === status && state.reason !== "server";
    // The server refuses the next run while this one continues.
    if (isLeft && this.#terms.recovery === "connect") void this.#stop(this.#terms).then(() => this.#turnstile.leave());
    else this.#turnstile.leave();
  }

  stands(): void {}

  recall(): void {
    this.#conversation(this.#kept);
    this.#tell({});
  }

  #set({ state, context, forwardedProps, answerableTools, recovery }: RunSettings): void {
    if (state !== undefined) this.#conversation(JSON.stringify({ state }));
    this.#tell({
      ...(context && { context }),
      ...(forwardedProps && { forwarded_props: forwardedProps }),
      ...(answerableTools && { answerable: answerableTools }),
      ...(recovery && { recovery }),
    });
  }

  /** Sets the terms of every later run. */
  #tell(terms: object): void {
    this.#terms = JSON.parse(JSON.stringify({ ...this.#terms, ...terms }));
    this.#core.setTerms(JSON.stringify(this.#terms), -1);
  }

  /** Continues with a conversation, unless it is empty. Returns the current one. */
  #conversation(stored: string): string {
    return adopting(() => this.#core.ask((exports, session) => (exports as ConversationExports).conversationOf(session), stored));
  }

  #store(): void {
    const conversation = this.messages();
    if (conversation === this.#kept) return;
    this.#kept = conversation;
    this.#keep(conversation);
  }
}
