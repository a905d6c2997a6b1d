// The entry without WebAssembly inside: the page brings the module (the file `turnwire/core.wasm`).
import { load, provide } from "./load.js";
import { TurnwireError } from "./errors.js";

export * from "./api.js";

/** The core's module: compiled, as bytes, or as the response to a request for the file. */
export type ModuleInput = WebAssembly.Module | BufferSource | Response;

/**
 * Starts the core from a module that the page brings; `connect` works once this has resolved.
 * Calls after a successful one do nothing; after a failed one they try again.
 *
 * ```js
 * await init(fetch("/assets/core.wasm"));
 * ```
 */
export async function init(source: ModuleInput | PromiseLike<ModuleInput>): Promise<void> {
  provide(async () => compile(await source));
  await load();
}

async function compile(input: ModuleInput): Promise<WebAssembly.Module> {
  if (input instanceof WebAssembly.Module) return input;
  if (!(input instanceof Response)) return WebAssembly.compile(input);
  if (!input.ok) {
    throw new TurnwireError(
      "wasm_failed",
      `The WebAssembly core could not be fetched: ${input.url} answered ${input.status}.`,
    );
  }
  // Not compileStreaming: the module is small, and servers often send a wrong Content-Type.
  return WebAssembly.compile(await input.arrayBuffer());
}
