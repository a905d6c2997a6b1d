// Long texts that the core does not need. They stay in JavaScript as their original JSON bytes; the core gets a short name in place
// of each. A text is decoded when it is first read: pages show the start of a result, or none of it.
import { newId } from "../client/face.js";

/** The beginning of all names. Servers cannot guess it, so none of their texts is taken for a name. */
let prefix = "";

/** The long texts of one turn. */
export class LongTexts {
  /** JSON strings, or their texts once they have been read. */
  readonly #texts: { json: Uint8Array; text?: string }[] = [];

  /** The name of the next text. */
  get nextName(): string {
    prefix ||= newId();
    return prefix + this.#texts.length;
  }

  /** Keeps a JSON string, and returns its name. Equal texts have one name: the core may compare them. */
  keep(json: Uint8Array): string {
    const known = this.#texts.findIndex((other) => isEqual(other.json, json));
    const name = this.nextName;
    if (known >= 0) return prefix + known;
    // Copying a text takes as long as finding it. It is copied only if most of the memory around it is unused.
    this.#texts.push({ json: json.length * 2 < json.buffer.byteLength ? json.slice() : json });
    return name;
  }

  /** Parses JSON from the core, with the texts in place of their names. */
  parse(json: string): unknown {
    const value: unknown = JSON.parse(json);
    if (this.#texts.length > 0 && json.includes(prefix)) this.#restore(value);
    return value;
  }

  /** The text with this name; any other string is returned unchanged. */
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

  /** Defines a property that reads a text when it is needed. Users may still set another value. */
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

/** The text of a JSON string. If it has an invalid escape, the JSON itself. */
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
