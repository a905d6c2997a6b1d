// The entry for Workers, where the platform compiles WebAssembly ahead of time and refuses to do so
// at run time.
import module from "./core.wasm";
import { load, provide } from "./load.js";

export * from "./api.js";

provide(() => module);

/** Starts the core ahead of the first `connect`, which otherwise does it. */
export async function init(): Promise<void> {
  await load();
}
