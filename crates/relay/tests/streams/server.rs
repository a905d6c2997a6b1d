//! A durable-streams server of a test's own, the reference one from npm, on a port of this machine. It ends with the test.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A server, which may be ended and started again with what it has kept.
pub(crate) struct Streams {
    child: Option<Child>,
    port: u16,
    /// Where it keeps streams, if not in memory.
    directory: Option<PathBuf>,
}

impl Streams {
    /// One that keeps streams in memory.
    pub(crate) fn start() -> Self {
        Self::new(None)
    }

    /// One that keeps them in files.
    pub(crate) fn on_disk() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("turnwire-relay-streams-{}-{number}", std::process::id());
        Self::new(Some(std::env::temp_dir().join(name)))
    }

    fn new(directory: Option<PathBuf>) -> Self {
        let mut streams = Self { child: None, port: 0, directory };
        // Another program may take the port before the server does.
        let is_started = (0..3).any(|_| {
            let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
            streams.port = port.expect("a port").port();
            streams.is_started()
        });
        assert!(is_started, "it does not start: `cargo xtask test --only host` installs it");
        streams
    }

    /// Starts it again, with what it has kept.
    pub(crate) fn start_again(&mut self) {
        assert!(self.is_started(), "it does not start again on port {}", self.port);
    }

    /// Starts it, and returns whether it listens.
    fn is_started(&mut self) -> bool {
        let home = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/streams");
        let mut command = Command::new("node");
        command.current_dir(home).arg("server.mjs").arg(self.port.to_string()).args(&self.directory);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("Node, which starts the streams' server");
        // It writes one line, or ends.
        let mut line = String::new();
        let output = child.stdout.as_mut().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("its output");
        self.child = Some(child);
        if line != "ready\n" {
            self.kill();
        }
        self.child.is_some()
    }

    /// Ends it at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("ended");
            child.wait().expect("ended");
        }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.port).into()
    }

    /// Where a log in it is.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1/stream", self.address())
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.kill();
        if let Some(directory) = &self.directory {
            let _ = std::fs::remove_dir_all(directory);
        }
    }
}
