// Long texts that the core does not need. They stay in JavaScript as the bytes of JSON that came; the core gets a short name in
// place of each. A text is decoded when it is read for the first time: pages show the start of a result, or none of it.
import { newId } from "../client/face.js";

/** The beginning of all names. Servers cannot guess it, so no text of theirs is taken for a name. */
let prefix = "";

/** The long texts of one turn. */
export class LongTexts {
  /** Strings of JSON, or what they say once that was read. */
  readonly #texts: { json: Uint8Array; text?: string }[] = [];

  /** The name that the next text gets. */
  get nextName(): string {
    prefix ||= newId();
    return prefix + this.#texts.length;
  }

  /** Keeps a string of JSON, and returns its name. Equal texts have one name: the core may compare them. */
  keep(json: Uint8Array): string {
    const known = this.#texts.findIndex((other) => isEqual(other.json, json));
    const name = this.nextName;
    if (known >= 0) return prefix + known;
    // To copy a text takes as long as to find it. It is copied only if most of the memory around it is of no use.
    this.#texts.push({ json: json.length * 2 < json.buffer.byteLength ? json.slice() : json });
    return name;
  }

  /** Parses JSON from the core, with the texts in place of their names. */
  parse(json: string): unknown {
    const value: unknown = JSON.parse(json);
    if (this.#texts.length > 0 && json.includes(prefix)) this.#restore(value);
    return value;
  }

  /** The text, if this is its name; otherwise this. */
  named(name: string): string {
    return this.#texts.length > 0 && name.startsWith(prefix) ? this.#read(Number(name.slice(prefix.length))) : name;
  }

  #restore(value: unknown): void {
    if (typeof value !== "object" || value === null) return;
    for (const [key, part] of Object.entries(value)) {
      if (typeof part !== "string") this.#restore(part);
      else if (part.startsWith(prefix)) this.#define(value, key, Number(part.slice(prefix.length)));
    }
  }

  /** Defines a property that reads a text. As with any other, users may set another value. */
  #define(holder: object, key: string, at: number): void {
    const define = (as: PropertyDescriptor): unknown =>
      Object.defineProperty(holder, key, { ...as, enumerable: true, configurable: true });
    define({ get: () => this.#read(at), set: (value) => define({ value, writable: true }) });
  }

  #read(at: number): string {
    const kept = this.#texts[at]!;
    return (kept.text ??= textOf(new TextDecoder().decode(kept.json)));
  }
}

/** What a string of JSON says. One with a wrong escape is shown as it came. */
function textOf(json: string): string {
  try {
    return JSON.parse(json) as string;
  } catch {
    return json.slice(1, -1);
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
