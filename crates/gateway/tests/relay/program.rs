//! The program: its arguments, its environment, and what it says.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};

use crate::world::{Server, Wire, get, upgrade};

const KEY: &str = "Bearer very-secret";

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnwire-gateway"));
    command.arg("relay").args(arguments).env("TURNWIRE_RELAY_AUTHORIZATION", KEY);
    command
}

fn run(arguments: &[&str]) -> Output {
    program(arguments).output().expect("run")
}

/// A started program, ended with the test whatever happens.
pub(crate) struct Running(Child);

impl Running {
    /// Starts it and returns the address that it prints.
    pub(crate) fn start(command: &mut Command) -> (Self, String) {
        let started = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut running = Self(started.expect("started"));
        let mut line = String::new();
        let stdout = running.0.stdout.as_mut().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("http://").and_then(|line| line.strip_suffix('/'));
        let address = address.unwrap_or_else(|| panic!("no address: {line}")).to_owned();
        (running, address)
    }

    /// Ends it and returns what it wrote to stderr.
    fn log(mut self) -> String {
        self.0.kill().expect("ended");
        let mut log = String::new();
        self.0.stderr.as_mut().expect("a pipe").read_to_string(&mut log).expect("text");
        log
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn it_relays_with_the_key_of_its_environment() {
    let server = Server::start().await;
    let upstream = format!("http://{}", server.address);
    let arguments = ["--upstream", &upstream, "--listen", "127.0.0.1:0", "--log"];
    let (running, address) = Running::start(&mut program(&arguments));
    let mut page = Wire::open(&address, &get("/v1/runs?key=very-secret", "")).await;
    let (mut wire, head) = server.accept().await;
    assert!(head.contains(&format!("authorization: {KEY}\r\n")), "{head}");
    wire.write("HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nok").await;
    page.read_until("ok").await;
    // With a key, pages from elsewhere have no business here.
    let foreign = get("/", "Origin: https://page.test\r\nConnection: close\r\n");
    let answer = Wire::open(&address, &foreign).await.read_to_end().await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    drop((server, wire));
    let gone = get("/gone", "Connection: close\r\n");
    let answer = Wire::open(&address, &gone).await.read_to_end().await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 502 ") && !answer.contains("very-secret"), "{answer}");
    let log = running.log();
    let lines: Vec<&str> = log.lines().map(|line| line.rsplit_once(' ').expect("ms").0).collect();
    assert_eq!(lines.len(), 3, "{log}");
    for (line, expected) in lines.iter().zip(["GET /v1/runs 202 ", "GET / 403 ", "GET /gone 502 "]) {
        assert!(line.starts_with(expected), "{log}");
    }
    assert!(!log.contains("very-secret"), "{log}");
}

/// What the program with these arguments answers a request, if not what the server does: `None`.
async fn refusal(server: &Server, running: &mut Command, request: &str) -> Option<String> {
    let (_running, address) = Running::start(running);
    let port = address.rsplit_once(':').expect("a port").1;
    let mut page = Wire::open(&format!("127.0.0.1:{port}"), request).await;
    if !server.is_left_alone().await {
        return None;
    }
    let head = page.read_head().await;
    assert!(head.starts_with("HTTP/1.1 403 "), "{head}");
    Some(page.read_until("\n").await)
}

#[tokio::test]
async fn it_lets_in_the_pages_of_its_arguments() {
    let server = Server::start().await;
    let upstream = format!("http://{}", server.address);
    let own = "Origin: http://localhost:5173\r\n";
    let foreign = "Origin: https://page.test\r\n";
    let sandboxed = "Origin: null\r\n";
    // `Err` with a word of the refusal.
    let cases = [
        (&[][..], get("/", own), Ok(())),
        (&[], upgrade(own), Ok(())),
        (&[], get("/", foreign), Err("--allow-origin")),
        (&[], upgrade(foreign), Err("--allow-origin")),
        (&["*"], get("/", foreign), Ok(())),
        (&["*"], upgrade(foreign), Err("open no WebSocket")),
        (&["null"], get("/", sandboxed), Ok(())),
        (&["null"], upgrade(sandboxed), Err("open no WebSocket")),
        (&["null", "https://page.test"], upgrade(foreign), Ok(())),
        (&["https://page.test"], get("/", "").replace("localhost", "page.test"), Err("localhost")),
    ];
    for (names, request, expected) in cases {
        for has_key in [true, false] {
            let arguments = ["--upstream", &upstream, "--listen", "127.0.0.1:0"];
            let names = names.iter().flat_map(|name| ["--allow-origin", name]);
            let mut command = program(&arguments.into_iter().chain(names).collect::<Vec<_>>());
            if !has_key {
                command.env_remove("TURNWIRE_RELAY_AUTHORIZATION");
            }
            let refusal = refusal(&server, &mut command, &request).await;
            match (&refusal, expected) {
                (None, Ok(())) => {}
                (Some(text), Err(word)) if text.contains(word) => {}
                _ => panic!("{request}: {refusal:?}"),
            }
        }
    }
}

#[tokio::test]
async fn where_others_reach_it_no_name_leads_to_it() {
    let server = Server::start().await;
    let upstream = format!("http://{}", server.address);
    let arguments = ["--upstream", &upstream, "--listen", "0.0.0.0:0", "--allow-origin", "https://page.test"];
    for (host, is_let_in) in
        [("192.168.0.7:8791", true), ("localhost:8791", true), ("page.test", false), ("dev.lan:8791", false)]
    {
        let request = get("/", "").replace("localhost", host);
        let refusal = refusal(&server, &mut program(&arguments), &request).await;
        assert_eq!(refusal.is_none(), is_let_in, "{host}: {refusal:?}");
    }
}

#[test]
fn it_explains_itself_without_its_key() {
    let help = String::from_utf8(run(&["--help"]).stdout).expect("text");
    for word in [
        "--upstream",
        "--listen",
        "127.0.0.1:8791",
        "--allow-origin",
        "TURNWIRE_RELAY_AUTHORIZATION",
        "open no WebSockets",
        "by no name",
    ] {
        assert!(help.contains(word), "{word}");
    }
    assert!(!help.contains("very-secret"), "{help}");
    let whole = Command::new(env!("CARGO_BIN_EXE_turnwire-gateway")).arg("--help").output().expect("run");
    let whole = String::from_utf8(whole.stdout).expect("text");
    assert!(whole.contains("relay"), "{whole}");
}

#[test]
fn it_refuses_invalid_options() {
    let upstream = ["--upstream", "http://127.0.0.1:1"];
    for (arguments, word) in [
        (vec![], "--upstream"),
        (vec!["--upstream", "http://me:very-secret@127.0.0.1:1"], "user"),
        (vec!["--upstream", "127.0.0.1:1"], "http://"),
        ([&upstream[..], &["--listen", "0.0.0.0:0"]].concat(), "--allow-origin"),
        ([&upstream[..], &["--allow-origin", "page.test"]].concat(), "--allow-origin"),
    ] {
        let output = run(&arguments);
        let error = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(word), "{arguments:?}: {error}");
        assert!(output.stdout.is_empty());
    }
    let wrong = program(&upstream).env("TURNWIRE_RELAY_AUTHORIZATION", "very\nsecret").output().expect("run");
    let error = String::from_utf8(wrong.stderr).expect("text");
    assert_eq!(wrong.status.code(), Some(2), "{error}");
    assert!(error.contains("TURNWIRE_RELAY_AUTHORIZATION") && !error.contains("secret"), "{error}");
}

#[test]
fn the_gateway_takes_no_argument_of_the_relay_and_none_beside_it() {
    for arguments in
        [&["--upstream", "http://127.0.0.1:1"][..], &["--www", ".", "relay", "--upstream", "http://a"]]
    {
        let output =
            Command::new(env!("CARGO_BIN_EXE_turnwire-gateway")).args(arguments).output().expect("run");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}
