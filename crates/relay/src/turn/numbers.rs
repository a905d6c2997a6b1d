//! The frame numbers of an agent that can be asked for what follows one of them.

/// The most consecutive numbers that may be missing.
const LARGEST_HOLE: u64 = 10_000;

/// How far an agent's stream was read. The default is that of a turn that begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Numbers {
    last: u64,
    /// The agent was asked for what follows the last frame, and nothing has arrived.
    is_asked: bool,
}

/// The place of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// After the last frame, and after this many numbers that the agent has skipped.
    Next {
        /// The count of skipped numbers.
        hole: u64,
    },
    /// A duplicate.
    Known,
    /// A frame before it is missing, or it has no number. The agent must be asked again.
    Astray,
}

impl Numbers {
    /// The state after asking the agent for what follows this frame.
    pub fn after(last: u64) -> Self {
        Self { last, is_asked: true }
    }

    /// Finds the place of the next frame of the stream.
    pub fn place(&mut self, number: Option<u64>) -> Place {
        let Some(number) = number.filter(|&number| number > 0) else { return Place::Astray };
        let Some(hole) = number.checked_sub(self.last + 1) else { return Place::Known };
        // A connection may lose or reorder frames. Numbers were skipped if the agent, asked for them, has none.
        if hole > 0 && (!self.is_asked || hole > LARGEST_HOLE) {
            return Place::Astray;
        }
        *self = Self { last: number, is_asked: false };
        Place::Next { hole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_hole_is_believed_when_the_agent_was_asked_for_it() {
        let mut numbers = Numbers::default();
        assert_eq!(numbers.place(Some(2)), Place::Astray, "no turn begins with a hole");
        assert_eq!(numbers.place(Some(1)), Place::Next { hole: 0 });
        assert_eq!(numbers.place(Some(3)), Place::Astray);
        for strange in [None, Some(0), Some(u64::MAX)] {
            assert_eq!(numbers.place(strange), Place::Astray);
        }
        let mut numbers = Numbers::after(1);
        assert_eq!(numbers.place(Some(u64::MAX)), Place::Astray);
        assert_eq!(numbers.place(Some(1)), Place::Known);
        assert_eq!(numbers.place(Some(4)), Place::Next { hole: 2 });
        assert_eq!(numbers.place(Some(6)), Place::Astray, "what was asked for has come");
    }

    proptest! {
        /// Whatever streams do, an agent that is asked again after each break is read completely, once and in order,
        /// and only numbers that it skipped itself are missing.
        #[test]
        fn each_frame_once_in_order(
            has in prop::collection::vec(prop::bool::weighted(0.8), 1..40),
            streams in prop::collection::vec(prop::collection::vec((0..4_u8, any::<prop::sample::Index>()), 0..12), 0..12),
        ) {
            // The first frame starts the turn.
            let frames: Vec<u64> =
                (1..).zip(&has).filter(|&(number, has)| number == 1 || *has).map(|(number, _)| number).collect();
            let (mut numbers, mut read) = (Numbers::default(), Vec::new());
            // Each skipped number is asked for.
            let whole = std::iter::repeat_n(Vec::new(), has.len() + 1);
            for (round, faults) in streams.into_iter().chain(whole).enumerate() {
                let last = read.last().copied().unwrap_or(0);
                if round > 0 {
                    numbers = Numbers::after(last);
                }
                let is_wanted = |number: &u64| *number > last || !faults.is_empty();
                let mut stream: Vec<Option<u64>> = frames.iter().copied().filter(is_wanted).map(Some).collect();
                for (fault, at) in faults {
                    if stream.is_empty() {
                        break;
                    }
                    let at = at.index(stream.len());
                    // The first new frame of a response is never lost here: a loss would look like a skipped number.
                    let follows = |at: usize| at > 0 && stream[at - 1] > Some(last);
                    match fault {
                        0 if follows(at) => drop(stream.remove(at)),
                        1 if at > 0 && follows(at - 1) => stream.swap(at, at - 1),
                        2 => stream.insert(at, stream[at]),
                        _ => stream.truncate(at),
                    }
                }
                for number in stream {
                    match numbers.place(number) {
                        Place::Next { hole } => {
                            let number = number.expect("a number");
                            let last = read.last().copied().unwrap_or(0);
                            prop_assert_eq!(last + hole + 1, number);
                            read.push(number);
                        }
                        Place::Known => {}
                        Place::Astray => break,
                    }
                }
            }
            prop_assert_eq!(read, frames);
        }
    }
}
