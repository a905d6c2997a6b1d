//! How often a test tries something: less often in a quick run.

/// How often something is tried at random: in a quick run, a fifth of the times.
#[must_use]
pub(crate) fn tries(all: u64) -> u64 {
    if std::env::var_os("TURNWIRE_TEST").is_some_and(|scope| scope == "quick") { all / 5 } else { all }
}
