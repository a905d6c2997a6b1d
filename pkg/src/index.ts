// The entry for pages, Node, Bun and Deno: the core travels inside, so that there is no file to find.
import * as inline from "../core/inline.js";
import { load, provide, unpack } from "./load.js";

export * from "./api.js";

provide(() => unpack(inline));

/** Starts the core ahead of the first `connect`, which otherwise does it. */
export async function init(): Promise<void> {
  await load();
}
