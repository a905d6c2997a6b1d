// Cuts a stream into whole lines for the core, with long lines shortened: the core does not need all of their text.

/** The length above which a line is long, in bytes: a longer text is worth to be left out. */
const LONG = 1 << 12;

const encoder = new TextEncoder();

const LF = 10;
const CR = 13;

/** The text of a long line so far. */
interface LongLine {
  readonly decoder: TextDecoder;
  text: string;
}

/** Cuts a stream's chunks into whole lines. */
export class Lines {
  readonly #max: number;
  readonly #shorten: (line: string) => string;
  /** The beginning of a line, in pieces, and its length. */
  #held: Uint8Array[] = [];
  #length = 0;
  /** Set if that line is long. */
  #line: LongLine | undefined;

  /** Holds and shortens lines of up to `max` bytes; `shorten` returns the replacement of a long one. */
  constructor(max: number, shorten: (line: string) => string) {
    this.#max = max;
    this.#shorten = shorten;
  }

  /** The lines that end in a chunk. The rest at the end of a stream is not an event. */
  whole(chunk: Uint8Array): readonly Uint8Array[] {
    // The common case: the chunk contains only whole lines, and none is long.
    if (this.#length === 0 && chunk.length <= 2 * LONG && chunk[chunk.length - 1] === LF) return [chunk];
    const whole: Uint8Array[] = [];
    // What comes before it is held, or in `whole`.
    let from = this.#length > 0 ? this.#continue(chunk, whole) : 0;
    // A line of 2 * LONG bytes has no end within LONG bytes after one of these places.
    for (let at = from + LONG; at + LONG <= chunk.length; ) {
      const end = firstEnd(chunk.subarray(at, at + LONG));
      if (end < 0) {
        const start = from + lastEnd(chunk.subarray(from, at));
        whole.push(chunk.subarray(from, start));
        at = from = this.#continueLong(chunk, start, whole);
      } else at += end;
      at += LONG;
    }
    const end = from + lastEnd(chunk.subarray(from));
    if (end > from) whole.push(chunk.subarray(from, end));
    if (end < chunk.length) this.#hold(chunk.subarray(end));
    return whole;
  }

  /** Continues the held line in the next chunk. Returns the place up to which the chunk is held, or in `whole`. */
  #continue(chunk: Uint8Array, whole: Uint8Array[]): number {
    if (this.#line === undefined && firstEnd(chunk.subarray(0, LONG)) >= 0) {
      whole.push(...this.#take());
      return 0;
    }
    if (this.#line !== undefined || this.#length + chunk.length > LONG) return this.#continueLong(chunk, 0, whole);
    this.#hold(chunk);
    return chunk.length;
  }

  /** The same for a long line, which goes on at `start`. When it has ended, or is too long, it is added to `whole`. */
  #continueLong(chunk: Uint8Array, start: number, whole: Uint8Array[]): number {
    const end = this.#endOfLong(chunk, start);
    this.#hold(chunk.subarray(start, end));
    const isTooLong = this.#length > this.#max;
    if (end === chunk.length && !isTooLong) return end;
    const { text } = this.#line!;
    const pieces = this.#take();
    const short = isTooLong ? text : this.#shorten(text);
    whole.push(...(short === text ? pieces : [encoder.encode(short)]));
    return end;
  }

  /** Decodes a long line up to its end. Returns its place, or the chunk's end. */
  #endOfLong(chunk: Uint8Array, start: number): number {
    if (this.#line === undefined) {
      this.#line = { decoder: new TextDecoder(), text: "" };
      for (const piece of this.#held) this.#line.text += this.#line.decoder.decode(piece, { stream: true });
    }
    // Text is searched 50 times as fast as bytes, and is needed anyway. Little is decoded in vain.
    for (let from = start, size = 16 * LONG; from < chunk.length; from += size, size *= 2) {
      const bytes = chunk.subarray(from, from + size);
      const text = this.#line.decoder.decode(bytes, { stream: true });
      const lf = text.indexOf("\n");
      const cr = text.indexOf("\r");
      const end = lf < 0 || (cr >= 0 && cr < lf) ? cr : lf;
      if (end >= 0) {
        this.#line.text += text.slice(0, end);
        // No character has more code units than bytes, but for one whose beginning came before.
        return from + bytes.indexOf(end === lf ? LF : CR, Math.max(0, end - 1));
      }
      this.#line.text += text;
    }
    return chunk.length;
  }

  #hold(piece: Uint8Array): void {
    this.#held.push(piece);
    this.#length += piece.length;
  }

  /** Takes the pieces of the held line. */
  #take(): Uint8Array[] {
    const pieces = this.#held;
    this.#held = [];
    this.#length = 0;
    this.#line = undefined;
    return pieces;
  }
}

/** The place of the first line's end; that of a CR only if there is no LF, as lines that end in CR alone are rare. */
function firstEnd(bytes: Uint8Array): number {
  const lf = bytes.indexOf(LF);
  return lf < 0 ? bytes.indexOf(CR) : lf;
}

/** The place after the last line's end; 0 if no line ends there. */
function lastEnd(bytes: Uint8Array): number {
  return (bytes.lastIndexOf(LF) + 1) || (bytes.lastIndexOf(CR) + 1);
}
