//! A turn's connection under random faults: thousands of schedules of faults, each from a seed, and what must be true
//! after each of them: every event once and in order, the same index as that of the uncut stream, one start,
//! and always an end.
//!
//! `TURNWIRE_MODEL_SEED` is the first seed, `TURNWIRE_MODEL_CASES` the number of cases; without it there are fewer where
//! `TURNWIRE_TEST` is `quick`. A failure prints its seed and everything that happened.
#![cfg(not(target_arch = "wasm32"))]

mod model;

use std::collections::BTreeMap;
use std::io::{Write, stderr};
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{available_parallelism, scope};

use model::case::{Summary, play};

/// The cases of a whole run: as many as a debug build plays in a minute and a half.
const CASES: u64 = 20_000;
/// Those of a quick one.
const QUICK_CASES: u64 = 2_000;
const FIRST_SEED: u64 = 1;

#[test]
fn every_schedule_of_faults_ends_as_it_must() {
    let first = setting("TURNWIRE_MODEL_SEED", FIRST_SEED);
    let end = first + setting("TURNWIRE_MODEL_CASES", cases());
    let next = AtomicU64::new(first);
    let player = || {
        let mut counts = Counts::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                return Some(counts);
            }
            let Some(summary) = play(seed) else {
                next.store(end, Ordering::Relaxed);
                return None;
            };
            counts.add(&summary);
        }
    };
    let threads = available_parallelism().map_or(1, NonZero::get);
    let counts: Option<Vec<Counts>> = scope(|scope| {
        let players: Vec<_> = (0..threads).map(|_| scope.spawn(player)).collect();
        players.into_iter().map(|player| player.join().expect("failures are caught")).collect()
    });
    println!("seeds {first} to {}", end - 1);
    counts.expect("every case ends as it must").into_iter().reduce(Counts::join).expect("a thread").print();
}

fn cases() -> u64 {
    if std::env::var_os("TURNWIRE_TEST").is_none_or(|scope| scope != "quick") {
        return CASES;
    }
    // Bypasses the harness, which hides the output of a passing test.
    let _ = writeln!(stderr(), "quick: {QUICK_CASES} of {CASES} schedules; --all has the rest");
    QUICK_CASES
}

fn setting(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |given| given.parse().unwrap_or_else(|_| panic!("{name} is no number: {given}")))
}

/// The number of cases of each kind.
#[derive(Default)]
struct Counts {
    /// By a title and a name.
    cases: BTreeMap<(&'static str, String), u64>,
    events: u64,
    requests: u64,
}

impl Counts {
    fn add(&mut self, summary: &Summary) {
        let Summary { profile, numbers: (streamed, listed), faults, ending, first, look, events, requests } =
            summary;
        self.count("kind", format!("{profile:?}"));
        self.count("where numbers stand", format!("{streamed:?}, in lists {listed:?}: {ending}"));
        self.count("how the first try ended", first.clone());
        self.count("how the turn was brought to its end", format!("{profile:?}: {ending}"));
        if let Some(look) = look {
            self.count("what came of a turn that was looked for", look.clone());
        }
        for fault in faults.keys() {
            self.count("fault", (*fault).to_owned());
        }
        self.events += events;
        self.requests += u64::from(*requests);
    }

    fn count(&mut self, title: &'static str, name: String) {
        *self.cases.entry((title, name)).or_default() += 1;
    }

    fn join(mut self, other: Self) -> Self {
        for (of, count) in other.cases {
            *self.cases.entry(of).or_default() += count;
        }
        Self { events: self.events + other.events, requests: self.requests + other.requests, ..self }
    }

    fn print(&self) {
        println!("{} requests, {} events delivered; cases by", self.requests, self.events);
        let mut last = "";
        for ((title, name), count) in &self.cases {
            if *title != last {
                println!("  {title}");
                last = title;
            }
            println!("    {count:>6} {name}");
        }
    }
}
