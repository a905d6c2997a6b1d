//! Strings by number: ids that are met again and again.

use std::collections::HashMap;

/// Numbers strings from 0 on. Looking up the string of the last time costs one comparison.
#[derive(Debug, Default)]
pub(crate) struct Names {
    numbers: HashMap<String, u32>,
    recent: (String, u32),
}

impl Names {
    /// The number of a known string.
    pub(crate) fn get(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The number of a string, and whether it is new.
    #[inline]
    pub(crate) fn number(&mut self, name: &str) -> (u32, bool) {
        if self.recent.0 == name && !name.is_empty() {
            return (self.recent.1, false);
        }
        self.look_up(name)
    }

    fn look_up(&mut self, name: &str) -> (u32, bool) {
        let known = self.get(name);
        let number = known.unwrap_or_else(|| {
            let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
            self.numbers.insert(name.to_owned(), next);
            next
        });
        name.clone_into(&mut self.recent.0);
        self.recent.1 = number;
        (number, known.is_none())
    }
}
