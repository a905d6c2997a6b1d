// The plan's module, which travels inside this entry.
import type { InitOutput } from "../../core/conversation/core.js";
import * as core from "../../core/conversation/inline.js";
import { compiled, load } from "../client/face.js";

const source = () => compiled(core);

/** Starts the plan's module, once. Rejects with a `TurnwireError` if it cannot start; the next call tries again. */
export async function loadPlan(): Promise<InitOutput> {
  return (await load(source)).exports as unknown as InitOutput;
}
