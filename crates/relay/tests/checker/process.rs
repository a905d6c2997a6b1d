//! The program `turnwire-relay`: started, stopped and started again, with the same log.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::history::Acknowledged;

/// How long the process may take to start or to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// A directory that is removed with the schedule.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    /// For one kind of schedule, by its name.
    pub(crate) fn new(kind: &str, seed: u64, mutant: Option<&str>) -> Self {
        let mutant = mutant.unwrap_or("product");
        let name = format!("turnwire-relay-checker-{}-{kind}-{seed}-{mutant}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.0.join("turns.db")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A relay, as a process.
pub(crate) struct Relay {
    child: Option<Child>,
    config: PathBuf,
    said: PathBuf,
    /// What the log has acknowledged to it; only a build with the feature `mutants` writes this.
    trace: PathBuf,
    mutant: Option<String>,
}

/// The relay's program, as it was when the first schedule began: other builds may replace it.
fn program() -> &'static Path {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checked-turnwire-relay");
        // A running program cannot be overwritten, but another file can take its name.
        let _ = std::fs::remove_file(&copy);
        std::fs::copy(env!("CARGO_BIN_EXE_turnwire-relay"), &copy).expect("copied");
        copy
    });
    &PROGRAM
}

impl Relay {
    /// A relay with this name in front of an agent, with this log. The agent's name is that of the protocol. It is not
    /// started yet.
    pub(crate) fn new(
        scratch: &Scratch,
        name: &str,
        agent: SocketAddr,
        log: &str,
        mutant: Option<&str>,
    ) -> Self {
        let upstream = |name: &str| {
            format!(
                "[upstream.{name}]\nprotocol = \"{name}\"\nurl = \"http://{agent}\"\nsessions = \"open\"\nlog = \"on\"\n"
            )
        };
        let text = format!(
            "listen = \"127.0.0.1:0\"\ndrain = \"1s\"\n[identity.none]\n{}{}{}\
             [log]\n{log}\n\
             [limits]\nsilence = \"4s\"\nturns_per_subject = 1000\nstreams_per_subject = 10000\nstarts_per_minute = 1000000\n",
            upstream("aap"),
            upstream("tirea"),
            upstream("truefoundry"),
        );
        let config = scratch.0.join(format!("{name}.toml"));
        std::fs::write(&config, text).expect("written");
        let said = scratch.0.join(format!("{name}.said"));
        let trace = scratch.0.join(format!("{name}.trace"));
        Self { child: None, config, said, trace, mutant: mutant.map(str::to_owned) }
    }

    /// Starts it and returns where it listens.
    pub(crate) async fn start(&mut self) -> SocketAddr {
        let said = File::options().create(true).append(true).open(&self.said).expect("a file");
        // A write beyond the limit on file sizes is then an error, as on a full disk, and does not kill the process.
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"]);
        command.arg(program()).arg("serve").arg(&self.config).stdout(Stdio::piped()).stderr(said);
        command.env("TURNWIRE_RELAY_TRACE", &self.trace);
        if let Some(mutant) = &self.mutant {
            command.env("TURNWIRE_RELAY_MUTANT", mutant);
        }
        let mut child = command.spawn().expect("started");
        let stdout = child.stdout.take().expect("a pipe");
        self.child = Some(child);
        let line = tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            BufReader::new(stdout).read_line(&mut line).map(|_| line)
        });
        let line =
            tokio::time::timeout(PATIENCE, line).await.expect("in time").expect("no panic").expect("read");
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').parse();
        address.unwrap_or_else(|_| panic!("no relay: {}", self.said()))
    }

    fn signal(&self, name: &str) {
        let pid = self.child.as_ref().expect("it runs").id().to_string();
        run("kill", &[&format!("-{name}"), &pid]);
    }

    /// Kills it, as a crash would.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("ended");
            child.wait().expect("ended");
        }
    }

    /// Asks it to shut down, and waits until it has ended.
    pub(crate) async fn terminate(&mut self) {
        self.signal("TERM");
        let began = Instant::now();
        while self.child.as_mut().is_some_and(|child| child.try_wait().expect("its state").is_none()) {
            assert!(began.elapsed() < PATIENCE, "it does not end: {}", self.said());
            sleep(Duration::from_millis(20)).await;
        }
        self.child = None;
    }

    pub(crate) fn pause(&self) {
        self.signal("STOP");
    }

    pub(crate) fn go_on(&self) {
        self.signal("CONT");
    }

    /// Forbids or allows files to grow.
    pub(crate) fn fill_disk(&self, is_full: bool) {
        let pid = self.child.as_ref().expect("it runs").id().to_string();
        // The soft limit: the hard one could not be raised again.
        let limit = if is_full { "--fsize=1:" } else { "--fsize=unlimited:" };
        run("prlimit", &["--pid", &pid, limit]);
    }

    /// What the log has acknowledged to it, in all its processes. Lines that a full disk has cut are missing.
    pub(crate) fn acknowledged(&self) -> Vec<Acknowledged> {
        let text = std::fs::read_to_string(&self.trace).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// What it wrote to stderr.
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(&self.said).unwrap_or_default()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.kill();
    }
}

fn run(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).status();
    assert!(status.is_ok_and(|status| status.success()), "{program} {}", arguments.join(" "));
}
