// Starts the WebAssembly core, once, from whatever source the entry provides.
//
// Each entry of the package calls `provide` with its own way to the compiled module (inlined in the
// JavaScript, given by the page, or compiled by the platform); everything else only calls `load`.
import { initSync, type InitOutput } from "../core/core.js";
import { TurnwireError } from "./errors.js";

/** The exports of the running core, its `memory` among them. */
export type Core = InitOutput;

/** A way to the compiled module. */
export type ModuleSource = () => WebAssembly.Module | Promise<WebAssembly.Module>;

let source: ModuleSource | undefined;
let loading: Promise<Core> | undefined;

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
export function load(): Promise<Core> {
  loading ??= start().catch((cause: unknown) => {
    loading = undefined;
    throw startFailure(cause);
  });
  return loading;
}

async function start(): Promise<Core> {
  if (source === undefined) {
    throw new TurnwireError(
      "wasm_missing",
      "The WebAssembly core has no source yet: call init(module) of turnwire/slim first.",
    );
  }
  return initSync({ module: await source() });
}

/** Compiles a module that travels as base64 of its gzip form. */
export async function unpack(base64: string): Promise<WebAssembly.Module> {
  // Not fetch("data:…"), which a Content-Security-Policy without `connect-src data:` blocks.
  const packed = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(plain).arrayBuffer());
}

// Chromium and Firefox reject with a CompileError, WebKit with an EvalError; only their texts tell
// a policy from a damaged module.
const BLOCKED_BY_PAGE = /unsafe-eval|content security policy|\bcsp\b/i;
const BLOCKED_BY_PLATFORM = /disallowed by embedder/i;

function startFailure(cause: unknown): TurnwireError {
  if (cause instanceof TurnwireError) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
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
  if (typeof WebAssembly === "undefined" || typeof DecompressionStream === "undefined") {
    const missing = typeof WebAssembly === "undefined" ? "WebAssembly" : "DecompressionStream";
    return new TurnwireError("wasm_unsupported", `This browser has no ${missing}.`, { cause });
  }
  return new TurnwireError("wasm_failed", `The WebAssembly core could not start: ${text}`, { cause });
}
