//! The public suite of the protocol "durable streams" (npm: `@durable-streams/server-conformance-tests`), held against each log
//! through a small server over it (`shim`). What that server leaves out is listed by name, each group with its reason:
//! `tests/streams/expected.json`. Anything else that fails is a fault, and so is a listed test that passes.

#[path = "../redis/server.rs"]
#[allow(dead_code)] // the other tests use the rest
mod redis;
mod shim;
#[path = "../streams/server.rs"]
#[allow(dead_code)] // the other tests use the rest
mod streams;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use turnwire_relay::log::{Lifetimes, MemoryLog, RedisLog, ReplayLog, SqliteLog, StreamsLog};

const LIFETIMES: Lifetimes =
    Lifetimes { running: Duration::from_mins(30), retention: Duration::from_mins(10) };

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/streams")
}

/// The names of the tests that are to fail.
fn expected() -> BTreeSet<String> {
    let text = std::fs::read(home().join("expected.json")).expect("the list");
    let groups: BTreeMap<String, Vec<String>> = serde_json::from_slice(&text).expect("groups of names");
    groups.into_values().flatten().collect()
}

/// Runs the suite over a log, and compares.
async fn hold(name: &str, log: Arc<dyn ReplayLog>) {
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = socket.local_addr().expect("an address");
    let serving = tokio::spawn(axum::serve(socket, shim::routes(log)).into_future());
    let report =
        std::env::temp_dir().join(format!("turnwire-relay-suite-{}-{name}.json", std::process::id()));
    let mut command = std::process::Command::new("node");
    command.current_dir(home()).args(["node_modules/vitest/vitest.mjs", "run", "--reporter=json"]);
    command.arg(format!("--outputFile={}", report.display())).env("STREAMS_URL", format!("http://{address}"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let ended = tokio::task::spawn_blocking(move || command.status()).await.expect("ended");
    ended.expect("Node, which runs the suite");
    serving.abort();
    let text = std::fs::read(&report).expect("a report; `cargo xtask test --only host` installs the suite");
    std::fs::remove_file(&report).expect("removed");
    let report: serde_json::Value = serde_json::from_slice(&text).expect("a report");
    let (mut passed, mut failed) = (BTreeSet::new(), BTreeMap::new());
    for file in report["testResults"].as_array().expect("files") {
        for test in file["assertionResults"].as_array().expect("tests") {
            let full = test["fullName"].as_str().expect("a name").to_owned();
            match test["status"].as_str() {
                Some("passed") => {
                    passed.insert(full);
                }
                Some("failed") => {
                    let why = test["failureMessages"][0].as_str().unwrap_or_default();
                    failed.insert(full, why.lines().next().unwrap_or_default().to_owned());
                }
                // The suite itself leaves some out.
                _ => {}
            }
        }
    }
    let expected = expected();
    let _ = writeln!(
        stderr(),
        "{name}: {} of the suite's tests hold, {} are listed",
        passed.len(),
        expected.len()
    );
    let new: Vec<_> = failed.iter().filter(|(test, _)| !expected.contains(*test)).collect();
    let old: Vec<_> = expected.iter().filter(|test| !failed.contains_key(*test)).collect();
    assert!(new.is_empty(), "{name}: these fail, and are not listed: {new:#?}");
    assert!(old.is_empty(), "{name}: these are listed, and do not fail: {old:#?}");
    assert!(passed.len() > 100, "{name}: {} tests", passed.len());
}

/// Whether all logs are tried.
fn is_all(log: &str) -> bool {
    let is_quick = std::env::var_os("TURNWIRE_TEST").is_some_and(|scope| scope == "quick");
    if is_quick {
        let _ = writeln!(stderr(), "quick: without the suite over the log {log}; --all has it");
    }
    !is_quick
}

#[tokio::test(flavor = "multi_thread")]
async fn over_a_log_in_memory() {
    hold("memory", Arc::new(MemoryLog::default())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_a_log_in_sqlite() {
    if !is_all("in SQLite") {
        return;
    }
    let directory = std::env::temp_dir().join(format!("turnwire-relay-suite-{}", std::process::id()));
    let log = SqliteLog::open(&directory.join("relay.db"), false).expect("a file");
    hold("sqlite", Arc::new(log)).await;
    std::fs::remove_dir_all(directory).expect("removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn over_a_log_in_redis() {
    if !is_all("in Redis") {
        return;
    }
    let redis = redis::Redis::start();
    hold("redis", Arc::new(RedisLog::open(&redis.url(), None, LIFETIMES).await.expect("a log"))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_a_log_on_a_streams_server() {
    if !is_all("on a durable-streams server") {
        return;
    }
    let server = streams::Streams::start();
    let address = server.url().parse().expect("an address");
    let log = StreamsLog::open(&address, Vec::new(), LIFETIMES).await.expect("a log");
    hold("streams", Arc::new(log)).await;
}
