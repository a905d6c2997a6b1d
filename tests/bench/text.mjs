// What models say: pieces of text as they come, a token or two each.
import { pick } from "./random.mjs";

const WORDS = (
  "the of and to in a is that for it was on are as with his they at be this from have or by one had not but what all " +
  "were when we there can an your which their said if do will each about how up out them then she many some so these " +
  "would other into has more her two like him see time could no make than first been its who now people service limit " +
  "memory restart request answer version deploy yesterday failed connection minutes because before between number"
).split(" ");
const MARKS = [".", ",", ".", ",", ":", ")", " (", "-"];
const ENDINGS = ["s", "ing", "ed", "er", "ly", "ment"];
/** Outside of ASCII, as models write English. */
const TYPOGRAPHY = ["’s", " —", " “", "”", "…"];
const ESCAPED = ["\n\n", "\n", ' "', '"', ".\n"];
const FOREIGN = [" où", " größer", " 東京", " привет", " 👩‍💻", " ñandú", " naïve", " ≥"];

/** Pieces of English: of a hundred, two need an escape in JSON and one is not ASCII. */
export function english(draw) {
  const kind = draw();
  if (kind < 0.72) return ` ${pick(draw, WORDS)}`;
  if (kind < 0.85) return pick(draw, ENDINGS);
  if (kind < 0.97) return pick(draw, MARKS);
  return pick(draw, kind < 0.99 ? ESCAPED : TYPOGRAPHY);
}

/** Pieces of which each third needs an escape, and each third is not ASCII. */
export function foreign(draw) {
  const kind = draw();
  if (kind < 0.34) return ` ${pick(draw, WORDS)}`;
  return kind < 0.67 ? pick(draw, ESCAPED) + pick(draw, WORDS) : pick(draw, FOREIGN);
}

/** So many characters of English at least. */
export function prose(draw, length) {
  let text = "";
  while (text.length < length) text += english(draw);
  return text;
}
