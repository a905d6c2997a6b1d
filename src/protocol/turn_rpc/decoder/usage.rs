//! Tokens: the server counts those of the thread, and of the last model call.

use crate::json::Object;

use super::super::fields::{inner, number};

/// The names of the server's counts, and of turnwire's.
const COUNTS: [(&str, &str); 6] = [
    ("inputTokens", "total_input_tokens"),
    ("outputTokens", "total_output_tokens"),
    ("totalTokens", "total_tokens"),
    ("cachedInputTokens", "total_cache_read_tokens"),
    ("cacheWriteInputTokens", "total_cache_write_tokens"),
    ("reasoningOutputTokens", "total_reasoning_tokens"),
];

/// The tokens that the thread had used before the turn, and up to now.
#[derive(Debug, Default)]
pub(super) struct Usage {
    before: Option<[u64; 6]>,
    total: [u64; 6],
}

impl Usage {
    /// Takes the server's counts.
    pub(super) fn note(&mut self, usage: &Object<'_>) {
        let counts = |name| {
            let counts = inner(usage, name);
            COUNTS.map(|(name, _)| number(counts, name).unwrap_or_default())
        };
        self.total = counts("total");
        let last = counts("last");
        let mut before = self.total;
        for (count, last) in before.iter_mut().zip(last) {
            *count = count.saturating_sub(last);
        }
        self.before.get_or_insert(before);
    }

    /// The tokens that the turn has used, if known.
    pub(super) fn metrics(&self) -> Option<Object<'static>> {
        let before = self.before?;
        let mut metrics = Object::new();
        for ((total, before), (_, name)) in self.total.iter().zip(before).zip(COUNTS) {
            metrics.set(name, total.saturating_sub(before).into());
        }
        Some(metrics)
    }
}
