/**
 * The entry without WebAssembly inside: the page loads the module itself, from the file `turnwire/core.wasm`.
 * Otherwise it exports what `turnwire` does.
 *
 * @module turnwire/slim
 */
import type { Client } from "../client/client.js";
import { chunk, connectWith, started, startFailure, TurnwireError } from "../client/face.js";
import type { Extras, Sources, Startable } from "../client/load.js";
import type { ConnectOptions } from "../client/options.js";
import type { WasmModule } from "../transport/platform.js";
import { EXTRAS } from "./families/extras.js";

export * from "./api.js";

/** The core's module: compiled, as bytes, or as the response to a request for the file. */
export type ModuleInput = WasmModule | ArrayBufferView | ArrayBuffer | Response;

/** The module, once the page has passed it. */
let module: WebAssembly.Module | undefined;
/** Modules that are still loading. */
const coming = new Set<Promise<unknown>>();

const CORES: Sources = Object.fromEntries(Object.entries(EXTRAS).map(([family, extras]) => [family, () => given(extras)]));

/**
 * Connects to a server: checks the options and starts the core. Sends no request to the server yet.
 *
 * Rejects with an `InputError` for a wrong option, and with a `TurnwireError` (`wasm_blocked`, …) if the core cannot
 * start.
 */
export function connect(options: ConnectOptions): Promise<Client> {
  return connectWith(CORES, options);
}

/**
 * Takes the module, which has all protocols. Once this has resolved, `connect` works; it waits for a module that is still
 * loading. A second module is ignored. After a failed call, you may try again.
 *
 * ```js
 * await init(fetch("/assets/core.wasm"));
 * ```
 */
export async function init(source: ModuleInput | PromiseLike<ModuleInput>): Promise<void> {
  const taken = take(source);
  coming.add(taken);
  try {
    await taken;
  } catch (cause) {
    throw startFailure(cause);
  } finally {
    coming.delete(taken);
  }
}

/** The core, if the page has passed its module; `extras` loads what a family needs besides. */
async function given(extras: () => Promise<Extras>): Promise<Startable> {
  await Promise.allSettled(coming);
  const known = module;
  if (known) return { start: () => started(known), ...(await chunk(extras())) };
  throw new TurnwireError("wasm_missing", "Call init(module) of turnwire/slim first, with the file turnwire/core.wasm.");
}

/** Keeps the first module. */
async function take(source: ModuleInput | PromiseLike<ModuleInput>): Promise<void> {
  const taken = await compile(await source);
  // The core also exports its memory under this name.
  if (!WebAssembly.Module.exports(taken).some(({ name }) => name === "turnwire")) throw new TypeError("the module is none of turnwire");
  module ??= taken;
}

async function compile(input: ModuleInput): Promise<WebAssembly.Module> {
  if (input instanceof WebAssembly.Module) return input;
  if (!(input instanceof Response)) return WebAssembly.compile(input as BufferSource);
  if (!input.ok) {
    throw new TurnwireError(
      "wasm_failed",
      `The WebAssembly core could not be fetched: ${input.url} answered ${input.status}.`,
    );
  }
  // Not compileStreaming: servers often send a wrong Content-Type.
  return WebAssembly.compile(await input.arrayBuffer());
}
