//! Loads a relay, and checks the claims about it: the log in `SQLite`, or in a Redis on this machine, frames of 300
//! bytes. `cargo xtask bench relay` builds and runs it. Everything in it is bounded, and it ends by itself.
//!
//! `load OUT [--quick | --beside DIR]`: the JSON file for the results, and where what is measured beside it is installed.

#![expect(clippy::cast_precision_loss, reason = "counts and times far below what a float holds")]

mod agent;
mod process;
mod reader;
#[path = "../../tests/redis/server.rs"]
#[allow(dead_code)] // tests use the rest
mod redis;
mod rows;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use process::{Relay, Scratch};
use redis::Redis;
use rows::{Bench, Work};

const FULL: Work = Work {
    turns: 50,
    seconds: 10,
    starts: 300,
    frames: 40_000,
    readers: 10_000,
    logs: 10_000,
    planned: 500,
    soak: 100_000,
};
const QUICK: Work =
    Work { turns: 5, seconds: 1, starts: 10, frames: 400, readers: 50, logs: 100, planned: 5, soak: 100 };

/// What was measured so far.
#[derive(Default)]
struct Results {
    rows: Vec<Value>,
    claims: Vec<Value>,
    /// Claims are printed but not checked.
    is_quick: bool,
}

impl Results {
    fn row(&mut self, name: &str, values: &Value) {
        println!("{name:<64} {values}");
        self.rows.push(json!({ "part": "relay", "name": name, "values": values }));
    }

    /// Checks a claim. `is_least`: the value must not be below the goal.
    fn claim(&mut self, name: &str, (goal, unit): (f64, &str), is_least: bool, measured: f64) {
        let holds = if is_least { measured >= goal } else { measured <= goal };
        let sign = if is_least { "≥" } else { "≤" };
        self.claims.push(json!({
            "name": name,
            "goal": format!("{sign} {goal} {unit}"),
            "measured": format!("{measured:.2} {unit}"),
            "holds": if self.is_quick { Value::Null } else { holds.into() },
        }));
    }

    fn print(&self) -> bool {
        println!();
        for claim in &self.claims {
            let text = |name: &str| claim[name].as_str().unwrap_or_default();
            let sign = claim["holds"].as_bool().map_or("–", |holds| if holds { "✔" } else { "✘" });
            println!("{sign} {:<64} {:>18} {:>20}", text("name"), text("goal"), text("measured"));
        }
        self.claims.iter().all(|claim| claim["holds"] != false)
    }
}

#[cfg(all(feature = "jemalloc", target_os = "linux", target_arch = "x86_64"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("load: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<bool, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (out, is_quick, anchors) = match arguments[..] {
        ["--relay", config] => return process::relay(config.as_ref()).await.map(|()| true),
        ["--development-relay", agent] => return process::development_relay(agent).await.map(|()| true),
        [out] => (out, false, None),
        [out, "--quick"] => (out, true, None),
        [out, "--beside", anchors] => (out, false, Some(Path::new(anchors))),
        _ => return Err("usage: load OUT [--quick | --beside DIR]".into()),
    };
    let mut work = if is_quick { QUICK } else { FULL };
    // A reader needs a file here and one in the relay, which has the same limit.
    work.readers = work.readers.min(files().saturating_sub(200));
    let bench = Bench { agent: agent::start().await?, work };
    let mut results = Results { is_quick, ..Results::default() };
    measure(&bench, &mut results, anchors).await?;
    let holds = results.print();
    std::fs::write(
        out,
        serde_json::to_string_pretty(&json!({ "claims": results.claims, "rows": results.rows }))?,
    )?;
    Ok(holds)
}

/// So many of the ways that events are measured on are of this repository: those of peers follow.
const OWN_WAYS: usize = 5;

async fn measure(bench: &Bench, results: &mut Results, anchors: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("turns")?;
    let relay = Relay::product(bench.agent, &scratch)?;
    let (idle, development) = (Scratch::new("memory")?, Relay::development(bench.agent)?);
    let memory = Relay::in_memory(bench.agent, &idle)?;
    let (redis, together) = (Redis::start(), Scratch::new("redis")?);
    let shared = Relay::in_redis(bench.agent, &together, &redis.url())?;
    let anchor =
        |kind| anchors.map(|anchors| Relay::anchor(anchors, kind, bench.agent, &redis.url())).transpose();
    let beside = [
        ("resumable-stream behind Node", anchor("resumable")?),
        ("a durable-streams server behind Node", anchor("streams")?),
    ];
    let mut ways = vec![
        ("direct", bench.direct()),
        ("relay", relay.way()),
        ("relay, log in memory", memory.way()),
        ("development relay", development.way()),
        ("relay, log in Redis", shared.way()),
    ];
    ways.extend(beside.iter().filter_map(|(name, anchor)| Some((*name, anchor.as_ref()?.way()))));

    let Work { turns, seconds, readers, .. } = bench.work;
    let (mut paced, mut first) = (Vec::new(), Vec::new());
    for (number, (name, way)) in ways.iter().copied().enumerate() {
        let (times, lost) = bench.paced(way, &format!("paced-{number}")).await?;
        let (middle, slow) = (times.at(500), times.at(990));
        results.row(
            &format!("{turns} turns × 50 events/s for {seconds} s, {name}"),
            &json!({ "p50 ms": middle, "p99 ms": slow, "lost": lost }),
        );
        // Losses of the others are not checked.
        if lost > 0 && number < OWN_WAYS {
            return Err(format!("{name}: {lost} events did not come").into());
        }
        paced.push((middle, slow));
    }
    for (number, (name, way)) in ways.iter().copied().enumerate() {
        let times = bench.first(way, &format!("first-{number}")).await?;
        results.row(
            &format!("time to first event, {name}"),
            &json!({ "p50 ms": times.at(500), "p99 ms": times.at(990) }),
        );
        first.push(times.at(500));
    }
    drop((development, memory, beside));
    let elsewhere = Scratch::new("elsewhere")?;
    let other = Relay::in_redis(bench.agent, &elsewhere, &redis.url())?;
    let told = bench.owner_lost(shared, &other).await?;
    let (middle, told) = (told.at(500) / 1000.0, told.at(990) / 1000.0);
    results.row(
        &format!("a relay dies, another one tells that its {turns} turns are cut"),
        &json!({ "p50 s": middle, "p99 s": told }),
    );
    let next = Scratch::new("next")?;
    let next = Relay::in_redis(bench.agent, &next, &redis.url())?;
    replaced(bench, results, "Redis", other, &next).await?;
    drop(next);
    soak(bench, results, &redis).await?;
    drop(redis);
    results.claim("added time of an event, p50", (0.15, "ms"), false, paced[1].0 - paced[0].0);
    results.claim("added time of an event, p99", (1.5, "ms"), false, paced[1].1 - paced[0].1);
    results.claim("added time to the first event, p50", (3.0, "ms"), false, first[1] - first[0]);
    results.claim("Redis: added time of an event, p50", (0.3, "ms"), false, paced[4].0 - paced[0].0);
    results.claim("Redis: added time of an event, p99", (2.0, "ms"), false, paced[4].1 - paced[0].1);
    results.claim("Redis: added time to the first event, p50", (3.0, "ms"), false, first[4] - first[0]);
    results.claim("Redis: a cut is told after a relay's death, p99", (12.0, "s"), false, told);

    let events = bench.throughput(&relay).await?;
    results.row("events for each second of processor time, 8 turns, a reader each", &json!(events));
    results.claim("events/s per core", (20_000.0, ""), true, events);
    let deliveries = bench.deliveries(&relay).await?;
    results.row("deliveries for each second of processor time, one turn", &json!(deliveries));
    results.claim("deliveries/s per core", (70_000.0, ""), true, deliveries);
    let next = Relay::product(bench.agent, &scratch)?;
    replaced(bench, results, "SQLite", relay, &next).await?;
    drop(next);

    let scratch = Scratch::new("crowd")?;
    let relay = Relay::product(bench.agent, &scratch)?;
    let crowd = bench.crowd(&relay).await?;
    let slow = crowd.delivery.at(990);
    results.row(
        &format!("{readers} readers of one turn"),
        &json!({
            "idle KiB": crowd.idle, "p50 ms": crowd.delivery.at(500), "p99 ms": slow, "lost": crowd.lost,
            "reconnect s": crowd.storm.as_secs_f64(),
        }),
    );
    results.claim(&format!("{readers} idle readers, each"), (12.0, "KiB"), false, crowd.idle);
    results.claim(&format!("{readers} readers of one turn, an event, p99"), (250.0, "ms"), false, slow);
    results.claim(&format!("{readers} readers of one turn, lost"), (0.0, "events"), false, crowd.lost as f64);
    let storm = crowd.storm.as_secs_f64();
    results.claim(&format!("{readers} readers come again for 100 events each"), (15.0, "s"), false, storm);
    drop(relay);

    let boot = bench.boot().await?.as_secs_f64();
    results.row(&format!("start with {} turns in the log", bench.work.logs), &json!({ "s": boot }));
    results.claim(&format!("start with {} turns in the log", bench.work.logs), (2.0, "s"), false, boot);
    Ok(())
}

/// A relay is replaced by another one with the same log.
async fn replaced(
    bench: &Bench,
    results: &mut Results,
    log: &str,
    old: Relay,
    new: &Relay,
) -> Result<(), Box<dyn Error>> {
    let turns = bench.work.planned;
    let waits = bench.planned(old, new).await?;
    let (middle, slow) = (waits.at(500) / 1000.0, waits.at(990) / 1000.0);
    results.row(
        &format!("a relay is replaced under {turns} turns, {log}: the longest wait of each reader"),
        &json!({ "p50 s": middle, "p99 s": slow }),
    );
    results.claim(&format!("{log}: a relay is replaced, a reader's wait, p99"), (1.0, "s"), false, slow);
    Ok(())
}

/// What many turns leave behind after their retention.
async fn soak(bench: &Bench, results: &mut Results, redis: &Redis) -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("soak")?;
    let relay = Relay::in_redis_for(bench.agent, &scratch, &redis.url(), "1s")?;
    let turns = bench.work.soak;
    let (files, memory) = (relay.files()?, used(redis));
    let pace = bench.soak(&relay).await?;
    // Their owners keep them for half a minute, and Redis for a second.
    tokio::time::sleep(std::time::Duration::from_secs(if results.is_quick { 2 } else { 40 })).await;
    let left = relay.metric("turnwire_relay_subscriptions").await?
        + relay.metric("turnwire_relay_ring_bytes").await?
        + relay.metric("turnwire_relay_turns_open").await?;
    let files = relay.files()?.saturating_sub(files);
    let grown = used(redis).saturating_sub(memory) as f64 / turns as f64;
    results.row(
        &format!("{turns} turns of three events, Redis"),
        &json!({ "turns/s": pace, "subscriptions, turns and bytes left": left, "files left": files, "Redis, B/turn": grown }),
    );
    results.claim(
        &format!("{turns} turns later: subscriptions, turns and bytes in memory"),
        (0.0, ""),
        false,
        left,
    );
    Ok(())
}

/// The memory that Redis uses, in bytes.
fn used(redis: &Redis) -> u64 {
    let info = redis.ask(&["INFO", "memory"]);
    let used = info.lines().find_map(|line| line.strip_prefix("used_memory:"));
    used.and_then(|used| used.trim().parse().ok()).unwrap_or_default()
}

/// How many files this process may have open.
fn files() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find(|line| line.starts_with("Max open files"));
    line.and_then(|line| line.split_whitespace().nth(3)?.parse().ok()).unwrap_or(1024)
}
