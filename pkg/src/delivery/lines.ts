// Assembles long lines outside the core, because the snapshot usually has their content already.

/** The length above which a line is long, in bytes. */
const LONG = 1 << 16;

const LF = 10;
const CR = 13;

/** Cuts a stream's chunks into whole lines for the core. */
export class Lines {
  readonly #max: number;
  readonly #shorten: (line: string) => string;
  /** The beginning of a line, in pieces. */
  #held: Uint8Array[] = [];
  #length = 0;

  /** Holds a line of up to `max` bytes; `shorten` returns the replacement of a long one. */
  constructor(max: number, shorten: (line: string) => string) {
    this.#max = max;
    this.#shorten = shorten;
  }

  /** The lines that end in a chunk. The rest at the end of a stream is not an event. */
  whole(chunk: Uint8Array): readonly Uint8Array[] {
    // The common case: the chunk contains only whole lines.
    if (this.#length === 0 && chunk[chunk.length - 1] === LF) return [chunk];
    const end = lastEnd(chunk);
    if (end === 0 && this.#length + chunk.length <= this.#max) {
      this.#held.push(chunk);
      this.#length += chunk.length;
      return [];
    }
    let first = 0;
    if (end > 0 && this.#length > LONG) {
      first = chunk.findIndex((byte) => byte === LF || byte === CR);
      const decoder = new TextDecoder();
      const pieces = [...this.#held, chunk.subarray(0, first)].map((piece) => decoder.decode(piece, { stream: true }));
      this.#held = [new TextEncoder().encode(this.#shorten(pieces.join("")))];
    }
    const whole = [...this.#held, chunk.subarray(first, end)];
    this.#length = chunk.length - end;
    this.#held = this.#length > 0 ? [chunk.subarray(end)] : [];
    return whole;
  }
}

/** The index after the last line's end in a chunk; 0 if no line ends in it. */
function lastEnd(chunk: Uint8Array): number {
  // Lines that end in CR alone are rare: search for them only if there is no LF.
  return (chunk.lastIndexOf(LF) + 1) || (chunk.lastIndexOf(CR) + 1);
}
