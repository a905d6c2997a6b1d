//! What is heard before it can be understood: held until the responses are there that it belongs to.
//!
//! That is so after a connection broke, until the turn has been read as the server keeps it; and at the beginning, as
//! long as the turn's id is the server's secret.

use crate::json::Value;

/// How much is held, in bytes. Beyond that a turn that begins is taken as it comes, since nothing of it was missed. Of
/// one that is read again what was missed belongs before what is heard: it has to be read once more.
pub(super) const MOST: usize = 8 << 20;

/// What tasks have brought, which may take long to be read. It is taken with the rest if it comes first, but nothing
/// waits for it.
pub(super) const LATE: &str = "turn/timeline";

/// Responses that are waited for, and what was heard meanwhile.
#[derive(Debug, Default)]
pub(super) struct Gate {
    awaits: &'static [&'static str],
    /// The results that came, by method.
    results: Vec<(String, Value<'static>)>,
    held: Vec<String>,
    bytes: usize,
    is_full: bool,
}

impl Gate {
    /// Waits for the responses to these methods.
    pub(super) fn awaiting(awaits: &'static [&'static str]) -> Self {
        Self { awaits, ..Self::default() }
    }

    /// Whether nothing is waited for.
    pub(super) fn is_open(&self) -> bool {
        self.awaits.is_empty()
    }

    /// Holds a message; gives whether there was room.
    pub(super) fn hold(&mut self, data: &str) -> bool {
        self.bytes += data.len() + size_of::<String>();
        self.is_full |= self.bytes > MOST;
        if !self.is_full {
            self.held.push(data.to_owned());
        }
        !self.is_full
    }

    /// Whether the response to this method is waited for, or taken with those that are.
    pub(super) fn is_awaited(&self, method: &str) -> bool {
        let belongs = self.awaits.contains(&method) || (!self.is_open() && method == LATE);
        belongs && !self.has(method)
    }

    fn has(&self, method: &str) -> bool {
        self.results.iter().any(|(known, _)| known == method)
    }

    /// Takes a result that is waited for; gives all of them once they are there, and opens.
    pub(super) fn take(&mut self, method: &str, result: Value<'_>) -> Option<Vec<(String, Value<'static>)>> {
        self.results.push((method.to_owned(), result.into_owned()));
        if !self.awaits.iter().all(|method| self.has(method)) {
            return None;
        }
        self.awaits = &[];
        Some(std::mem::take(&mut self.results))
    }

    /// What was held, once it is to be held no longer.
    pub(super) fn take_held(&mut self) -> Vec<String> {
        if self.is_open() || self.is_full { std::mem::take(&mut self.held) } else { Vec::new() }
    }
}
