// The conversations of a page. The registry keeps them, so that a turn outlives the component that started it.
import { demand, demandNames } from "../client/face.js";
import type { Client, CreateSessionOptions } from "../client/client.js";
import type { Readable } from "../common/readable.js";
import type { Tools } from "../tools/tools.js";
import { Cell } from "./cells.js";
import { Conversation } from "./conversation.js";
import type { Dehydrated } from "./dehydrated.js";
import type { EngineOptions } from "./engine.js";
import { demandBusy } from "./refusals.js";
import { keptList } from "./shown.js";
import { sessionStore, type TextStore } from "../common/store.js";
import type { WhenBusy } from "./types.js";

/** The options of `Conversations`. */
export interface ConversationsOptions {
  /**
   * The client, or the promise from `connect()`, which need not be awaited. Nothing is sent before a conversation is attached or a message
   * sent.
   */
  client: Client | PromiseLike<Client>;
  /** The agent of new conversations. */
  agentName: string;
  /** The options of the session that a first message creates; none by default. */
  session?: CreateSessionOptions | undefined;
  /** Tools that run in the page, as for `session.tools()`; none by default. If there are several tabs, one of them runs the tools. */
  tools?: Tools | undefined;
  /** What happens to a message that is sent while a turn runs; `"queue"` by default. */
  whenBusy?: WhenBusy | undefined;
  /**
   * What happens to a turn that runs while its conversation is not shown: `"follow"`, the default, reads it to its end;
   * `"leave"` stops reading. It is never cancelled.
   */
  unseen?: "follow" | "leave" | undefined;
  /** How many idle conversations are kept while they are not shown; 10 by default. One that runs or waits for the person is not idle. */
  kept?: number | undefined;
  /** How many turns are loaded at first, the newest ones; 50 by default. More than 50 are read 50 at a time. */
  page?: number | undefined;
  /** Where the queue, drafts and kept answers survive a reload; the tab's `sessionStorage` by default, `null` for nowhere. */
  store?: TextStore | null | undefined;
}

const NAMES = ["client", "agentName", "session", "tools", "whenBusy", "unseen", "kept", "page", "store"];

/** The conversations of a page, by their sessions. */
export class Conversations {
  /** The conversations with a running turn. */
  readonly running: Readable<readonly Conversation[]>;
  /** The conversations with actions that wait for the person. */
  readonly waiting: Readable<readonly Conversation[]>;
  readonly #engine: EngineOptions;
  readonly #kept: number;
  /** The least recently opened first. */
  readonly #all = new Set<Conversation>();
  readonly #running = new Cell<readonly Conversation[]>(Object.freeze([]));
  readonly #waiting = new Cell<readonly Conversation[]>(Object.freeze([]));
  #count = 0;
  #created = 0;
  #dropping: ReturnType<typeof setTimeout> | undefined;

  /** Throws an `InputError` that names a wrong option. Sends nothing. */
  constructor(options: ConversationsOptions) {
    demandNames("Conversations", options, NAMES);
    const { client, agentName, session = {}, tools, whenBusy = "queue", unseen = "follow", kept = 10, page = 50, store } = options;
    demand(typeof agentName === "string" && agentName !== "", "`agentName` must be the name of an agent");
    demandBusy(whenBusy);
    demand(unseen === "follow" || unseen === "leave", '`unseen` must be "follow" or "leave"');
    demand(Number.isInteger(kept) && kept >= 0, "`kept` must be a whole number from 0");
    demand(Number.isInteger(page) && page > 0, "`page` must be a whole number from 1");
    const connected = Promise.resolve(client);
    // The conversations report a client that could not connect.
    connected.catch(() => {});
    this.#engine = { client: connected, agentName, session, tools, whenBusy, leavesUnseen: unseen === "leave", page, store: store === undefined ? sessionStore() : store };
    this.#kept = kept;
    this.running = this.#running;
    this.waiting = this.#waiting;
  }

  /**
   * The conversation of a session: the same object while it is kept. `initial` is shown until the session has been read (see `load` and
   * `dehydrate`).
   */
  open(sessionId: string, initial?: Dehydrated): Conversation {
    for (const known of this.#all) {
      if (known.sessionId !== sessionId) continue;
      // It is now the most recent one.
      this.#all.delete(known);
      this.#all.add(known);
      return known;
    }
    return this.#add(`open-${(this.#count += 1)}`, this.#engine, sessionId, initial);
  }

  /** A new conversation. Its session is created with the first message. */
  create(agentName?: string): Conversation {
    // The name under which its draft survives a reload: the first new conversation gets the draft of the first one before.
    return this.#add(`new-${(this.#created += 1)}`, agentName === undefined ? this.#engine : { ...this.#engine, agentName }, null);
  }

  /**
   * The conversation of the session named in the page's URL after `#`; otherwise a new one. Once there is a session, the URL names it, if
   * the page is still open, so that a reload continues with it. A fragment with a slash is a router's, and stays.
   */
  openFromAddress(): Conversation {
    const { pathname, hash = "" } = globalThis.location ?? {};
    if (hash.includes("/")) return this.create();
    // This reads any URL, where `decodeURIComponent` would throw.
    const sessionId = new URLSearchParams(hash.replace("#", "id=")).get("id");
    if (sessionId) return this.open(sessionId);
    const conversation = this.create();
    conversation.on("session", ({ id }) => {
      // A router may have changed the query meanwhile. A fragment alone would belong to the page's `<base>`.
      if (location.pathname === pathname && location.hash === hash) history.replaceState(history.state, "", `${location.href.split("#")[0]}#${encodeURIComponent(id)}`);
    });
    return conversation;
  }

  /** The store for texts. @internal */
  get store(): TextStore | null {
    return this.#engine.store;
  }

  /** Releases a conversation. A running turn continues on the server. */
  forget(conversation: Conversation): void {
    if (!this.#all.delete(conversation)) return;
    conversation.close();
    this.#publish();
  }

  /** Releases all conversations. */
  close(): void {
    for (const conversation of [...this.#all]) this.forget(conversation);
  }

  #add(key: string, options: EngineOptions, sessionId: string | null, initial?: Dehydrated): Conversation {
    const conversation = new Conversation(key, options, sessionId, initial);
    this.#all.add(conversation);
    conversation.status.subscribe(() => this.#publish());
    // A page may open many at once, and shows them a moment later.
    clearTimeout(this.#dropping);
    if (this.#all.size > this.#kept) this.#dropping = setTimeout(() => this.#drop(), 1_000);
    return conversation;
  }

  /** Releases idle conversations that nothing shows, the least recent first. */
  #drop(): void {
    const idle = [...this.#all].filter((conversation) => !conversation.isNeeded);
    // The conversation that was opened last will be shown.
    for (const conversation of idle.slice(0, -1 - this.#kept)) this.forget(conversation);
  }

  #publish(): void {
    const all = [...this.#all];
    for (const [cell, holds] of [[this.#running, isRunning], [this.#waiting, isWaiting]] as const) {
      if (cell.put(keptList(all.filter(holds), cell.get()))) cell.tell();
    }
  }
}

function isRunning({ status }: Conversation): boolean {
  return status.get().canStop;
}

function isWaiting({ pending }: Conversation): boolean {
  return pending.get().length > 0;
}
