/**
 * The entry for pages, Node, Bun and Deno. It finds the core of each protocol itself. Bundlers make each core a separate
 * file that is loaded when it is needed; so does the package's own build.
 *
 * @module turnwire
 */
import type { Client } from "../client/client.js";
import { connectWith, load } from "../client/face.js";
import type { ConnectOptions } from "../client/options.js";
import { CORES } from "./families/split.js";

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
