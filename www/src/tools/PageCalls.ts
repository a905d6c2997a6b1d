// Calls of the tools that this page has: which they are, and what they have given.

import { InputError, type RequiredAction, type Session } from "turnwire";
import { pageTools, RUNNING } from "./pageTools";

/** What a turn waits for, and whose it is. */
export interface Waiting {
  readonly all: readonly RequiredAction[];
  readonly person: readonly RequiredAction[];
  readonly page: readonly RequiredAction[];
}

export class PageCalls {
  #names: readonly string[] = [];
  readonly #results = new Map<string, string>();
  readonly #told: () => void;
  #sorted: Waiting = { all: [], person: [], page: [] };

  /** `told` is called when there is a result. */
  constructor(told: () => void) {
    this.#told = told;
  }

  /** Gives the tools to a session, if its agent takes any. */
  equip(session: Session): void {
    try {
      const tools = pageTools((callId, content) => {
        this.#results.set(callId, content);
        this.#told();
      });
      session.tools(tools);
      this.#names = RUNNING;
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      this.#names = [];
    }
  }

  /** Whether the page runs a tool of that name. */
  has(name: string): boolean {
    return this.#names.includes(name);
  }

  /** What is for the person, and what for tools of the page. The same actions are sorted once. */
  sort(all: readonly RequiredAction[]): Waiting {
    if (this.#sorted.all === all) return this.#sorted;
    const page = all.filter((action) => action.type === "tool.response_required" && this.has(action.name));
    const person = page.length === 0 ? all : all.filter((action) => !page.includes(action));
    return (this.#sorted = { all, person, page });
  }

  /** Whether tools of the page are waited for, as it was last sorted. */
  get areAwaited(): boolean {
    return this.#sorted.page.length > 0;
  }

  /** The result of a call that ran here, also before the agent gets it. */
  resultOf(callId: string): string | undefined {
    return this.#results.get(callId);
  }
}
