//! Where a stream stands: the last sequence number that was delivered.

/// Lets every event through once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cursor {
    last: u64,
}

impl Cursor {
    /// The last sequence number that was let through; 0 before the first.
    #[must_use]
    pub fn last(self) -> u64 {
        self.last
    }

    /// Moves forward to `sequence_number`, never back: what was delivered stays delivered.
    pub fn advance(&mut self, sequence_number: u64) {
        self.last = self.last.max(sequence_number);
    }

    /// Whether the event of this number is new. An event without a number (0) always is: nothing
    /// tells it from another.
    pub fn admit(&mut self, sequence_number: u64) -> bool {
        if sequence_number == 0 {
            return true;
        }
        let is_new = sequence_number > self.last;
        self.advance(sequence_number);
        is_new
    }
}
