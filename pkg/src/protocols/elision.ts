// Leaves long texts out of the lines for the core, which only passes them on. Each family knows its own: `frame-elision.ts`,
// `run-elision.ts`.
import type { TextElision } from "../turn/connection.js";
import { Lines } from "./lines.js";
import { longString } from "./long-string.js";
import { LongTexts } from "./long-texts.js";

/** The length from which a text is long, in bytes of JSON. */
const LONG = 4096;

const decoder = new TextDecoder();

/** Replaces the long texts of one turn's stream with names, and the names in the core's results with the texts. */
export abstract class Elision<Frame> implements TextElision {
  readonly #texts = new LongTexts();
  /** The mark of lines that may have a long text. */
  protected abstract readonly kinds: RegExp;

  /** The text of a frame that the core only passes on. May throw for other frames. */
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

  /** Returns a line of the stream with a name in place of its long text, if it has one. Does not decode the text. */
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
      // Not a line with such a text.
      return undefined;
    }
    return within(this.#texts.keep(line.subarray(found.from, found.to)));
  }
}
