// The entry for Workers, where the platform compiles WebAssembly ahead of time and refuses to do so
// at run time.
import aap from "./aap.wasm";
import agentEvent from "./agent-event.wasm";
import turnRpc from "./turn-rpc.wasm";
import trueFoundry from "./core.wasm";
import { load, provide } from "./load.js";

export * from "./api.js";

provide({ truefoundry: () => trueFoundry, "agent-event": () => agentEvent, aap: () => aap, "turn-rpc": () => turnRpc });

/** Starts the core ahead of the first `connect`, which otherwise does it; other protocols' cores are left alone. */
export async function init(): Promise<void> {
  await load("truefoundry");
}
