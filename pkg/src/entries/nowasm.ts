/**
 * The entry for pages that forbid WebAssembly, and for engines without it: the core of TrueFoundry as JavaScript.
 * Otherwise it exports what `turnwire` does.
 *
 * @module turnwire/nowasm
 */
import { start } from "../../core/truefoundry/script.js";
import type { Client } from "../client/client.js";
import { connectWith, load } from "../client/face.js";
import type { ConnectOptions } from "../client/options.js";
import { Elision, readHistory } from "../protocols/path-history.js";

export * from "./api.js";

const source = () => ({ start, Elision, readHistory });

/**
 * Connects to a server: checks the options and starts the core. Sends no request to the server yet. The protocols are
 * `"truefoundry"`, the default, and `"trueforge"`.
 *
 * Rejects with an `InputError` for a wrong option.
 */
export function connect(options: ConnectOptions): Promise<Client> {
  return connectWith({ truefoundry: source }, options);
}

/** Starts the core before the first `connect`, which otherwise starts it. */
export async function init(): Promise<void> {
  await load(source);
}
