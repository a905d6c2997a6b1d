//! Runs targets without libFuzzer: over their seeds, and random changes of them.
//!
//! ```text
//! rehearse run TARGET SECONDS        the seeds, then for this time random changes of them
//! rehearse replay TARGET FILE...     runs the target on these inputs
//! ```

use std::env;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use turnwire_fuzz::input::Plan;
use turnwire_fuzz::mutate::mutate;
use turnwire_fuzz::{Target, seeds, target};

const USAGE: &str = "usage: rehearse run TARGET SECONDS | replay TARGET FILE...";

fn main() -> ExitCode {
    match act() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn act() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [action, name, rest @ ..] = &*arguments else { bail!(USAGE) };
    let target = target(name).with_context(|| format!("there is no target {name}"))?;
    match (&**action, rest) {
        ("run", [seconds]) => rehearse(target, Duration::from_secs(seconds.parse().context(USAGE)?)),
        ("replay", files) => files.iter().try_for_each(|file| {
            let input = fs::read(file).with_context(|| format!("cannot read {file}"))?;
            (target.run)(&input);
            println!("{file}: no failure");
            Ok(())
        }),
        _ => bail!(USAGE),
    }
}

fn rehearse(target: Target, time: Duration) -> Result<()> {
    let seeds = seeds::of(target)?;
    for seed in &seeds {
        attempt(target, seed)?;
    }
    let began = Instant::now();
    let mut plan = Plan(0);
    let mut count = 0_u64;
    while began.elapsed() < time {
        let (seed, other) = (&seeds[plan.below(seeds.len())], &seeds[plan.below(seeds.len())]);
        attempt(target, &mutate(&mut plan, seed, other))?;
        count += 1;
    }
    println!("{}: {} seeds and {count} random changes of them, no failure", target.name, seeds.len());
    Ok(())
}

/// An input that fails is kept.
fn attempt(target: Target, input: &[u8]) -> Result<()> {
    if catch_unwind(AssertUnwindSafe(|| (target.run)(input))).is_ok() {
        return Ok(());
    }
    let file = env::temp_dir().join(format!("turnwire-fuzz-{}-{}", target.name, std::process::id()));
    fs::write(&file, input).with_context(|| format!("cannot write {}", file.display()))?;
    bail!("{} failed on an input that is kept in {}", target.name, file.display());
}
