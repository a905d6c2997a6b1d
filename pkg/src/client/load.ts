// Starts the WebAssembly cores, each once. Where its module comes from, the entry says that the page imports: from the
// entry itself, from a file that is loaded then, from the page, or from the platform.
import type { CoreClient, Exports } from "../boundary/boundary.js";
import type { Family } from "../boundary/protocols.js";
import { unpack } from "../boundary/unpack.js";
import { messageOf, TurnwireError } from "../common/errors.js";
import type { Settings, Transport } from "../transport/transport.js";
import type { Connection } from "../turn/connection.js";
import type { MakeManagedSession } from "./managed-session.js";
import type { ConnectOptions } from "./options.js";

/** What the protocols of a family need besides their core. It comes with the core, so that other pages go without. */
export interface Extras {
  /** The way to servers, where that is not `fetch`. @internal */
  readonly Way?: new (core: CoreClient, baseUrl: string, options: ConnectOptions, settings: Settings & { maxFrameBytes: number }) => Transport;
  /** What keeps a session where the server knows no turns. @internal */
  readonly Managed?: MakeManagedSession;
}

/** A server that is spoken to, and what comes with the core that speaks to it. @internal */
export interface ClientConnection extends Connection {
  readonly extras: Extras;
}

/** A core that can be started: its module, and what comes with it. */
export interface Source extends Extras {
  readonly module: WebAssembly.Module;
}

/** The ways to the cores of an entry. */
export type Sources = Readonly<Partial<Record<Family, () => Source | Promise<Source>>>>;

/** A core that runs. */
export interface Core {
  readonly exports: Exports;
  readonly extras: Extras;
}

const cores = new WeakMap<object, Promise<Core>>();

/**
 * Starts a core. All callers share one start; a failed one is forgotten, so that the next call tries again.
 *
 * Rejects with a `TurnwireError`: `wasm_blocked` (by a Content-Security-Policy or by the platform),
 * `wasm_unsupported`, `wasm_missing` (it was not given yet) or `wasm_failed`.
 */
export function load(source: () => Source | Promise<Source>): Promise<Core> {
  const known = cores.get(source);
  if (known) return known;
  const core = start(source).catch((cause: unknown) => {
    cores.delete(source);
    throw startFailure(cause);
  });
  cores.set(source, core);
  return core;
}

async function start(source: () => Source | Promise<Source>): Promise<Core> {
  const { module, ...extras } = await source();
  // A core needs nothing of JavaScript: without imports there is no glue to load.
  return { exports: new WebAssembly.Instance(module).exports as unknown as Exports, extras };
}

/** A file that comes with a core, if it comes. */
export function chunk<T>(file: Promise<T>): Promise<T> {
  return file.catch((cause: unknown) => {
    // Some browsers remember a file that did not come until the page is loaded anew.
    const message = `The file with the core of this protocol could not be loaded: ${messageOf(cause)}`;
    throw new TurnwireError("wasm_failed", message, { cause });
  });
}

/** A core whose module travels as text. */
export async function compiled({ packed, ...extras }: Extras & { packed: readonly string[] }): Promise<Source> {
  return { module: await WebAssembly.compile(unpack(packed)), ...extras };
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
        "init() the module that the platform compiled from turnwire/truefoundry.wasm.",
      { cause },
    );
  }
  if (typeof WebAssembly === "undefined") {
    return new TurnwireError("wasm_unsupported", "This browser has no WebAssembly.", { cause });
  }
  return new TurnwireError("wasm_failed", `The WebAssembly core could not start: ${text}`, { cause });
}
