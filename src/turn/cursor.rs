//! How far a stream was delivered: the last sequence number, and the gaps that were skipped.

/// How an event's number relates to the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It comes next.
    New,
    /// It was already delivered.
    Repeat,
    /// Events before it are missing.
    Gap,
}

/// How many gaps are remembered. A server with more gaps does not number its events in order.
const MAX_SKIPPED: usize = 16;

/// Admits every event once. Numbers grow by one from event to event (protocol note, section 2.1).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursor {
    last: u64,
    /// Whether events without a number, or from a list, were admitted since `last`.
    is_unsure: bool,
    /// Gaps that were skipped: the numbers at both edges. The missing events may still arrive late.
    skipped: Vec<(u64, u64)>,
    /// Below this number there may be gaps that are no longer remembered.
    forgotten: u64,
}

impl Cursor {
    /// The last sequence number that was admitted; 0 before the first.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Whether events without a number, or from a list, have come since [`last`](Self::last). A stream that resumes
    /// after it may repeat or omit such events, and this could not be detected.
    #[must_use]
    pub fn is_unsure(&self) -> bool {
        self.is_unsure
    }

    /// Moves forward to `sequence_number`, never back.
    pub fn advance(&mut self, sequence_number: u64) {
        self.last = self.last.max(sequence_number);
    }

    /// Admits the event with this number, or returns why not. An event without a number (0) is new.
    #[inline]
    pub fn admit(&mut self, sequence_number: u64) -> Admission {
        if sequence_number == self.last + 1 {
            self.last = sequence_number;
            self.is_unsure = false;
            return Admission::New;
        }
        self.admit_unexpected(sequence_number)
    }

    fn admit_unexpected(&mut self, sequence_number: u64) -> Admission {
        if sequence_number == 0 {
            self.is_unsure = true;
            return Admission::New;
        }
        if sequence_number > self.last {
            return Admission::Gap;
        }
        let is_in = |gap: &(u64, u64)| gap.0 < sequence_number && sequence_number < gap.1;
        let Some(at) = self.skipped.iter().position(is_in) else {
            return Admission::Repeat;
        };
        // It arrives late, and splits the gap in two.
        let (after, before) = self.skipped.remove(at);
        self.skip(after, sequence_number);
        self.skip(sequence_number, before);
        Admission::New
    }

    /// Admits the event with this number although events before it are missing.
    pub fn pass(&mut self, sequence_number: u64) {
        self.skip(self.last, sequence_number);
        self.last = sequence_number;
        self.is_unsure = false;
    }

    /// Admits a listed event with this number. Returns whether it is new. Lists omit events, so the cursor is unsure
    /// after a new one.
    pub fn admit_listed(&mut self, sequence_number: u64) -> bool {
        let is_new = sequence_number == 0
            || match self.admit(sequence_number) {
                Admission::New => true,
                Admission::Repeat => sequence_number < self.forgotten,
                Admission::Gap => {
                    self.pass(sequence_number);
                    true
                }
            };
        self.is_unsure |= is_new;
        is_new
    }

    fn skip(&mut self, after: u64, before: u64) {
        if before - after > 1 {
            if self.skipped.len() == MAX_SKIPPED {
                self.forgotten = self.forgotten.max(self.skipped.remove(0).1);
            }
            self.skipped.push((after, before));
        }
    }
}
