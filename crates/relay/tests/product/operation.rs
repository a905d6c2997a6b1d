//! What those who run it see: signals, a slow log, other programs' files, the system's limits.

use std::process::{Command, Output};
use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Method;
use tokio::net::TcpStream;

use crate::restarts::started;
use crate::wire::{Server, within};
use crate::world::{Relay, STOP, Scratch, delta, open, status};

/// What the program says to this config, under a shell that has done this before.
fn run(task: &str, scratch: &Scratch, config: &[u8], before: &str) -> (Output, String) {
    let path = scratch.path("relay.toml");
    std::fs::write(&path, config).expect("written");
    let script = format!("{before} exec timeout 20 \"$0\" {task} \"$1\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_turnwire-relay")]).arg(&path);
    let output = command.env("RELAY_TEST_KEY", "Bearer very-secret").output().expect("run");
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output, said)
}

/// A config whose agent does not matter.
fn alone(log: &str) -> String {
    crate::world::config("aap", "http://127.0.0.1:9", log)
}

#[test]
fn no_task_touches_the_file_of_another_program() {
    let scratch = Scratch::new();
    let path = scratch.path("turns.db");
    let file = rusqlite::Connection::open(&path).expect("a file");
    let rows = "CREATE TABLE session (id INTEGER, user TEXT); INSERT INTO session VALUES (1, 'ann');";
    file.execute_batch(rows).expect("made");
    drop(file);
    let before = std::fs::read(&path).expect("read");
    for task in ["check", "purge", "serve"] {
        let (output, said) = run(task, &scratch, alone(&scratch.log()).as_bytes(), "");
        assert_eq!(output.status.code(), Some(1), "{task}: {said}");
        assert!(said.contains("turns.db is another program's file"), "{task}: {said}");
        assert_eq!(std::fs::read(&path).expect("read"), before, "{task}");
    }
}

#[test]
fn a_log_that_is_no_file_and_a_config_that_is_no_text_are_said() {
    let scratch = Scratch::new();
    let made = Command::new("mkfifo").arg(scratch.path("turns.db")).status().expect("run");
    assert!(made.success());
    for task in ["check", "serve"] {
        let (output, said) = run(task, &scratch, alone(&scratch.log()).as_bytes(), "");
        assert_eq!(output.status.code(), Some(1), "{task}: {said}");
        assert!(said.contains("turns.db is no file"), "{task}: {said}");
    }
    let (output, said) = run("check", &scratch, b"listen = \"127.0.0.1:0\"\n# caf\xe9\n", "");
    assert!(output.status.code() == Some(1) && said.contains("\nline 2: it is no UTF-8"), "{said}");
}

/// The system's limit is raised where it may be, and named where it may not.
#[cfg(target_os = "linux")]
#[test]
fn a_relay_that_may_open_too_few_files_says_so() {
    let scratch = Scratch::new();
    let config = |streams| format!("{}[limits]\nstreams = {streams}\nturns = 10\nsockets = 10\n", alone(""));
    let warned = |streams: u32, before| {
        run("check", &scratch, config(streams).as_bytes(), before).1.contains("ulimit -n")
    };
    assert!(!warned(100, "ulimit -Sn 64; ulimit -Hn 512;"), "it takes what it needs");
    assert!(warned(300, "ulimit -Sn 64; ulimit -Hn 512;"), "720 are needed");
    assert!(warned(100, "ulimit -n 64;"));
}

#[tokio::test]
async fn an_agent_that_the_log_keeps_waiting_is_not_silent() {
    let (server, scratch) = (Server::start().await, Scratch::new());
    let config = open(&server, &format!("{}[limits]\nsilence = \"2s\"\n", scratch.log()));
    let relay = Relay::start(&config);
    let (stream, mut wire) = started(&relay, &server, "t", 1).await;
    let file = rusqlite::Connection::open(scratch.path("turns.db")).expect("the log");
    file.execute_batch("BEGIN IMMEDIATE").expect("locked");
    // Far more than the relay takes while an append waits.
    let agent = async {
        let long = delta(&"x".repeat(200_000));
        for _ in 0..15 {
            wire.chunk(&long).await;
        }
        wire.chunk(STOP).await;
        wire.end().await;
    };
    let log = async {
        tokio::time::sleep(Duration::from_secs(4)).await;
        file.execute_batch("ROLLBACK").expect("let go");
    };
    let (read, (), ()) = tokio::join!(stream.rest(), agent, log);
    let read = read.expect("a good end");
    assert!(read.ends_with(&crate::world::numbered(17, STOP)), "{}", &read[read.len() - 200..]);
    // The next turn uses a new connection.
    drop(wire);
    // What is silent while the relay listens is still cut.
    let (stream, wire) = started(&relay, &server, "u", 1).await;
    let read = stream.rest().await.expect("a good end");
    assert!(read.contains("\"reason\":\"silent\""), "{read}");
    drop(wire);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_relay_that_may_open_no_more_files_says_so_and_goes_on() {
    let server = Server::start().await;
    let relay = Relay::start(&open(&server, ""));
    let pid = relay.pid();
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("its files").count();
    let limit = |files: usize| {
        let limit = format!("--nofile={files}:");
        assert!(Command::new("prlimit").args(["--pid", &pid, &limit]).status().expect("run").success());
    };
    limit(files + 3);
    let crowd = join_all((0..9).map(|_| TcpStream::connect(relay.address()))).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    limit(files + 100);
    drop(crowd);
    let (stream, mut wire) = started(&relay, &server, "t", 1).await;
    wire.chunk(STOP).await;
    wire.end().await;
    assert!(stream.rest().await.expect("a good end").ends_with(STOP));
    relay.terminate();
    let said = relay.ended().await;
    assert_eq!(said.matches("no connection can be accepted").count(), 1, "{said}");
    assert!(said.contains("Too many open files"), "{said}");
}

/// Systemd hears of the end, and signals are heard after the admin address has begun it: the first may be from what has
/// asked it to, the second is for those who do not wait.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_relay_that_was_told_to_drain_hears_signals() {
    let (server, scratch, admin) = (Server::start().await, Scratch::new(), crate::deploy::free());
    let config = format!("admin = \"{admin}\"\n{}", open(&server, &scratch.log()));
    let path = scratch.path("notify");
    let systemd = tokio::net::UnixDatagram::bind(&path).expect("a socket");
    let notify = path.display().to_string();
    let relay = Relay::start_with(&config, &[("NOTIFY_SOCKET", &notify)]);
    let (mut stream, mut wire) = started(&relay, &server, "t", 1).await;
    let told = async || {
        let mut text = [0; 99];
        let count = within(systemd.recv(&mut text)).await.expect("a message");
        String::from_utf8_lossy(&text[..count]).into_owned()
    };
    assert!(told().await.contains("READY=1"));
    let drain = reqwest::Client::new().request(Method::PUT, format!("http://{admin}/drain"));
    assert_eq!(status(drain).await, 202);
    assert!(told().await.contains("STOPPING=1"));
    relay.terminate();
    tokio::time::sleep(Duration::from_millis(300)).await;
    wire.chunk(&delta("later")).await;
    stream.until("later").await;
    relay.terminate();
    let said = relay.ended().await;
    assert!(said.contains("1 turns run"), "{said}");
    // It has not waited for the turn.
    assert!(stream.rest().await.is_err());
    drop(wire);
}
