// Faults of a connection, under the names that turnwire's development gateway has for them.

/** The faults of one connection. */
export interface Faults {
  /** A response in place of the stream: nothing is processed. */
  status?: { code: number; retryAfter: number | undefined };
  /** No response; whether the request was processed anyway. */
  unanswered?: "refuse" | "lost";
  /** A page of HTML in place of the stream. */
  portal?: boolean;
  /** The delay of the response, in milliseconds. */
  slowHead?: number;
  /** How the stream ends early, and after how many events or bytes. */
  end?: { how: "eof" | "reset" | "stall"; after: number; unit: "events" | "bytes" };
  /** The event that is sent twice. */
  duplicate?: number;
  /** The event after which all are sent again. */
  replay?: number;
  /** Events that are omitted. */
  gap?: { from: number; count: number };
  /** Whether the stream begins at the turn's first event, whatever was requested. */
  restart?: boolean;
  /** The delay before the next attempt that the stream asks for, in milliseconds. */
  retry?: number;
  /** Whether the stream ends instead of the turn's last event. */
  noDone?: boolean;
}

type Read = (faults: Faults, ...numbers: (number | undefined)[]) => void;

const ending = (how: "eof" | "reset" | "stall", unit: "events" | "bytes"): Read => (faults, after = 0) => {
  faults.end = { how, after, unit };
};

/** How each kind is written, and its effect. Numbers of events count from 1. */
const KINDS: Record<string, Read> = {
  "none": () => {},
  "status:CODE[:SECONDS]": (faults, code = 500, retryAfter) => (faults.status = { code, retryAfter }),
  "refuse": (faults) => (faults.unanswered = "refuse"),
  "lost": (faults) => (faults.unanswered = "lost"),
  "portal": (faults) => (faults.portal = true),
  "slow-head:MS": (faults, time) => (faults.slowHead = time!),
  "eof:N": ending("eof", "events"),
  "eof-bytes:N": ending("eof", "bytes"),
  "reset:N": ending("reset", "events"),
  "reset-bytes:N": ending("reset", "bytes"),
  "stall:N": ending("stall", "events"),
  "stall-bytes:N": ending("stall", "bytes"),
  "duplicate:N": (faults, at) => (faults.duplicate = at!),
  "replay:N": (faults, at) => (faults.replay = at!),
  "gap:N:COUNT": (faults, from, count) => (faults.gap = { from: from!, count: count! }),
  "restart": (faults) => (faults.restart = true),
  "retry:MS": (faults, time) => (faults.retry = time!),
  "no-done": (faults) => (faults.noDone = true),
};

/** The possible faults of a socket: its messages have no heads, and no separate bytes. */
const OF_SOCKETS = /^(none|eof|reset|stall|duplicate|replay|gap|no-done)(:|$)/;

/**
 * Reads the faults of one connection: a kind with its numbers, or several joined by `+`. Throws for any other text, and, over a socket, for
 * faults of responses.
 */
export function parseFaults(text: string, isSocket: boolean): Faults {
  const faults: Faults = {};
  const kinds = Object.keys(KINDS).filter((kind) => !isSocket || OF_SOCKETS.test(kind));
  for (const part of text.split("+")) {
    const [name, ...given] = part.split(":");
    const form = kinds.find((kind) => kind.split(/[:[]/, 1)[0] === name);
    if (form === undefined) throw new TypeError(`there is no fault \`${part}\`${isSocket ? " over a socket" : ""}; there are ${kinds.join(", ")}`);
    const [needed, optional] = [form.match(/(?<!\[):/g) ?? [], form.match(/\[:/g) ?? []];
    const isWhole = given.every((word) => /^\d{1,9}$/.test(word));
    if (!isWhole || given.length < needed.length || given.length > needed.length + optional.length) {
      throw new TypeError(`fault \`${part}\` is written \`${form}\``);
    }
    KINDS[form]!(faults, ...given.map(Number));
  }
  return faults;
}

/** The output for the `number`-th event of the connection, counted from 1; `written` are those before it. */
export function written(frame: string, number: number, isLast: boolean, faults: Faults, before: readonly string[]): string[] | undefined {
  if (isLast && faults.noDone) return undefined;
  const { gap } = faults;
  if (gap && number >= gap.from && number < gap.from + gap.count) return [];
  const frames = faults.duplicate === number ? [frame, frame] : [frame];
  return faults.replay === number ? [...frames, ...before, frame] : frames;
}
