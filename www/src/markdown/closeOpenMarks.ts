// Completes a text that stops in the middle, so that half-written marks do not flicker.

/** A table head without its delimiter row: it would briefly show as bars, and then become a table. */
const TABLE_HEAD = /^\s*\|[^\n]*(?:\n[ \t|:-]*)?$/;
const OPEN_LINK = /!?\[([^[\]\n]*)(?:\]\([^()\n]*)?$/;

/** Closes the emphasis, code and links that are open at the end of `tail`. */
export function closeOpenMarks(tail: string): string {
  if (TABLE_HEAD.test(tail)) return "";
  const start = Math.max(tail.lastIndexOf("\n\n"), tail.lastIndexOf("\n- "), tail.lastIndexOf("\n* "), -1) + 1;
  let last = tail.slice(start);

  if (count(last, "`") % 2 === 1) return `${tail.trimEnd()}\``;
  last = last.replace(OPEN_LINK, "$1");
  for (const mark of ["**", "~~"]) {
    if (count(last, mark) % 2 === 0) continue;
    last = last.endsWith(mark) ? last.slice(0, -mark.length) : `${last.trimEnd()}${mark}`;
  }
  return tail.slice(0, start) + last;
}

function count(text: string, mark: string): number {
  let found = 0;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + mark.length)) found += 1;
  return found;
}
