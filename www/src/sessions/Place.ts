// The conversations at one server with one agent, and what the page keeps beside them.

import type { Client, Session } from "turnwire";
import { Conversations, type Conversation } from "turnwire/conversation";
import { ConversationLog } from "../events/ConversationLog";
import { TOOLS } from "../tools/pageTools";
import { Value } from "../ui/Value";
import { currentSessionId, goTo } from "./route";
import { SessionList } from "./SessionList";

/** The number of turns that are read at once. */
const PAGE = 20;

let places = 0;

export class Place {
  /** Unique for every place of the page. */
  readonly key = (places += 1);
  readonly client: Client;
  readonly sessions: SessionList;
  /** Counts how often a conversation became another object. */
  readonly reopened = new Value(0);
  readonly #conversations: Conversations;
  readonly #logs = new WeakMap<Conversation, ConversationLog>();
  /** The conversation without a session. */
  #fresh: Conversation | undefined;
  #shown: Conversation | undefined;

  constructor(client: Client, agentName: string) {
    this.client = client;
    this.sessions = new SessionList(client, agentName);
    // Only where no other client can read a turn, leaving it would lose it.
    const unseen = client.capabilities.resume === "none" ? "follow" : "leave";
    this.#conversations = new Conversations({ client, agentName, tools: TOOLS, unseen, page: PAGE });
  }

  /** The conversation with this session; with null a new one. The same object each time, until the new one has a session. */
  conversationOf(sessionId: string | null): Conversation {
    if (sessionId !== null) return this.#known(this.#conversations.open(sessionId));
    if (!this.#fresh || this.#fresh.info.get().sessionId !== null) this.#fresh = this.#known(this.#conversations.create());
    return this.#fresh;
  }

  /** What was recorded of a conversation. */
  logOf(conversation: Conversation): ConversationLog {
    return this.#logs.get(conversation)!;
  }

  /** The page shows the conversation. Returns the function for when it does not any more. */
  show(conversation: Conversation): () => void {
    this.#shown = conversation;
    const leave = conversation.attach();
    return () => {
      this.#shown = undefined;
      leave();
    };
  }

  /** Turns without ids of the server's cannot be told from those that were sent here: all of it is read anew. */
  #readAnew(shown: Conversation, sessionId: string): void {
    if (this.#shown !== shown || this.client.capabilities.turnIds || shown.status.get().canStop) return;
    const before = shown.dehydrate();
    this.#conversations.forget(shown);
    this.#conversations.open(sessionId, before);
    this.reopened.set(this.reopened.get() + 1);
  }

  close(): void {
    this.#conversations.close();
  }

  #known(conversation: Conversation): Conversation {
    if (!this.#logs.has(conversation)) {
      this.#logs.set(conversation, new ConversationLog(conversation));
      this.#follow(conversation);
    }
    return conversation;
  }

  /** Keeps the list of sessions and the URL up to date. */
  #follow(conversation: Conversation): void {
    const isNew = conversation.info.get().sessionId === null;
    let session: Session | undefined;
    const note = () => session && this.sessions.note(session, conversation.info.get().title);
    conversation.on("session", (opened) => {
      const isFirst = session === undefined;
      const isCreated = isNew && isFirst;
      session = opened;
      // An opened session is listed already; later it may get a title.
      if (isNew || !isFirst) note();
      // A session that is created in a conversation that was left does not switch to it.
      if (isCreated && this.#shown === conversation && currentSessionId() === null) goTo(opened.id);
    });
    conversation.info.subscribe(() => {
      if (session) this.sessions.name(session, conversation.info.get().title);
    });
    conversation.on("news", () => session && this.#readAnew(conversation, session.id));
    conversation.on("end", ({ status }) => {
      // Else it was left.
      if (status !== "running") note();
    });
  }
}
