//! Faults on purpose, one for each law of the checker (`tests/checker`), which has to find each of them. Only a build with the
//! feature `mutants` has any; an environment variable chooses one.

/// The environment variable that names a fault.
#[cfg(feature = "mutants")]
const CHOICE: &str = "TURNWIRE_RELAY_MUTANT";

/// Whether this fault is chosen.
#[cfg(feature = "mutants")]
pub(crate) fn is(name: &str) -> bool {
    static CHOSEN: std::sync::LazyLock<Option<String>> =
        std::sync::LazyLock::new(|| std::env::var(CHOICE).ok());
    CHOSEN.as_deref() == Some(name)
}

/// Whether a fault is chosen. Never, and without a trace in the program, unless it is built for that.
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
