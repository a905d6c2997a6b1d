// Reads messages by comparing them with earlier ones. The core describes a message that is a piece of text as a template,
// with holes where others may differ (`src/rpc/template.rs`). Of a message that equals it outside the holes only the piece
// crosses into the core: to write and read the whole one there takes ten times as long.

/** What holes contain, by the core's numbers. */
const TEXT = 0;
const NUMBER = 1;

const QUOTE = 34;
const BACKSLASH = 92;
const ZERO = 48;

/** One for each item that streams at the same time. */
const MOST = 16;
/** Up to this length a text is copied here: the encoder takes half a microsecond to begin. */
const SHORT = 256;

const encoder = new TextEncoder();

/** Where the bytes end that were written last. */
let written = 0;

/** A message with holes. */
export class Template {
  /** The call to whose stream it belongs. */
  readonly call: number;
  /** The core's number of it. */
  readonly number: number;
  /** What stands before each hole, and what after the last one. */
  readonly #fixed: string[] = [];
  readonly #slots: number[] = [];

  /** `description` is the core's: its number, and of each hole the slot, the start and the end. */
  constructor(call: number, description: string, message: string) {
    const [number, ...holes] = description.split(",").map(Number);
    this.call = call;
    this.number = number!;
    let from = 0;
    for (let at = 0; at < holes.length; at += 3) {
      this.#slots.push(holes[at]!);
      this.#fixed.push(message.slice(from, holes[at + 1]));
      from = holes[at + 2]!;
    }
    this.#fixed.push(message.slice(from));
  }

  /** Whether a message equals this one outside the holes. Writes the inside of its piece of text, and a quote, to `bytes`. */
  matches(message: string, bytes: Uint8Array, to: number): boolean {
    let at = 0;
    for (let part = 0; part < this.#fixed.length; part += 1) {
      const fixed = this.#fixed[part]!;
      // `startsWith` compares character by character, and takes three times as long.
      if (message.slice(at, (at += fixed.length)) !== fixed) return false;
      const slot = this.#slots[part];
      if (slot === TEXT) at = writeInside(message, at, bytes, to);
      else if (slot === NUMBER) at = endOfNumber(message, at);
      else if (slot !== undefined) at = Math.max(at, message.length - this.#fixed[part + 1]!.length);
      if (at < 0) return false;
    }
    return at === message.length;
  }
}

/** The templates of a connection. */
export class Templates {
  readonly #known: Template[] = [];
  /** The index of the one that matched last. */
  #recent = 0;

  add(template: Template): void {
    this.#known.unshift(template);
    this.#recent = 0;
    this.#known.length = Math.min(this.#known.length, MOST);
  }

  remove(template: Template): void {
    this.#known.splice(this.#known.indexOf(template), 1);
    this.#recent = 0;
  }

  /** The template that a message matches. Writes the inside of its piece of text, and a quote, to `bytes` from `to` on. */
  find(message: string, bytes: Uint8Array, to: number): Template | undefined {
    const known = this.#known;
    if (known[this.#recent]?.matches(message, bytes, to)) return known[this.#recent];
    for (let at = 0; at < known.length; at += 1) {
      if (at === this.#recent || !known[at]!.matches(message, bytes, to)) continue;
      this.#recent = at;
      return known[at];
    }
    return undefined;
  }
}

/** Where the piece of text ends that was written last. */
export function writtenEnd(): number {
  return written;
}

/** Writes the inside of the JSON string that is open at `from`, and a quote. Returns its end, or -1. The core checks it. */
function writeInside(message: string, from: number, bytes: Uint8Array, to: number): number {
  const most = Math.min(SHORT, bytes.length - to);
  for (let at = 0; at < most; at += 1) {
    const unit = message.charCodeAt(from + at);
    // After the last one `unit` is not a number.
    if (!(unit < 0x80) || unit === BACKSLASH) break;
    bytes[to + at] = unit;
    if (unit !== QUOTE) continue;
    written = to + at + 1;
    return from + at;
  }
  const end = endOfString(message, from);
  if (end < 0) return -1;
  const inside = message.slice(from, end + 1);
  const encoded = encoder.encodeInto(inside, bytes.subarray(to));
  written = to + encoded.written;
  return encoded.read === inside.length ? end : -1;
}

/** The index of the quote that ends the string that is open at `at`, or -1. */
function endOfString(message: string, at: number): number {
  let end = message.indexOf('"', at);
  while (end >= 0 && isEscaped(message, end, at)) end = message.indexOf('"', end + 1);
  return end;
}

/** Whether an odd number of backslashes stands between `from` and a quote. */
function isEscaped(message: string, quote: number, from: number): boolean {
  let at = quote;
  while (at > from && message.charCodeAt(at - 1) === BACKSLASH) at -= 1;
  return (quote - at) % 2 === 1;
}

/** The end of the whole number at `from`, or -1. */
function endOfNumber(message: string, from: number): number {
  let at = from;
  while (isDigit(message.charCodeAt(at))) at += 1;
  const isZeroed = at > from + 1 && message.charCodeAt(from) === ZERO;
  return at > from && !isZeroed ? at : -1;
}

function isDigit(unit: number): boolean {
  return unit >= ZERO && unit < ZERO + 10;
}
