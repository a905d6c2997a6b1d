//! Faults in the numbers of a stream: gaps, and frames with two numbers.

use crate::features::JsonNumbers;

/// A gap that is met this often at the same number is lost. Connections that break leave out events, too.
const GAP_MEETINGS: u32 = 4;
/// After this many gaps that no connection filled, the server's numbers are not consecutive.
const MAX_UNFILLED: usize = 3;

/// The faults so far in the numbers of a turn.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    /// Whether another connection may fill a gap.
    refills: bool,
    /// The number before the last gap, and how often that gap was met.
    last_gap: (u64, u32),
    /// The gaps that were passed over: the numbers on both sides.
    gaps: Vec<(u64, u64)>,
    /// The first frame whose `id` differs from the number in its JSON: both.
    mismatch: Option<(JsonNumbers, (u64, u64))>,
}

impl Numbering {
    /// A new connection begins. With `refills`, another one may fill its gaps.
    pub(super) fn connected(&mut self, refills: bool) {
        self.refills = refills;
    }

    /// Whether the gap between these two numbers is passed over. If not, another connection is to fill it.
    pub(super) fn passes(&mut self, last: u64, next: u64) -> bool {
        let met = if self.last_gap.0 == last { self.last_gap.1 + 1 } else { 1 };
        self.last_gap = (last, met);
        if self.refills && met < GAP_MEETINGS && self.gaps.len() < MAX_UNFILLED {
            return false;
        }
        self.gaps.push((last, next));
        true
    }

    /// The gaps that were passed over: the numbers on both sides.
    pub(super) fn gaps(&self) -> &[(u64, u64)] {
        &self.gaps
    }

    /// Notes the first frame with two numbers.
    pub(super) fn mismatched(&mut self, id: u64, sequence_number: u64) {
        if let Some(by) = JsonNumbers::when(true) {
            self.mismatch.get_or_insert((by, (id, sequence_number)));
        }
    }

    /// The numbers of the first frame that had two.
    pub(super) fn mismatch(&self) -> Option<(u64, u64)> {
        self.mismatch.map(|(_, numbers)| numbers)
    }
}
