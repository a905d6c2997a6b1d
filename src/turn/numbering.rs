//! Faults in the numbering of a stream: gaps, and frames with two numbers.

use crate::features::JsonNumbers;

/// A gap that recurs this often at the same number is permanent. Broken connections also omit events.
const GAP_MEETINGS: u32 = 4;
/// After this many unfilled gaps, the server's numbers are not consecutive.
const MAX_UNFILLED: usize = 3;

/// The faults so far in the numbers of a turn.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    /// Whether another connection may fill a gap.
    refills: bool,
    /// The number before the last gap, and how often that gap occurred.
    last_gap: (u64, u32),
    /// The gaps that were skipped: the numbers at both edges.
    gaps: Vec<(u64, u64)>,
    /// The first frame whose `id` differs from the number in its JSON, as both numbers.
    mismatch: Option<(JsonNumbers, (u64, u64))>,
}

impl Numbering {
    /// Prepares for a new connection. With `refills`, a later connection may fill its gaps.
    pub(super) fn connected(&mut self, refills: bool) {
        self.refills = refills;
    }

    /// Whether to skip the gap between these two numbers. If not, another connection should fill it.
    pub(super) fn passes(&mut self, last: u64, next: u64) -> bool {
        let met = if self.last_gap.0 == last { self.last_gap.1 + 1 } else { 1 };
        self.last_gap = (last, met);
        if self.refills && met < GAP_MEETINGS && self.gaps.len() < MAX_UNFILLED {
            return false;
        }
        self.gaps.push((last, next));
        true
    }

    /// The gaps that were skipped: the numbers at both edges.
    pub(super) fn gaps(&self) -> &[(u64, u64)] {
        &self.gaps
    }

    /// Notes the first frame with two numbers.
    pub(super) fn mismatched(&mut self, id: u64, sequence_number: u64) {
        if let Some(by) = JsonNumbers::when(true) {
            self.mismatch.get_or_insert((by, (id, sequence_number)));
        }
    }

    /// Both numbers of the first frame that had two.
    pub(super) fn mismatch(&self) -> Option<(u64, u64)> {
        self.mismatch.map(|(_, numbers)| numbers)
    }
}
