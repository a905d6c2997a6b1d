// Starts the WebAssembly core, once, from whatever source the entry provides.
//
// Each entry of the package calls `provide` with its own way to the compiled module (inlined in the
// JavaScript, given by the page, or compiled by the platform); everything else only calls `load`.
import type { Exports } from "./boundary.js";
import { messageOf, TurnwireError } from "./errors.js";

/** A way to the compiled module. */
export type ModuleSource = () => WebAssembly.Module | Promise<WebAssembly.Module>;

let source: ModuleSource | undefined;
let loading: Promise<Exports> | undefined;

/** Names the source of the module; the next `load` that has to start the core uses it. */
export function provide(next: ModuleSource): void {
  source = next;
}

/**
 * Starts the core. All callers share one start; a failed one is forgotten, so that the next call
 * tries again.
 *
 * Rejects with a `TurnwireError`: `wasm_blocked` (by a Content-Security-Policy or by the platform),
 * `wasm_unsupported`, `wasm_missing` (no source provided yet) or `wasm_failed`.
 */
export function load(): Promise<Exports> {
  loading ??= start().catch((cause: unknown) => {
    loading = undefined;
    throw startFailure(cause);
  });
  return loading;
}

async function start(): Promise<Exports> {
  if (source === undefined) {
    throw new TurnwireError(
      "wasm_missing",
      "Call init(module) of turnwire/slim first.",
    );
  }
  // The core needs nothing of JavaScript: without imports there is no glue to load.
  return new WebAssembly.Instance(await source()).exports as unknown as Exports;
}

/** Compiles a module that travels as text. `key` holds the symbols of all bytes, from 0 on. */
export async function unpack({ key, text }: { key: string; text: string }): Promise<WebAssembly.Module> {
  const byteOf: number[] = [];
  symbols(key).forEach((symbol, byte) => (byteOf[symbol] = byte));
  return WebAssembly.compile(Uint8Array.from(symbols(text), (symbol) => byteOf[symbol]!));
}

/** From this code on, a character opens a symbol of two. */
const OPENER = 125;

/** The symbols of a text as numbers. */
function symbols(text: string): Uint16Array {
  const numbers = new Uint16Array(text.length);
  let count = 0;
  let opener = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < OPENER) numbers[count++] = opener + code;
    opener = code < OPENER ? 0 : code << 7;
  }
  return numbers.subarray(0, count);
}

// Chromium and Firefox reject with a CompileError, WebKit with an EvalError; only their texts tell
// a policy from a damaged module.
const BLOCKED_BY_PAGE = /unsafe-eval|content security policy|\bcsp\b/i;
const BLOCKED_BY_PLATFORM = /disallowed by embedder/i;

function startFailure(cause: unknown): TurnwireError {
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
