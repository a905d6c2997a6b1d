// Refused actions of a page, as errors.
import { demand, InputError, StateError } from "../client/face.js";
import type { TurnwireError } from "../common/errors.js";
import type { Refusal } from "./plan/effects.js";

/** Throws an `InputError` for an invalid value of `whenBusy`. */
export function demandBusy(word: string | undefined): void {
  demand(word === undefined || ["queue", "steer", "interrupt", "reject"].includes(word), '`whenBusy` must be "queue", "steer", "interrupt" or "reject"');
}

/** The error of a refusal. `method` is the called method. */
export function refusalError(refusal: Refusal, method: string): TurnwireError {
  switch (refusal) {
    case "unsupported":
      return new StateError("unsupported", `this protocol has no \`${method}\``);
    case "callsWait":
      return new StateError("session_busy", "calls wait for an answer: answer them first, or pass `discardPending` if the protocol has it");
    case "busy":
      return new StateError("session_busy", "a turn of the conversation still runs");
    case "gone":
      return new InputError("invalid_input", `\`${method}\` got a key that the conversation does not have, or not any more`);
    case "sent":
      return new StateError("turn_already_started", "it was sent already, and cannot be changed");
    case "notWaiting":
      return new StateError("turn_not_running", "the call does not wait for an answer");
    case "nothing":
      return new InputError("invalid_input", `there is nothing that \`${method}\` could do`);
  }
}
