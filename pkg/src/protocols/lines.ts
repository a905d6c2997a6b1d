// Cuts a stream into whole lines for the core, with long lines shortened: the core does not need all of their text.

/** The length above which a line is long, in bytes. */
const LONG = 1 << 13;

const LF = 10;
const CR = 13;

/** Cuts a stream's chunks into whole lines. */
export class Lines {
  readonly #max: number;
  readonly #shorten: (line: Uint8Array) => string | undefined;
  /** The beginning of a line, in pieces. */
  #held: Uint8Array[] = [];
  #length = 0;

  /** Holds and shortens lines of up to `max` bytes; `shorten` returns the replacement of a long one, if there is any. */
  constructor(max: number, shorten: (line: Uint8Array) => string | undefined) {
    this.#max = max;
    this.#shorten = shorten;
  }

  /** The lines that end in a chunk. The rest at the end of a stream is not an event. */
  whole(chunk: Uint8Array): readonly Uint8Array[] {
    // The common case: the chunk contains only whole lines, and none is long.
    if (this.#length === 0 && chunk.length <= LONG && chunk[chunk.length - 1] === LF) return [chunk];
    const end = lastEnd(chunk);
    if (end === 0 && this.#length + chunk.length <= this.#max) {
      this.#held.push(chunk);
      this.#length += chunk.length;
      return [];
    }
    let whole = this.#held;
    let from = 0;
    const first = chunk.indexOf(LF);
    if (first >= 0 && this.#length + first > LONG) {
      whole = this.#shortened([...whole, chunk.subarray(0, first)], this.#length + first);
      from = first;
    }
    // Any line of more than LONG bytes has a half of LONG without a line's end after one of these places.
    for (let at = from; (at += LONG / 2) < end; ) {
      const next = chunk.indexOf(LF, at);
      const start = next - at < LONG / 2 ? next : chunk.lastIndexOf(LF, at) + 1;
      if (next - start > LONG) {
        whole.push(chunk.subarray(from, start), ...this.#shortened([chunk.subarray(start, next)], next - start));
        from = next;
      }
      if (next > at) at = next;
    }
    whole.push(chunk.subarray(from, end));
    this.#length = chunk.length - end;
    this.#held = this.#length > 0 ? [chunk.subarray(end)] : [];
    return whole;
  }

  /** The pieces of a long line, shortened if its length in bytes is within the limit. */
  #shortened(pieces: Uint8Array[], length: number): Uint8Array[] {
    if (length > this.#max) return pieces;
    const short = this.#shorten(pieces.length > 1 ? joined(pieces, length) : pieces[0]!);
    return short === undefined ? pieces : [new TextEncoder().encode(short)];
  }
}

function joined(pieces: Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The index after the last line's end in a chunk; 0 if no line ends in it. */
function lastEnd(chunk: Uint8Array): number {
  // Lines that end in CR alone are rare: search for them only if there is no LF.
  return (chunk.lastIndexOf(LF) + 1) || (chunk.lastIndexOf(CR) + 1);
}
