//! The measured relay: a separate process, which runs this program again.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use turnwire_relay::development::{self, Origins, RelayConfig, SecretHeaders};
use turnwire_relay::{Config, Stage};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A running relay. Dropping it ends it.
pub(crate) struct Relay {
    child: Child,
    pub(crate) address: SocketAddr,
    /// The agent's path on the relay.
    pub(crate) path: &'static str,
    /// The address of its metrics.
    admin: Option<SocketAddr>,
}

/// A directory that is removed with the measurement.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("turnwire-relay-load-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
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

impl Relay {
    /// What `turnwire-relay serve` runs, with a log in `scratch`.
    pub(crate) fn product(agent: SocketAddr, scratch: &Scratch) -> Result<Self> {
        Self::with_store(agent, scratch, &format!("sqlite:{}", scratch.log().display()))
    }

    /// The same with a log in memory.
    pub(crate) fn in_memory(agent: SocketAddr, scratch: &Scratch) -> Result<Self> {
        Self::with_store(agent, scratch, "memory")
    }

    /// The same with a log in Redis.
    pub(crate) fn in_redis(agent: SocketAddr, scratch: &Scratch, url: &str) -> Result<Self> {
        Self::with_store(agent, scratch, url)
    }

    /// The same, where a turn can be read for this long after its end.
    pub(crate) fn in_redis_for(
        agent: SocketAddr,
        scratch: &Scratch,
        url: &str,
        retention: &str,
    ) -> Result<Self> {
        Self::with(agent, scratch, url, retention)
    }

    fn with_store(agent: SocketAddr, scratch: &Scratch, store: &str) -> Result<Self> {
        Self::with(agent, scratch, store, "10m")
    }

    fn with(agent: SocketAddr, scratch: &Scratch, store: &str, retention: &str) -> Result<Self> {
        let admin = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let config = scratch.0.join("relay.toml");
        let text = format!(
            "listen = \"127.0.0.1:0\"\nadmin = \"{admin}\"\ndrain = \"30s\"\n[identity.none]\n\
             [upstream.a]\nprotocol = \"aap\"\nurl = \"http://{agent}\"\nsessions = \"open\"\n\
             [log]\nstore = \"{store}\"\nretention = \"{retention}\"\n\
             [limits]\nturns_per_subject = 100000\nstreams_per_subject = 100000\nstreams = 100000\nstarts_per_minute = 1000000\n"
        );
        std::fs::write(&config, text)?;
        let mut relay = Self::run(Command::new(std::env::current_exe()?).arg("--relay").arg(config), "/a")?;
        relay.admin = Some(admin);
        Ok(relay)
    }

    /// What `turnwire-gateway relay` runs. It keeps nothing.
    pub(crate) fn development(agent: SocketAddr) -> Result<Self> {
        let agent = format!("http://{agent}");
        Self::run(Command::new(std::env::current_exe()?).args(["--development-relay", &agent]), "")
    }

    /// What teams use instead, in Node: see `anchors/anchor.mjs`.
    pub(crate) fn anchor(anchors: &Path, kind: &str, agent: SocketAddr, redis: &str) -> Result<Self> {
        let mut node = Command::new("node");
        node.arg("anchor.mjs").args([kind, &format!("http://{agent}"), redis]);
        Self::run(node.current_dir(anchors), "")
    }

    fn run(command: &mut Command, path: &'static str) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().ok_or("no stdout")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let address = line.trim().parse().map_err(|_| "the relay has not said where it listens")?;
        Ok(Self { child, address, path, admin: None })
    }

    /// The processor time of all its threads.
    pub(crate) fn processor(&self) -> Result<Duration> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The second field may have spaces; it ends with the last parenthesis.
        let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |place: usize| fields.get(place).and_then(|field| field.parse::<u64>().ok());
        let ticks = ticks(11).zip(ticks(12)).map(|(user, system)| user + system).ok_or("no times")?;
        // Linux reports times in hundredths of a second.
        Ok(Duration::from_millis(ticks * 10))
    }

    /// How many files it has open.
    pub(crate) fn files(&self) -> Result<usize> {
        Ok(std::fs::read_dir(format!("/proc/{}/fd", self.child.id()))?.count())
    }

    /// The value of its metric with this name.
    pub(crate) async fn metric(&self, name: &str) -> Result<f64> {
        let admin = self.admin.ok_or("no metrics")?;
        let mut stream = TcpStream::connect(admin).await?;
        let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await?;
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        Ok(value.ok_or_else(|| format!("no {name}"))?.parse()?)
    }

    /// Asks it to shut down.
    pub(crate) fn terminate(&self) -> Result<()> {
        let status = Command::new("kill").arg(self.child.id().to_string()).status()?;
        status.success().then_some(()).ok_or_else(|| "it is not there".into())
    }

    /// Its memory, in KiB.
    pub(crate) fn memory(&self) -> Result<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no memory")?;
        Ok(line.trim().trim_end_matches("kB").trim().parse()?)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a relay with this config, until the process ends.
pub(crate) async fn relay(config: &Path) -> Result<()> {
    let config = Config::parse(&std::fs::read_to_string(config)?).map_err(|problems| problems.to_string())?;
    let told = |stage| {
        if let Stage::Serving(addresses) = stage {
            println!("{}", addresses.relay);
        }
    };
    Ok(turnwire_relay::serve(config, told, terminated()).await?)
}

/// Runs the development relay in front of this agent, until the process ends.
pub(crate) async fn development_relay(agent: &str) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let (upstream, secrets) = (agent.parse()?, SecretHeaders::default());
    let config = RelayConfig { upstream, origins: Origins::ThisMachine, secrets, log: false };
    Ok(development::serve(listener, config).await?)
}

/// Waits until the process is asked to end.
async fn terminated() {
    #[cfg(unix)]
    if let Ok(mut terminate) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        terminate.recv().await;
        return;
    }
    std::future::pending::<()>().await;
}
