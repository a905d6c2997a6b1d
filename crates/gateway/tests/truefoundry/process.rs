//! The program itself: its one line, its end, its log.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

/// A started program, ended with the test whatever happens.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(arguments: &[&str]) -> (Program, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_turnwire-gateway"))
        .args(["--listen", "127.0.0.1:0"])
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut line = String::new();
    let stdout = child.stdout.as_mut().expect("a pipe");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    (Program(child), line)
}

#[cfg(unix)]
#[tokio::test]
async fn it_prints_its_address_and_ends_at_once() {
    for signal in ["-TERM", "-INT"] {
        let (mut program, line) = start(&["--log", "--token", "very-secret"]);
        let url = line.strip_suffix('\n').expect("one line");
        assert!(url.starts_with("http://127.0.0.1:") && url.ends_with('/') && !url.contains(":0/"), "{url}");
        let client = reqwest::Client::new();
        let sessions = format!("{url}acme/v1/agents/sessions");
        let post = |path: String, body| client.post(path).bearer_auth("very-secret").json(&body).send();
        let created = post(format!("{sessions}?token=very-secret"), json!({"agent_name": "a"})).await;
        let created: serde_json::Value = created.expect("an answer").json().await.expect("JSON");
        let turns = format!("{sessions}/{}/turns", created["data"]["id"].as_str().expect("an id"));
        let body = json!({"input": [{"type": "user.message", "content": "slow"}]});
        let mut stream = post(turns, body).await.expect("an open stream");
        stream.chunk().await.expect("bytes").expect("a frame");
        let started = Instant::now();
        let pid = program.0.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().expect("sent").success());
        let status = program.0.wait().expect("an end");
        assert!(status.success(), "{status}");
        assert!(started.elapsed() < Duration::from_secs(2));
        let mut log = String::new();
        program.0.stderr.as_mut().expect("a pipe").read_to_string(&mut log).expect("text");
        let lines: Vec<&str> = log.lines().collect();
        assert_eq!(lines.len(), 2, "{log}");
        assert!(lines[0].contains("POST /acme/v1/agents/sessions 201"), "{log}");
        assert!(!log.contains("very-secret"));
        let mut rest = String::new();
        program.0.stdout.as_mut().expect("a pipe").read_to_string(&mut rest).expect("text");
        assert_eq!(rest, "", "one line only");
    }
}

#[test]
fn it_explains_itself() {
    let output = Command::new(env!("CARGO_BIN_EXE_turnwire-gateway")).arg("--help").output();
    let help = String::from_utf8(output.expect("run").stdout).expect("text");
    for option in [
        "--listen",
        "--token",
        "--www",
        "--log",
        "--delay-ms",
        "--chunk-bytes",
        "--batch",
        "--numbers",
        "--chaos",
    ] {
        assert!(help.contains(option), "{option}");
    }
    for fault in ["status:CODE[:RETRY_AFTER] ", "reset:N ", "no-done "] {
        assert!(help.contains(fault), "{fault}");
    }
}
