//! The relay's settings: a TOML file that contains no secrets.

mod problems;
mod read;
mod secret;
mod section;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use axum::http::HeaderName;
use jsonwebtoken::Algorithm;

use crate::address::Upstream;
use crate::route::Protocol;

pub use problems::{Problem, Problems};
pub(crate) use read::SHORTEST_TAKEOVER;
pub use secret::Secret;

/// The settings of a relay.
#[derive(Debug, Clone)]
pub struct Config {
    /// The address for pages.
    pub listen: SocketAddr,
    /// The address for metrics and health, if any.
    pub admin: Option<SocketAddr>,
    /// The certificate, unless a proxy handles HTTPS.
    pub tls: Option<TlsConfig>,
    /// The host names that requests may use, with or without a port. A loopback address also allows loopback names.
    pub hosts: Vec<String>,
    /// The origins of the pages that may call.
    pub origins: Vec<String>,
    /// How long turns may continue after the signal to end.
    pub drain: Duration,
    /// How callers are identified.
    pub identity: IdentityConfig,
    /// The agents.
    pub upstreams: Vec<UpstreamConfig>,
    /// Where turns are kept.
    pub log: LogConfig,
    /// Limits for one user, and for all users together.
    pub limits: Limits,
    /// Where spans are sent, if anywhere.
    pub traces: Option<TracesConfig>,
}

/// A collector of traces.
#[derive(Debug, Clone)]
pub struct TracesConfig {
    /// Where it takes OTLP in JSON, path included.
    pub url: Upstream,
    /// Headers of every request to it.
    pub headers: Vec<(HeaderName, Secret)>,
    /// One turn in this many is traced, unless the request says whether to trace it.
    pub one_in: u32,
}

/// PEM files, which are read again when they change.
#[derive(Debug, Clone)]
pub struct TlsConfig {
    /// The certificate, followed by those that link it to a root.
    pub cert: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// How callers are identified.
#[derive(Debug, Clone)]
pub enum IdentityConfig {
    /// All callers are one user, on this machine only.
    None,
    /// By a signed token.
    Bearer(BearerConfig),
    /// By asking another server about their cookies.
    Forward(ForwardConfig),
}

/// Which tokens are accepted.
#[derive(Debug, Clone)]
pub struct BearerConfig {
    /// Where the keys are.
    pub jwks: Upstream,
    /// The issuer that a token must name.
    pub issuer: String,
    /// The audience that a token must name.
    pub audience: String,
    /// The accepted signature algorithms.
    pub algorithms: Vec<Algorithm>,
    /// The claim with the user's id.
    pub subject: String,
}

/// The server that is asked about cookies.
#[derive(Debug, Clone)]
pub struct ForwardConfig {
    /// The URL that is requested with the caller's cookies.
    pub url: Upstream,
    /// The response header with the user's id.
    pub header: HeaderName,
}

/// An agent's server.
#[derive(Debug, Clone)]
pub struct UpstreamConfig {
    /// Its name, which is also the first segment of its paths on the relay.
    pub name: String,
    /// Its protocol.
    pub protocol: Protocol,
    /// Its address.
    pub url: Upstream,
    /// Headers of every request to it.
    pub headers: Vec<(HeaderName, Secret)>,
    /// Whether each session belongs to the user who created it.
    pub is_owned: bool,
    /// Whether turns are kept.
    pub is_logged: bool,
    /// How long a turn continues without readers; `None` for no limit.
    pub on_leave: Option<Duration>,
}

/// Where turns are kept, and for how long.
#[derive(Debug, Clone)]
pub struct LogConfig {
    /// The store.
    pub store: Store,
    /// How long a turn can be read after its end.
    pub retention: Duration,
    /// What must have happened to a turn's frames before readers see them.
    pub durability: Durability,
    /// How long a turn's owner must be silent before another relay takes the turn over, if several relays use the log.
    /// Half of it is enough if the agent keeps the turn.
    pub takeover: Duration,
}

/// What readers may rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The log has what they see. In a file, a turn's beginning and end are on the disk, and frames are soon after.
    Process,
    /// Every frame that they see is on the disk.
    Disk,
    /// A replica of Redis has each turn that was sent to its agent, and each end that they see, unless the turn was cut.
    Replica,
}

impl LogConfig {
    /// How long the log may be behind what readers have seen, or without a turn that they have seen. Meanwhile its owner
    /// repairs it, or is found to be dead, and another relay decides what is left.
    pub(crate) fn repair(&self) -> Duration {
        /// Signs of life are checked once a second, and so is the log by those who wait for it.
        const NOTICED: Duration = Duration::from_secs(3);
        if self.store.is_shared() { self.takeover + NOTICED } else { NOTICED }
    }
}

/// A store for turns.
#[derive(Debug, Clone)]
pub enum Store {
    /// In memory: turns end with the process.
    Memory,
    /// In a file.
    Sqlite(PathBuf),
    /// In Redis or Valkey, for several relays.
    Redis {
        /// The URL, without a password.
        url: String,
        /// The password.
        password: Option<Secret>,
    },
    /// On a durable-streams server, for several relays.
    Streams {
        /// The address that the paths of its streams begin with.
        url: Upstream,
        /// Headers of every request to it.
        headers: Vec<(HeaderName, Secret)>,
    },
}

impl Store {
    /// Whether several relays may use it at once.
    fn is_shared(&self) -> bool {
        matches!(self, Self::Redis { .. } | Self::Streams { .. })
    }
}

/// Limits on use.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The size of a request's body, in bytes.
    pub body: usize,
    /// Running turns of one user.
    pub turns_per_subject: usize,
    /// Open streams of one user.
    pub streams_per_subject: usize,
    /// Starts per minute of one user.
    pub starts_per_minute: u32,
    /// Open streams of all users.
    pub streams: usize,
    /// Running turns of all users.
    pub turns: usize,
    /// Held sockets of one user.
    pub sockets_per_subject: usize,
    /// Held sockets of all users.
    pub sockets: usize,
    /// The journal of a held socket, in bytes.
    pub socket_journal: usize,
    /// Simultaneous readers of a held socket.
    pub socket_readers: usize,
    /// Pending requests on a held socket, counted separately for its readers and for the agent.
    pub socket_requests: usize,
    /// How long a socket is held without readers.
    pub socket_idle: Duration,
    /// How long a turn may take.
    pub turn_time: Duration,
    /// How long an agent may be silent.
    pub silence: Duration,
}

impl Config {
    /// Reads a config. The error lists every mistake.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        read::config(text)
    }
}
