//! Tokens: the server counts those of the thread, and those of the last call of its model.

use crate::json::{Object, Value};

/// The counts of the server, and those of turnwire.
const COUNTS: [(&str, &str); 6] = [
    ("inputTokens", "total_input_tokens"),
    ("outputTokens", "total_output_tokens"),
    ("totalTokens", "total_tokens"),
    ("cachedInputTokens", "total_cache_read_tokens"),
    ("cacheWriteInputTokens", "total_cache_write_tokens"),
    ("reasoningOutputTokens", "total_reasoning_tokens"),
];

/// What the thread had used before the turn, and what it has used by now.
#[derive(Debug, Default)]
pub(super) struct Usage {
    before: Option<[u64; 6]>,
    total: [u64; 6],
}

impl Usage {
    /// Takes the server's counts.
    pub(super) fn note(&mut self, usage: &Object<'_>) {
        let counts = |name| {
            let counts = usage.object(name).unwrap_or(const { &Object::new() });
            COUNTS.map(|(name, _)| counts.get(name).and_then(Value::as_u64).unwrap_or_default())
        };
        self.total = counts("total");
        let last = counts("last");
        let mut before = self.total;
        for (count, last) in before.iter_mut().zip(last) {
            *count = count.saturating_sub(last);
        }
        self.before.get_or_insert(before);
    }

    /// What the turn has used, if that is known.
    pub(super) fn metrics(&self) -> Option<Object<'static>> {
        let before = self.before?;
        let mut metrics = Object::new();
        for ((total, before), (_, name)) in self.total.iter().zip(before).zip(COUNTS) {
            metrics.set(name, total.saturating_sub(before).into());
        }
        Some(metrics)
    }
}
