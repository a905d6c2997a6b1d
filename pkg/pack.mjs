// A core's module as text, of which `src/boundary/unpack.ts` makes the module again.
//
// Measured, the text of the core of `truefoundry` sent as brotli: 37.1 KB; the module itself 42.8 KB. Compressed here it
// would be larger: web servers' brotli does it better than the gzip that browsers can undo (base64 of gzip 49.1 KB).
//
// A decoder of its own, with adaptive probabilities in place of brotli's, would take off another 3 to 6 KB. Measured as a
// prototype, it needs twice the time in Chromium, even as WebAssembly.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";

const source = readFileSync(join(import.meta.dirname, "src", "boundary", "unpack.ts"), "utf8");
const { code } = transformSync(source, { loader: "ts", format: "esm" });
const { ALIGNMENTS, alphabet, bucketOf, byteOrder, CODE, FIRST_LOAD, FORMS, offsetOf, operandOf, PREFIX, SINGLES, Stream, unpack } = await import(
  `data:text/javascript;base64,${Buffer.from(code).toString("base64")}`
);

const CHARACTERS = alphabet();
const NUMBERS = [];
byteOrder(CHARACTERS).forEach((byte, number) => (NUMBERS[byte] = number));
/**
 * The instructions of which `OPERANDS` says all: what else a module has would be taken for something that it is not. After
 * the prefix these are conversions, and what fills and copies the one memory.
 */
const isKnown = (code) =>
  [[0x00, 0x05], [0x0b, 0x11], [0x1a, 0x1b], [0x20, 0x24], [0x28, 0x42], [0x44, 0xc4], [PREFIX, PREFIX]].some(
    ([first, last]) => first <= code && code <= last,
  );
const AFTER_PREFIX = new Map([...Array.from({ length: 8 }, (_, conversion) => [conversion, 0]), [10, 2], [11, 1]]);

/** Where the sections begin: after the format's magic number and its version. */
const FIRST_SECTION = 8;

/** How many pairs of instructions are one number. With 20 the text is as large, with 40 it is larger. */
const PAIRS = 10;

/** Returns the texts of a module's streams. Its loads and stores must be `aligned`. */
export function pack(module) {
  const streams = Array.from({ length: Stream.End }, () => []);
  const ranked = byFrequency(module);
  const { start, end } = codeSection(module);
  streams[Stream.Sections].push(module.length);
  for (const bytes of [module.subarray(0, start), module.subarray(end)]) {
    streams[Stream.Sections].push(bytes.length, ...Array.from(bytes, (byte) => NUMBERS[byte]));
  }
  streams[Stream.Ranks] = ranked;
  const code = [];
  const rank = (instruction) => ranked.indexOf(instruction);
  readCode(module, (stream, number) => stream === Stream.Code && code.push(number), (instruction) => code.push(rank(instruction)));
  const { paired, pairs } = withPairs(code, ranked);
  streams[Stream.Code] = paired;
  streams[Stream.Pairs] = pairs;
  // The place in `code`, which `number` needs to know what follows.
  let at = 0;
  let loads = {};
  let [local, store] = [0, 0];
  const number = (stream, n) => {
    const bucket = () => bucketOf(stream, code[at], code[at + 1]);
    switch (stream) {
      case Stream.Code:
        at += 1;
        return;
      case Stream.Gets:
        local = n;
        return streams[stream + bucket()].push(n);
      case Stream.Constants:
        return streams[stream + bucket()].push(n);
      case Stream.Sets:
        local = n;
        return streams[stream].push(n);
      case Stream.Loads:
        streams[stream].push(offsetNumber(n, loads[local] ?? 0));
        loads[local] = n;
        local = -1;
        return;
      case Stream.Stores:
        streams[stream].push(offsetNumber(n, store));
        store = n;
        return;
      default:
        streams[stream].push(n);
    }
  };
  const begin = () => {
    loads = {};
    local = store = 0;
  };
  readCode(module, number, () => (at += 1), undefined, begin);
  const packed = streams.map((numbers) => numbers.map(written).join(""));
  if (Buffer.compare(unpack(packed), module) !== 0) throw new Error("unpack.ts does not make the module again of what pack.mjs wrote");
  return packed;
}

/** The number of an offset: the first one that `offsetOf` reads as that. */
function offsetNumber(offset, last) {
  for (let number = 0; number < 81; number += 1) {
    if (offsetOf(number, last) === offset) return number;
  }
  return offset + 81;
}

/**
 * Returns the numbers of `Code` with the most frequent pairs of instructions in place of each of them, and these pairs. What an
 * instruction calls follows it, so that it can only end a pair.
 */
function withPairs(code, ranked) {
  // Symbols: an instruction is its rank after all pairs. Indices are kept apart, as texts.
  const symbols = [`${code[0]}`];
  for (let at = 1; at < code.length; at += 1) {
    symbols.push(2 * PAIRS + code[at]);
    if (operandOf(ranked[code[at]]) === 1) symbols.push(`${code[(at += 1)]}`);
  }
  const pairs = [];
  let paired = symbols;
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const [first, second] = mostFrequentPair(paired);
    pairs.push(first, second);
    const before = paired;
    paired = [];
    for (let at = 0; at < before.length; at += 1) {
      const isPair = before[at] === first && before[at + 1] === second;
      paired.push(isPair ? 2 * pair : before[at]);
      if (isPair) at += 1;
    }
  }
  return { paired: paired.map(Number), pairs };
}

/** The two symbols that follow each other most often. */
function mostFrequentPair(symbols) {
  const counts = new Map();
  for (let at = 1; at < symbols.length; at += 1) {
    const [first, second] = [symbols[at - 1], symbols[at]];
    if (typeof first === "string" || typeof second === "string") continue;
    const pair = `${first} ${second}`;
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  const [most] = [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best));
  return most.split(" ").map(Number);
}

/**
 * Returns the module with the natural alignment at each load and store. It is a hint that no supported engine makes
 * anything of: x86 and ARM load what is not aligned as well. So it need not travel.
 */
export function aligned(module) {
  const copy = Buffer.from(module);
  const set = (at, code) => (copy[at] = Number(ALIGNMENTS[code - FIRST_LOAD]));
  readCode(module, () => {}, () => {}, set);
  return copy;
}

/** The codes of the instructions of a module, the most frequent one first. */
function byFrequency(module) {
  const counts = new Map();
  readCode(module, () => {}, (code) => counts.set(code, (counts.get(code) ?? 0) + 1));
  return [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || a - b);
}

/** A number as text. */
function written(number) {
  if (number < SINGLES) return CHARACTERS[number];
  const fits = ([base, count]) => base <= number && number - base < CHARACTERS.length ** count;
  const [base, count] = FORMS.filter(fits).reduce((least, form) => (form[1] < least[1] ? form : least));
  let text = "";
  for (let rest = number - base, left = count; left > 0; left -= 1) {
    text = CHARACTERS[rest % CHARACTERS.length] + text;
    rest = Math.floor(rest / CHARACTERS.length);
  }
  return CHARACTERS[SINGLES + FORMS.findIndex((form) => form[0] === base)] + text;
}

/** Where the section of the functions is: its start, what it holds, its end. */
function codeSection(module) {
  const cursor = new Cursor(module, FIRST_SECTION);
  for (;;) {
    const start = cursor.at;
    const id = cursor.byte();
    const length = cursor.number();
    const inside = cursor.at;
    cursor.at += length;
    if (id === CODE) return { start, inside, end: cursor.at };
  }
}

/**
 * Reads all functions, in order: `number(stream, n)` is told each number, `instruction(code)` each instruction before
 * its numbers, `alignment(at, code)` where that of a load or a store is, and `begin()` before each function.
 */
function readCode(module, number, instruction, alignment = () => {}, begin = () => {}) {
  const { inside, end } = codeSection(module);
  const cursor = new Cursor(module, inside);
  const pass = (stream) => {
    const read = cursor.number();
    number(stream, read);
    return read;
  };
  const passByte = () => {
    const byte = cursor.byte();
    number(Stream.Bytes, byte);
    return byte;
  };
  const operands = (code) => {
    if (!isKnown(code)) throw new Error(`unpack.ts does not know what follows instruction ${code}: add it to OPERANDS`);
    switch (operandOf(code)) {
      case 1:
        if (code === PREFIX) demandZeros(module[cursor.at], module.subarray(cursor.at + 1));
        return pass(Stream.Code);
      case 2:
        return pass(Stream.Blocks);
      case 4:
        return pass(Stream.Labels);
      case 5:
        for (let left = pass(Stream.Labels); left >= 0; left -= 1) pass(Stream.Labels);
        return;
      case 6:
        return pass(Stream.Gets);
      case 7:
        return pass(Stream.Sets);
      case 8:
        alignment(cursor.at++, code);
        return pass(Stream.Loads);
      case 9:
        alignment(cursor.at++, code);
        return pass(Stream.Stores);
      case 10:
        return number(Stream.Constants, cursor.signed());
      case 11:
        while (passByte() > 127);
        return;
      case 12:
        for (let left = 8; left > 0; left -= 1) passByte();
    }
  };
  pass(Stream.Code);
  while (cursor.at < end) {
    const length = cursor.number();
    const last = cursor.at + length;
    begin();
    for (let groups = pass(Stream.Locals); groups > 0; groups -= 1) {
      pass(Stream.Locals);
      pass(Stream.Locals);
    }
    while (cursor.at < last) {
      const code = cursor.byte();
      instruction(code);
      operands(code);
    }
  }
}

/** Throws unless what follows this instruction after the prefix reads like instructions with nothing after them. */
function demandZeros(code, rest) {
  const zeros = AFTER_PREFIX.get(code);
  if (zeros === undefined || rest.subarray(0, zeros).some((byte) => byte !== 0)) {
    throw new Error(`unpack.ts does not know instruction ${code} after its prefix`);
  }
}

/** Reads a module's bytes, and its numbers of variable length. */
class Cursor {
  constructor(module, at) {
    this.module = module;
    this.at = at;
  }

  byte() {
    return this.module[this.at++];
  }

  number() {
    for (let number = 0, place = 1; ; place *= 128) {
      const byte = this.byte();
      number += (byte & 127) * place;
      if (byte < 128) return number;
    }
  }

  /** A number with a sign, of 32 bits; as if it had none. */
  signed() {
    const from = this.at;
    const number = this.number();
    const bits = 7 * (this.at - from);
    const isNegative = bits < 32 && number >= 2 ** (bits - 1);
    return (isNegative ? number - 2 ** bits : number) >>> 0;
  }
}
