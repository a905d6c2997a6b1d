//! The checker: random schedules of faults against the program `turnwire-relay`, and the laws that must hold.
//!
//! - `upstream` is the agent, `tab` a reader, `proxy` a network that breaks, `process` the relay;
//! - `schedule` runs them together, by a seed; `several`, three relays with one Redis;
//! - `history` is what happened, `laws` checks it;
//! - `mutants` checks the laws themselves: a relay with a deliberate fault breaks each of them. The faults exist only
//!   with the feature `mutants`: `cargo test -p turnwire-relay --features mutants --test checker`.
//!
//! A failure names its seed. `TURNWIRE_CHECKER_SEED` runs that one, `TURNWIRE_CHECKER_SCHEDULES` sets how many run.

#![cfg(target_os = "linux")]

mod history;
mod laws;
#[cfg(feature = "mutants")]
mod mutants;
mod process;
mod proxy;
mod random;
#[path = "../redis/server.rs"]
#[allow(dead_code)] // the other tests use the rest
mod redis;
mod schedule;
mod schedules;
mod several;
mod tab;
mod upstream;

/// How many schedules run at once. They mostly wait.
const AT_ONCE: usize = 4;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
}
