// The entry for Workers. Their platform compiles WebAssembly ahead of time and refuses to do so at run time.
import type { Client } from "../client/client.js";
import { connectWith, load } from "../client/face.js";
import type { ConnectOptions } from "../client/options.js";
import { AapSession } from "../protocols/aap-session.js";
import { SocketTransport } from "../protocols/socket.js";
import aap from "./aap.wasm";
import agentEvent from "./agent-event.wasm";
import trueFoundry from "./truefoundry.wasm";
import turnRpc from "./turn-rpc.wasm";

export * from "./api.js";

const CORES = {
  truefoundry: () => ({ module: trueFoundry }),
  "agent-event": () => ({ module: agentEvent }),
  aap: () => ({ module: aap, Managed: AapSession }),
  "turn-rpc": () => ({ module: turnRpc, Way: SocketTransport }),
};

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
