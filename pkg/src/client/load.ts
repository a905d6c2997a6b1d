// Starts the WebAssembly cores, each once. The entry that the page imports decides where a module comes from: the entry
// itself, a file that is loaded then, the page, or the platform.
import { type CoreClient, type Exports, guarded, type RawExports } from "../boundary/boundary.js";
import type { Call } from "../boundary/calls.js";
import type { Family } from "../boundary/protocols.js";
import { unpack } from "../boundary/unpack.js";
import { messageOf, TurnwireError } from "../common/errors.js";
import type { Limits } from "../transport/clocks.js";
import type { FetchTransport } from "../transport/fetch.js";
import type { WasmModule } from "../transport/platform.js";
import type { Settings, Transport } from "../transport/transport.js";
import type { Connection, MakeElision } from "../turn/connection.js";
import type { Turn } from "../turn/turn.js";
import type { SessionEvent, SessionRecord, TurnRecord } from "../wire/events.js";
import type { History, HistoryPage } from "./history.js";
import type { MakeManagedSession, MakeSession, ManagedAgents } from "./managed-session.js";
import type { ConnectOptions } from "./options.js";

/** The additional parts of a family besides its core. They are loaded with the core, so that other pages do not download them. */
export interface Extras {
  /** The transport, if it is not `fetch`. @internal */
  readonly Way?: new (core: CoreClient, baseUrl: string, options: ConnectOptions, settings: Settings & { maxFrameBytes: number }) => Transport;
  /** Keeps the data of a session if the server has no ids for turns. @internal */
  readonly Managed?: MakeManagedSession;
  /** The agents of a server whose sessions need to know theirs. @internal */
  readonly Agents?: new <S>(server: Connection, make: MakeSession<S>) => ManagedAgents<S>;
  /** Leaves long texts out of what the core reads. @internal */
  readonly Elision?: MakeElision;
  /** Reads a page of a session's history. @internal */
  readonly readHistory: (host: ConversationHost, page: HistoryPage) => Promise<History>;
  /** The extras for a relay before the server, if one can keep the turns; `Way` is the transport to the server itself. @internal */
  readonly relayed?: (extras: Extras, Way: typeof FetchTransport) => Extras;
  /** Whether the server refused a list because it is empty; `read` reads the session. @internal */
  readonly isEmptyList?: (error: unknown, read: () => Promise<SessionRecord>) => Promise<boolean>;
}

/** The session's methods that reading a conversation needs. @internal */
export interface ConversationHost {
  /** The limits of its requests. */
  readonly limits: Limits;
  /** The server's records of turns, in its order, each with the token of its page in the list. */
  records(options: { limit?: number; pageToken?: string }): AsyncIterable<readonly [TurnRecord, string | undefined]>;
  /** The events of finished turns, in the server's order. */
  events(options: { limit?: number; lastTurnId?: string }): AsyncIterable<SessionEvent>;
  /** Makes a call of the session. */
  ask<T>(call: Call, params?: object): Promise<T>;
  /** Creates a turn from its record, unless this client still reads it. */
  adopt(record: TurnRecord, isNewest: boolean): Turn;
  /** Whether lists have pages. */
  readonly hasPages: boolean;
  /** The position in the list of turns where each page of this history begins, by the id of the turn after the page. */
  readonly places: Map<string, string | undefined>;
  /** Reads the session's record, if only that has the last turn's required actions. */
  reread(): Promise<SessionRecord | undefined>;
  /** The turn that is still being read here, if only this client can distinguish turns. */
  liveTurn(): Turn | undefined;
  /** Whether the server keeps nothing of a stream. */
  readonly isForgotten: boolean;
  /** Reports that everything was read: the last turn, its record, and the number of the user's messages. */
  wasRead(last: Turn | undefined, record?: TurnRecord, said?: number): void;
}

/** A connected server, and the extras of its core. @internal */
export interface ClientConnection extends Connection {
  readonly extras: Extras;
}

/** What starts a core, any number of times, and its extras. */
export interface Startable extends Extras {
  readonly start: () => RawExports;
}

/** A running core and its extras. After the core has failed, `exports` are those of another one. */
export interface Core extends Extras {
  readonly exports: Exports;
}

/** Loads a core. */
export type Source = () => Startable | Promise<Startable>;

/** The cores of an entry. */
export type Sources = Readonly<Partial<Record<Family, Source>>>;

/** The cores that were started. */
const cores = new WeakMap<object, Promise<Core>>();

/**
 * Starts a core. All callers share one start. After a failed start the next call tries again.
 *
 * Rejects with a `TurnwireError`: `wasm_blocked` (by a Content-Security-Policy or by the platform), `wasm_unsupported`,
 * `wasm_missing` (the page has not passed it to `init` yet) or `wasm_failed`.
 */
export function load(source: Source): Promise<Core> {
  let core = cores.get(source);
  if (core) return core;
  core = (async () => running(await source()))().catch((cause: unknown) => {
    cores.delete(source);
    throw startFailure(cause);
  });
  cores.set(source, core);
  return core;
}

/** Starts a core. Once it has failed, its next user starts another one, which all share. */
function running({ start, ...extras }: Startable): Core {
  let exports = guarded(start());
  return {
    ...extras,
    get exports() {
      return exports.coreFailure ? (exports = guarded(start())) : exports;
    },
  };
}

/** Loads a file that comes with a core. */
export function chunk<T>(file: Promise<T>): Promise<T> {
  return file.catch((cause: unknown) => {
    // Some browsers remember a failed file until the page is loaded again.
    const message = `The file with the core of this protocol could not be loaded: ${messageOf(cause)}`;
    throw new TurnwireError("wasm_failed", message, { cause });
  });
}

/** Starts a core of its module. It needs nothing of JavaScript: without imports there is no glue to load. */
export function started(module: WasmModule): RawExports {
  return new WebAssembly.Instance(module).exports as unknown as RawExports;
}

/** A core whose module is stored as text. */
export async function compiled({ packed, ...extras }: Extras & { packed: string }): Promise<Startable> {
  const module = await WebAssembly.compile(unpack(packed));
  return { start: () => started(module), ...extras };
}

// Chromium and Firefox reject with a CompileError, WebKit with an EvalError. Only their messages distinguish a policy
// from a damaged module.
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
        "script-src directive; that does not allow eval().",
      { cause },
    );
  }
  if (BLOCKED_BY_PLATFORM.test(text)) {
    return new TurnwireError(
      "wasm_blocked",
      "This platform compiles no WebAssembly at run time. Import turnwire/slim, and pass init() the compiled module.",
      { cause },
    );
  }
  if (typeof WebAssembly === "undefined") {
    return new TurnwireError("wasm_unsupported", "This browser has no WebAssembly.", { cause });
  }
  return new TurnwireError("wasm_failed", `The WebAssembly core could not start: ${text}`, { cause });
}
