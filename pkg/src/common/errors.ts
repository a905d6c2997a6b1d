// The errors of the package: one base class with a stable `code`, and a subclass for each kind.

/** What went wrong, for code to decide on. The set may grow. */
export type ErrorCode =
  | "invalid_option"
  | "invalid_url"
  | "invalid_input"
  | "turn_not_started"
  | "turn_already_started"
  | "turn_already_streamed"
  | "turn_not_running"
  | "session_cancelled"
  | "session_busy"
  | "unsupported"
  | "http"
  | "rpc"
  | "network"
  | "timeout"
  | "token"
  | "unexpected_response"
  | "frame_too_large"
  | "incomplete"
  | "aborted"
  | "merge_mismatch"
  | "message_incomplete"
  | "wasm_blocked"
  | "wasm_unsupported"
  | "wasm_missing"
  | "wasm_failed"
  | "internal";

/** What an error knows beside its message. */
export interface ErrorDetails {
  cause?: unknown;
  /** The HTTP status of the answer, where there was one; of an error in a response, the status that says the same. */
  status?: number;
  /** The body of a failing answer: parsed if it was JSON, else its text. At most 64 KiB are kept. Of `rpc` the error. */
  body?: unknown;
  /** How long the server asks to be left alone (`Retry-After`), in milliseconds. */
  retryAfter?: number;
}

/** The base of all errors of this package. The message holds no token and no header. */
export class TurnwireError extends Error {
  /** What went wrong. Stable over versions, unlike the message. */
  readonly code: ErrorCode;
  /** The HTTP status of the answer, where there was one. */
  readonly status: number | undefined;
  /** The body of a failing answer, where there was one. */
  readonly body: unknown;
  /** How long the server asks to be left alone (`Retry-After`), in milliseconds, where it does. */
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.name = new.target.name;
    this.code = code;
    this.status = details.status;
    this.body = details.body;
    this.retryAfter = details.retryAfter;
  }
}

/** The server answered with a status that means failure (`http`), or with an error in place of a result (`rpc`). */
export class ApiError extends TurnwireError {}

/** A request or its answer did not get through, or not in time, or no token could be had (`network`, `timeout`, `token`). */
export class ConnectionError extends TurnwireError {}

/** What came is not what the protocol says (`unexpected_response`, `frame_too_large`). */
export class ProtocolError extends TurnwireError {}

/** An option or a turn's input is wrong; nothing was sent (`invalid_option`, `invalid_url`, `invalid_input`). */
export class InputError extends TurnwireError {}

/** The call is not possible now (`turn_not_started`, `turn_already_started`, `session_cancelled`, …). */
export class StateError extends TurnwireError {}

/** The connection was lost before the turn had ended, and could not be recovered (`incomplete`). What came is kept. */
export class IncompleteError extends TurnwireError {}

/** The caller's signal was aborted (`aborted`); its reason is the `cause`. The turn itself goes on, where
 * the server finishes turns that nobody reads (`capabilities.resume`). */
export class AbortError extends TurnwireError {}

/** The error of a turn that is not to wait for the one that runs. */
export function busy(): StateError {
  return new StateError("session_busy", "another turn of the session still runs, and it has one at a time");
}

const CLASSES: Partial<Record<ErrorCode, typeof TurnwireError>> = {
  http: ApiError,
  rpc: ApiError,
  network: ConnectionError,
  timeout: ConnectionError,
  token: ConnectionError,
  unexpected_response: ProtocolError,
  frame_too_large: ProtocolError,
  invalid_option: InputError,
  invalid_url: InputError,
  invalid_input: InputError,
  turn_not_started: StateError,
  turn_already_started: StateError,
  turn_already_streamed: StateError,
  turn_not_running: StateError,
  session_cancelled: StateError,
  unsupported: StateError,
  incomplete: IncompleteError,
  aborted: AbortError,
};

/** What stands before an error that the core gives in place of a text. */
const MARK = "!";

/**
 * Runs a call of the core, and gives what it gives. An error that the core reports is thrown as one of its
 * class; `first` is the error that the core was told of, if it was, and `more` what it does not know.
 */
export function adopting<T>(call: () => T, first?: unknown, more?: ErrorDetails): T {
  let given: T;
  try {
    given = call();
  } catch (cause) {
    throw coreFailure(cause);
  }
  if (typeof given === "string" && given.startsWith(MARK)) {
    throw adopted(JSON.parse(given.slice(MARK.length)) as CoreError, first, more);
  }
  return given;
}

/** The core has failed in itself; nothing that it holds can be trusted any more. */
export function coreFailure(cause: unknown): TurnwireError {
  return new TurnwireError("internal", `The WebAssembly core failed: ${String(cause)}`, { cause });
}

/** The error that the core reports. */
export function adopted({ code, message, status, body }: CoreError, first?: unknown, more?: ErrorDetails): TurnwireError {
  // The core may report the error that it was told; then that one has all that is known.
  if (first instanceof TurnwireError && first.message === message) return first;
  const details: ErrorDetails = { ...more };
  if (first !== undefined) details.cause = first;
  if (status !== undefined) details.status = status;
  if (body !== undefined) details.body = parsed(body);
  return new (CLASSES[code] ?? TurnwireError)(code, message, details);
}

/** What broke a call, as an error of this package. */
export function asTurnwireError(cause: unknown): TurnwireError {
  if (cause instanceof TurnwireError) return cause;
  return new ConnectionError("network", `the connection broke: ${messageOf(cause)}`, { cause });
}

/** What something says that was thrown. */
export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** What the core reports, as JSON. */
export interface CoreError {
  code: ErrorCode;
  message: string;
  status?: number;
  body?: string;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
