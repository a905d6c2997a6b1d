// A core's module as text, of which `src/boundary/unpack.ts` makes the module again.
//
// Measured, the text of the core of `truefoundry` sent as brotli: 33.9 KB; with a symbol for each byte of the module in
// place of streams 38.7 KB; the module itself 38.0 KB. Compressed here it would be larger: web servers' brotli does it
// better than the gzip that browsers can undo (base64 of gzip 43.8 KB, of zopfli's gzip 41.9 KB).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";

const source = readFileSync(join(import.meta.dirname, "src", "boundary", "unpack.ts"), "utf8");
const { code } = transformSync(source, { loader: "ts", format: "esm" });
const { ALIGNMENTS, alphabet, byteOrder, CODE, FIRST_LOAD, FORMS, OPERANDS, PREFIX, SINGLES, Stream, unpack } = await import(
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

/** Returns the texts of a module's streams. Its loads and stores must be `aligned`. */
export function pack(module) {
  const streams = Array.from({ length: Stream.Bytes + 1 }, () => []);
  const ranked = byFrequency(module);
  const { start, end } = codeSection(module);
  streams[Stream.Sections].push(module.length);
  for (const bytes of [module.subarray(0, start), module.subarray(end)]) {
    streams[Stream.Sections].push(bytes.length, ...Array.from(bytes, (byte) => NUMBERS[byte]));
  }
  streams[Stream.Ranks] = ranked;
  readCode(module, (stream, number) => streams[stream].push(number), (code) => streams[Stream.Code].push(ranked.indexOf(code)));
  const packed = streams.map((numbers) => numbers.map(written).join(""));
  if (Buffer.compare(unpack(packed), module) !== 0) throw new Error("unpack.ts does not make the module again of what pack.mjs wrote");
  return packed;
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
 * its numbers, and `alignment(at, code)` where that of a load or a store is.
 */
function readCode(module, number, instruction, alignment = () => {}) {
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
    const operand = code === PREFIX ? "0" : (OPERANDS[code] ?? " ");
    switch (operand) {
      case " ":
      case "e":
        return;
      case "l":
        for (let left = pass(Stream.Labels); left >= 0; left -= 1) pass(Stream.Labels);
        return;
      case "i":
        return number(Stream.Constants, cursor.signed());
      case "j":
        while (passByte() > 127);
        return;
      case "d":
        for (let left = 8; left > 0; left -= 1) passByte();
        return;
      default:
        if (Number(operand) >= Stream.Loads) alignment(cursor.at++, code);
        if (code === PREFIX) demandZeros(module[cursor.at], module.subarray(cursor.at + 1));
        pass(Number(operand));
    }
  };
  pass(Stream.Code);
  while (cursor.at < end) {
    const length = cursor.number();
    const last = cursor.at + length;
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
