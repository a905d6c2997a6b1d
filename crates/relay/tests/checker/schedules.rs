//! Schedules of the unchanged relay, a dozen in a quick run.

use std::io::{Write, stderr};
use std::panic::AssertUnwindSafe;

use crate::laws::Violation;
use crate::{AT_ONCE, number, schedule, several};
use futures_util::{FutureExt, StreamExt, stream};

/// How many schedules of one relay run, and how many in a quick run.
const SCHEDULES: u64 = 200;
const QUICK: u64 = 12;
/// How many of three relays do.
const SEVERAL: u64 = 66;
const QUICK_SEVERAL: u64 = 3;

#[tokio::test(flavor = "multi_thread")]
async fn the_laws_hold_whatever_fails() {
    play("the_laws_hold_whatever_fails", SCHEDULES, QUICK, |seed| schedule::play(seed, None)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_laws_hold_with_several_relays() {
    play("the_laws_hold_with_several_relays", SEVERAL, QUICK_SEVERAL, |seed| several::play(seed, None)).await;
}

/// Plays schedules, and fails if a law did not hold in one of them.
async fn play<F: Future<Output = (Vec<Violation>, String)>>(
    test: &str,
    all: u64,
    quick: u64,
    schedule: impl Fn(u64) -> F,
) {
    let seeds = match number("TURNWIRE_CHECKER_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..schedules(all, quick),
    };
    let played = stream::iter(seeds.clone()).map(|seed| {
        // So that the others go on, and the seed is named.
        let played = AssertUnwindSafe(schedule(seed)).catch_unwind();
        async move {
            (
                seed,
                played.await.unwrap_or_else(|_| (Vec::new(), "the checker panicked, see above".to_owned())),
            )
        }
    });
    let failed = played.buffer_unordered(AT_ONCE).filter(|(_, (violations, said))| {
        let has_failed = !violations.is_empty() || said.contains("panicked");
        async move { has_failed }
    });
    let failed: Vec<_> = failed.collect().await;
    for (seed, (violations, said)) in &failed {
        let mut stderr = stderr();
        let _ = writeln!(
            stderr,
            "seed {seed}: TURNWIRE_CHECKER_SEED={seed} cargo test -p turnwire-relay --test checker {test}"
        );
        for violation in violations {
            let _ = writeln!(stderr, "  {violation}");
        }
        let _ = writeln!(stderr, "  the relay said: {said}");
    }
    let seeds_failed: Vec<_> = failed.iter().map(|(seed, _)| seed).collect();
    assert!(failed.is_empty(), "seeds {seeds_failed:?} of {seeds:?} failed");
}

fn schedules(all: u64, quick: u64) -> u64 {
    if let Some(count) = number("TURNWIRE_CHECKER_SCHEDULES") {
        return count;
    }
    if std::env::var_os("TURNWIRE_TEST").is_none_or(|scope| scope != "quick") {
        return all;
    }
    // Printed past the test harness, which hides the output of passing tests.
    let _ = writeln!(stderr(), "quick: {quick} of {all} schedules; --all has the rest");
    quick
}

/// The deliberate faults must not be in what users run.
#[cfg(not(feature = "mutants"))]
#[test]
fn the_program_has_no_faults_on_purpose() {
    let program = std::fs::read(env!("CARGO_BIN_EXE_turnwire-relay")).expect("the program");
    let has = |text: &str| program.windows(text.len()).any(|bytes| bytes == text.as_bytes());
    assert!(has("turnwire-turn"), "its texts can be found");
    assert!(!has("TURNWIRE_RELAY_MUTANT") && !has("TURNWIRE_RELAY_TRACE"));
}
