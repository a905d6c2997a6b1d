// Cuts a growing markdown text into finished blocks, reading every character once.
//
// It only decides boundaries, from whole lines; the markdown parser interprets the blocks. A cut in a doubtful place is
// safe: the two halves are still valid markdown, only in two elements.

import type { Block } from "./blocks";
import {
  closesFence,
  indentOf,
  isBlank,
  isHeading,
  isHtml,
  isRule,
  isTableDelimiter,
  listItemIndent,
  openingFence,
  type Fence,
} from "./lines";

/** A block of this length is closed at the next possible place, so that the open tail stays cheap to render again. */
const LONG = 3_000;
/** A block without a possible place is cut anyway at this length. */
const TOO_LONG = 8_000;
/** Code is returned in pieces of at most this many lines. */
const CODE_LINES = 60;

type Kind = "empty" | "flow" | "table" | "html" | "list" | "fence";

export class BlockSplitter {
  #text = "";
  /** The start of the open block; everything before it has been returned. */
  #start = 0;
  /** The start of the first line that was not read. */
  #line = 0;
  /** Where to continue the search for the end of that line. */
  #scan = 0;
  #kind: Kind = "empty";

  // The fence of a block: at the top level, or (`#inner`) inside a list item.
  #fence: Fence | null = null;
  #fenceKey = 0;
  #fenceFirst = true;
  #codeLines = 0;
  #inner: Fence | null = null;

  /** The two head lines of the open table, repeated when a long one is cut. */
  #tableHead = "";
  /** Inserted before the text of the next block. */
  #prefix = "";
  #blankBefore = false;

  /** Reads the whole text so far; it must begin with the text of the last call. */
  grow(text: string): void {
    this.#text = text;
  }

  /** The next finished block, or null if the rest is still open. */
  next(): Block | null {
    for (;;) {
      const end = this.#text.indexOf("\n", this.#scan);
      if (end < 0) {
        this.#scan = this.#text.length;
        return this.#cutTooLong();
      }
      const line = this.#text.slice(this.#line, end);
      const lineStart = this.#line;
      this.#line = this.#scan = end + 1;
      const block = this.#kind === "fence" ? this.#fenceLine(line, lineStart) : this.#textLine(line, lineStart);
      if (block) return block;
    }
  }

  /** The open block, which may still change, or null. Its key is that of the finished block that it will become. */
  tail(): Block | null {
    return this.#start < this.#text.length ? this.#make(this.#text.length, false) : null;
  }

  /** The text has ended: the open block is the last one. */
  finish(): Block | null {
    const block = this.tail();
    this.#start = this.#line = this.#scan = this.#text.length;
    return block && block.kind === "code" ? { ...block, last: true } : block;
  }

  #textLine(line: string, lineStart: number): Block | null {
    if (this.#inner) return this.#innerFenceLine(line);
    if (isBlank(line)) return this.#blankLine();
    if (this.#kind === "empty") return this.#firstLine(line, lineStart);

    if (this.#endsBefore(line, lineStart)) {
      // Read the line again, as the first one of the next block.
      this.#line = this.#scan = lineStart;
      return this.#close(lineStart);
    }
    this.#blankBefore = false;
    const fence = this.#kind === "list" ? openingFence(line) : null;
    if (fence) {
      this.#inner = fence;
      return null;
    }
    if (this.#kind === "flow" && isTableDelimiter(line) && this.#isSecondLine(lineStart)) {
      this.#kind = "table";
      this.#tableHead = this.#text.slice(this.#start, this.#line);
      return null;
    }
    return this.#kind === "list" ? this.#cutLongList() : this.#cutLong();
  }

  /** A blank line ends everything but a list, which continues if the next line is indented or another item. */
  #blankLine(): Block | null {
    if (this.#kind === "list") {
      this.#blankBefore = true;
      return null;
    }
    if (this.#kind === "empty") {
      this.#start = this.#line;
      return null;
    }
    return this.#close(this.#line);
  }

  #firstLine(line: string, lineStart: number): Block | null {
    this.#start = lineStart;
    const fence = openingFence(line);
    if (fence) {
      this.#enterFence(fence, true);
      this.#start = this.#line;
      return null;
    }
    if (isRule(line)) return this.#close(this.#line);
    if (listItemIndent(line) !== null) this.#kind = "list";
    else if (isHeading(line)) return this.#close(this.#line);
    else this.#kind = isHtml(line) ? "html" : "flow";
    return null;
  }

  /** Whether the line cannot belong to the open block. */
  #endsBefore(line: string, lineStart: number): boolean {
    const item = listItemIndent(line);
    if (this.#kind === "list") {
      if (item !== null) return item < 2 && lineStart - this.#start > LONG;
      if (indentOf(line) >= 2) return false;
      return this.#blankBefore || openingFence(line) !== null || isHeading(line);
    }
    if (this.#kind === "html") return false;
    return openingFence(line) !== null || isHeading(line) || (item !== null && item < 4 && !isRule(line));
  }

  #isSecondLine(lineStart: number): boolean {
    return this.#text.indexOf("\n", this.#start) === lineStart - 1;
  }

  /** Ends a long paragraph or table after the last line read. */
  #cutLong(): Block | null {
    if (this.#line - this.#start < LONG) return null;
    const head = this.#kind === "table" ? this.#tableHead : "";
    const block = this.#close(this.#line);
    if (head !== "") {
      this.#kind = "table";
      this.#tableHead = head;
      this.#prefix = head;
    }
    return block;
  }

  /** A list is cut before an item (see `#endsBefore`); one whose items are all nested must be cut somewhere else. */
  #cutLongList(): Block | null {
    return this.#line - this.#start < TOO_LONG ? null : this.#close(this.#line);
  }

  /** Ends a block that is too long and has no place to cut: after its last whole line, else at a space. */
  #cutTooLong(): Block | null {
    if (this.#text.length - this.#start < TOO_LONG) return null;
    const limit = this.#start + TOO_LONG;
    let end = this.#line > this.#start ? this.#line : this.#text.lastIndexOf(" ", limit) + 1;
    if (end <= this.#start) end = limit;
    return this.#kind === "fence" ? this.#codePiece(end) : this.#cutAt(end);
  }

  #fenceLine(line: string, lineStart: number): Block | null {
    const fence = this.#fence;
    if (fence && closesFence(line, fence)) {
      const block = this.#make(lineStart, true);
      this.#start = this.#line;
      this.#reset();
      return block;
    }
    this.#codeLines += 1;
    if (this.#codeLines < CODE_LINES && this.#line - this.#start < LONG) return null;
    return this.#codePiece(this.#line);
  }

  #codePiece(end: number): Block | null {
    const block = this.#make(end, false);
    this.#moveTo(end);
    this.#fenceFirst = false;
    this.#codeLines = 0;
    return block;
  }

  #innerFenceLine(line: string): Block | null {
    if (this.#inner && closesFence(line, this.#inner)) {
      this.#inner = null;
      return null;
    }
    return this.#line - this.#start < TOO_LONG ? null : this.#cutAt(this.#line);
  }

  /** Returns the open block up to `end`. Code that was open inside a list item continues at the top level. */
  #cutAt(end: number): Block | null {
    const inner = this.#inner;
    const block = this.#close(end);
    if (inner) this.#enterFence(inner, false);
    return block;
  }

  #enterFence(fence: Fence, first: boolean): void {
    this.#kind = "fence";
    this.#fence = fence;
    this.#fenceKey = this.#line;
    this.#fenceFirst = first;
    this.#codeLines = 0;
  }

  /** Returns the open block up to `end`; null if it is only white space. */
  #close(end: number): Block | null {
    const block = this.#make(end, false);
    this.#moveTo(end);
    this.#reset();
    return block;
  }

  #moveTo(end: number): void {
    this.#start = end;
    this.#line = Math.max(this.#line, end);
    this.#scan = Math.max(this.#scan, end);
  }

  #reset(): void {
    this.#kind = "empty";
    this.#fence = null;
    this.#inner = null;
    this.#tableHead = "";
    this.#prefix = "";
    this.#blankBefore = false;
  }

  /** Keys are the places where blocks start: unique, stable, and the same for the tail and the block that it becomes. */
  #make(end: number, last: boolean): Block | null {
    const key = this.#start;
    const text = this.#text.slice(key, end);
    if (this.#kind === "fence") {
      const language = this.#fence?.language ?? "";
      return { kind: "code", key, text, language, fence: this.#fenceKey, first: this.#fenceFirst, last };
    }
    return isBlank(text) ? null : { kind: "markdown", key, text: this.#prefix + text };
  }
}
