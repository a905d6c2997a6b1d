// A core's module, from the text in which it travels. Web servers compress that with brotli, which finds more alike
// where like stands beside like: so instructions, and each kind of number that follows them, are a stream of their own.
// `pkg/pack.mjs` writes the text, by the tables of this file.

/** The streams of a module. Each is a text of numbers. */
export const enum Stream {
  /** The functions: how many there are, and their instructions by rank, with the functions that these call. */
  Code,
  /** The codes of the instructions, the most frequent one first. */
  Ranks,
  /** How long the module is; how many bytes come before its code, and these; then the same of those after it. */
  Sections,
  /** How many groups of locals each function has; of each group how many they are, and their type. */
  Locals,
  /** The types of blocks. */
  Blocks,
  /** Where branches go. */
  Labels,
  /** Which locals are read. */
  Gets,
  /** Which locals are written. */
  Sets,
  /** Offsets of loads. */
  Loads,
  /** Offsets of stores. */
  Stores,
  /** Constants of 32 bits. */
  Constants,
  /** All other constants, byte by byte. */
  Bytes,
}

/**
 * What follows an instruction, by its code. A digit is a number of that stream: a function or the like (0), the type of a
 * block (4), which `e`nds later, a label (5), a local (6, 7), the offset of a load (8) or of a store (9), before which its
 * alignment stands. Others are a table of `l`abels, and constants of 32 bits (`i`), of 64 bits (`j`), or with a point (`d`).
 * What else may follow are zeros, and these read like an instruction with nothing after it.
 */
export const OPERANDS = "  444      e55l 00              67700   88888888888888999999999  ij d";

/** The section of the functions. */
export const CODE = 10;

/** The code before those of further instructions; one of them follows. */
export const PREFIX = 0xfc;

/** The code of the first load. */
export const FIRST_LOAD = 0x28;

/** The alignments of loads and stores, from the first load on: the natural ones. */
export const ALIGNMENTS = "23230011001122232301012";

/** A number below this is one character. */
export const SINGLES = 85;

/** By the first character of any other: the number from which it counts, and how many characters follow. */
export const FORMS = [
  [85, 1],
  [175, 1],
  [265, 2],
  [8365, 5],
  // Addresses: those of a module's data begin here.
  [1048576, 3],
] as const;

/** The characters by what they count: printable ASCII, without what ends or opens something in a script or a page. */
export function alphabet(): string[] {
  const printable = Array.from({ length: 95 }, (_, at) => String.fromCharCode(at + 32));
  return [...printable.filter((character) => !/["$'<\\`]/.test(character)), "'"];
}

/** The bytes of sections by their numbers. Letters stand for themselves: brotli knows words. */
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
  /** Puts what `write` writes, and before it how long that is. */
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
