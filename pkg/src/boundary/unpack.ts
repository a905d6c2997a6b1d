// Unpacks a core's module from its text form. Web servers compress the text with brotli, which works better if similar
// data is adjacent. So the instructions, and each kind of number after them, are separate streams. `pkg/pack.mjs`
// writes the text, with the tables of this file.

/** The streams of a module. Each is a text of numbers. */
export const enum Stream {
  /** The functions: their number, and their instructions by rank, with the functions that these call. */
  Code,
  /** The codes of the instructions, the most frequent first. */
  Ranks,
  /** The length of the module; the number of bytes before its code, and these bytes; then the same for those after it. */
  Sections,
  /** The number of groups of locals in each function; for each group the number of locals, and their type. */
  Locals,
  /** The types of blocks. */
  Blocks,
  /** The targets of branches. */
  Labels,
  /** The locals that are read. */
  Gets,
  /** The locals that are written. */
  Sets,
  /** Offsets of loads. */
  Loads,
  /** Offsets of stores. */
  Stores,
  /** 32-bit constants. */
  Constants,
  /** All other constants, byte by byte. */
  Bytes,
}

/**
 * What follows an instruction, by its code. A digit is a number of that stream: a function or similar (0), the type of
 * a block (4), which `e`nds later, a label (5), a local (6, 7), the offset of a load (8) or of a store (9), which
 * follows its alignment. Letters are a table of `l`abels, and constants: 32-bit (`i`), 64-bit (`j`) or floating-point
 * (`d`). Anything else that follows is zeros, which read as an instruction without operands.
 */
export const OPERANDS = "  444      e55l 00              67700   88888888888888999999999  ij d";

/** The section of the functions. */
export const CODE = 10;

/** The prefix of further instruction codes. One of them follows. */
export const PREFIX = 0xfc;

/** The code of the first load. */
export const FIRST_LOAD = 0x28;

/** The natural alignments of loads and stores, from the first load on. */
export const ALIGNMENTS = "23230011001122232301012";

/** A number below this is one character. */
export const SINGLES = 85;

/** For any other number, by its first character: the number from which it counts, and how many characters follow. */
export const FORMS = [
  [85, 1],
  [175, 1],
  [265, 2],
  [8365, 5],
  // Addresses: a module's data begins here.
  [1048576, 3],
] as const;

/**
 * The characters in the order of their values: printable ASCII, without those that begin or end something in a script
 * or a page.
 */
export function alphabet(): string[] {
  const printable = Array.from({ length: 95 }, (_, at) => String.fromCharCode(at + 32));
  return [...printable.filter((character) => !/["$'<\\`]/.test(character)), "'"];
}

/** The order of bytes in sections. Letters stand for themselves: brotli has a dictionary of words. */
export function byteOrder(characters: readonly string[]): number[] {
  const isLetter = (code: number): boolean => /[a-z_ .:]/.test(String.fromCharCode(code));
  const others = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => !isLetter(byte));
  return Array.from({ length: 256 }, (_, number) => {
    const code = number < SINGLES ? characters[number]!.charCodeAt(0) : 0;
    return isLetter(code) ? code : others.shift()!;
  });
}

/** Returns the module's bytes. */
export function unpack(packed: readonly string[]): Uint8Array<ArrayBuffer> {
  const characters = alphabet();
  const bytes = byteOrder(characters);
  const streams = packed.map((text) => numbers(text, characters));
  const at = new Uint32Array(streams.length);
  const next = (stream: Stream): number => streams[stream]![at[stream]!++]!;

  const module = new Uint8Array(next(Stream.Sections));
  let end = 0;
  const put = (number: number): number => {
    let rest = number;
    for (; rest > 127; rest >>>= 7) module[end++] = rest | 128;
    module[end++] = rest;
    return number;
  };
  /** Writes with `write`, and puts the length of the result before it. */
  const putSized = (write: () => void): void => {
    const room = end + 5;
    const start = end;
    end = room;
    write();
    const written = end;
    end = start;
    put(written - room);
    module.copyWithin(end, room, written);
    end += written - room;
  };
  const putSections = (): void => {
    for (let left = next(Stream.Sections); left > 0; left -= 1) module[end++] = bytes[next(Stream.Sections)]!;
  };
  const putInstruction = (code: number): number => {
    module[end++] = code;
    const operand = code === PREFIX ? "0" : (OPERANDS[code] ?? " ");
    switch (operand) {
      case " ":
        break;
      case "e":
        return -1;
      case "l":
        for (let left = put(next(Stream.Labels)); left >= 0; left -= 1) put(next(Stream.Labels));
        break;
      case "i": {
        let rest = next(Stream.Constants) | 0;
        for (; rest < -64 || rest > 63; rest >>= 7) module[end++] = rest | 128;
        module[end++] = rest & 127;
        break;
      }
      case "j":
        while ((module[end++] = next(Stream.Bytes)) > 127);
        break;
      case "d":
        for (let left = 8; left > 0; left -= 1) module[end++] = next(Stream.Bytes);
        break;
      default: {
        const stream = Number(operand);
        if (stream >= Stream.Loads) module[end++] = Number(ALIGNMENTS[code - FIRST_LOAD]);
        put(next(stream));
        if (stream === Stream.Blocks) return 1;
      }
    }
    return 0;
  };
  const putFunction = (): void => {
    for (let left = 2 * put(next(Stream.Locals)); left > 0; left -= 1) put(next(Stream.Locals));
    for (let depth = 1; depth > 0; ) depth += putInstruction(streams[Stream.Ranks]![next(Stream.Code)]!);
  };

  putSections();
  module[end++] = CODE;
  putSized(() => {
    for (let left = put(next(Stream.Code)); left > 0; left -= 1) putSized(putFunction);
  });
  putSections();
  return module;
}

/** The numbers of a text. */
function numbers(text: string, characters: readonly string[]): Uint32Array {
  const digits = new Uint8Array(128);
  characters.forEach((character, digit) => (digits[character.charCodeAt(0)] = digit));
  const all = new Uint32Array(text.length);
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    let number = digits[text.charCodeAt(at)]!;
    if (number >= SINGLES) {
      const [base, more] = FORMS[number - SINGLES]!;
      const last = at + more;
      for (number = 0; at < last; ) number = number * characters.length + digits[text.charCodeAt((at += 1))]!;
      number += base;
    }
    all[count++] = number;
  }
  return all;
}
