import { describe, expect, it } from "vitest";
import type { Block } from "./blocks";
import { BlockSplitter } from "./BlockSplitter";

/** All blocks of the text, passed in pieces that end at these places. */
function split(text: string, places: readonly number[] = []): Block[] {
  const splitter = new BlockSplitter();
  const blocks: Block[] = [];
  for (const place of [...places, text.length]) {
    splitter.grow(text.slice(0, place));
    for (let block = splitter.next(); block; block = splitter.next()) blocks.push(block);
    splitter.tail();
  }
  const last = splitter.finish();
  return last ? [...blocks, last] : blocks;
}

const texts = (blocks: readonly Block[]) => blocks.map((block) => block.text.trim());

const SAMPLE = `# Title
A paragraph on
two lines.

- one
- two

  still two
- three
  \`\`\`sh
  # not a heading

  ls
  \`\`\`

After the list.
1. first
2. second

| a | b |
|---|---|
| 1 | 2 |

> quoted
> twice

\`\`\`ts
const a = 1;

# no heading either
\`\`\`
Setext
---

***
<div>
- no list
</div>

The end`;

describe("where blocks end", () => {
  it("keeps together what belongs together", () => {
    expect(texts(split(SAMPLE))).toEqual([
      "# Title",
      "A paragraph on\ntwo lines.",
      "- one\n- two\n\n  still two\n- three\n  ```sh\n  # not a heading\n\n  ls\n  ```",
      "After the list.",
      "1. first\n2. second",
      "| a | b |\n|---|---|\n| 1 | 2 |",
      "> quoted\n> twice",
      "const a = 1;\n\n# no heading either",
      "Setext\n---",
      "***",
      "<div>\n- no list\n</div>",
      "The end",
    ]);
  });

  it("does not depend on how the text arrives", () => {
    const whole = split(SAMPLE);
    expect(
      split(
        SAMPLE,
        [...SAMPLE].map((_, index) => index),
      ),
    ).toEqual(whole);
    for (let seed = 1; seed <= 50; seed += 1) expect(split(SAMPLE, randomPlaces(SAMPLE.length, seed))).toEqual(whole);
  });

  it("every block has a key of its own, which its open tail had before", () => {
    const keys = split(SAMPLE).map((block) => block.key);
    expect(new Set(keys).size).toBe(keys.length);
    const splitter = new BlockSplitter();
    splitter.grow("first\n\nsec");
    expect(splitter.next()?.text).toBe("first\n\n");
    const tail = splitter.tail();
    splitter.grow("first\n\nsecond\n\n");
    expect(splitter.next()?.key).toBe(tail?.key);
  });
});

describe("fenced code", () => {
  it("knows its language, its beginning and its end", () => {
    expect(split("```rust,ignore x\nfn main() {}\n```\n")).toMatchObject([
      { kind: "code", language: "rust,ignore", first: true, last: true, text: "fn main() {}\n" },
    ]);
  });

  it("is handed out in pieces while it is open, and loses nothing", () => {
    const code = Array.from({ length: 500 }, (_, line) => `line ${line}\n`).join("");
    const splitter = new BlockSplitter();
    splitter.grow(`~~~\n${code}`);
    const pieces: Block[] = [];
    for (let piece = splitter.next(); piece; piece = splitter.next()) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(5);
    expect(Math.max(...pieces.map((piece) => piece.text.length))).toBeLessThan(4_000);

    const all = split(`~~~\n${code}~~~\nafter`);
    const pieceTexts = all.filter((block) => block.kind === "code");
    expect(pieceTexts.map((piece) => piece.text).join("")).toBe(code);
    expect(pieceTexts.map((piece) => piece.first)).toEqual(pieceTexts.map((_, index) => index === 0));
    expect(pieceTexts.map((piece) => piece.last)).toEqual(
      pieceTexts.map((_, index) => index === pieceTexts.length - 1),
    );
    expect(new Set(pieceTexts.map((piece) => piece.fence)).size).toBe(1);
    expect(all.at(-1)?.text).toBe("after");
  });

  it("goes on as code when it has outgrown the list item around it", () => {
    const code = Array.from({ length: 2_000 }, (_, line) => `  # line ${line}\n`).join("");
    const blocks = split(`- item\n  \`\`\`\n${code}  \`\`\`\n\nafter`);
    expect(blocks[0]?.kind).toBe("markdown");
    expect(blocks.slice(1, -1).every((block) => block.kind === "code")).toBe(true);
    expect(blocks.at(-1)?.text).toBe("after");
  });
});

describe("long blocks", () => {
  const longest = (blocks: readonly Block[]) => Math.max(...blocks.map((block) => block.text.length));

  it("cuts a line without end at spaces", () => {
    const text = "word ".repeat(20_000);
    const blocks = split(text, randomPlaces(text.length, 7));
    expect(longest(blocks)).toBeLessThanOrEqual(8_001);
    expect(blocks.map((block) => block.text).join("")).toBe(text);
    expect(blocks.every((block) => block.text.startsWith("word"))).toBe(true);
  });

  it("cuts text without any space", () => {
    const text = "x".repeat(50_000);
    expect(
      split(text)
        .map((block) => block.text)
        .join(""),
    ).toBe(text);
    expect(longest(split(text))).toBeLessThanOrEqual(8_000);
  });

  it("cuts a list between items", () => {
    const text = "- an item of the list\n".repeat(2_000);
    const blocks = split(text);
    expect(longest(blocks)).toBeLessThan(4_000);
    expect(blocks.every((block) => block.text.startsWith("- "))).toBe(true);
    expect(blocks.map((block) => block.text).join("")).toBe(text);
  });

  it("repeats a table's head", () => {
    const head = "| a | b |\n|---|---|\n";
    const rows = "| one | two |\n".repeat(1_000);
    const blocks = split(head + rows);
    expect(blocks.length).toBeGreaterThan(3);
    expect(blocks.every((block) => block.text.startsWith(head))).toBe(true);
    expect(blocks.map((block) => block.text.slice(head.length)).join("")).toBe(rows);
  });
});

/** Some increasing places in a text of this length, always the same for a seed. */
function randomPlaces(length: number, seed: number): number[] {
  const places: number[] = [];
  let state = seed;
  for (let place = 0; place < length;) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    place += 1 + (state % Math.max(2, Math.floor(length / 20)));
    if (place < length) places.push(place);
  }
  return places;
}
