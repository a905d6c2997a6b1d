//! Each law finds the relay that breaks it.

use std::io::{Write, stderr};

use futures_util::{StreamExt, stream};

use crate::laws::Law;
use crate::{AT_ONCE, number, schedule, several};

/// The deliberate faults, by their names in the relay's source, each with the law that it breaks.
const MUTANTS: [(&str, Law); 15] = [
    ("frame_before", Law::Agreement),
    ("to_the_tail", Law::Chain),
    ("frame_lost", Law::Prefix),
    ("ended_again", Law::OneEnd),
    ("frame_forgotten", Law::Kept),
    ("begun_again", Law::Once),
    ("left_open", Law::Heard),
    ("any_end_is_done", Law::Done),
    ("called_unsent", Law::Unsent),
    ("not_asked_again", Law::Whole),
    ("zombie_heard", Law::OneEnd),
    ("zombie_heard", Law::Epochs),
    ("hint_relied_on", Law::Heard),
    ("unheard_acknowledged", Law::Acknowledged),
    ("never_restored", Law::Kept),
];

/// Those that only several relays show.
const OF_SEVERAL: [&str; 4] = ["zombie_heard", "hint_relied_on", "unheard_acknowledged", "never_restored"];

/// How many of them a quick run checks.
const QUICK: usize = 3;
/// The most schedules of a mutant until one has found it.
const TRIES: u64 = 60;

#[tokio::test(flavor = "multi_thread")]
async fn each_law_finds_the_relay_that_breaks_it() {
    let chosen = std::env::var("TURNWIRE_CHECKER_MUTANT").ok();
    let first = number("TURNWIRE_CHECKER_SEED").unwrap_or(0);
    let mut unfound = Vec::new();
    let is_quick =
        chosen.is_none() && std::env::var_os("TURNWIRE_TEST").is_some_and(|scope| scope == "quick");
    let count = if is_quick { QUICK } else { MUTANTS.len() };
    if is_quick {
        let _ = writeln!(stderr(), "quick: {QUICK} of {} mutants; --all has the rest", MUTANTS.len());
    }
    let taken = MUTANTS.into_iter().take(count);
    for (mutant, law) in taken.filter(|(name, _)| chosen.as_ref().is_none_or(|it| it == name)) {
        let played = stream::iter(first..first + TRIES)
            .map(|seed| async move {
                let played = if OF_SEVERAL.contains(&mutant) {
                    several::play(seed, Some(mutant)).await
                } else {
                    schedule::play(seed, Some(mutant)).await
                };
                (seed, played.0)
            })
            .buffered(AT_ONCE)
            .filter_map(|(seed, violations)| async move {
                let found = violations.into_iter().find(|violation| violation.law == law);
                found.map(|violation| (seed, violation))
            });
        let mut played = std::pin::pin!(played);
        let found = played.next().await;
        let _ = match &found {
            Some((seed, violation)) => writeln!(stderr(), "{mutant}: seed {seed}: {violation}"),
            None => writeln!(stderr(), "{mutant}: not found in {TRIES} schedules"),
        };
        if found.is_none() {
            unfound.push(mutant);
        }
    }
    assert!(unfound.is_empty(), "no schedule finds {unfound:?}");
}
