// Calls of the tools that this page has: which they are, and what they have given.

import { InputError, type RequiredAction, type Session } from "turnwire";
import { pageTools, RUNNING } from "./pageTools";

export class PageCalls {
  #names: readonly string[] = [];
  readonly #results = new Map<string, string>();
  readonly #told: () => void;

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

  /** What waits for a tool of the page, among all that waits. */
  among(actions: readonly RequiredAction[]): RequiredAction[] {
    return actions.filter((action) => action.type === "tool.response_required" && this.has(action.name));
  }

  /** The result of a call that ran here, also before the agent gets it. */
  resultOf(callId: string): string | undefined {
    return this.#results.get(callId);
  }
}
