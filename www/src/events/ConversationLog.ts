// What the page records of a conversation's turns while it reads them: their events, and the state of their connections.

import type { Turn } from "turnwire";
import type { Conversation } from "turnwire/conversation";
import { TurnConnection } from "../connection/TurnConnection";
import { EventLog } from "./EventLog";

export class ConversationLog {
  readonly events = new EventLog();
  readonly #connections = new WeakMap<Turn, TurnConnection>();

  constructor(conversation: Conversation) {
    const ends = new Map<Turn, () => void>();
    const end = (turn: Turn) => {
      ends.get(turn)?.();
      ends.delete(turn);
    };
    conversation.on("turn", (turn) => {
      const isIt = (key: string) => conversation.turnOf(key) === turn;
      const numberOf = () => conversation.turns.get().findLastIndex(isIt) + 1;
      const follows = [this.events.follow(numberOf, turn), this.#connectionOf(turn).follow(turn)];
      ends.set(turn, () => follows.forEach((stop) => stop()));
    });
    conversation.on("end", end);
  }

  /** The state of the connection on which a turn was read; none if this page did not read it. */
  connectionOf(turn: Turn | undefined): TurnConnection {
    return turn ? this.#connectionOf(turn) : UNREAD;
  }

  #connectionOf(turn: Turn): TurnConnection {
    let connection = this.#connections.get(turn);
    if (!connection) this.#connections.set(turn, (connection = new TurnConnection()));
    return connection;
  }
}

const UNREAD = new TurnConnection();
