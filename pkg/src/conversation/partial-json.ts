// Reads JSON while it arrives: a call's arguments as an object that grows. Each character is read once, however often the value is
// accessed.

/** An object or an array without its end. */
interface Open {
  /** Whether it was handed out: a copy then replaces it before it changes. */
  value: unknown[] | Record<string, unknown>;
  /** The name of the current member; unused in an array. */
  key: string;
  isHandedOut: boolean;
}

/** Deeper values are not read; the core has the same limit. */
const MAX_DEPTH = 128;

/**
 * JSON that arrives in pieces. A string is available as far as it has arrived; a number or a word only as a whole, since `1` may become
 * `12`. Nothing is read after a mistake.
 */
export class PartialJson {
  /** The text read so far. */
  text = "";
  readonly #open: Open[] = [];
  #root: unknown;
  /** The last token between values: a bracket, comma or colon; `v` for a value and `n` for a name; empty at the beginning. */
  #last = "";
  /** The kind of token being read character by character; `broken` after a mistake. */
  #inside: "" | "string" | "name" | "word" | "broken" = "";
  /** The text of that token. */
  #token = "";
  /** The part of that string that the value already has. */
  #stored = "";
  /** An incomplete escape. */
  #escape = "";

  /** Whether a text begins with the text read so far. `startsWith` compares character by character, and takes 40 times as long. */
  isBefore(text: string): boolean {
    return text.slice(0, this.text.length) === this.text;
  }

  /**
   * Reads the new text: `text` begins with the text read so far, and ends with `piece`. Reading one character of a concatenated text copies
   * all of it; `piece` avoids that. Returns the value so far; `undefined` before its first character. It is frozen, and unchanged parts
   * stay the same objects.
   */
  read(text: string, piece = text.slice(this.text.length)): unknown {
    this.text = text;
    let at = 0;
    while (at < piece.length && this.#inside !== "broken") at = this.#step(piece, at);
    if (this.#inside === "string" && this.#token !== this.#stored) this.#replace((this.#stored = this.#token));
    for (const open of this.#open) {
      open.isHandedOut = true;
      Object.freeze(open.value);
    }
    return this.#root;
  }

  /** Reads from this index; returns the index after it. */
  #step(text: string, at: number): number {
    if (this.#inside === "word") return this.#word(text, at);
    if (this.#inside !== "") return this.#string(text, at);
    const char = text[at]!;
    const last = this.#last;
    const open = this.#open.at(-1);
    const [first, end] = Array.isArray(open?.value) ? "[]" : "{}";
    const isName = open && first === "{" && "{,".includes(last);
    const isValue = !isName && "[,:".includes(last);
    if (" \n\r\t".includes(char)) return at + 1;
    if (char === '"' && (isName || isValue)) {
      if (isValue) this.#append((this.#stored = ""));
      this.#inside = isName ? "name" : "string";
    } else if ((char === "{" || char === "[") && isValue && this.#open.length < MAX_DEPTH) {
      const value = char === "{" ? {} : [];
      this.#append(value);
      this.#open.push({ value, key: "", isHandedOut: false });
      this.#last = char;
    } else if (open && char === end && (last === "v" || last === first)) {
      Object.freeze(this.#open.pop()!.value);
      this.#last = "v";
    } else if ((open && char === "," && last === "v") || (char === ":" && last === "n")) {
      this.#last = char;
    } else if (isValue && /[-\w]/.test(char)) {
      this.#inside = "word";
      return at;
    } else {
      this.#inside = "broken";
    }
    return at + 1;
  }

  /** Completes the token that was read character by character. */
  #end(last: "v" | "n"): void {
    this.#inside = this.#token = "";
    this.#last = last;
  }

  /** Reads the available part of a string. */
  #string(text: string, from: number): number {
    if (this.#escape !== "") return this.#escaped(text[from]!, from);
    let at = from;
    while (at < text.length) {
      const code = text.charCodeAt(at);
      if (code === 0x22 || code === 0x5c) break;
      at += 1;
    }
    this.#token += text.slice(from, at);
    if (text[at] === "\\") {
      this.#escape = "\\";
    } else if (at < text.length) {
      const isName = this.#inside === "name";
      if (isName) this.#open.at(-1)!.key = this.#token;
      else this.#replace(this.#token);
      this.#end(isName ? "n" : "v");
    }
    return at + 1;
  }

  /** Reads one more character of an escape. */
  #escaped(char: string, at: number): number {
    const escape = (this.#escape += char);
    if (escape[1] !== "u" || escape.length === 6) {
      this.#token += this.#parsed(`"${escape}"`) ?? "";
      this.#escape = "";
    }
    return at + 1;
  }

  /** Reads the available part of a number or a word. The character after it ends it. */
  #word(text: string, from: number): number {
    let at = from;
    while (at < text.length && /[-+.\w]/.test(text[at]!)) at += 1;
    const word = (this.#token += text.slice(from, at));
    if (at === text.length) return at;
    const value = this.#parsed(word);
    if (value === undefined) return at;
    this.#append(value);
    this.#end("v");
    return at;
  }

  /** The value of a whole token; `undefined` for a mistake. */
  #parsed(token: string): unknown {
    try {
      return JSON.parse(token);
    } catch {
      this.#inside = "broken";
      return undefined;
    }
  }

  /** Puts a new value in its place: into the innermost open value, or as the whole. */
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
    // A member called `__proto__` is an ordinary one.
    else Object.defineProperty(into, this.#open[depth]!.key, { value, configurable: true, enumerable: true, writable: true });
  }

  /** The open value at this depth, for a change: a copy if it was handed out, and then its parents are copied as well. */
  #changeable(depth: number): Open["value"] | undefined {
    const open = this.#open[depth];
    if (!open?.isHandedOut) return open?.value;
    open.value = Array.isArray(open.value) ? [...open.value] : { ...open.value };
    open.isHandedOut = false;
    this.#set(this.#changeable(depth - 1), open.value, depth - 1);
    return open.value;
  }
}
