//! Short prints of events, by which what comes again is known.

/// The prints of a turn's events, four bytes each.
#[derive(Debug, Default)]
pub(super) struct Prints {
    /// The number of the event before the first one here: those came with another turn.
    base: Option<u64>,
    known: Vec<u32>,
    /// Whether something else came under the number of a known event.
    pub(super) is_divergent: bool,
}

impl Prints {
    /// Takes an event of this number; `last` is the last one that was delivered before. Gives whether it is
    /// what was delivered under that number, if anything was.
    pub(super) fn fits(&mut self, number: u64, last: u64, parts: &[&str]) -> bool {
        let base = *self.base.get_or_insert(last);
        let Some(at) = number.checked_sub(base + 1).and_then(|at| usize::try_from(at).ok()) else {
            return true;
        };
        let print = print_of(parts);
        match self.known.get(at) {
            Some(known) if *known != print => {
                self.is_divergent = true;
                false
            }
            Some(_) => true,
            None => {
                if at == self.known.len() {
                    self.known.push(print);
                }
                true
            }
        }
    }
}

/// FNV-1a.
fn print_of(parts: &[&str]) -> u32 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::Prints;

    #[test]
    fn what_comes_again_must_be_the_same() {
        let mut prints = Prints::default();
        assert!(prints.fits(1, 0, &["a", "x"]));
        assert!(prints.fits(2, 1, &["a", "y"]));
        assert!(prints.fits(1, 2, &["a", "x"]));
        assert!(prints.fits(3, 2, &["a", "z"]));
        assert!(!prints.is_divergent);
        assert!(!prints.fits(2, 3, &["a", "z"]));
        assert!(prints.is_divergent);
    }

    #[test]
    fn events_of_the_turn_before_are_not_compared() {
        let mut prints = Prints::default();
        assert!(prints.fits(1, 2, &["anything"]));
        assert!(prints.fits(3, 2, &["a"]));
        assert!(!prints.fits(3, 3, &["b"]));
    }
}
