//! The HTTP server. In the order of a request:
//! - `listen`: its connection;
//! - `dispatch`: its agent, its caller and its route;
//! - `access`: its session;
//! - `pass`: the request and its response, if not kept; `socket`, the same for a WebSocket;
//! - `held`: the sockets to agents that are kept for their readers; `socket_reader`, one reader of such a socket;
//! - `start`: begins a kept turn, or finds it, one start of a turn at a time (`making`); `owner` reads it from the
//!   agent into the log, with the requests of `asking`; `attach`, the protocol's own request for the rest of a turn;
//! - `hub`: what readers of a running turn share; `follow` fills it for a turn of another relay; `read`, a request for a
//!   turn; `wanted`, what it is for; `delivery`, one reader;
//! - `control`: the relay's own requests (`asked`); `durable`, turns as streams of another protocol;
//! - `sweep`: finds turns that have lost their owner; `takeover` continues or ends them;
//! - `admin`: metrics and health; `life`, the start and the shutdown of the process.

mod access;
mod admin;
mod asked;
mod asking;
mod attach;
mod bind;
mod control;
mod delivery;
mod dispatch;
mod durable;
mod follow;
mod held;
mod hub;
mod life;
mod listen;
mod making;
mod owner;
mod pass;
mod read;
mod refusal;
mod socket;
mod socket_reader;
mod start;
mod sweep;
mod takeover;
#[cfg(test)]
mod tests;
mod wanted;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use axum::http::{HeaderMap, HeaderValue, Method, Request, Uri, header};
use bytes::Bytes;
use http_body_util::Full;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::client::{self, UpstreamClient};
use crate::config::{Config, UpstreamConfig};
use crate::connection::Connection;
use crate::edge::Edge;
use crate::identity::{Caller, Identity};
use crate::limits::Usage;
use crate::log::{LogError, ReplayLog, TurnKey};
use crate::observe::Traces;
use crate::route::{self, Matched, Protocol};
use held::HeldSockets;
use hub::Hubs;

pub use life::{Addresses, Failure, Stage, check, purge, serve};

/// What all requests share.
pub(crate) struct App {
    pub(crate) config: Config,
    edge: Edge,
    identity: Box<dyn Identity>,
    log: Arc<dyn ReplayLog>,
    usage: Usage,
    hubs: Hubs,
    sockets: HeldSockets,
    traces: Traces,
    agents: Vec<Agent>,
    is_draining: AtomicBool,
    /// When turns that are still running are cut, once shutdown has begun.
    drains_until: OnceLock<Instant>,
    /// Asks the process to shut down.
    ending: Notify,
}

/// An agent's server, and the connections to it.
pub(crate) struct Agent {
    config: UpstreamConfig,
    client: UpstreamClient,
}

/// A request that has passed the first checks.
pub(crate) struct Call {
    app: Arc<App>,
    /// The index of the agent in `App::agents`.
    agent: usize,
    caller: Caller,
    matched: Matched,
    query: Vec<(String, String)>,
    method: Method,
    head: HeaderMap,
    connection: Connection,
}

impl App {
    pub(crate) fn new(config: Config, log: Arc<dyn ReplayLog>) -> Self {
        let agent =
            |config: &UpstreamConfig| Agent { client: client::client(&config.url), config: config.clone() };
        Self {
            edge: Edge::new(&config),
            identity: crate::identity::of(&config.identity),
            usage: Usage::new(&config.limits),
            agents: config.upstreams.iter().map(agent).collect(),
            hubs: Hubs::default(),
            sockets: HeldSockets::default(),
            traces: Traces::begin(config.traces.as_ref()),
            is_draining: AtomicBool::new(false),
            drains_until: OnceLock::new(),
            ending: Notify::new(),
            log,
            config,
        }
    }

    fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::SeqCst)
    }

    /// What its agent calls a turn: one of its first frames says so, usually the first one.
    async fn name_of(&self, key: &TurnKey, protocol: Protocol) -> Result<Option<String>, LogError> {
        let mut after = 0;
        // At least one frame is read, however long.
        for max_bytes in [1, delivery::PAGE] {
            let frames = self.log.read(key.clone(), after, max_bytes).await?;
            let name = frames.iter().find_map(|frame| protocol.turn_named(frame));
            if name.is_some() || frames.is_empty() {
                return Ok(name);
            }
            after += frames.len() as u64;
        }
        Ok(None)
    }

    /// Whether a turn's agent keeps its turns.
    fn has_cursor(&self, key: &TurnKey) -> bool {
        let agent = self.agents.iter().find(|agent| agent.config.name == key.upstream);
        agent.is_some_and(|agent| agent.config.protocol.has_cursor())
    }
}

impl Agent {
    /// The full address of a path and query, below the agent's own.
    fn address(&self, target: &str) -> Option<Uri> {
        self.config.url.join(&target.parse().ok()?)
    }

    /// A request to the agent, with its headers and those of the config.
    fn request(
        &self,
        method: Method,
        target: &str,
        mut head: HeaderMap,
        body: Bytes,
    ) -> Option<Request<axum::body::Body>> {
        // Frames are read here, and pages get what they can read from any relay.
        head.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        for (name, value) in &self.config.headers {
            head.insert(name, value.value());
        }
        let mut request = Request::new(axum::body::Body::new(Full::new(body)));
        *request.method_mut() = method;
        *request.uri_mut() = self.address(target)?;
        *request.headers_mut() = head;
        Some(request)
    }

    /// The relay's own request to the agent.
    fn own(&self, request: route::Request) -> Option<Request<axum::body::Body>> {
        let mut head = HeaderMap::new();
        if request.body.is_some() {
            head.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        self.request(request.method, &request.target, head, request.body.unwrap_or_default().into())
    }
}

impl Call {
    fn agent(&self) -> &Agent {
        &self.app.agents[self.agent]
    }

    /// The key of a turn of this caller.
    fn key(&self, turn: &str) -> TurnKey {
        TurnKey {
            upstream: self.agent().config.name.clone(),
            subject: self.caller.subject.to_string(),
            turn: turn.to_owned(),
        }
    }

    /// Whether the caller knows the relay.
    fn is_ours(&self) -> bool {
        self.head.contains_key(crate::edge::RELAY)
    }
}
