// Sessions for servers that have none: the client creates them, and keeps their conversations in a store (AG-UI).
import { Call } from "../../boundary/calls.js";
import type { Agent } from "../../client/agent.js";
import { ApiError, demand, InputError, Listeners, messageOf, newId, split, type TurnwireError, Watch } from "../../client/face.js";
import type { ManagedAgents, ManagedOptions, MakeSession, SessionListening } from "../../client/managed-session.js";
import type { KeptMessages, RunSettings } from "./types.js";
import { sessionStore, type TextStore } from "../../common/store.js";
import type { Limits } from "../../transport/clocks.js";
import type { ListOptions } from "../../transport/lists.js";
import type { Transport } from "../../transport/transport.js";
import type { Connection } from "../../turn/connection.js";
import type { SessionRecord } from "../../wire/events.js";
import { leaveEndedStreams } from "./grace.js";
import { demandMessages, demandRunSettings, RUN_SETTINGS } from "./settings.js";
import { inTime, watchedStore } from "../watched-store.js";

/** What a session begins with. */
export interface AgUiSetup {
  readonly settings: RunSettings;
  /** The conversation so far, from the core; empty for none. */
  readonly conversation: string;
  /** Stores the conversation. */
  readonly keep: (conversation: string) => void;
  /** Stops the run of a session with these terms, and resolves when it has ended. Never rejects: it reports failures. */
  readonly stop: (terms: object) => Promise<void>;
  /** Adds a listener for failures of which no call is notified. Returns the function that removes it. */
  readonly on: SessionListening;
}

/** The sessions of a server that does not know them. */
export class AgUiAgents<S> implements ManagedAgents<S> {
  readonly sessionOptions = ["messages", ...RUN_SETTINGS];
  readonly readOptions = this.sessionOptions;
  readonly #server: Connection;
  readonly #make: MakeSession<S>;
  readonly #store: TextStore | null;
  readonly #openStream: Transport["open"];

  constructor(server: Connection, make: MakeSession<S>) {
    this.#server = server;
    this.#openStream = leaveEndedStreams(server);
    this.#make = make;
    const { store = sessionStore() } = server;
    demand(store === null || (typeof store?.get === "function" && typeof store.set === "function"), "`store` must have `get`, `set` and `remove`, or be null");
    this.#store = store;
  }

  /** Refused: the protocol has no such list. */
  agents(limits: Limits): Promise<Agent[]> {
    return this.#server.transport.ask(Call.ListAgents, {}, limits);
  }

  create(agentName: string, options: ManagedOptions): Promise<S> {
    return this.#open(newId(), agentName, options, options.messages as KeptMessages | undefined);
  }

  async read(id: string, options: ManagedOptions): Promise<S> {
    const given = options.messages as KeptMessages | undefined;
    const messages = given ?? (await this.#stored(id)) ?? undefined;
    if (messages === undefined) {
      throw new InputError("invalid_input", `no conversation of session \`${id}\` is stored here, and the server keeps none: pass \`messages\``);
    }
    return this.#open(id, options.agentName ?? "", options, messages);
  }

  async #stored(id: string): Promise<string | null | undefined> {
    try {
      const stored = this.#store?.get(key(id));
      return stored && typeof stored === "object" ? await inTime(stored) : stored;
    } catch (cause) {
      throw new InputError("invalid_option", `\`store\` could not be read: ${messageOf(cause)}`, { cause });
    }
  }

  /** Also refused. */
  async *sessions(agentName: string, options: ListOptions): AsyncGenerator<S, void, undefined> {
    await this.#server.transport.ask(Call.ListSessions, { agentName }, split(options)[0]);
  }

  /** Stops a session's run, and waits for its end. */
  async #stop(sessionId: string, terms: object): Promise<void> {
    const watch = new Watch(this.#server.settings);
    try {
      await this.#server.transport.ask(Call.CancelTurn, { sessionId, terms });
      // The server responds before the run has ended. A stream that repeats the run ends with it.
      const input = [{ type: "user.message", content: "" }];
      const repeated = await this.#openStream(Call.SubscribeTurn, JSON.stringify({ sessionId, turnId: newId(), input, terms }), watch);
      if (typeof repeated !== "string") await repeated.read(() => true, watch, undefined as never);
    } finally {
      watch.end();
    }
  }

  async #open(id: string, agentName: string, options: ManagedOptions, messages: KeptMessages = ""): Promise<S> {
    demandRunSettings(options);
    demandMessages(messages);
    const record = await this.#server.transport.ask<SessionRecord>(Call.CreateSession, { id, agentName }, split(options)[0]);
    const identified = (message: object): object => ({ id: newId(), ...message });
    const conversation = typeof messages === "string" ? messages : JSON.stringify({ messages: messages.map(identified) });
    const listeners = new Listeners<{ error: TurnwireError; uncaught: TurnwireError }>();
    listeners.add("uncaught", (error) => {
      throw error;
    });
    // In a separate task, so that the caller can add a listener first.
    const tell = (error: TurnwireError): void => void setTimeout(() => listeners.tell(listeners.has("error") ? "error" : "uncaught", error));
    const use = watchedStore(tell);
    const setup: AgUiSetup = {
      settings: options,
      conversation,
      keep: (text) => void use(id, text, () => this.#store?.set(key(id), text)),
      stop: (terms) =>
        this.#stop(id, terms).catch((error) => {
          // A run that has just ended cannot be stopped any more.
          if (!(error instanceof ApiError && [404, 409].includes(error.status ?? 0))) tell(error);
        }),
      on: (topic, listener) => listeners.add(topic, listener),
    };
    // A session exists from its beginning, whatever happens to its first run.
    setup.keep(conversation || "{}");
    return this.#make(record, true, setup);
  }
}

/** The key of a session's stored conversation. */
function key(id: string): string {
  return `turnwire:messages:${id}`;
}
