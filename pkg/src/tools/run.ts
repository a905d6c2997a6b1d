// A run: a turn, and the turns that follow it with results of the page's tools.
import type { Capabilities } from "../boundary/capabilities.js";
import { demandWhole, isObject } from "../common/check.js";
import { InputError } from "../common/errors.js";
import type { RequiredAction } from "../snapshot/snapshot.js";
import type { Limits } from "../transport/clocks.js";
import { demandOptions, type RequestOptions, split } from "../transport/lists.js";
import { orAborted, stopped } from "../transport/transport.js";
import type { TurnHost } from "../turn/host.js";
import type { CreateTurnOptions, ResumeOptions, TurnInput } from "../turn/options.js";
import type { Turn } from "../turn/turn.js";
import type { TerminalState, TurnInputItem } from "../wire/events.js";
import { callKey, type ToolAnswer, type ToolRegistry, type WaitingCall } from "./tools.js";

/** The options of `session.run()`, in addition to the input. Those of `createTurn` apply to the first turn. */
export interface RunOptions extends Omit<CreateTurnOptions, "input">, ResumeOptions {
  /** The most turns that may follow the first one; 10 by default. */
  maxRounds?: number | undefined;
}

/**
 * Why a run has ended. `"done"`: nothing waits any more. `"waiting"`: something waits that no tool of the page answers.
 * `"rounds"`: the maximum number of turns has followed, and the next calls wait.
 */
export type RunReason = "done" | "waiting" | "rounds";

/** The session of a run. */
type RunHost = Pick<TurnHost<Turn>, "createTurn"> & { readonly capabilities: Capabilities };

const MAX_ROUNDS = 10;

/**
 * A turn, and the turns that follow it with results of the page's tools. Iterate over it once: the loop gets each turn
 * before it is started. When the loop asks for the next turn, the run waits for the current one and runs the tools that
 * it calls. Leaving the loop stops no tool; `waitForCompletion()` continues after it.
 */
export class Run implements AsyncIterableIterator<Turn> {
  readonly #session: RunHost;
  readonly #registry: ToolRegistry;
  readonly #creation: Omit<CreateTurnOptions, "input">;
  readonly #maxRounds: number;
  readonly #resuming: ResumeOptions;
  readonly #limits: Limits;
  readonly #turns: Turn[] = [];
  readonly #iterator = this.#each();
  /** The turn after which the run continues. */
  #last!: Turn;
  /** The caller's own answers to that turn's actions. */
  #given: readonly TurnInputItem[] | undefined;
  #reason: RunReason | undefined;
  /** Pending while the next turn is prepared. Rejects if there will be none because of an error. */
  #pulling: Promise<void> | undefined;
  /** Resolves when the loop over the turns has ended. There is at most one loop. */
  #loop: Promise<void> | undefined;
  #hadLoop = false;
  #endLoop = (): void => {};
  /** Removes the listeners to the last turn. */
  #forget = (): void => {};
  /** Answers in flight to a running turn. */
  #sending: Promise<unknown> | undefined;
  #fail!: (error: unknown) => void;
  /** Rejects when an answer to a running turn could not be sent. */
  readonly #failure = new Promise<never>((_, reject) => (this.#fail = reject));

  /** `newest` is the session's newest turn. @internal */
  constructor(
    session: RunHost,
    registry: ToolRegistry,
    newest: Turn | undefined,
    input: TurnInput | null | undefined,
    options: RunOptions,
  ) {
    demandOptions("run", options, "previousTurnId", "discardPending", "whenBusy", "reconnect", "maxRounds");
    const { previousTurnId = null, discardPending = false, whenBusy = "wait", maxRounds = MAX_ROUNDS, ...resuming } = options;
    demandWhole("maxRounds", maxRounds);
    this.#session = session;
    this.#registry = registry;
    this.#creation = { previousTurnId, discardPending, whenBusy };
    this.#maxRounds = maxRounds;
    this.#resuming = resuming;
    [this.#limits] = split(resuming);
    this.#failure.catch(() => this.#forget());
    if (input == null) this.#resume(newest);
    else if (!newest || !this.#completes(newest, input)) this.#add({ ...this.#creation, input });
  }

  /** The turns so far. */
  get turns(): readonly Turn[] {
    return this.#turns;
  }

  /** Why the run has ended; `undefined` while it runs, and if it has failed. */
  get reason(): RunReason | undefined {
    return this.#reason;
  }

  /**
   * Waits until the run has ended, and returns how its last turn ended. A loop still gets its turns; without a loop, or
   * after one was left, starts the turns itself. Rejects with the error that a loop would throw.
   */
  async waitForCompletion(): Promise<TerminalState> {
    // A loop may begin in the same task.
    await undefined;
    while (this.#reason === undefined) {
      await orAborted(Promise.race([this.#failure, this.#loop ?? this.#pull()]), this.#limits.signal);
    }
    return this.#last.waitForCompletion();
  }

  /** Returns the next turn, which is not started yet. Waits for the current one, and for the tools that it calls. */
  next(): Promise<IteratorResult<Turn, void>> {
    return this.#iterator.next();
  }

  /** Ends the loop. Called by the language. */
  return(): Promise<IteratorResult<Turn, void>> {
    this.#endLoop();
    return this.#iterator.return();
  }

  /** Begins the loop over the turns. There is one. */
  [Symbol.asyncIterator](): this {
    if (this.#hadLoop) return this;
    this.#hadLoop = true;
    this.#loop = new Promise((resolve) => {
      this.#endLoop = () => {
        this.#loop = undefined;
        resolve();
      };
    });
    return this;
  }

  async *#each(): AsyncGenerator<Turn, void, undefined> {
    const { signal } = this.#limits;
    try {
      for (let at = 0; ; at += 1) {
        if (at === this.#turns.length) await this.#pull();
        if (signal?.aborted) throw stopped(signal);
        const turn = this.#turns[at];
        if (!turn) return;
        yield turn;
      }
    } finally {
      this.#endLoop();
    }
  }

  /** Continues after a turn that waits, or may still do so. */
  #resume(newest: Turn | undefined): void {
    if (!newest || (newest.isOver && newest.snapshot().required_actions.length === 0)) {
      throw new InputError("invalid_input", "nothing waits, as far as is known: `history()` reads it anew");
    }
    this.#follow(newest);
  }

  /** Whether this input answers a turn that also waits for tool results. They will be added to the input. */
  #completes(newest: Turn, input: TurnInput): boolean {
    const { previousTurnId, discardPending } = this.#creation;
    const items = [input].flat() as readonly TurnInputItem[];
    const isAnswer = items.every((item) => isObject(item) && "tool_call_id" in item);
    if (!newest.isOver || !isAnswer || discardPending || ![null, "auto", newest.id].includes(previousTurnId!)) return false;
    if (!newest.snapshot().required_actions.some((action) => isOpen(action, items))) return false;
    this.#given = items;
    this.#follow(newest);
    return true;
  }

  /** Creates the next turn, or ends the run. An error is the same for all callers. */
  #pull(): Promise<void> {
    return (this.#pulling ??= this.#goOn().then((reason) => {
      this.#reason = reason;
      this.#pulling = undefined;
    }));
  }

  /** Creates the next turn, or returns why there is none. */
  async #goOn(): Promise<RunReason | undefined> {
    if (this.#reason) return this.#reason;
    const turn = this.#last;
    const given = this.#given;
    await this.#ended(turn);
    const { required_actions: actions } = turn.snapshot();
    const calls = this.#registry.callsOf(turn).filter((call) => !given || isOpen(call, given));
    const isAll = given !== undefined || calls.length === actions.length;
    if (!given && actions.length === 0) return "done";
    if (!given && isAll && this.#turns.length > this.#maxRounds) return "rounds";
    const answers = Promise.all(calls.map((call) => this.#registry.answerOf(call, this.#limits.signal)));
    if (!isAll) {
      // The results are kept for the run that gets the other answers.
      answers.catch(() => {});
      return "waiting";
    }
    const input = [...(given ?? []), ...(await answers)];
    // Another call may have answered meanwhile.
    if (!given && turn.snapshot().required_actions.length === 0) return "done";
    this.#given = undefined;
    this.#add({ ...(given && this.#creation), input });
    return undefined;
  }

  /** Waits until a turn has ended and its actions are known. */
  async #ended(turn: Turn): Promise<void> {
    try {
      await Promise.race([this.#failure, turn.waitForCompletion(this.#resuming)]);
    } finally {
      this.#forget();
    }
    await this.#sending;
  }

  #add(options: CreateTurnOptions): void {
    const turn = this.#session.createTurn(options);
    this.#turns.push(turn);
    this.#follow(turn);
  }

  /** Continues after this turn. */
  #follow(turn: Turn): void {
    this.#last = turn;
    if (turn.isOver || !this.#session.capabilities.liveAnswers) return;
    this.#forget = turn.on("event", ({ type }) => type.startsWith("tool.") && this.#answerCalls(turn));
    this.#answerCalls(turn);
  }

  /** Answers a turn's calls while it runs. Calls that come with its end belong to the next turn. */
  #answerCalls(turn: Turn): void {
    if (turn.status !== "running") return;
    for (const call of this.#registry.callsOf(turn)) void this.#answer(turn, call);
  }

  /** Answers a call once, however often this is called: no tool runs twice, and no answer is sent twice. */
  async #answer(turn: Turn, call: WaitingCall): Promise<void> {
    try {
      const answer = await this.#registry.answerOf(call, this.#limits.signal);
      // If the turn has ended by now, the result goes with those of its other calls.
      if (turn.isOver) return;
      const sent = turn.answer(answer, this.#limits as RequestOptions);
      this.#sending = Promise.allSettled([this.#sending, sent]);
      await sent;
    } catch (error) {
      // An input error means that the call no longer waits: it was answered already, or cancelled.
      if (!turn.isOver && !(error instanceof InputError)) this.#fail(error);
    }
  }
}

/** Whether a result is missing among these answers. */
function isOpen(action: RequiredAction, answers: readonly TurnInputItem[]): boolean {
  return (
    action.type === "tool.response_required" && !answers.some((answer) => callKey(answer as ToolAnswer) === callKey(action))
  );
}
