//! The plan of a conversation by chance: thousands of schedules of people, tabs and a server that loses, refuses and
//! delays, each from a seed, and what must be true after each step and at rest: each text in exactly one place, no input
//! starts two turns, no answer goes out twice, keys that never change or collide, the path that the server lists, a phase
//! of rest, the queue's order.
//!
//! `TURNWIRE_MODEL_SEED` is the first seed, `TURNWIRE_MODEL_CASES` the number of cases; without it there are fewer where
//! `TURNWIRE_TEST` is `quick`. `TURNWIRE_MODEL_LOG` names a file for all that the plans were told and what followed, as
//! lines (JSON), by which a plan in another language can be checked. A failure prints its shortest schedule as a case for `tests/conformance/conversation.json`,
//! and everything that happened.
#![cfg(not(target_arch = "wasm32"))]

mod conversation;

use std::io::{Write, stderr};
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{available_parallelism, scope};

use conversation::schedule::Case;

/// The cases of a whole run.
const CASES: u64 = 100_000;
/// Those of a quick one.
const QUICK_CASES: u64 = 2_000;

#[test]
fn every_schedule_ends_as_it_must() {
    let first = setting("TURNWIRE_MODEL_SEED", 1);
    let end = first + setting("TURNWIRE_MODEL_CASES", cases());
    let next = AtomicU64::new(first);
    let failed = quietly(|| {
        let threads = available_parallelism().map_or(1, NonZero::get);
        let player = || {
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= end {
                    return None;
                }
                if Case::draw(seed).play().is_err() {
                    next.store(end, Ordering::Relaxed);
                    return Some(seed);
                }
            }
        };
        scope(|scope| {
            let players: Vec<_> = (0..threads).map(|_| scope.spawn(player)).collect();
            players.into_iter().filter_map(|player| player.join().expect("failures are caught")).min()
        })
        .map(|seed| (seed, Case::draw(seed).shortened()))
    });
    if let Some((seed, case)) = failed {
        report(&format!("seed {seed}"), &case);
    }
    println!("seeds {first} to {}", end - 1);
    if let Some(file) = std::env::var_os("TURNWIRE_MODEL_LOG") {
        let replays: Vec<_> = (first..end).flat_map(|seed| Case::draw(seed).replays()).collect();
        std::fs::write(file, serde_json::to_string(&replays).expect("replays are JSON")).expect("a file");
    }
}

/// Schedules that have failed once.
#[test]
fn every_recorded_schedule_ends_as_it_must() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("conformance/conversation.json")).expect("a list of cases");
    assert!(!cases.is_empty());
    for case in &cases {
        if case.play().is_err() {
            report(&case.name, case);
        }
    }
}

/// Prints what a case breaks, and fails.
fn report(name: &str, case: &Case) {
    let (broken, log) = case.play().err().unwrap_or_default();
    eprintln!("{}", log.join("\n"));
    eprintln!("{}", serde_json::to_string(case).expect("a case is JSON"));
    panic!("{name}: {broken}");
}

/// Without the messages of the panics by which laws are broken.
fn quietly<T>(play: impl FnOnce() -> T) -> T {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let played = play();
    std::panic::set_hook(hook);
    played
}

fn cases() -> u64 {
    if std::env::var_os("TURNWIRE_TEST").is_none_or(|scope| scope != "quick") {
        return CASES;
    }
    // Past the harness, which shows nothing of a test that passes.
    let _ = writeln!(stderr(), "quick: {QUICK_CASES} of {CASES} schedules; --all has the rest");
    QUICK_CASES
}

fn setting(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |given| given.parse().unwrap_or_else(|_| panic!("{name} is no number: {given}")))
}
