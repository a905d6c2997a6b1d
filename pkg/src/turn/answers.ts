// Sends answers to calls that wait while their turn runs, each once.
import type { CoreTurn } from "../boundary/boundary.js";
import { Call } from "../boundary/calls.js";
import { checkedInput } from "../common/check.js";
import { adopting, ApiError, InputError } from "../common/errors.js";
import type { Limits } from "../transport/clocks.js";
import type { Connection } from "./connection.js";
import type { TurnInput } from "./options.js";

/** The statuses with which servers refuse a request for a turn that has just paused or ended. */
export const WAS_PAUSED: readonly number[] = [400, 404, 409];

/** An answer to a call, with the server's question. */
interface AnswerItem {
  tool_call_id: string;
  suspension?: { id?: string };
}

/** The answers sent while one turn runs. */
export class Answers {
  readonly #connection: Connection;
  readonly #core: CoreTurn;
  /** Keys of the answered questions: the id of the server's request if it has one per question, else the call's id. */
  readonly #given = new Set<string>();

  constructor(connection: Connection, core: CoreTurn) {
    this.#connection = connection;
    this.#core = core;
  }

  /** Sends answers. Returns the server's refusal if it means that the turn may have just paused. */
  async send(input: TurnInput, params: object, limits: Limits): Promise<ApiError | undefined> {
    const { transport, conventions } = this.#connection;
    const taken = adopting(() => this.#core.takeAnswers(checkedInput(input)));
    const items = JSON.parse(taken) as AnswerItem[];
    // A server may ask about a call more than once. Over messages, each question has its own id.
    const asked = items.map(({ suspension, tool_call_id }) => suspension?.id ?? tool_call_id);
    const again = asked.findIndex((id) => this.#given.has(id));
    if (again >= 0) throw new InputError("invalid_input", `call \`${items[again]!.tool_call_id}\` was answered already`);
    for (const id of asked) this.#given.add(id);
    let sent = 0;
    try {
      for (const group of conventions.separateAnswers ? items.map((item) => [item]) : [items]) {
        await transport.ask(Call.AnswerTurn, { ...params, input: group }, limits);
        sent += group.length;
      }
      this.#core.takeAnswered(taken, true);
      return undefined;
    } catch (error) {
      this.#core.takeAnswered(JSON.stringify(items.slice(sent)), false);
      for (const id of asked) this.#given.delete(id);
      if (error instanceof ApiError && WAS_PAUSED.includes(error.status!)) return error;
      throw error;
    }
  }

  /** Forgets what was sent: the server asks again for the answers that did not arrive. */
  forget(): void {
    this.#given.clear();
  }
}
