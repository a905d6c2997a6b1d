//! The parts of an input: a plan, which determines a target's decisions, and the bytes for it.

use arbitrary::{Arbitrary, Unstructured};

/// A split input.
#[derive(Debug, Arbitrary)]
pub struct Input<'a> {
    plan: u64,
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    /// Splits an input into eight bytes of plan, and the rest.
    pub fn of(input: &'a [u8]) -> (Plan, &'a [u8]) {
        let unstructured = Unstructured::new(input);
        match Self::arbitrary_take_rest(unstructured) {
            Ok(Self { plan, bytes }) => (Plan(plan), bytes),
            Err(_) => (Plan(0), &[]),
        }
    }

    /// The input that consists of these parts.
    pub fn from_parts(plan: u64, bytes: &[u8]) -> Vec<u8> {
        [&plan.to_le_bytes(), bytes].concat()
    }
}

/// A sequence of decisions: the same for the same number (`SplitMix64`).
#[derive(Debug, Clone)]
pub struct Plan(pub u64);

impl Plan {
    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, or 0 if that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        let number = self.number() % (end.max(1) as u64);
        usize::try_from(number).unwrap_or_default()
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Cuts bytes into chunks, empty ones among them. Some plans cut into crumbs, some into few pieces.
    pub fn cut<'b>(&mut self, bytes: &'b [u8]) -> Vec<&'b [u8]> {
        let longest = 1 << self.below(14);
        let mut chunks = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (chunk, tail) = rest.split_at(self.below(longest + 1).min(rest.len()));
            chunks.push(chunk);
            rest = tail;
        }
        chunks
    }
}
