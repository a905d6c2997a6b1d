// The options of a turn: its input, and how its stream is read.
import { checkedInput, checkedOptions, demand, demandNames, isObject } from "../common/check.js";
import type { ReconnectOptions } from "../common/reconnect.js";
import type { RequestOptions } from "../transport/lists.js";
import type { TurnInputItem } from "../wire/events.js";
import type { TurnRpcTurnOptions } from "../wire/native-turn-rpc.js";

/** The input of a turn. A string is a user's message. */
export type TurnInput = string | TurnInputItem | readonly TurnInputItem[];

/** The options of `createTurn`. */
export interface CreateTurnOptions {
  /** What the turn begins with. None by default: like `[]`, that continues after `mcp.auth_required`. */
  input?: TurnInput | null | undefined;
  /**
   * `"auto"`, the default, follows the session's last turn; `"none"` starts without a previous turn; an id branches off from that
   * turn. Both are refused unless `session.capabilities.fork`.
   */
  previousTurnId?: "auto" | "none" | (string & {}) | null | undefined;
  /**
   * Allows a user's message while calls wait for an answer; it discards them. `false` by default; then the message is
   * refused. Only if `session.capabilities.discardPending`.
   */
  discardPending?: boolean | undefined;
  /**
   * For sessions that have one turn at a time (`"aap"`, `"turn-rpc"`, `"codex"`): what happens if this client knows of
   * another running turn of the session when this one starts. By default this turn waits; `"fail"` throws a
   * `StateError` (`session_busy`). To send a message to the running turn, use `turn.steer()`.
   */
  whenBusy?: "wait" | "fail" | undefined;
  /**
   * More options of the start (`"turn-rpc"`, `"codex"`); none by default. The gateway takes `model`, `modelProvider`, `mode`,
   * `sandboxPolicy` and `capabilities`; Codex takes those of its `turn/start`, such as `effort` or `approvalPolicy`.
   */
  turnOptions?: TurnRpcTurnOptions | Readonly<Record<string, unknown>> | undefined;
}

/** The options of every method that reads a stream. */
export interface ResumeOptions extends RequestOptions {
  /** How often and how fast to reconnect; `false` for never. By default the value passed to `connect`. */
  reconnect?: ReconnectOptions | false | undefined;
}

/** The options of `stream`. */
export interface StreamOptions extends ResumeOptions {
  /**
   * Only for a turn that has started: deliver the events after this number. By default it is the last one that this
   * object delivered; a smaller number has no effect.
   */
  afterSequenceNumber?: number | undefined;
}

/** The options of a turn, from its input or its options. */
export function inputOrOptions(given: TurnInput | CreateTurnOptions = {}, more?: Omit<CreateTurnOptions, "input">): CreateTurnOptions {
  const isInput = typeof given === "string" || Array.isArray(given) || (isObject(given) && "type" in given);
  if (isInput) return { ...more, input: given as TurnInput };
  return more ? { ...(given as CreateTurnOptions), ...more } : (given as CreateTurnOptions);
}

/** The input of a turn as JSON, and the checked options. Throws an `InputError` that names the wrong option. */
export function checkedTurn(options: CreateTurnOptions, isSocket: boolean): {
  input: string;
  previousTurnId: string | undefined;
  discardPending: boolean;
  whenBusy: "wait" | "fail";
  turnOptions: string;
} {
  // A turn without input makes the model run again, so a misspelt name must not lead to one.
  demandNames("createTurn", options, ["input", "previousTurnId", "discardPending", "whenBusy", ...(isSocket ? ["turnOptions"] : [])]);
  const previousTurnId = options.previousTurnId ?? undefined;
  demand(previousTurnId === undefined || typeof previousTurnId === "string", "`previousTurnId` must be a string");
  const { discardPending = false, whenBusy = "wait", turnOptions } = options;
  demand(typeof discardPending === "boolean", "`discardPending` must be true or false");
  demand(whenBusy === "wait" || whenBusy === "fail", '`whenBusy` must be "wait" or "fail"');
  return {
    input: checkedInput(options.input ?? null),
    previousTurnId,
    discardPending,
    whenBusy,
    turnOptions: turnOptions == null ? "" : checkedOptions("turnOptions", turnOptions),
  };
}
