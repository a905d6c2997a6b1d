// What a server's protocol can do, as the core knows it.

/** What a server's protocol can do, so that a page need not find out by failing. */
export interface Capabilities {
  /**
   * What becomes of a turn whose connection breaks. `"cursor"`: its stream goes on after the last event.
   * `"history"`: the turn goes on, and what it said is read once it has ended. `"none"`: nothing more is to be had
   * of it.
   */
  readonly resume: "cursor" | "history" | "none";
  /** A running turn can be cancelled. */
  readonly cancel: boolean;
  /** A session can be stopped and still be used. */
  readonly interrupt: boolean;
  /** What was said in a session can be read again. */
  readonly history: boolean;
  /** Calls of a turn that still runs can be answered. */
  readonly liveAnswers: boolean;
  /** What waits can be thrown away by a user's message. */
  readonly discardPending: boolean;
  /** A user's message can have files. */
  readonly files: boolean;
  /** Sessions whose agent is still being written. */
  readonly drafts: boolean;
  /** Sessions can be searched. */
  readonly search: boolean;
  /** Files of sandboxes can be downloaded. */
  readonly sandboxFiles: boolean;
  /** Sessions can be renamed. */
  readonly rename: boolean;
  /** Sessions can be deleted. */
  readonly delete: boolean;
  /** The state that an agent keeps can be read. */
  readonly state: boolean;
}

/** What a protocol asks of its client. @internal */
export interface Conventions {
  /** A turn can be started without a stream. */
  readonly detached: boolean;
  /** The client makes the ids of sessions and turns. */
  readonly clientIds: boolean;
  /** Each answer to a call is a request of its own. */
  readonly answersApart: boolean;
  /** The longest silence that is life, in milliseconds. */
  readonly silence: number;
}

/** Both, from what the core gives. */
export function capabilitiesOf(json: string): [Capabilities, Conventions] {
  const { detached, clientIds, answersApart, silence, ...capabilities } = JSON.parse(json) as Capabilities & Conventions;
  return [capabilities, { detached, clientIds, answersApart, silence }];
}
