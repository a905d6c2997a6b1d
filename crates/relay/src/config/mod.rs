//! How the relay is set up: a TOML file, without any secret in it.

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
    /// Where pages call.
    pub listen: SocketAddr,
    /// Where metrics and health are asked for, if anywhere.
    pub admin: Option<SocketAddr>,
    /// The certificate with which it speaks HTTPS, if no proxy does so.
    pub tls: Option<TlsConfig>,
    /// The names by which the relay may be called, with or without a port. Loopback names always may if it listens there.
    pub hosts: Vec<String>,
    /// The origins of the pages that may call.
    pub origins: Vec<String>,
    /// How long turns may go on after the signal to end.
    pub drain: Duration,
    /// Who calls.
    pub identity: IdentityConfig,
    /// The agents.
    pub upstreams: Vec<UpstreamConfig>,
    /// Where turns are kept.
    pub log: LogConfig,
    /// What one user, and all of them, may use.
    pub limits: Limits,
    /// Where spans are sent, if anywhere.
    pub traces: Option<TracesConfig>,
}

/// A collector of traces.
#[derive(Debug, Clone)]
pub struct TracesConfig {
    /// Where it takes OTLP in JSON, path included.
    pub url: Upstream,
    /// Headers that every request to it gets.
    pub headers: Vec<(HeaderName, Secret)>,
    /// One turn in so many is traced, unless its request says itself whether it is.
    pub one_in: u32,
}

/// Files in PEM, which are read again when they change.
#[derive(Debug, Clone)]
pub struct TlsConfig {
    /// The certificate, followed by those that link it to a root.
    pub cert: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// How callers are told apart.
#[derive(Debug, Clone)]
pub enum IdentityConfig {
    /// All are one user, on this machine only.
    None,
    /// By a signed token.
    Bearer(BearerConfig),
    /// By what another server says of their cookies.
    Forward(ForwardConfig),
}

/// Which tokens are good.
#[derive(Debug, Clone)]
pub struct BearerConfig {
    /// Where the keys are.
    pub jwks: Upstream,
    /// Who must have issued a token.
    pub issuer: String,
    /// Whom it must be for.
    pub audience: String,
    /// The signatures that count.
    pub algorithms: Vec<Algorithm>,
    /// The claim with the user's id.
    pub subject: String,
}

/// Who is asked.
#[derive(Debug, Clone)]
pub struct ForwardConfig {
    /// What is asked for with the caller's cookies.
    pub url: Upstream,
    /// The header of the answer with the user's id.
    pub header: HeaderName,
}

/// An agent's server.
#[derive(Debug, Clone)]
pub struct UpstreamConfig {
    /// Its name, which is also the first segment of its paths here.
    pub name: String,
    /// What it speaks.
    pub protocol: Protocol,
    /// Where it is.
    pub url: Upstream,
    /// Headers that every request to it gets.
    pub headers: Vec<(HeaderName, Secret)>,
    /// Whether each session belongs to the user who made it.
    pub is_owned: bool,
    /// Whether turns are kept.
    pub is_logged: bool,
    /// How long a turn goes on without readers; `None` for as long as it takes.
    pub on_leave: Option<Duration>,
}

/// Where turns are kept, and for how long.
#[derive(Debug, Clone)]
pub struct LogConfig {
    /// Where.
    pub store: Store,
    /// How long a turn can be read after its end.
    pub retention: Duration,
    /// Whether every frame is on the disk before a reader sees it. Otherwise only a turn's beginning and its end are, and frames soon after.
    pub is_synced: bool,
    /// How long a turn's owner must be silent until another relay takes the turn over, if several use the log. Half of it is enough if
    /// the agent keeps the turn.
    pub takeover: Duration,
}

/// A place for turns.
#[derive(Debug, Clone)]
pub enum Store {
    /// They end with the process.
    Memory,
    /// In a file.
    Sqlite(PathBuf),
    /// In Redis or Valkey, for several relays.
    Redis {
        /// Where, without a password.
        url: String,
        /// The password.
        password: Option<Secret>,
    },
    /// On a durable-streams server, for several relays.
    Streams {
        /// The address that the paths of its streams begin with.
        url: Upstream,
        /// Headers that every request to it gets.
        headers: Vec<(HeaderName, Secret)>,
    },
}

impl Store {
    /// Whether several relays may use it at once.
    fn is_shared(&self) -> bool {
        matches!(self, Self::Redis { .. } | Self::Streams { .. })
    }
}

/// What may be used.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The size of a request's body, in bytes.
    pub body: usize,
    /// Running turns of one user.
    pub turns_per_subject: usize,
    /// Open streams of one user.
    pub streams_per_subject: usize,
    /// Starts of one user in a minute.
    pub starts_per_minute: u32,
    /// Open streams of all.
    pub streams: usize,
    /// Running turns of all.
    pub turns: usize,
    /// Held sockets of one user.
    pub sockets_per_subject: usize,
    /// Held sockets of all.
    pub sockets: usize,
    /// The journal of a held socket, in bytes.
    pub socket_journal: usize,
    /// Readers of a held socket at a time.
    pub socket_readers: usize,
    /// Requests that wait for an answer on a held socket, of its readers and of the agent each.
    pub socket_requests: usize,
    /// How long a socket is held without readers.
    pub socket_idle: Duration,
    /// How long a turn may take.
    pub turn_time: Duration,
    /// How long an agent may say nothing.
    pub silence: Duration,
}

impl Config {
    /// Reads a config. The error lists every mistake.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        read::config(text)
    }
}
