// Reads JSON while it arrives: the arguments of a call as an object that grows. Each character is read once, however
// often the value is looked at.

/** An object or an array whose end has not come. */
interface Open {
  /** A copy replaces it before it changes, if it was handed out. */
  value: unknown[] | Record<string, unknown>;
  /** The name of the member that is read; of no meaning in an array. */
  key: string;
  isHandedOut: boolean;
}

/** What is expected next. */
type Place = "value" | "first value" | "name" | "first name" | "colon" | "comma" | "string" | "name string" | "word" | "end" | "broken";

const ESCAPES: Readonly<Record<string, string>> = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const WORDS: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[-+]?\d+)?$/i;

/**
 * JSON that arrives in pieces. A string is there as far as it has come; a number or a word only as a whole, since `1` may
 * become `12`. What follows a mistake is not read.
 */
export class PartialJson {
  #place: Place = "value";
  readonly #open: Open[] = [];
  #root: unknown;
  /** The text of the string or the word that is read. */
  #text = "";
  /** As much of that string as the value has. */
  #stored = "";
  /** An escape that is not whole. */
  #escape = "";

  /** Reads the next piece. */
  push(piece: string): void {
    let at = 0;
    while (at < piece.length && this.#place !== "broken") at = this.#step(piece, at);
  }

  /** The value so far; `undefined` before its first character. Frozen: a part that does not change stays the same object. */
  value(): unknown {
    if (this.#place === "string" && this.#text !== this.#stored) this.#replace((this.#stored = this.#text));
    for (const open of this.#open) {
      open.isHandedOut = true;
      Object.freeze(open.value);
    }
    return this.#root;
  }

  /** Reads from this place, at least one character; returns the place after it. */
  #step(piece: string, at: number): number {
    if (this.#place === "string" || this.#place === "name string") return this.#string(piece, at);
    if (this.#place === "word") return this.#word(piece, at);
    const char = piece[at]!;
    if (char === " " || char === "\n" || char === "\r" || char === "\t") return at + 1;
    switch (this.#place) {
      case "value":
      case "first value":
        return char === "]" && this.#place === "first value" ? this.#close(at) : this.#begin(char, at);
      case "name":
      case "first name":
        if (char === "}" && this.#place === "first name") return this.#close(at);
        return this.#become(char === '"' ? "name string" : "broken", at);
      case "colon":
        return this.#become(char === ":" ? "value" : "broken", at);
      case "comma": {
        const isArray = Array.isArray(this.#open.at(-1)!.value);
        if (char === ",") return this.#become(isArray ? "value" : "name", at);
        return char === (isArray ? "]" : "}") ? this.#close(at) : this.#become("broken", at);
      }
      default:
        return this.#become("broken", at);
    }
  }

  #become(place: Place, at: number): number {
    this.#place = place;
    this.#text = "";
    return at + 1;
  }

  /** A value begins. */
  #begin(char: string, at: number): number {
    switch (char) {
      case "{":
      case "[": {
        const value = char === "{" ? {} : [];
        this.#append(value);
        this.#open.push({ value, key: "", isHandedOut: false });
        return this.#become(char === "{" ? "first name" : "first value", at);
      }
      case '"':
        this.#append((this.#stored = ""));
        return this.#become("string", at);
      default:
        this.#become("word", at);
        return at;
    }
  }

  /** Reads as much of a string as there is. */
  #string(piece: string, from: number): number {
    let at = from;
    if (this.#escape !== "") return this.#escaped(piece, at);
    while (at < piece.length) {
      const code = piece.charCodeAt(at);
      if (code === 0x22 || code === 0x5c) break;
      at += 1;
    }
    this.#text += piece.slice(from, at);
    if (at === piece.length) return at;
    if (piece[at] === "\\") {
      this.#escape = "\\";
      return at + 1;
    }
    if (this.#place === "string") {
      this.#replace(this.#text);
      this.#end();
      return at + 1;
    }
    this.#open.at(-1)!.key = this.#text;
    return this.#become("colon", at);
  }

  /** Reads one more character of an escape. */
  #escaped(piece: string, at: number): number {
    this.#escape += piece[at]!;
    const escape = this.#escape;
    if (escape[1] !== "u") {
      const char = ESCAPES[escape[1]!];
      if (char === undefined) return this.#become("broken", at);
      this.#text += char;
      this.#escape = "";
    } else if (escape.length === 6) {
      if (!/^\\u[\da-f]{4}$/i.test(escape)) return this.#become("broken", at);
      this.#text += String.fromCharCode(Number.parseInt(escape.slice(2), 16));
      this.#escape = "";
    }
    return at + 1;
  }

  /** Reads as much of a number or a word as there is. It ends with the character after it. */
  #word(piece: string, from: number): number {
    let at = from;
    while (at < piece.length && /[-+.\w]/.test(piece[at]!)) at += 1;
    this.#text += piece.slice(from, at);
    if (at === piece.length) return at;
    const word = this.#text;
    if (Object.hasOwn(WORDS, word)) this.#append(WORDS[word]);
    else if (NUMBER.test(word)) this.#append(Number(word));
    else return this.#become("broken", at);
    this.#end();
    return at;
  }

  /** A value has come to its end. */
  #end(): void {
    this.#become(this.#open.length > 0 ? "comma" : "end", 0);
  }

  #close(at: number): number {
    Object.freeze(this.#open.pop()!.value);
    this.#end();
    return at + 1;
  }

  /** Puts a new value in its place: into what is open, or as the whole. */
  #append(value: unknown): void {
    const into = this.#changeable(this.#open.length - 1);
    if (Array.isArray(into)) into.push(value);
    else this.#set(into, value);
  }

  /** Replaces the last value. */
  #replace(value: unknown): void {
    this.#set(this.#changeable(this.#open.length - 1), value);
  }

  #set(into: Open["value"] | undefined, value: unknown, depth = this.#open.length - 1): void {
    if (into === undefined) this.#root = value;
    else if (Array.isArray(into)) into[into.length - 1] = value;
    // A member called `__proto__` is one like any other.
    else Object.defineProperty(into, this.#open[depth]!.key, { value, configurable: true, enumerable: true, writable: true });
  }

  /** What is open at this depth, to be changed: a copy if it was handed out, and then also of all around it. */
  #changeable(depth: number): Open["value"] | undefined {
    const open = this.#open[depth];
    if (!open?.isHandedOut) return open?.value;
    open.value = Array.isArray(open.value) ? [...open.value] : { ...open.value };
    open.isHandedOut = false;
    this.#set(this.#changeable(depth - 1), open.value, depth - 1);
    return open.value;
  }
}
