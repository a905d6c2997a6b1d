// A run: a turn, and those that follow it because tools of the page have given results.
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

/** What `session.run()` takes beside the input: also what `createTurn` takes, for the first turn. */
export interface RunOptions extends Omit<CreateTurnOptions, "input">, ResumeOptions {
  /** So many turns may follow the first one; 10 by default. */
  maxRounds?: number;
}

/**
 * Why a run has ended: nothing waits any more (`"done"`); something waits that no tool of the page answers
 * (`"waiting"`); or as many turns followed as were allowed, and the next calls wait (`"rounds"`).
 */
export type RunReason = "done" | "waiting" | "rounds";

/** The session of a run. */
type RunHost = Pick<TurnHost<Turn>, "createTurn"> & { readonly capabilities: Capabilities };

const MAX_ROUNDS = 10;

/**
 * A turn, and those that follow it because tools of the page have given results. To be iterated once: the loop gets
 * each turn before it is started. When it asks for the next one, the turn is waited for, and the tools run that it
 * calls. A loop that is left stops no tool; `waitForCompletion()` goes on after it.
 */
export class Run implements AsyncIterableIterator<Turn, void, undefined> {
  readonly #session: RunHost;
  readonly #registry: ToolRegistry;
  readonly #creation: Omit<CreateTurnOptions, "input">;
  readonly #maxRounds: number;
  readonly #resuming: ResumeOptions;
  readonly #limits: Limits;
  readonly #turns: Turn[] = [];
  readonly #iterator = this.#each();
  /** The turn after which it goes on. */
  #last!: Turn;
  /** What the page itself answers of what that one waits for. */
  #given: readonly TurnInputItem[] | undefined;
  #reason: RunReason | undefined;
  /** The next turn is on its way; or it will never be there, and this says why. */
  #pulling: Promise<void> | undefined;
  /** Resolves when the loop over the turns is over. There is one at most. */
  #loop: Promise<void> | undefined;
  #hadLoop = false;
  #endLoop = (): void => {};
  /** Ends the heed that is paid to the last turn. */
  #forget = (): void => {};
  /** Answers on their way to a turn that runs. */
  #sending: Promise<unknown> | undefined;
  #fail!: (error: unknown) => void;
  /** Rejects when an answer to a turn that runs did not get through. */
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

  /** Why it has ended; nothing while it goes on, and if it has failed. */
  get reason(): RunReason | undefined {
    return this.#reason;
  }

  /**
   * Waits until the run has ended, and gives how its last turn did. A loop gets its turns all the same; where there
   * is none, or it was left, they are started here. Rejects with what a loop would throw.
   */
  async waitForCompletion(): Promise<TerminalState> {
    // A loop may begin in the same breath.
    await undefined;
    while (this.#reason === undefined) {
      await orAborted(Promise.race([this.#failure, this.#loop ?? this.#pull()]), this.#limits.signal);
    }
    return this.#last.waitForCompletion();
  }

  /** The next turn, which is not started yet. Waits for the one before, and for the tools that it calls. */
  next(): Promise<IteratorResult<Turn, void>> {
    return this.#iterator.next();
  }

  /** The loop is left. Called by the language. */
  return(): Promise<IteratorResult<Turn, void>> {
    this.#endLoop();
    return this.#iterator.return();
  }

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

  /** Goes on after a turn that waits, or may still do so. */
  #resume(newest: Turn | undefined): void {
    if (!newest || (newest.isOver && newest.snapshot().required_actions.length === 0)) {
      throw new InputError("invalid_input", "nothing waits, as far as is known: `history()` reads it anew");
    }
    this.#follow(newest);
  }

  /** Whether this input answers a turn that waits for results as well. They will be added to it. */
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

  /** Makes the next turn, or ends the run. What has failed once fails for everybody. */
  #pull(): Promise<void> {
    return (this.#pulling ??= this.#goOn().then((reason) => {
      this.#reason = reason;
      this.#pulling = undefined;
    }));
  }

  /** Makes the next turn, or gives why there is none. */
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
      // They are kept for the run that gets the other answers.
      answers.catch(() => {});
      return "waiting";
    }
    const input = [...(given ?? []), ...(await answers)];
    // Somebody else may have answered meanwhile.
    if (!given && turn.snapshot().required_actions.length === 0) return "done";
    this.#given = undefined;
    this.#add({ ...(given && this.#creation), input });
    return undefined;
  }

  /** Waits until a turn has ended, and it is known what it waits for. */
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

  /** Goes on after this turn. */
  #follow(turn: Turn): void {
    this.#last = turn;
    if (turn.isOver || !this.#session.capabilities.liveAnswers) return;
    this.#forget = turn.on("event", ({ type }) => type.startsWith("tool.") && this.#answerCalls(turn));
    this.#answerCalls(turn);
  }

  /** Answers what a turn waits for while it goes on. What comes with its end is for the next one. */
  #answerCalls(turn: Turn): void {
    if (turn.status !== "running") return;
    for (const call of this.#registry.callsOf(turn)) void this.#answer(turn, call);
  }

  /** Answers a call, but once, however often it is asked to: neither does a tool run twice, nor is an answer sent twice. */
  async #answer(turn: Turn, call: WaitingCall): Promise<void> {
    try {
      const answer = await this.#registry.answerOf(call, this.#limits.signal);
      // If it has ended by now, the result goes with those of its other calls.
      if (turn.isOver) return;
      const sent = turn.answer(answer, this.#limits as RequestOptions);
      this.#sending = Promise.allSettled([this.#sending, sent]);
      await sent;
    } catch (error) {
      // An input error says that nothing waits for it any more: it was answered already, or cancelled.
      if (!turn.isOver && !(error instanceof InputError)) this.#fail(error);
    }
  }
}

/** Whether a result is wanted that is not among these answers. */
function isOpen(action: RequiredAction, answers: readonly TurnInputItem[]): boolean {
  return (
    action.type === "tool.response_required" && !answers.some((answer) => callKey(answer as ToolAnswer) === callKey(action))
  );
}
