//! Random decisions, always the same for a seed (`SplitMix64`).

use std::ops::Range;
use std::time::Duration;

/// A sequence of decisions.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number in this range, which is not empty.
    pub(crate) fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.number() % (range.end - range.start)
    }

    pub(crate) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.within(0..len as u64)).expect("an index")
    }

    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.index(all.len())]
    }

    /// True this many times in a hundred.
    pub(crate) fn percent(&mut self, share: u64) -> bool {
        self.within(0..100) < share
    }

    pub(crate) fn millis(&mut self, range: Range<u64>) -> Duration {
        Duration::from_millis(self.within(range))
    }

    /// Independent decisions for a part of the schedule, so that the order in which parts run does not affect them.
    pub(crate) fn fork(&mut self) -> Self {
        Self(self.number())
    }
}
