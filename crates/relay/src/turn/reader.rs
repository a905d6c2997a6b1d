//! A reader is only a place in the log. It has no queue, so a slow reader delays nothing else.

use super::End;

/// A reader of one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reader {
    /// The last frame that was written to it.
    cursor: u64,
    is_over: bool,
}

/// The next step of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Read the frames after this one, and write them.
    Read(u64),
    /// Wait for more.
    Wait,
    /// Inform it how the turn ended, and close.
    Tell(End),
    /// It was informed.
    Over,
}

impl Reader {
    /// A reader that has the frames up to this one.
    pub fn after(cursor: u64) -> Self {
        Self { cursor, is_over: false }
    }

    /// The last frame that was written to it.
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    /// The next step, if the turn is known up to `last`, and has this end.
    pub fn next(&mut self, last: u64, end: Option<End>) -> Step {
        match end {
            _ if self.is_over => Step::Over,
            _ if self.cursor < last => Step::Read(self.cursor),
            Some(end) => {
                self.is_over = true;
                Step::Tell(end)
            }
            None => Step::Wait,
        }
    }

    /// Records that frames were written, the first of them at `first`. Returns an error if that is not the next frame.
    pub fn wrote(&mut self, first: u64, count: u64) -> Result<(), u64> {
        if first != self.cursor + 1 {
            return Err(self.cursor);
        }
        self.cursor += count;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever becomes known when, each frame after the cursor is written once, in order, and the end comes last.
        #[test]
        fn each_frame_once_and_then_the_end(
            after in 0..20_u64, total in 0..40_u64, pages in prop::collection::vec((0..8_u64, 1..6_u64), 1..80),
        ) {
            let total = total.max(after);
            let mut reader = Reader::after(after);
            let (mut known, mut written, mut told) = (0, Vec::new(), 0);
            for (more, page) in pages.into_iter().chain(std::iter::repeat_n((40, 40), 4)) {
                known = (known + more).min(total);
                let end = (known == total).then_some(End::Done);
                match reader.next(known, end) {
                    Step::Read(cursor) => {
                        let count = page.min(known - cursor);
                        written.extend(cursor + 1..=cursor + count);
                        prop_assert_eq!(reader.wrote(cursor + 1, count), Ok(()));
                    }
                    Step::Tell(_) => told += 1,
                    Step::Wait => prop_assert!(known < total),
                    Step::Over => prop_assert_eq!(told, 1),
                }
            }
            prop_assert_eq!(written, (after + 1..=total).collect::<Vec<_>>());
            prop_assert_eq!(told, 1);
            prop_assert!(reader.wrote(total + 2, 1).is_err());
        }
    }
}
