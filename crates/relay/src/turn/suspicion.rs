//! Whether the owner of a turn is still alive, by the watcher's own clock. Clocks of two machines are never compared.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

/// The known running turns, and how long each has shown no sign of life.
#[derive(Debug)]
pub struct Suspicion<K, S> {
    /// The silence after which an owner is presumed dead.
    limit: Duration,
    /// The most that one look can add. A suspended watcher has seen no signs, which proves nothing.
    step: Duration,
    seen: HashMap<K, (S, Duration)>,
}

impl<K: Hash + Eq + Clone, S: Copy + PartialEq> Suspicion<K, S> {
    /// Suspects owners after `limit` of silence, with a look each `step`.
    pub fn new(limit: Duration, step: Duration) -> Self {
        Self { limit, step, seen: HashMap::new() }
    }

    /// Takes the result of a look at the log: each running turn with its sign of life. `since` is the time since the
    /// last look. Returns the turns whose owner is presumed dead, with their last signs. A failed look does not count:
    /// while the log is unavailable, no time passes.
    pub fn look(&mut self, since: Duration, signs: Vec<(K, S)>) -> Vec<(K, S)> {
        let since = since.min(self.step * 2);
        let mut before = std::mem::take(&mut self.seen);
        let mut dead = Vec::new();
        for (key, sign) in signs {
            let silent = match before.remove(&key) {
                Some((last, silent)) if last == sign => silent + since,
                _ => Duration::ZERO,
            };
            if silent >= self.limit {
                dead.push((key.clone(), sign));
            }
            self.seen.insert(key, (sign, silent));
        }
        dead
    }

    /// The log has not answered a look.
    pub fn unreached(&mut self) {
        // Owners could not show that they were alive, so each of them gets the full time again.
        for (_, silent) in self.seen.values_mut() {
            *silent = Duration::ZERO;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STEP: Duration = Duration::from_secs(1);
    const LIMIT: Duration = Duration::from_secs(5);

    /// The result of a look at one turn, and the time since the previous look.
    #[derive(Debug, Clone, Copy)]
    enum Look {
        Alive,
        Silent,
        Failed,
        /// The watcher was suspended for this many seconds, and the owner shows no sign.
        AfterPause(u32),
    }

    proptest! {
        /// Compared with a plain model: only consecutive looks without a sign count, each as a second or two.
        #[test]
        fn only_what_the_watcher_has_heard_counts(looks in prop::collection::vec(prop_oneof![
            3 => Just(Look::Silent),
            1 => Just(Look::Alive),
            1 => Just(Look::Failed),
            1 => (1..100_u32).prop_map(Look::AfterPause),
        ], 0..60)) {
            let mut suspicion = Suspicion::new(LIMIT, STEP);
            let (mut sign, mut silent) = (0, None::<u64>);
            for look in looks {
                let since = match look {
                    Look::AfterPause(seconds) => STEP * seconds,
                    _ => STEP,
                };
                match look {
                    Look::Failed => {
                        suspicion.unreached();
                        silent = silent.map(|_| 0);
                        continue;
                    }
                    Look::Alive => {
                        sign += 1;
                        silent = Some(0);
                    }
                    Look::Silent | Look::AfterPause(_) => silent = Some(silent.map_or(0, |silent| silent + since.as_secs().min(2))),
                }
                let is_dead = !suspicion.look(since, vec![("turn", sign)]).is_empty();
                prop_assert_eq!(is_dead, silent >= Some(LIMIT.as_secs()));
            }
        }
    }

    #[test]
    fn what_is_not_there_any_more_is_forgotten() {
        let mut suspicion = Suspicion::new(LIMIT, STEP);
        suspicion.look(STEP, vec![("a", 1), ("b", 1)]);
        suspicion.look(STEP, vec![("b", 1)]);
        assert_eq!(suspicion.seen.len(), 1);
    }
}
