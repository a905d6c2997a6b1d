//! Repeatable random numbers, for streams that are cut anywhere.

/// Small numbers from a seed (xorshift).
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The numbers of this seed.
    #[must_use]
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// The next one below a bound.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).expect("53 bits") % bound
    }

    /// Cuts bytes into chunks of many sizes, some of them empty.
    pub(crate) fn cut<'b>(&mut self, bytes: &'b [u8]) -> Vec<&'b [u8]> {
        let largest = [3, 16, 200, 1500, 20_000][self.below(5)];
        let mut chunks = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (chunk, tail) = rest.split_at(self.below(largest + 1).min(rest.len()));
            chunks.push(chunk);
            rest = tail;
        }
        chunks
    }
}
