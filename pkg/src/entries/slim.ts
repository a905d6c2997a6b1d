/**
 * The entry without WebAssembly inside: the page loads the modules itself, from the files `turnwire/FAMILY.wasm`.
 * Otherwise it exports what `turnwire` does.
 *
 * @module turnwire/slim
 */
import type { Family } from "../boundary/protocols.js";
import type { Client } from "../client/client.js";
import { chunk, connectWith, load, started, startFailure, TurnwireError } from "../client/face.js";
import type { Extras, Sources, Startable } from "../client/load.js";
import type { ConnectOptions } from "../client/options.js";
import type { WasmModule } from "../transport/platform.js";
import { EXTRAS } from "./families/extras.js";

export * from "./api.js";

/** A core's module: compiled, as bytes, or as the response to a request for the file. */
export type ModuleInput = WasmModule | ArrayBufferView | ArrayBuffer | Response;

/** The loaded modules. */
const modules: Partial<Record<Family, WebAssembly.Module>> = {};
/** The modules that are still loading. */
const coming = new Set<Promise<Family>>();

const CORES: Sources = Object.fromEntries(
  Object.entries(EXTRAS).map(([family, extras]) => [family, () => given(family as Family, extras)]),
);

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
 * Starts a core from a module that the page loads. Once this has resolved, `connect` works with the protocols of that
 * core. You may pass the cores of several families, each once: a second one is ignored. After a failed call, you may
 * try again.
 *
 * ```js
 * await init(fetch("/assets/truefoundry.wasm"));
 * await init(fetch("/assets/agent-event.wasm")); // for `protocol: "tirea"` and `"awaken"`
 * await init(fetch("/assets/aap.wasm")); // for `protocol: "aap"`
 * await init(fetch("/assets/turn-rpc.wasm")); // for `protocol: "turn-rpc"` and `"codex"`
 * ```
 */
export async function init(source: ModuleInput | PromiseLike<ModuleInput>): Promise<void> {
  const module = take(source).catch((cause: unknown) => {
    throw startFailure(cause);
  });
  coming.add(module);
  try {
    await load(CORES[await module]!);
  } finally {
    coming.delete(module);
  }
}

/** The core of a family, if the page has passed its module; `extras` loads its extras. */
async function given(family: Family, extras: () => Promise<Extras>): Promise<Startable> {
  // The page may call `connect` while its modules are still loading.
  await Promise.allSettled(coming);
  const module = modules[family];
  if (module) return { start: () => started(module), ...(await chunk(extras())) };
  throw new TurnwireError("wasm_missing", `Call init(module) of turnwire/slim first, with the file turnwire/${family}.wasm.`);
}

/** Keeps a module; returns its family. */
async function take(source: ModuleInput | PromiseLike<ModuleInput>): Promise<Family> {
  const module = await compile(await source);
  // A core also exports its memory under the name of its family.
  const exported = WebAssembly.Module.exports(module).find(({ name }) => name in CORES);
  if (!exported) throw new TypeError("the module is none of turnwire");
  const family = exported.name as Family;
  modules[family] = module;
  return family;
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
  // Not compileStreaming: the module is small, and servers often send a wrong Content-Type.
  return WebAssembly.compile(await input.arrayBuffer());
}
