//! Makes a module of its text again.
//!
//! It runs once, before anything else of a page's first turn, and travels with every page: so it has no allocator and no path
//! that can panic. A text that `pack` did not write makes no module that an engine accepts.

use crate::form::{self, ALPHABET, CODE_SECTION, END, FORMS, MOST_BYTES, SINGLES, stream};
use crate::memory::{Bytes, Numbers};

/// The text; then the module.
pub(crate) static TEXT: Bytes<MOST_BYTES> = Bytes::new();
pub(crate) static MODULE: Bytes<MOST_BYTES> = Bytes::new();

/// The number of functions, then the instructions by rank, with what they call: no more numbers than the module has bytes.
static CODE: Numbers<MOST_BYTES> = Numbers::new();
/// How far each stream was read.
static PLACES: Numbers<128> = Numbers::new();
/// The value of each character.
static DIGITS: Bytes<128> = Bytes::new();
/// The instructions by their ranks, and what follows each.
static RANKS: Bytes<256> = Bytes::new();
static OPERANDS: Bytes<256> = Bytes::new();
/// The symbols of pairs.
static PAIRS: Numbers<64> = Numbers::new();
/// The bytes of sections by their numbers.
static SECTION_BYTES: Bytes<256> = Bytes::new();

/// Makes the module; returns its length.
pub(crate) fn unpack() -> usize {
    for (digit, character) in (0..).zip(ALPHABET) {
        DIGITS.set(usize::from(*character), digit);
    }
    form::byte_order(|number, byte| SECTION_BYTES.set(usize::from(number), byte));
    let mut place = 0;
    for stream in 0..stream::COUNT {
        PLACES.set(stream, place);
        while TEXT.get(place as usize) != END && (place as usize) < MOST_BYTES {
            place += 1;
        }
        place += 1;
    }
    let mut rank = 0;
    while has(stream::RANKS) {
        let code = next(stream::RANKS) as u8;
        RANKS.set(rank, code);
        OPERANDS.set(rank, form::operand(code));
        rank += 1;
    }
    let mut module = Module { read: 0, end: 0, pairs: 0 };
    while has(stream::PAIRS) {
        PAIRS.set(module.pairs, next(stream::PAIRS));
        module.pairs += 1;
    }
    module.note(next(stream::CODE));
    while has(stream::CODE) {
        module.expand(next(stream::CODE) as usize);
    }
    module.read = 0;
    module.put_sections();
    module.byte(CODE_SECTION);
    let start = module.open();
    let functions = module.code() as u32;
    module.put(functions);
    for _ in 0..functions {
        let start = module.open();
        module.put_function();
        module.close(start);
    }
    module.close(start);
    module.put_sections();
    module.end
}

/// Whether a stream has another number.
fn has(stream: usize) -> bool {
    TEXT.get(PLACES.get(stream) as usize) != END
}

/// Reads a number of a stream.
#[inline(never)]
fn next(stream: usize) -> u32 {
    let mut place = PLACES.get(stream);
    let mut digit = || {
        place += 1;
        u32::from(DIGITS.get(TEXT.get(place as usize - 1).into()))
    };
    let mut number = digit();
    if let Some(form) = number.checked_sub(SINGLES) {
        let (base, count) = FORMS[form as usize % FORMS.len()];
        number = 0;
        for _ in 0..count {
            number = number.wrapping_mul(ALPHABET.len() as u32).wrapping_add(digit());
        }
        number = number.wrapping_add(base);
    }
    PLACES.set(stream, place);
    number
}

/// A module that is being written, in [`MODULE`].
struct Module {
    /// How much of [`CODE`] was read, or written before that.
    read: usize,
    /// How much was written.
    end: usize,
    /// The number of symbols of pairs.
    pairs: usize,
}

impl Module {
    /// Adds a number to [`CODE`].
    fn note(&mut self, number: u32) {
        CODE.set(self.read, number);
        self.read += 1;
    }

    /// Adds what a symbol stands for.
    fn expand(&mut self, mut symbol: usize) {
        while symbol < self.pairs {
            self.expand(PAIRS.get(symbol) as usize);
            symbol = PAIRS.get(symbol + 1) as usize;
        }
        let rank = symbol - self.pairs;
        self.note(rank as u32);
        if OPERANDS.get(rank) == 1 {
            self.note(next(stream::CODE));
        }
    }

    /// Takes the next number of [`CODE`].
    fn code(&mut self) -> usize {
        self.read += 1;
        CODE.get(self.read - 1) as usize
    }

    fn byte(&mut self, byte: u8) {
        MODULE.set(self.end, byte);
        self.end += 1;
    }

    /// Writes a number, and returns it.
    #[inline(never)]
    fn put(&mut self, number: u32) -> u32 {
        let mut rest = number;
        while rest > 127 {
            self.byte(rest as u8 | 128);
            rest >>= 7;
        }
        self.byte(rest as u8);
        number
    }

    /// Begins what has its length before it.
    fn open(&mut self) -> usize {
        self.end += 5;
        self.end
    }

    /// Ends it.
    fn close(&mut self, start: usize) {
        let end = self.end;
        self.end = start - 5;
        self.put((end - start) as u32);
        for place in start..end {
            self.byte(MODULE.get(place));
        }
    }

    fn put_sections(&mut self) {
        for _ in 0..next(stream::SECTIONS) {
            self.byte(SECTION_BYTES.get(next(stream::SECTIONS) as usize));
        }
    }

    /// Reads a number of the stream that the next instructions say.
    fn by_next(&self, stream: usize) -> u32 {
        let code = |ahead: usize| CODE.get(self.read + ahead) as usize;
        next(form::bucket(stream, code(0), code(1)))
    }

    fn put_function(&mut self) {
        for _ in 0..2 * self.put(next(stream::LOCALS)) {
            self.put(next(stream::LOCALS));
        }
        // The offsets of the last loads, by the local before each; 0 is for none. And of the last store.
        let mut loads = [0; 1024];
        let (mut local, mut store, mut depth) = (0, 0, 1);
        while depth > 0 {
            let rank = self.code();
            let instruction = RANKS.get(rank);
            self.byte(instruction);
            match OPERANDS.get(rank) {
                1 => {
                    let function = self.code();
                    self.put(function as u32);
                }
                2 => {
                    self.put(next(stream::BLOCKS));
                    depth += 1;
                }
                3 => depth -= 1,
                4 => {
                    self.put(next(stream::LABELS));
                }
                5 => {
                    for _ in 0..=self.put(next(stream::LABELS)) {
                        self.put(next(stream::LABELS));
                    }
                }
                6 => local = 1 + self.put(self.by_next(stream::GETS)),
                7 => local = 1 + self.put(next(stream::SETS)),
                8 => {
                    let last = &mut loads[local as usize % 1024];
                    *last = form::offset(next(stream::LOADS), *last);
                    local = 0;
                    self.byte(form::alignment(instruction));
                    self.put(*last);
                }
                9 => {
                    store = form::offset(next(stream::STORES), store);
                    self.byte(form::alignment(instruction));
                    self.put(store);
                }
                10 => {
                    let mut rest = self.by_next(stream::CONSTANTS).cast_signed();
                    while !(-64..64).contains(&rest) {
                        self.byte(rest as u8 | 128);
                        rest >>= 7;
                    }
                    self.byte(rest as u8 & 127);
                }
                11 => {
                    while {
                        let byte = next(stream::BYTES) as u8;
                        self.byte(byte);
                        byte > 127
                    } {}
                }
                12 => {
                    for _ in 0..8 {
                        self.byte(next(stream::BYTES) as u8);
                    }
                }
                _ => {}
            }
        }
    }
}
