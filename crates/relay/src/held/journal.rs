//! The messages of a held socket, numbered from 1. The newest ones are kept, up to a limit in bytes.

use std::collections::VecDeque;
use std::sync::Arc;

use super::terms::{Numbered, ReaderKey};

/// The approximate memory that a message needs besides its text, in bytes.
const OVERHEAD: usize = 64;

/// A message in the journal.
#[derive(Debug, Clone)]
struct Entry {
    text: Arc<str>,
    /// The reader that it is for; `None` for all.
    to: Option<ReaderKey>,
}

/// The newest messages.
#[derive(Debug)]
pub struct Journal {
    entries: VecDeque<Entry>,
    /// How many messages were dropped.
    gone: u64,
    bytes: usize,
    most: usize,
}

impl Journal {
    /// A journal that keeps up to this many bytes, and always the last message.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { entries: VecDeque::new(), gone: 0, bytes: 0, most }
    }

    /// The number of the last message; 0 if there is none.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.gone + self.entries.len() as u64
    }

    /// Whether all messages after this number are kept. `false` for a number that was not assigned yet.
    #[must_use]
    pub fn has_after(&self, number: u64) -> bool {
        (self.gone..=self.last()).contains(&number)
    }

    /// The message of this number, if it is kept.
    #[must_use]
    pub fn at(&self, number: u64) -> Option<Arc<str>> {
        let place = usize::try_from(number.checked_sub(self.gone + 1)?).ok()?;
        self.entries.get(place).map(|entry| entry.text.clone())
    }

    /// Appends a message for this reader, or for all.
    pub fn append(&mut self, text: Arc<str>, to: Option<ReaderKey>) {
        self.bytes += text.len() + OVERHEAD;
        self.entries.push_back(Entry { text, to });
        while self.bytes > self.most && self.entries.len() > 1 {
            if let Some(first) = self.entries.pop_front() {
                self.bytes -= first.text.len() + OVERHEAD;
                self.gone += 1;
            }
        }
    }

    /// The numbered messages for a reader after this number, up to about this many bytes, and the number to continue
    /// from. `None` if some were dropped.
    #[must_use]
    pub fn after(&self, number: u64, reader: ReaderKey, most: usize) -> Option<(Vec<Numbered>, u64)> {
        if !self.has_after(number) {
            return None;
        }
        let from = usize::try_from(number - self.gone).ok()?;
        let (mut taken, mut at, mut bytes) = (Vec::new(), number, 0);
        for entry in self.entries.range(from..) {
            if bytes >= most {
                break;
            }
            at += 1;
            if entry.to.is_none_or(|to| to == reader) {
                bytes += entry.text.len();
                taken.push((at, entry.text.clone()));
            }
        }
        Some((taken, at))
    }

    /// Its approximate size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
