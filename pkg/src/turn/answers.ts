// Answers to calls that wait while their turn runs: each goes out once.
import type { CoreTurn } from "../boundary/boundary.js";
import { Call } from "../boundary/calls.js";
import { checkedInput } from "../common/check.js";
import { adopting, ApiError, InputError } from "../common/errors.js";
import type { Limits } from "../transport/clocks.js";
import type { Connection } from "./connection.js";
import type { TurnInput } from "./options.js";

/** How servers refuse what is meant for a turn that has paused meanwhile, or is over. */
export const WAS_PAUSED: readonly number[] = [400, 404, 409];

/** An answer to a call, with what was asked. */
interface AnswerItem {
  tool_call_id: string;
  suspension?: { id?: string };
}

/** What was answered while one turn runs. */
export class Answers {
  readonly #connection: Connection;
  readonly #core: CoreTurn;
  /** By the server's request, where there is one for each question, or by the call. */
  readonly #given = new Set<string>();

  constructor(connection: Connection, core: CoreTurn) {
    this.#connection = connection;
    this.#core = core;
  }

  /** Sends answers. Gives the server's refusal, if it is one of a turn that may have paused in this moment. */
  async send(input: TurnInput, params: object, limits: Limits): Promise<ApiError | undefined> {
    const { transport, conventions } = this.#connection;
    const taken = adopting(() => this.#core.takeAnswers(checkedInput(input)));
    const items = JSON.parse(taken) as AnswerItem[];
    // A call may be asked about more than once; where that is by messages, each has an id of its own.
    const asked = items.map(({ suspension, tool_call_id }) => suspension?.id ?? tool_call_id);
    const again = asked.findIndex((id) => this.#given.has(id));
    if (again >= 0) throw new InputError("invalid_input", `call \`${items[again]!.tool_call_id}\` was answered already`);
    for (const id of asked) this.#given.add(id);
    try {
      for (const group of conventions.answersApart ? items.map((item) => [item]) : [items]) {
        await transport.ask(Call.AnswerTurn, { ...params, input: group }, limits);
      }
      this.#core.answered(taken);
      return undefined;
    } catch (error) {
      for (const id of asked) this.#given.delete(id);
      if (error instanceof ApiError && WAS_PAUSED.includes(error.status!)) return error;
      throw error;
    }
  }

  /** What is asked for again has not arrived. */
  forget(): void {
    this.#given.clear();
  }
}
