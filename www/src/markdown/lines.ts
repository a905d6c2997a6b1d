// What a single line of markdown can be, as far as block boundaries need to know.

/** An opened code fence: what closes it, and what it says about its language. */
export interface Fence {
  readonly marker: "`" | "~";
  readonly length: number;
  readonly indent: number;
  readonly language: string;
}

const FENCE = /^(\s*)(`{3,}|~{3,})([^\n]*)$/;
const LIST_ITEM = /^(\s*)(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const HEADING = /^ {0,3}#{1,6}(?:\s|$)/;
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const TABLE_DELIMITER = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const HTML = /^ {0,3}<[a-z!/]/i;

export const isBlank = (line: string): boolean => line.trim() === "";
export const isHeading = (line: string): boolean => HEADING.test(line);
export const isRule = (line: string): boolean => RULE.test(line);
export const isTableDelimiter = (line: string): boolean => line.includes("|") && TABLE_DELIMITER.test(line);
export const isHtml = (line: string): boolean => HTML.test(line);

/** The number of columns before the first character that is not white; a tab counts as four. */
export function indentOf(line: string): number {
  let columns = 0;
  for (const character of line) {
    if (character === " ") columns += 1;
    else if (character === "\t") columns += 4;
    else break;
  }
  return columns;
}

/** The indent of a list item's marker, or null when the line does not start an item. */
export function listItemIndent(line: string): number | null {
  const match = LIST_ITEM.exec(line);
  return match ? indentOf(line) : null;
}

/** The fence that the line opens, or null. An info string may not hold a backtick when the fence is of backticks. */
export function openingFence(line: string): Fence | null {
  const match = FENCE.exec(line);
  if (!match) return null;
  const run = match[2] ?? "";
  const info = (match[3] ?? "").trim();
  const marker = run.startsWith("~") ? "~" : "`";
  if (marker === "`" && info.includes("`")) return null;
  return { marker, length: run.length, indent: indentOf(line), language: info.split(/\s/, 1)[0] ?? "" };
}

/** Whether the line closes the fence. */
export function closesFence(line: string, fence: Fence): boolean {
  const text = line.trim();
  if (text.length < fence.length) return false;
  for (const character of text) if (character !== fence.marker) return false;
  return true;
}
