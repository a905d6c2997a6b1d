//! How often a test tries something: less often in a quick run.

/// The number of random cases: in a quick run, a fifth.
#[must_use]
pub(crate) fn tries(all: u64) -> u64 {
    if std::env::var_os("TURNWIRE_TEST").is_some_and(|scope| scope == "quick") { all / 5 } else { all }
}
