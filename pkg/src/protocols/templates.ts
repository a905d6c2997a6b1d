// Reads messages by comparing them with earlier ones. The core describes a message with a piece of text as a template, with holes
// where other messages may differ (`EventDecoder::template`). Of a message that equals it outside the holes, only the piece is
// passed to the core: writing and reading the whole message there takes ten times as long.

/** What holes contain, by the core's letters; any other hole contains everything up to the last part. */
const TEXT = "t";
const NUMBER = "n";

const BACKSLASH = 92;
const ZERO = 48;

/** The maximum number of templates: one for each item that streams at the same time. */
const MOST = 16;

/** A message with holes. */
export class Template {
  /** The call whose stream it belongs to. */
  readonly call: number;
  /** The core's number for it. */
  readonly number: number;
  /** The text outside the holes. */
  readonly #parts: string[];
  readonly #holes: string[];
  /** The piece of text of the last matching message: the inside of its JSON string, and the closing quote. */
  piece = "";

  constructor(call: number, description: string) {
    const [number, head, ...others] = description.split("\0");
    this.call = call;
    this.number = Number(number);
    this.#parts = [head!, ...others.map((part) => part.slice(1))];
    this.#holes = others.map((part) => part[0]!);
  }

  /** Whether a message equals this one outside the holes. The core checks the escapes of its text. */
  matches(message: string): boolean {
    let at = 0;
    for (let index = 0; ; index += 1) {
      const part = this.#parts[index]!;
      // `startsWith` compares character by character, and takes three times as long.
      if (message.slice(at, (at += part.length)) !== part) return false;
      const hole = this.#holes[index];
      if (hole === undefined) return at === message.length;
      if (hole === TEXT) {
        const end = endOfString(message, at);
        this.piece = message.slice(at, end + 1);
        at = end;
      } else if (hole === NUMBER) at = endOfNumber(message, at);
      else at = Math.max(at, message.length - this.#parts[index + 1]!.length);
      if (at < 0) return false;
    }
  }
}

/** The templates of a connection, the most recently matched first. */
export class Templates {
  readonly #known: Template[] = [];

  add(template: Template): void {
    this.#known.unshift(template);
    this.#known.length = Math.min(this.#known.length, MOST);
  }

  remove(template: Template): void {
    this.#known.splice(this.#known.indexOf(template), 1);
  }

  /** The template that a message matches. */
  find(message: string): Template | undefined {
    const known = this.#known;
    for (let at = 0; at < known.length; at += 1) {
      if (!known[at]!.matches(message)) continue;
      if (at > 0) known.unshift(...known.splice(at, 1));
      return known[0];
    }
    return undefined;
  }
}

/** The index of the quote that ends the string open at `from`, or -1. */
function endOfString(message: string, from: number): number {
  let end = message.indexOf('"', from);
  while (end >= 0 && isEscaped(message, end, from)) end = message.indexOf('"', end + 1);
  return end;
}

/** Whether an odd number of backslashes precedes a quote, after `from`. */
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
