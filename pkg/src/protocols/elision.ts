// Leaves long texts out of the lines that the core reads: it only hands them on. Each family knows its own:
// `frame-elision.ts`, `run-elision.ts`.
import type { TextElision } from "../turn/connection.js";
import { Lines } from "./lines.js";
import { longString } from "./long-string.js";
import { LongTexts } from "./long-texts.js";

/** The length from which a text is long, in bytes of JSON. */
const LONG = 4096;

const decoder = new TextDecoder();

/** Puts names in place of the long texts of one turn's stream, and the texts in place of the names in what the core returns. */
export abstract class Elision<Frame> implements TextElision {
  readonly #texts = new LongTexts();
  /** What lines contain that may have a long text. */
  protected abstract readonly kinds: RegExp;

  /** The text of a frame that the core only hands on. May throw if it is no such frame. */
  protected abstract textIn(frame: Frame): unknown;

  parse(json: string): unknown {
    return this.#texts.parse(json);
  }

  text(text: string): string {
    return this.#texts.named(text);
  }

  lines(maxFrameBytes: number, isWhole: () => boolean): Lines {
    return new Lines(maxFrameBytes, (line) => (isWhole() ? undefined : this.#shortened(line)));
  }

  /** Returns a line of the stream with a name in place of its long text, if it has one. The text is not decoded. */
  #shortened(line: Uint8Array): string | undefined {
    const found = longString(line, LONG);
    if (!found) return undefined;
    const head = decoder.decode(line.subarray(0, found.from));
    const tail = decoder.decode(line.subarray(found.to));
    const within = (name: string): string => `${head}"${name}"${tail}`;
    const name = this.#texts.nextName;
    const short = within(name);
    if (!this.kinds.test(short)) return undefined;
    try {
      if (this.textIn(JSON.parse(short.replace(/^data:/, "")) as Frame) !== name) return undefined;
    } catch {
      // Not such a line.
      return undefined;
    }
    return within(this.#texts.keep(line.subarray(found.from, found.to)));
  }
}
