//! The text form: its streams, what follows an instruction, and how a number is written.
//!
//! Measured, what the rules for pairs, [`bucket`] and [`offset`] save of the cores' text as brotli, in bytes of the core of
//! `truefoundry` and of that of `turn-rpc`: 160 and 400, 640 and 1,550, 740 and 1,160.

/// The streams of a module, in the order of the text. Each is a line of numbers.
pub(crate) mod stream {
    /// Pairs that are one number in [`CODE`], each as two such numbers: the place of the first one here. The ranks follow after all.
    pub(crate) const PAIRS: usize = 0;
    /// The codes of the instructions, the most frequent first.
    pub(crate) const RANKS: usize = 1;
    /// The number of bytes before the module's code, and these bytes; then the same for those after it.
    pub(crate) const SECTIONS: usize = 2;
    /// The number of groups of locals in each function; for each group the number of locals, and their type.
    pub(crate) const LOCALS: usize = 3;
    /// The types of blocks.
    pub(crate) const BLOCKS: usize = 4;
    /// The targets of branches.
    pub(crate) const LABELS: usize = 5;
    /// The locals that are written.
    pub(crate) const SETS: usize = 6;
    /// Offsets of loads, each in relation to the last one of the local that was read or written since the load before: see
    /// [`offset`](super::offset).
    pub(crate) const LOADS: usize = 7;
    /// Offsets of stores, in relation to the last one.
    pub(crate) const STORES: usize = 8;
    /// All constants but those of 32 bits, byte by byte.
    pub(crate) const BYTES: usize = 9;
    /// The locals that are read: a stream for each [`bucket`](super::bucket).
    pub(crate) const GETS: usize = 10;
    /// 32-bit constants, likewise.
    pub(crate) const CONSTANTS: usize = GETS + 51;
    /// The functions: their number, and their instructions by rank, with the functions that these call; and [`PAIRS`].
    pub(crate) const CODE: usize = CONSTANTS + 51;
    /// The number of streams.
    pub(crate) const COUNT: usize = CODE + 1;
}

/// Ends each stream in the text.
pub(crate) const END: u8 = b'\n';

/// The section of the functions.
pub(crate) const CODE_SECTION: u8 = 10;

/// The prefix of further instruction codes. One of them follows.
pub(crate) const PREFIX: u8 = 0xfc;

/// The code of the first load.
pub(crate) const FIRST_LOAD: u8 = 0x28;

/// The most bytes of a text, and of a module: a power of two, so that a mask keeps each place inside.
pub(crate) const MOST_BYTES: usize = 1 << 18;

/// What follows an instruction, by its code: a function or similar (1), the type of a block (2), which ends later (3), a target
/// of a branch (4) or a table of them (5), a local that is read (6) or written (7), the offset of a load (8) or of a store (9),
/// which follows its alignment, or a constant: 32-bit (:), 64-bit (;) or floating-point (<), the characters after the digits.
/// Anything else that follows is zeros, which read as an instruction without operands.
const OPERANDS: &[u8; 69] = b"00222000000344501100000000000000677110008888888888888899999999900:;0<";

/// What follows an instruction, as a number.
pub(crate) fn operand(code: u8) -> u8 {
    OPERANDS.get(usize::from(code)).map_or(u8::from(code == PREFIX), |digit| digit & 15)
}

/// The natural alignment of a load or a store, as a power of two.
pub(crate) fn alignment(code: u8) -> u8 {
    const ALIGNMENTS: &[u8] = b"23230011001122232301012";
    ALIGNMENTS.get(usize::from(code.wrapping_sub(FIRST_LOAD))).map_or(0, |digit| digit & 7)
}

/// The stream that a local's or a constant's number is in, by the ranks of the next instructions: what is done with it tells
/// much about it. For a local, what follows the two most frequent ones, which read another, counts too.
pub(crate) fn bucket(stream: usize, next: usize, second: usize) -> usize {
    stream
        + if stream == stream::CONSTANTS {
            next.min(50)
        } else if next > 1 {
            if next > 26 { 50 } else { 24 + next }
        } else {
            13 * next + second.min(12)
        }
}

/// An offset by its number and the last offset before it: up to 16 are words to go from that, forwards if even, the next 64
/// are an offset in words, others an offset.
pub(crate) fn offset(number: u32, last: u32) -> u32 {
    match number {
        0..17 => last.wrapping_add(((number >> 1) ^ (number & 1).wrapping_neg()).wrapping_mul(4)),
        17..81 => 4 * (number - 17),
        _ => number - 81,
    }
}

/// A number below this is one character.
pub(crate) const SINGLES: u32 = 85;

/// For any other number, by its first character: the number from which it counts, and how many characters follow.
pub(crate) const FORMS: [(u32, u32); 5] = [
    (85, 1),
    (175, 1),
    (265, 2),
    (8365, 5),
    // Addresses: a module's data begins here.
    (1_048_576, 3),
];

/// The characters in the order of their values: printable ASCII, without those that begin or end something in a script
/// or a page. What brotli expects of a character depends on the kinds of the two before it: some punctuation is a kind of
/// its own, letters and digits are five. This order has what is followed by different things in different kinds
/// (measured: 90 to 240 bytes less than in ASCII's order, and 60 for the characters themselves). The last
/// ones, which begin longer numbers, are none that [`byte_order`] keeps.
pub(crate) const ALPHABET: &[u8; 90] =
    b"%_#!]Z=0Y8.IAE9/X^Mp[ ?z'aBG(PeLJikh;321H4@~gRrm-|q7T56cnNFSDQw&ut}f+*obsWl:d>xvCjKy{),UVO";

/// Tells each number of a byte in [`stream::SECTIONS`] and its byte. Letters stand for themselves: brotli has a dictionary of words.
pub(crate) fn byte_order(mut tell: impl FnMut(u8, u8)) {
    let is_letter = |byte: u8| matches!(byte, b'a'..=b'z' | b'_' | b' ' | b'.' | b':');
    let mut other = 0;
    for number in 0..=255 {
        let byte = if u32::from(number) < SINGLES { ALPHABET[usize::from(number)] } else { 0 };
        if is_letter(byte) {
            tell(number, byte);
        } else {
            while is_letter(other) {
                other += 1;
            }
            tell(number, other);
            other = other.wrapping_add(1);
        }
    }
}
