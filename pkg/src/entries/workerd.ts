// The entry for Workers. Their platform compiles WebAssembly ahead of time and refuses to do so at run time.
import type { Client } from "../client/client.js";
import { connectWith, load } from "../client/face.js";
import type { ConnectOptions } from "../client/options.js";
import { CORES } from "./families/workers.js";

export * from "./api.js";

/**
 * Connects to a server: checks the options and loads the core. Sends no request to the server yet.
 *
 * Rejects with an `InputError` for a wrong option, and with a `TurnwireError` (`wasm_blocked`, …) if the core cannot
 * start.
 */
export function connect(options: ConnectOptions): Promise<Client> {
  return connectWith(CORES, options);
}

/** Starts the core of `"truefoundry"` before the first `connect`, which otherwise starts it. Other cores are not started. */
export async function init(): Promise<void> {
  await load(CORES.truefoundry);
}
