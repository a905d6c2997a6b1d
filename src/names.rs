//! Numbers for strings that occur again and again, such as ids.

use crate::bytes::same;

/// Numbers strings from 0 on. Looking up the same string again costs one comparison.
///
/// A small open-addressing table: the standard library's map and its hasher take six times the bytes in the module.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: Vec<String>,
    /// Numbers plus one, placed by hash; 0 is free. At most half full, so that searches are short.
    slots: Vec<u32>,
    recent: u32,
    /// The last looked up number for each source of names, by the lowest bits of the source.
    sources: [u32; SOURCES],
}

/// The number of sources: enough for the messages that stream at the same time, in all shapes of their frames.
const SOURCES: usize = 32;

impl Names {
    /// Whether no string has a number yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The number of a known string.
    pub(crate) fn get(&self, name: &str) -> Option<u32> {
        let slot = self.slot_of(name)?;
        self.slots.get(slot)?.checked_sub(1)
    }

    /// The number of a string, and whether it is new. New strings are added.
    #[inline]
    pub(crate) fn number(&mut self, name: &str) -> (u32, bool) {
        if self.is_named(self.recent, name) {
            return (self.recent, false);
        }
        self.look_up(name)
    }

    /// The same, for a source that often repeats its last string.
    #[inline]
    pub(crate) fn number_of(&mut self, source: u32, name: &str) -> (u32, bool) {
        let at = source as usize % SOURCES;
        match self.sources.get(at) {
            Some(known) if self.is_named(*known, name) => (*known, false),
            _ => self.learn(at, name),
        }
    }

    fn learn(&mut self, at: usize, name: &str) -> (u32, bool) {
        let (number, is_new) = self.number(name);
        if let Some(known) = self.sources.get_mut(at) {
            *known = number;
        }
        (number, is_new)
    }

    /// Sets another string for a number, which has no number yet.
    pub(crate) fn rename(&mut self, number: u32, name: &str) {
        if self.get(name).is_some() {
            return;
        }
        if let Some(known) = self.known.get_mut(number as usize) {
            name.clone_into(known);
            self.rebuild(self.slots.len());
        }
    }

    #[inline]
    fn is_named(&self, number: u32, name: &str) -> bool {
        self.known.get(number as usize).is_some_and(|known| same(known.as_bytes(), name.as_bytes()))
    }

    fn look_up(&mut self, name: &str) -> (u32, bool) {
        if self.known.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let known = self.get(name);
        self.recent = known.unwrap_or_else(|| self.add(name));
        (self.recent, known.is_none())
    }

    fn add(&mut self, name: &str) -> u32 {
        self.known.push(name.to_owned());
        let count = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        self.place(name, count);
        count - 1
    }

    fn grow(&mut self) {
        self.rebuild((self.slots.len() * 2).max(16));
    }

    fn rebuild(&mut self, len: usize) {
        self.slots = vec![0; len];
        let known = std::mem::take(&mut self.known);
        for (count, name) in (1..).zip(&known) {
            self.place(name, count);
        }
        self.known = known;
    }

    fn place(&mut self, name: &str, count: u32) {
        if let Some(slot) = self.slot_of(name).and_then(|slot| self.slots.get_mut(slot)) {
            *slot = count;
        }
    }

    /// The slot of a string: its own, or the free one where it would be added. `None` only without a table.
    fn slot_of(&self, name: &str) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut slot = hash(name) & mask;
        loop {
            match self.slots.get(slot).copied()? {
                0 => return Some(slot),
                count if self.is_named(count - 1, name) => return Some(slot),
                _ => slot = (slot + 1) & mask,
            }
        }
    }
}

/// Eight bytes at a time: short code, and good enough for ids.
fn hash(name: &str) -> usize {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut rest = name.as_bytes();
    let mut hash = rest.len() as u64;
    while let Some((eight, tail)) = rest.split_first_chunk::<8>() {
        hash = (hash ^ u64::from_le_bytes(*eight)).wrapping_mul(FACTOR);
        hash ^= hash >> 32;
        rest = tail;
    }
    for byte in rest {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(FACTOR);
    }
    // The low bits select the slot, and the high bits are mixed better.
    (hash >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn numbers_stay_the_same_while_the_table_grows() {
        let mut names = Names::default();
        assert_eq!(names.get("0"), None);
        for number in 0..1000_u32 {
            assert_eq!(names.number(&number.to_string()), (number, true));
            assert_eq!(names.number(&number.to_string()), (number, false));
        }
        for number in (0..1000_u32).rev() {
            assert_eq!(names.number(&number.to_string()), (number, false));
            assert_eq!(names.get(&number.to_string()), Some(number));
        }
        assert_eq!(names.get("1000"), None);
        assert_eq!(names.number(""), (1000, true));
    }

    #[test]
    fn names_change() {
        let mut names = Names::default();
        names.number("a");
        names.number("b");
        // More often than the table has slots.
        for number in 0..100_u32 {
            names.rename(0, &number.to_string());
            assert_eq!(names.get(&number.to_string()), Some(0));
            assert_eq!(names.get("a"), None);
        }
        names.rename(0, "b");
        assert_eq!((names.get("b"), names.get("99")), (Some(1), Some(0)));
        assert_eq!(names.number("new"), (2, true));
    }
}
