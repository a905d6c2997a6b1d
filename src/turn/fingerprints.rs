//! Fingerprints of events. They show whether a record repeats what a stream brought.

use crate::features::FrameRecords;

/// The fingerprints of a turn's events, four bytes each.
#[derive(Debug)]
pub(super) struct Fingerprints {
    _by: FrameRecords,
    /// The number of the event before the first one here. Events up to it belong to another turn.
    base: Option<u64>,
    known: Vec<u32>,
    /// Whether two different events had the same number.
    pub(super) is_divergent: bool,
}

impl Fingerprints {
    pub(super) fn new(by: FrameRecords) -> Self {
        Self { _by: by, base: None, known: Vec::new(), is_divergent: false }
    }

    /// Records the event with this number; `last` is the number delivered before it. Returns false only if a different
    /// event was delivered under that number.
    pub(super) fn matches(&mut self, number: u64, last: u64, parts: &[&str]) -> bool {
        let base = *self.base.get_or_insert(last);
        let Some(at) = number.checked_sub(base + 1).and_then(|at| usize::try_from(at).ok()) else {
            return true;
        };
        let fingerprint = fingerprint(parts);
        match self.known.get(at) {
            Some(known) if *known != fingerprint => {
                self.is_divergent = true;
                false
            }
            Some(_) => true,
            None => {
                if at == self.known.len() {
                    self.known.push(fingerprint);
                }
                true
            }
        }
    }
}

/// FNV-1a.
fn fingerprint(parts: &[&str]) -> u32 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::super::conventions::{Conventions, Recovery};
    use super::Fingerprints;
    use crate::protocol::Protocol;
    use crate::protocol::agent_event::{AgentEvent, Dialect};

    fn fingerprints() -> Fingerprints {
        let conventions = Conventions::of(&AgentEvent::new(Dialect::Awaken).capabilities());
        let Recovery::Frames(by) = conventions.recovery else { panic!("{conventions:?}") };
        Fingerprints::new(by)
    }

    #[test]
    fn what_comes_again_must_be_the_same() {
        let mut known = fingerprints();
        assert!(known.matches(1, 0, &["a", "x"]));
        assert!(known.matches(2, 1, &["a", "y"]));
        assert!(known.matches(1, 2, &["a", "x"]));
        assert!(known.matches(3, 2, &["a", "z"]));
        assert!(!known.is_divergent);
        assert!(!known.matches(2, 3, &["a", "z"]));
        assert!(known.is_divergent);
    }

    #[test]
    fn events_of_the_turn_before_are_not_compared() {
        let mut known = fingerprints();
        assert!(known.matches(1, 2, &["anything"]));
        assert!(known.matches(3, 2, &["a"]));
        assert!(!known.matches(3, 3, &["b"]));
    }
}
