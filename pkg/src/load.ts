// Starts the WebAssembly cores, each once, from whatever sources the entry provides.
//
// Each entry of the package calls `provide` with its own ways to the compiled modules (inlined in the
// JavaScript, given by the page, or compiled by the platform); everything else only calls `load`.
import type { Exports } from "./boundary.js";
import { messageOf, TurnwireError } from "./errors.js";
import type { Family } from "./protocols.js";
import { unpack } from "./unpack.js";

/** A way to a compiled module. */
type ModuleSource = () => WebAssembly.Module | Promise<WebAssembly.Module>;

let sources: Record<Family, ModuleSource>;
const cores: Partial<Record<Family, Promise<Exports>>> = {};

/** Names the sources of the modules. */
export function provide(given: typeof sources): void {
  sources = given;
}

/**
 * Starts the core of a family. All callers share one start; a failed one is forgotten, so that the next call
 * tries again.
 *
 * Rejects with a `TurnwireError`: `wasm_blocked` (by a Content-Security-Policy or by the platform),
 * `wasm_unsupported`, `wasm_missing` (it was not given yet) or `wasm_failed`.
 */
export function load(family: Family): Promise<Exports> {
  return (cores[family] ??= start(sources[family]).catch((cause: unknown) => {
    delete cores[family];
    throw startFailure(cause);
  }));
}

async function start(source: ModuleSource): Promise<Exports> {
  // A core needs nothing of JavaScript: without imports there is no glue to load.
  return new WebAssembly.Instance(await source()).exports as unknown as Exports;
}

/** A file with a core in it, if it comes. */
export function chunk<T>(file: Promise<T>): Promise<T> {
  return file.catch((cause: unknown) => {
    // Some browsers remember a file that did not come until the page is loaded anew.
    const message = `The file with the core of this protocol could not be loaded: ${messageOf(cause)}`;
    throw new TurnwireError("wasm_failed", message, { cause });
  });
}

/** Compiles a module that travels as text. */
export async function compiled({ packed }: { packed: readonly string[] }): Promise<WebAssembly.Module> {
  return WebAssembly.compile(unpack(packed));
}

// Chromium and Firefox reject with a CompileError, WebKit with an EvalError; only their texts tell
// a policy from a damaged module.
const BLOCKED_BY_PAGE = /unsafe-eval|content security policy|\bcsp\b/i;
const BLOCKED_BY_PLATFORM = /disallowed by embedder/i;

/** Why a core could not start, as an error of this package. */
export function startFailure(cause: unknown): TurnwireError {
  if (cause instanceof TurnwireError) return cause;
  const text = messageOf(cause);
  if (BLOCKED_BY_PAGE.test(text)) {
    return new TurnwireError(
      "wasm_blocked",
      "The page's Content-Security-Policy blocks WebAssembly. Add 'wasm-unsafe-eval' to its " +
        "script-src directive; that allows WebAssembly and does not allow eval().",
      { cause },
    );
  }
  if (BLOCKED_BY_PLATFORM.test(text)) {
    return new TurnwireError(
      "wasm_blocked",
      "This platform does not compile WebAssembly at run time. Import turnwire/slim and pass " +
        "init() the module that the platform compiled from turnwire/core.wasm.",
      { cause },
    );
  }
  if (typeof WebAssembly === "undefined") {
    return new TurnwireError("wasm_unsupported", "This browser has no WebAssembly.", { cause });
  }
  return new TurnwireError("wasm_failed", `The WebAssembly core could not start: ${text}`, { cause });
}
