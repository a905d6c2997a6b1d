// The entry for pages that speak only `"tirea"` and `"awaken"` and need the core in the same file.
import type { Client } from "../client/client.js";
import { compiled, connectWith, load } from "../client/face.js";
import type { ConnectOptions } from "../client/options.js";
import * as core from "./agent-event-core.js";

export * from "./api.js";

const source = () => compiled(core);

/**
 * Connects to a server: checks the options and starts the core. Sends no request to the server yet. The protocols are
 * `"tirea"`, the default, and `"awaken"`.
 *
 * Rejects with an `InputError` for a wrong option, and with a `TurnwireError` (`wasm_blocked`, …) if the core cannot
 * start.
 */
export function connect(options: ConnectOptions): Promise<Client> {
  return connectWith({ "agent-event": source }, options);
}

/** Starts the core before the first `connect`, which otherwise starts it. */
export async function init(): Promise<void> {
  await load(source);
}
