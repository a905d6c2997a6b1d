// Prints the largest functions of a wasm module that has a name section: bytes, name.
//   node functions.mjs <module.wasm> <count>
import { readFileSync } from "node:fs";

const [, , file, count] = process.argv;
const bytes = readFileSync(file);

// Section ids and external kinds of the WebAssembly binary format.
const CUSTOM = 0;
const IMPORT = 2;
const CODE = 10;
const FUNCTION_NAMES = 1;
const KIND_FUNCTION = 0;

const sections = [...readSections(8, bytes.length)];
const imported = importedFunctions();
const names = functionNames();
const sizes = functionSizes().map((size, index) => ({ size, name: names.get(index + imported) ?? "(unnamed)" }));
sizes.sort((a, b) => b.size - a.size);
for (const { size, name } of sizes.slice(0, Number(count))) {
  console.log(`${String(size).padStart(8)}  ${name.replace(/::h[0-9a-f]{16}$/, "")}`);
}

/** A cursor over the module with the format's variable-length unsigned integers. */
function reader(at) {
  return {
    at,
    byte() {
      return bytes[this.at++];
    },
    number() {
      let value = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = this.byte();
        value += (byte & 0x7f) * 2 ** shift;
        if (byte < 0x80) return value;
      }
    },
    text() {
      const length = this.number();
      this.at += length;
      return bytes.toString("utf8", this.at - length, this.at);
    },
  };
}

function* readSections(start, end) {
  const cursor = reader(start);
  while (cursor.at < end) {
    const id = cursor.byte();
    const length = cursor.number();
    yield { id, start: cursor.at, end: cursor.at + length };
    cursor.at += length;
  }
}

/** Imported functions come first in the numbering of functions. */
function importedFunctions() {
  const section = sections.find(({ id }) => id === IMPORT);
  if (section === undefined) return 0;
  const cursor = reader(section.start);
  let functions = 0;
  for (let left = cursor.number(); left > 0; left--) {
    cursor.text();
    cursor.text();
    if (cursor.byte() !== KIND_FUNCTION) throw new Error(`${file} imports something else than functions`);
    cursor.number();
    functions++;
  }
  return functions;
}

function functionSizes() {
  const cursor = reader(sections.find(({ id }) => id === CODE).start);
  return Array.from({ length: cursor.number() }, () => {
    const size = cursor.number();
    cursor.at += size;
    return size;
  });
}

function functionNames() {
  const found = new Map();
  for (const { start, end } of sections.filter(({ id }) => id === CUSTOM)) {
    const custom = reader(start);
    if (custom.text() !== "name") continue;
    const part = [...readSections(custom.at, end)].find(({ id }) => id === FUNCTION_NAMES);
    const cursor = reader(part.start);
    for (let left = cursor.number(); left > 0; left--) found.set(cursor.number(), cursor.text());
  }
  return found;
}
