// Long lines are put together here and not in the core: what they say is mostly known there already.

/** How many bytes make a line long. */
const LONG = 1 << 16;

const LF = 10;
const CR = 13;

/**
 * Gives a function that takes a stream's chunks, and gives what is to be handed on: whole lines. A line is held
 * up to `max` bytes; `shorten` gives what stands for a long one. What is left at the end is no event.
 */
export function byLines(max: number, shorten: (line: string) => string): (chunk: Uint8Array) => Uint8Array[] {
  let held: Uint8Array[] = [];
  let length = 0;
  return (chunk) => {
    const end = Math.max(chunk.lastIndexOf(LF), chunk.lastIndexOf(CR)) + 1;
    if (end === 0 && length + chunk.length <= max) {
      held.push(chunk);
      length += chunk.length;
      return [];
    }
    let first = 0;
    if (end > 0 && length > LONG) {
      first = chunk.findIndex((byte) => byte === LF || byte === CR);
      const decoder = new TextDecoder();
      const pieces = [...held, chunk.subarray(0, first)].map((piece) => decoder.decode(piece, { stream: true }));
      held = [new TextEncoder().encode(shorten(pieces.join("")))];
    }
    const whole = [...held, chunk.subarray(first, end)];
    held = [chunk.subarray(end)];
    length = chunk.length - end;
    return whole;
  };
}
