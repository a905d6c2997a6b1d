// The examples of the documents: fenced blocks of code with a word after the language that says how they are tested.
//   run       a program for Node; a block `text output` after it has what it prints, by the beginnings of its lines
//   page      a script for a page, which shows text and has no errors
//   app       a component that shows a turn: tests/bindings builds it with its framework, and runs it in a page
//   check     code that compiles, under the strictest rules
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "..", "..");
const FENCE = /^```(\S*)(?: (\S+))?\n([^]*?)^```$/gm;
/** Languages whose blocks are code that users copy. */
const CODE = ["js", "jsx", "svelte", "ts", "tsx", "vue"];

const documentsIn = (folder) => readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(".md")).map((name) => `${folder}/${name}`);

/** The documents with examples, all of which must be tested. */
export const DOCUMENTS = ["README.md", ...documentsIn("docs"), ...documentsIn("docs/guides")];

/** The blocks of a document: `{ language, what, code, output }`. */
export function blocksOf(document) {
  const blocks = [...readFileSync(join(ROOT, document), "utf8").matchAll(FENCE)].map(([, language, what, code]) => ({ language, what, code }));
  return blocks.flatMap((block, at) => {
    if (!CODE.includes(block.language)) return [];
    const next = blocks[at + 1];
    return [{ ...block, output: next?.what === "output" ? next.code.trim().split("\n") : undefined }];
  });
}
