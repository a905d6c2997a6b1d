// A growing markdown text as rendered blocks: each one parsed once, some of them per frame, grouped for cheap commits.

import { dequeue, enqueue, frameDeadline } from "../ui/frameQueue";
import { Value } from "../ui/Value";
import type { Block, RenderedBlock } from "./blocks";
import { BlockSplitter } from "./BlockSplitter";
import { renderBlock } from "./renderBlock";

/** Blocks per chunk. A commit compares the chunks and the blocks of the last one, never all blocks. */
const CHUNK_BLOCKS = 50;
/**
 * The most new text that one frame may show, in UTF-16 units: more than a screen. The time budget alone is not enough,
 * since layout and paint of the parsed text come on top of it.
 */
const FRAME_TEXT = 6_000;
export interface Chunk {
  readonly key: number;
  readonly blocks: readonly RenderedBlock[];
  /** No block will be added. */
  readonly sealed: boolean;
  readonly length: number;
}

export interface MarkdownView {
  readonly chunks: readonly Chunk[];
  /** The open end, which changes with every delta; null while older blocks still wait to be rendered. */
  readonly tail: Block | null;
}

const EMPTY: MarkdownView = { chunks: [], tail: null };

export class MarkdownFeed {
  readonly view = new Value(EMPTY);
  #text = "";
  #ended = false;
  #splitter = new BlockSplitter();
  #behind = false;
  /** What is shown with the next notice. */
  #made = EMPTY;

  constructor(text: string, ended: boolean) {
    this.#take(text, ended);
    // Render at once what fits, so that a short history does not build up visibly.
    this.#behind = this.#advance(frameDeadline(), FRAME_TEXT);
    this.view.set(this.#made);
  }

  /** Sets the whole text so far. Usually it grows at its end; any other change starts over. */
  set(text: string, ended: boolean): void {
    if (text === this.#text && ended === this.#ended) return;
    if (!continues(this.#text, text) || (this.#ended && !ended)) {
      this.#splitter = new BlockSplitter();
      this.#made = EMPTY;
    }
    this.#take(text, ended);
    this.#behind = true;
    enqueue(this.#work);
  }

  /** Continues after `pause`, or after construction. */
  resume(): void {
    if (this.#behind) enqueue(this.#work);
  }

  pause(): void {
    dequeue(this.#work);
  }

  #take(text: string, ended: boolean): void {
    this.#text = text;
    this.#ended = ended;
    this.#splitter.grow(text);
  }

  readonly #work = (deadline: number, pace: number): boolean => {
    this.#behind = this.#advance(deadline, FRAME_TEXT * pace);
    this.view.set(this.#made);
    return this.#behind;
  };

  /** Renders blocks until one of the limits is reached; returns whether finished blocks are left. */
  #advance(deadline: number, limit: number): boolean {
    const made: RenderedBlock[] = [];
    let length = 0;
    let block = this.#next();
    while (block) {
      made.push(render(block));
      length += block.text.length;
      if (length >= limit || performance.now() >= deadline) break;
      block = this.#next();
    }
    const more = block !== null;
    const tail = more || this.#ended ? null : this.#splitter.tail();
    this.#made = { chunks: made.length > 0 ? append(this.#made.chunks, made) : this.#made.chunks, tail };
    return more;
  }

  #next(): Block | null {
    return this.#splitter.next() ?? (this.#ended ? this.#splitter.finish() : null);
  }
}

function render(block: Block): RenderedBlock {
  return block.kind === "code" ? block : { ...block, html: renderBlock(block.text) };
}

function append(chunks: readonly Chunk[], blocks: RenderedBlock[]): Chunk[] {
  const result = [...chunks];
  let rest = blocks;
  const last = result.at(-1);
  if (last && !last.sealed) {
    rest = [...last.blocks, ...blocks];
    result.pop();
  }
  for (let at = 0; at < rest.length; at += CHUNK_BLOCKS) {
    const part = rest.slice(at, at + CHUNK_BLOCKS);
    const length = part.reduce((sum, block) => sum + block.text.length, 0);
    result.push({ key: part[0]?.key ?? 0, blocks: part, sealed: part.length === CHUNK_BLOCKS, length });
  }
  return result;
}

/**
 * Whether `text` begins with `before`, judged by its length and its last characters: a full comparison would cost a
 * pass per frame.
 */
function continues(before: string, text: string): boolean {
  if (text.length < before.length) return false;
  const from = Math.max(0, before.length - 32);
  return text.slice(from, before.length) === before.slice(from);
}
