//! The development gateway as a child process.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::children::Running;
use crate::command::{describe, run};
use crate::progress::begin;
use crate::project::{Project, cargo};

/// How long a program may take from its start to the line with its URL.
const START_LIMIT: Duration = Duration::from_secs(15);
/// How many ports after the wanted one are tried.
const PORTS_TRIED: u16 = 50;

/// Compiles the gateway and returns the path of its program.
pub(crate) fn build(project: &Project) -> Result<PathBuf> {
    begin("gateway: compiling the development gateway (cargo)");
    program(project, "turnwire-gateway", &WHOLE)
}

/// The same with only what the gateway needs, which compiles faster if nothing else was built.
pub(crate) fn build_alone(project: &Project) -> Result<PathBuf> {
    begin("gateway: compiling the development gateway (cargo)");
    program(project, "turnwire-gateway", &["--package", "turnwire-gateway"])
}

/// Compiles the relay and returns the path of its program.
pub(crate) fn build_relay(project: &Project) -> Result<PathBuf> {
    begin("relay: compiling the relay (cargo)");
    program(project, "turnwire-relay", &WHOLE)
}

/// Compiles the code that programs share as the workspace's tests do. The library has one file for all sets of
/// features, so any other choice of packages would recompile it and its users. With an example, dependencies get the
/// features of the tests.
const WHOLE: [&str; 3] = ["--workspace", "--example", "rehearse"];

fn program(project: &Project, package: &str, packages: &[&str]) -> Result<PathBuf> {
    let build = ["build", "--quiet", "--bin", package];
    run(cargo().args(build).args(packages).current_dir(project.root()))?;
    let name = format!("{package}{}", std::env::consts::EXE_SUFFIX);
    Ok(project.target().join("debug").join(name))
}

/// A running gateway; dropping it ends it.
#[derive(Debug)]
pub(crate) struct Gateway {
    running: Running,
    url: String,
}

impl Gateway {
    /// Starts the program on a port of the loopback interface (0: any free one), serving the files
    /// of `www`, and waits for the line with its URL.
    pub(crate) fn start(program: &Path, port: u16, www: Option<&Path>) -> Result<Self> {
        Self::start_with(program, port, www, &[])
    }

    /// The same with further arguments.
    pub(crate) fn start_with(
        program: &Path,
        port: u16,
        www: Option<&Path>,
        arguments: &[&str],
    ) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments);
        command.arg("--listen").arg(format!("{}:{port}", Ipv4Addr::LOCALHOST));
        if let Some(www) = www {
            command.arg("--www").arg(www);
        }
        let (running, url) = listening(&mut command)?;
        Ok(Self { running, url })
    }

    /// Its URL, such as `http://127.0.0.1:8787`, without a trailing slash.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Waits until it ends.
    pub(crate) fn wait(mut self) -> Result<ExitStatus> {
        self.running.wait().context("cannot wait for the gateway")
    }
}

/// Starts a program and waits for its line with the URL on which it listens.
pub(crate) fn listening(command: &mut Command) -> Result<(Running, String)> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let name = describe(command);
    let mut running = Running::start(command).with_context(|| format!("cannot start `{name}`"))?;
    let Some(stdout) = running.child().stdout.take() else {
        bail!("`{name}` has no stdout");
    };
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            // The output after the URL is not needed, but must be read so that the pipe does not fill up.
            let _ = sender.send(line);
        }
    });
    let url = first_url(&name, &receiver)?;
    Ok((running, url))
}

fn first_url(name: &str, lines: &mpsc::Receiver<String>) -> Result<String> {
    loop {
        match lines.recv_timeout(START_LIMIT) {
            Ok(line) => {
                if let Some(url) = url_in(&line) {
                    return Ok(url.to_owned());
                }
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {
                bail!("`{name}` printed no URL within {} s", START_LIMIT.as_secs())
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                bail!("`{name}` ended before it listened; its message is above")
            }
        }
    }
}

fn url_in(line: &str) -> Option<&str> {
    line.split_whitespace()
        .find(|word| word.starts_with("http://"))
        .map(|url| url.trim_end_matches(['/', '.', ',']))
}

/// The wanted port, or the next one that is free.
pub(crate) fn free_port(wanted: u16) -> Result<u16> {
    let last = wanted.saturating_add(PORTS_TRIED);
    match (wanted..=last).find(|&port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()) {
        Some(port) => Ok(port),
        None => bail!("no free port from {wanted} to {last}: name another with --port"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_is_found_in_a_sentence() {
        assert_eq!(url_in("listening on http://127.0.0.1:8787/"), Some("http://127.0.0.1:8787"));
        assert_eq!(url_in("http://127.0.0.1:1"), Some("http://127.0.0.1:1"));
        assert_eq!(url_in("starting"), None);
    }

    #[test]
    fn a_taken_port_is_passed_over() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("some port is free");
        let port = taken.local_addr().expect("a bound socket has an address").port();
        let free = free_port(port).expect("a port near it is free");
        assert!(free > port);
    }
}
