// The options of a turn: what it is given, and how its stream is read.
import { checkedInput, checkedOptions, demand, demandNames } from "../common/check.js";
import type { ReconnectOptions } from "../common/reconnect.js";
import type { RequestOptions } from "../transport/lists.js";
import type { TurnInputItem } from "../wire/events.js";
import type { TurnRpcTurnOptions } from "../wire/native-turn-rpc.js";

/** What a turn is given: a text is a user's message. */
export type TurnInput = string | TurnInputItem | readonly TurnInputItem[];

/** What `createTurn` takes. */
export interface CreateTurnOptions {
  /** Nothing, or `[]`, goes on after `mcp.auth_required`. */
  input?: TurnInput | null;
  /** `"auto"` follows the session's last turn; `"none"` begins afresh; an id branches off from that turn. */
  previousTurnId?: "auto" | "none" | (string & {}) | null;
  /**
   * A user's message may be sent while calls wait for an answer, and throws them away. Without this it is refused.
   * Only where `session.capabilities.discardPending`.
   */
  discardPending?: boolean;
  /**
   * Where a session has one turn at a time (`"aap"`, `"turn-rpc"`, `"codex"`): what becomes of this one if another one of
   * this session still runs, as far as is known here, when it is started. It waits by default; `"fail"` is a `StateError`
   * (`session_busy`). To say more to the turn that runs, there is `turn.steer()`.
   */
  whenBusy?: "wait" | "fail";
  /**
   * What the turn is started with besides (`"turn-rpc"`, `"codex"`). The gateway takes `model`, `modelProvider`, `mode`,
   * `sandboxPolicy` and `capabilities`; Codex what its `turn/start` takes, such as `effort` or `approvalPolicy`.
   */
  turnOptions?: TurnRpcTurnOptions | Readonly<Record<string, unknown>>;
}

/** What everything takes that reads a stream. */
export interface ResumeOptions extends RequestOptions {
  /** How persistently a lost connection is recovered; `false` not at all. By default as `connect` was told. */
  reconnect?: ReconnectOptions | false;
}

/** What `stream` takes. */
export interface StreamOptions extends ResumeOptions {
  /**
   * Only for a turn that has started: events after this one. By default after the last that this object
   * delivered; it never goes back behind that.
   */
  afterSequenceNumber?: number;
}

/** The input of a turn as JSON, and what it follows. Throws an `InputError` that names the wrong option. */
export function checkedTurn(options: CreateTurnOptions, isSocket: boolean): {
  input: string;
  previousTurnId: string | undefined;
  discardPending: boolean;
  whenBusy: "wait" | "fail";
  turnOptions: string;
} {
  // A turn without input makes the model run again: no misspelt name may come to that.
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
