// Unpacks a core's module from its text form. Web servers compress the text with brotli, which works better if similar
// data is adjacent. So the instructions, and each kind of number after them, are separate streams. `pkg/pack.mjs`
// writes the text, with the tables and the rules of this file.
//
// Measured, what the rules for pairs, `bucketOf` and `offsetOf` save of the cores' text as brotli, in bytes of the core of
// `truefoundry` and of that of `turn-rpc`: 160 and 400, 640 and 1,550, 740 and 1,160.

/** The streams of a module. Each is a text of numbers. */
export const enum Stream {
  /** Pairs that are one number in `Code`, each as two such numbers: the place of the first one here. The ranks follow after all. */
  Pairs,
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
  /** The locals that are written. */
  Sets,
  /** Offsets of loads, each in relation to the last one of the local that was read or written since the load before: see `offsetOf`. */
  Loads,
  /** Offsets of stores, in relation to the last one. */
  Stores,
  /** All constants but those of 32 bits, byte by byte. */
  Bytes,
  /** The locals that are read: a stream for each `bucketOf`. */
  Gets,
  /** 32-bit constants, likewise. */
  Constants = Gets + 51,
  /** The functions: their number, and their instructions by rank, with the functions that these call; and `Pairs`. */
  Code = Constants + 51,
  End,
}

/**
 * What follows an instruction, by its code: a function or similar (1), the type of a block (2), which ends later (3), a target
 * of a branch (4) or a table of them (5), a local that is read (6) or written (7), the offset of a load (8) or of a store (9),
 * which follows its alignment, or a constant: 32-bit (a), 64-bit (b) or floating-point (c). Anything else that follows is
 * zeros, which read as an instruction without operands.
 */
export const OPERANDS = "00222000000344501100000000000000677110008888888888888899999999900ab0c";

/** What follows an instruction, as a number. */
export function operandOf(code: number): number {
  return code === PREFIX ? 1 : parseInt(OPERANDS[code] ?? "0", 16);
}

/**
 * Which of the streams of one kind a number is in, by the ranks of the next instructions: what is done with a local or a
 * constant tells much about it. For a local, what follows the two most frequent ones, which read another, counts too.
 */
export function bucketOf(stream: Stream, next: number, second: number): number {
  if (stream === Stream.Constants) return next > 50 ? 50 : next;
  if (next > 1) return next > 26 ? 50 : 24 + next;
  return 13 * next + (second > 12 ? 12 : second);
}

/**
 * An offset by its number and the last offset before it: up to 16 are words to go from that, forwards if even, the next 64
 * are an offset in words, others an offset.
 */
export function offsetOf(number: number, last: number): number {
  if (number < 17) return last + 4 * ((number >> 1) ^ -(number & 1));
  return number < 81 ? 4 * (number - 17) : number - 81;
}

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
 * or a page. What brotli expects of a character depends on the kinds of the two before it: some punctuation is a kind of
 * its own, letters and digits are five. This order has what is followed by different things in different kinds
 * (measured: 90 to 240 bytes less than in ASCII's order, and 60 for the characters themselves). The last
 * ones, which begin longer numbers, are none that `byteOrder` keeps.
 */
export function alphabet(): string[] {
  return [..."%_#!]Z=0Y8.IAE9/X^Mp[ ?z'aBG(PeLJikh;321H4@~gRrm-|q7T56cnNFSDQw&ut}f+*obsWl:d>xvCjKy{),UVO"];
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
  const radix = characters.length;
  const digits = new Uint8Array(128);
  characters.forEach((character, digit) => (digits[character.charCodeAt(0)] = digit));
  const at = new Uint32Array(packed.length);
  /** Reads a number of a stream. */
  const next = (stream: Stream): number => {
    const text = packed[stream]!;
    let place = at[stream]!;
    let number = digits[text.charCodeAt(place++)]!;
    if (number >= SINGLES) {
      const form = FORMS[number - SINGLES]!;
      const last = place + form[1];
      for (number = 0; place < last; ) number = number * radix + digits[text.charCodeAt(place++)]!;
      number += form[0];
    }
    at[stream] = place;
    return number;
  };
  /** Reads what is left of a stream. */
  const rest = (stream: Stream): number[] => {
    const all = [];
    while (at[stream]! < packed[stream]!.length) all.push(next(stream));
    return all;
  };
  const ranks = rest(Stream.Ranks);
  const operands = ranks.map(operandOf);
  const pairs = rest(Stream.Pairs);
  const module = new Uint8Array(next(Stream.Sections));
  // The number of functions, then the instructions by rank, with what they call: no more numbers than bytes.
  const code = new Uint32Array(module.length);
  let read = 1;
  code[0] = next(Stream.Code);
  /** Writes to `code` what one number of the stream stands for. */
  const expand = (symbol: number): void => {
    let last = symbol;
    for (; last < pairs.length; last = pairs[last + 1]!) expand(pairs[last]!);
    const rank = last - pairs.length;
    code[read++] = rank;
    if (operands[rank] === 1) code[read++] = next(Stream.Code);
  };
  while (at[Stream.Code]! < packed[Stream.Code]!.length) expand(next(Stream.Code));
  const bytes = byteOrder(characters);
  read = 0;

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
  const putFunction = (): void => {
    for (let left = 2 * put(next(Stream.Locals)); left > 0; left -= 1) put(next(Stream.Locals));
    // The offsets of the last loads, by the local before each, and of the last store.
    const loads: number[] = [];
    let local = 0;
    let store = 0;
    for (let depth = 1; depth > 0; ) {
      const rank = code[read++]!;
      const instruction = (module[end++] = ranks[rank]!);
      switch (operands[rank]) {
        case 1:
          put(code[read++]!);
          break;
        case 2:
          put(next(Stream.Blocks));
          depth += 1;
          break;
        case 3:
          depth -= 1;
          break;
        case 4:
          put(next(Stream.Labels));
          break;
        case 5:
          for (let left = put(next(Stream.Labels)); left >= 0; left -= 1) put(next(Stream.Labels));
          break;
        case 6:
          local = put(next(Stream.Gets + bucketOf(Stream.Gets, code[read]!, code[read + 1]!)));
          break;
        case 7:
          local = put(next(Stream.Sets));
          break;
        case 8:
          module[end++] = ALIGNMENTS.charCodeAt(instruction - FIRST_LOAD) & 7;
          put((loads[local] = offsetOf(next(Stream.Loads), loads[local] ?? 0)));
          local = -1;
          break;
        case 9:
          module[end++] = ALIGNMENTS.charCodeAt(instruction - FIRST_LOAD) & 7;
          put((store = offsetOf(next(Stream.Stores), store)));
          break;
        case 10: {
          let rest = next(Stream.Constants + bucketOf(Stream.Constants, code[read]!, code[read + 1]!)) | 0;
          for (; rest < -64 || rest > 63; rest >>= 7) module[end++] = rest | 128;
          module[end++] = rest & 127;
          break;
        }
        case 11:
          while ((module[end++] = next(Stream.Bytes)) > 127);
          break;
        case 12:
          for (let left = 8; left > 0; left -= 1) module[end++] = next(Stream.Bytes);
      }
    }
  };

  putSections();
  module[end++] = CODE;
  putSized(() => {
    for (let left = put(code[read++]!); left > 0; left -= 1) putSized(putFunction);
  });
  putSections();
  return module;
}
