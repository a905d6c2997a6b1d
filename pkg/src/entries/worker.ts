/**
 * The entry for pages with many or fast streams: it reads responses in a worker. Otherwise it exports what `turnwire`
 * does.
 *
 * @module turnwire/worker
 */
import type { Client } from "../client/client.js";
import { connectWith } from "../client/face.js";
import type { ConnectOptions } from "../client/options.js";
import { fetchInWorker } from "../transport/worker.js";
import { CORES } from "./families/split.js";

export * from "./api.js";
export { init } from "./index.js";

/**
 * Connects to a server: checks the options and loads the core. Sends no request to the server yet.
 *
 * Requests over `fetch` are sent and read in a dedicated worker, which all clients of the page share; the page takes what
 * has come about once in a frame. The page reads by itself if you pass a `fetch` of your own, if the protocol uses a
 * `WebSocket`, and where no such worker may run: its policy needs `worker-src blob:`.
 *
 * Rejects with an `InputError` for a wrong option, and with a `TurnwireError` (`wasm_blocked`, …) if the core cannot
 * start.
 */
export function connect(options: ConnectOptions): Promise<Client> {
  const isPage = typeof Worker === "function" && typeof document === "object";
  return connectWith(CORES, isPage && !options?.fetch ? { ...options, fetch: fetchInWorker } : options);
}
