// The entry for pages, Node, Bun and Deno: the core travels inside, so that there is no file to find.
import * as inline from "../core/truefoundry/inline.js";
import { chunk, compiled, load, provide } from "./load.js";

export * from "./api.js";

provide({
  truefoundry: () => compiled(inline),
  // Bundlers make a file of this that is loaded when it is needed. So does the package's own build.
  "agent-event": async () => compiled(await chunk(import("./agent-event.js"))),
  aap: async () => compiled(await chunk(import("./aap.js"))),
  "turn-rpc": async () => compiled(await chunk(import("./turn-rpc.js"))),
});

/** Starts the core ahead of the first `connect`, which otherwise does it; other protocols' cores are left alone. */
export async function init(): Promise<void> {
  await load("truefoundry");
}
