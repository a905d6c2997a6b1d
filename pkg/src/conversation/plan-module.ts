// The plan's module, which travels inside this entry.
import type { InitOutput } from "../../core/conversation/core.js";
import * as core from "../../core/conversation/inline.js";
import { compiled, startFailure } from "../client/face.js";

let starting: Promise<InitOutput> | undefined;

/** Starts the plan's module, once. Rejects with a `TurnwireError` if it cannot start; the next call tries again. */
export function loadPlan(): Promise<InitOutput> {
  return (starting ??= start().catch((cause: unknown) => {
    starting = undefined;
    throw startFailure(cause);
  }));
}

async function start(): Promise<InitOutput> {
  return (await compiled(core)).exports as unknown as InitOutput;
}
