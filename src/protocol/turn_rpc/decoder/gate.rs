//! Holds messages until the responses that they depend on have arrived.
//!
//! That is so after a connection broke, until the server's record of the turn is read; and at the start of a turn,
//! until its id is known.

use crate::error::Error;
use crate::json::Value;

/// The most bytes that are held. Beyond it, a new turn takes the messages as they come, since it has missed none. A
/// turn that is read again needs its missed part first, so it has to connect again.
pub(super) const MOST: usize = 8 << 20;

/// The method whose response has the data of tasks. It may take long, so it is taken with the others if it comes
/// first, but is not awaited.
pub(super) const LATE: &str = "turn/timeline";

/// The awaited responses, and the messages that are held meanwhile.
#[derive(Debug, Default)]
pub(super) struct Gate {
    awaits: &'static [&'static str],
    /// The results so far, by method.
    results: Vec<(String, Value<'static>)>,
    held: Vec<String>,
    bytes: usize,
    is_full: bool,
    /// Why this connection must no longer be read.
    pub(super) failure: Option<Error>,
}

impl Gate {
    /// Awaits the responses to these methods.
    pub(super) fn awaiting(awaits: &'static [&'static str]) -> Self {
        Self { awaits, ..Self::default() }
    }

    /// Whether no response is awaited.
    pub(super) fn is_open(&self) -> bool {
        self.awaits.is_empty()
    }

    /// Holds a message. Returns whether there was room.
    pub(super) fn hold(&mut self, data: &str) -> bool {
        self.bytes += data.len() + size_of::<String>();
        self.is_full |= self.bytes > MOST;
        if !self.is_full {
            self.held.push(data.to_owned());
        }
        !self.is_full
    }

    /// Whether the response to this method is awaited, or is taken together with the awaited ones.
    pub(super) fn is_awaited(&self, method: &str) -> bool {
        let belongs = self.awaits.contains(&method) || (!self.is_open() && method == LATE);
        belongs && !self.has(method)
    }

    fn has(&self, method: &str) -> bool {
        self.results.iter().any(|(known, _)| known == method)
    }

    /// Takes an awaited result. Once all are there, opens the gate and returns them.
    pub(super) fn take(&mut self, method: &str, result: Value<'_>) -> Option<Vec<(String, Value<'static>)>> {
        self.results.push((method.to_owned(), result.into_owned()));
        if !self.awaits.iter().all(|method| self.has(method)) {
            return None;
        }
        self.awaits = &[];
        Some(std::mem::take(&mut self.results))
    }

    /// Takes the held messages, if they must not be held any longer.
    pub(super) fn take_held(&mut self) -> Vec<String> {
        if self.is_open() || self.is_full { std::mem::take(&mut self.held) } else { Vec::new() }
    }
}
