// Calls of the page's tools, and their results.

import { InputError, type RequiredAction, type Session } from "turnwire";
import { pageTools, RUNNING } from "./pageTools";

/** What a turn waits for, by who answers it. */
export interface Waiting {
  readonly all: readonly RequiredAction[];
  readonly person: readonly RequiredAction[];
  readonly page: readonly RequiredAction[];
}

export class PageCalls {
  #names: readonly string[] = [];
  readonly #results = new Map<string, string>();
  readonly #onResult: () => void;
  #sorted: Waiting = { all: [], person: [], page: [] };

  /** Calls `onResult` when there is a result. */
  constructor(onResult: () => void) {
    this.#onResult = onResult;
  }

  /** Gives the tools to a session, if its agent accepts any. */
  equip(session: Session): void {
    try {
      const tools = pageTools((callId, content) => {
        this.#results.set(callId, content);
        this.#onResult();
      });
      session.tools(tools);
      this.#names = RUNNING;
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      this.#names = [];
    }
  }

  /** Whether the page runs a tool with that name. */
  has(name: string): boolean {
    return this.#names.includes(name);
  }

  /** The actions for the person, and those for tools of the page. The same actions are sorted once. */
  sort(all: readonly RequiredAction[]): Waiting {
    if (this.#sorted.all === all) return this.#sorted;
    const page = all.filter((action) => action.type === "tool.response_required" && this.has(action.name));
    const person = page.length === 0 ? all : all.filter((action) => !page.includes(action));
    return (this.#sorted = { all, person, page });
  }

  /** Whether the last sorted actions include tools of the page. */
  get areAwaited(): boolean {
    return this.#sorted.page.length > 0;
  }

  /** The result of a call that ran here, even before the agent gets it. */
  resultOf(callId: string): string | undefined {
    return this.#results.get(callId);
  }
}
