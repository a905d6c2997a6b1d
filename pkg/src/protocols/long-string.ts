// Finds a long string in JSON without decoding it.

const QUOTE = 34;
const BACKSLASH = 92;

/** The position of the first string of more than `length` bytes in JSON, quotes included. */
export function longString(json: Uint8Array, length: number): { from: number; to: number } | undefined {
  for (let from = 0, to = 0; (from = json.indexOf(QUOTE, to)) >= 0; ) {
    to = from;
    do to = json.indexOf(QUOTE, to + 1);
    while (to > 0 && isEscaped(json, to));
    if (to < 0) break;
    to += 1;
    if (to - from > length) return { from, to };
  }
  return undefined;
}

/** Whether an odd number of backslashes precedes a byte. */
function isEscaped(json: Uint8Array, at: number): boolean {
  let before = at;
  while (json[before - 1] === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}
