// The errors of the package: one base class with a stable `code`, and a subclass for each kind.

/** What went wrong, as a value for code to branch on. New codes may be added. */
export type ErrorCode =
  | "invalid_option"
  | "invalid_url"
  | "invalid_input"
  | "turn_not_started"
  | "turn_already_started"
  | "turn_already_streamed"
  | "turn_not_running"
  | "turn_failed"
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
  | "cut"
  | "aborted"
  | "merge_mismatch"
  | "message_incomplete"
  | "wasm_blocked"
  | "wasm_unsupported"
  | "wasm_missing"
  | "wasm_failed"
  | "internal";

/** The details of an error besides its message. */
export interface ErrorDetails {
  /** The error behind this one. */
  cause?: unknown;
  /** The HTTP status of the response, if there was one. For an error in a JSON-RPC response, the equivalent status. */
  status?: number | undefined;
  /**
   * The body of an error response: parsed if it is JSON, else its text. At most 64 KiB are kept. For `rpc`, the error
   * object.
   */
  body?: unknown;
  /** How long the server asks to wait before the next request (`Retry-After`), in milliseconds. */
  retryAfter?: number | undefined;
}

/** The base of all errors of this package. The message contains no token and no header. */
export class TurnwireError extends Error {
  /** What went wrong. Unlike the message, it is stable across versions. */
  readonly code: ErrorCode;
  /** The HTTP status of the response, if there was one. */
  readonly status: number | undefined;
  /** The body of the error response, if there was one. */
  readonly body: unknown;
  /** How long the server asks to wait before the next request (`Retry-After`), in milliseconds, if it does. */
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

/** The server answered with an error status (`http`), or with an error in place of a result (`rpc`). */
export class ApiError extends TurnwireError {}

/** A request or its response failed or took too long, or no token was available (`network`, `timeout`, `token`). */
export class ConnectionError extends TurnwireError {}

/**
 * The server ended the turn with an error (`turn_failed`); the message is the server's, and `body` is the turn's state.
 * No call rejects with it: `snapshot().error` has it.
 */
export class TurnFailedError extends TurnwireError {}

/** The response does not follow the protocol (`unexpected_response`, `frame_too_large`). */
export class ProtocolError extends TurnwireError {}

/** An option or a turn's input is wrong; nothing was sent (`invalid_option`, `invalid_url`, `invalid_input`). */
export class InputError extends TurnwireError {}

/** The call is not possible now (`turn_not_started`, `turn_already_started`, `session_cancelled`, …). */
export class StateError extends TurnwireError {}

/**
 * The connection was lost before the turn had ended, and could not be recovered (`incomplete`). Received events are
 * kept.
 */
export class IncompleteError extends TurnwireError {}

/**
 * The caller's signal was aborted (`aborted`); its reason is the `cause`. The turn itself continues, if the server
 * finishes turns without a reader (`capabilities.resume`).
 */
export class AbortError extends TurnwireError {}

/** The error of a turn that must not wait for the running one. */
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

/** Begins an error that the core returns in place of a text. */
const MARK = "!";

/** What the core does not know of an error. */
export interface Circumstances extends ErrorDetails {
  /** The request, as the message names it. */
  asked?: string;
}

/**
 * Calls the core and returns the result. An error that the core reports is thrown as an instance of its class. `first`
 * is the error that was passed to the core, if there was one; `more` has what the core does not know.
 */
export function adopting<T>(call: () => T, first?: unknown, more?: Circumstances): T {
  const given = call();
  if (typeof given === "string" && given.startsWith(MARK)) {
    throw adopted(JSON.parse(given.slice(MARK.length)) as CoreError, first, more);
  }
  return given;
}

/** The error that the core reports. */
export function adopted({ code, message, status, body }: CoreError, first?: unknown, more: Circumstances = {}): TurnwireError {
  // If the core reports the error that was passed to it, the original has more details.
  if (first instanceof TurnwireError && first.message === message) return first;
  const { asked, ...details } = more;
  if (first !== undefined) details.cause = first;
  if (status !== undefined) details.status = status;
  if (body !== undefined) details.body = parsed(body);
  return new (CLASSES[code] ?? TurnwireError)(code, asked ? `${message} (${asked})` : message, details);
}

/** An exception as an error of this package. */
export function asTurnwireError(cause: unknown): TurnwireError {
  if (cause instanceof TurnwireError) return cause;
  return new ConnectionError("network", `the connection broke: ${messageOf(cause)}`, { cause });
}

/** The message of a thrown value. */
export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** An error that the core reports, as JSON. */
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
