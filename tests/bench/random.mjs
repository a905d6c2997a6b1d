// Random numbers that are the same in every run.

/** A generator of numbers from 0 to 1, by mulberry32. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of a list's items. */
export function pick(draw, list) {
  return list[Math.floor(draw() * list.length)];
}

/** Text of so many characters without any meaning, such as an id. */
export function token(draw, length, alphabet = "0123456789abcdefghjkmnpqrstvwxyz") {
  let text = "";
  while (text.length < length) text += pick(draw, alphabet);
  return text;
}
