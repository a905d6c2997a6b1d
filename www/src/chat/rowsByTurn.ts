// The rows of a conversation by their turns.

import type { Row } from "turnwire/conversation";

/** The rows of a turn by the first one of them: rows are the same objects as long as they are shown. */
const known = new WeakMap<Row, readonly Row[]>();

/** The rows by the keys of their turns. The rows of a turn stay the same array until one comes or goes. */
export function rowsByTurn(rows: readonly Row[]): ReadonlyMap<string, readonly Row[]> {
  const turns = new Map<string, Row[]>();
  for (const row of rows) {
    const own = turns.get(row.turn);
    if (own) own.push(row);
    else turns.set(row.turn, [row]);
  }
  return new Map([...turns].map(([key, own]) => [key, kept(own)]));
}

function kept(rows: readonly Row[]): readonly Row[] {
  const [first] = rows;
  if (!first) return rows;
  const before = known.get(first);
  if (before?.length === rows.length && before.every((row, at) => row === rows[at])) return before;
  known.set(first, rows);
  return rows;
}
