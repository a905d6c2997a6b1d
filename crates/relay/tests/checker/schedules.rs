//! Schedules of the relay as it is, a dozen in a quick run.

use std::io::{Write, stderr};

use crate::{AT_ONCE, number, schedule};
use futures_util::{StreamExt, stream};

/// How many schedules run, and how many in a quick run.
const SCHEDULES: u64 = 200;
const QUICK: u64 = 12;

#[tokio::test(flavor = "multi_thread")]
async fn the_laws_hold_whatever_fails() {
    let seeds = match number("TURNWIRE_CHECKER_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..schedules(),
    };
    let played =
        stream::iter(seeds.clone()).map(|seed| async move { (seed, schedule::play(seed, None).await) });
    let failed = played.buffer_unordered(AT_ONCE).filter(|(_, (violations, said))| {
        let has_failed = !violations.is_empty() || said.contains("panicked");
        async move { has_failed }
    });
    let failed: Vec<_> = failed.collect().await;
    for (seed, (violations, said)) in &failed {
        let mut stderr = stderr();
        let _ = writeln!(
            stderr,
            "seed {seed}: TURNWIRE_CHECKER_SEED={seed} cargo test -p turnwire-relay --test checker"
        );
        for violation in violations {
            let _ = writeln!(stderr, "  {violation}");
        }
        let _ = writeln!(stderr, "  the relay said: {said}");
    }
    let seeds_failed: Vec<_> = failed.iter().map(|(seed, _)| seed).collect();
    assert!(failed.is_empty(), "seeds {seeds_failed:?} of {seeds:?} failed");
}

fn schedules() -> u64 {
    if let Some(count) = number("TURNWIRE_CHECKER_SCHEDULES") {
        return count;
    }
    if std::env::var_os("TURNWIRE_TEST").is_none_or(|scope| scope != "quick") {
        return SCHEDULES;
    }
    // Past the harness, which shows nothing of a test that passes.
    let _ = writeln!(stderr(), "quick: {QUICK} of {SCHEDULES} schedules; --all has the rest");
    QUICK
}

/// The faults on purpose must not be in what users run.
#[cfg(not(feature = "mutants"))]
#[test]
fn the_program_has_no_faults_on_purpose() {
    let program = std::fs::read(env!("CARGO_BIN_EXE_turnwire-relay")).expect("the program");
    let has = |text: &str| program.windows(text.len()).any(|bytes| bytes == text.as_bytes());
    assert!(has("turnwire-turn"), "its texts can be found");
    assert!(!has("TURNWIRE_RELAY_MUTANT"));
}
