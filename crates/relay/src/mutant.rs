//! Deliberate faults, one for each law of the checker (`tests/checker`), which must find each of them. They exist only
//! in builds with the feature `mutants`; an environment variable selects one.

/// The environment variable that selects a fault.
#[cfg(feature = "mutants")]
const CHOICE: &str = "TURNWIRE_RELAY_MUTANT";

/// Whether this fault is selected.
#[cfg(feature = "mutants")]
pub(crate) fn is(name: &str) -> bool {
    static CHOSEN: std::sync::LazyLock<Option<String>> =
        std::sync::LazyLock::new(|| std::env::var(CHOICE).ok());
    CHOSEN.as_deref() == Some(name)
}

/// Whether a fault is selected. Without the feature it is always `false`, and leaves no trace in the program.
macro_rules! mutant {
    ($name:literal) => {{
        #[cfg(feature = "mutants")]
        let is_chosen = crate::mutant::is($name);
        #[cfg(not(feature = "mutants"))]
        let is_chosen = false;
        is_chosen
    }};
}

pub(crate) use mutant;
