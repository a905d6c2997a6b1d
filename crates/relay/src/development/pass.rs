//! Passes a request to the server, and its response back, both as they arrive.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::config::{RelayConfig, SecretHeaders};
use super::origin::Origins;
use crate::address::Upstream;
use crate::client::{self, UpstreamClient};
use crate::connection::Connection;
use crate::headers;
use crate::host::Hosts;
use crate::passing::Passing;
use crate::tunnel::{self, Tunnel};

/// What all requests of a relay share.
#[derive(Debug, Clone)]
pub struct Relay(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    config: RelayConfig,
    hosts: Hosts,
    client: UpstreamClient,
}

impl Relay {
    pub(crate) fn new(config: RelayConfig, hosts: Hosts) -> Self {
        let client = client::client(&config.upstream);
        Self(Arc::new(Shared { config, hosts, client }))
    }

    /// Passes requests to this server, without checking the caller.
    #[must_use]
    pub fn unguarded(upstream: Upstream) -> Self {
        let secrets = SecretHeaders::default();
        let config = RelayConfig { upstream, origins: Origins::ThisMachine, secrets, log: false };
        Self::new(config, Hosts::ThisMachine)
    }

    pub(crate) fn hosts(&self) -> Hosts {
        self.0.hosts
    }

    pub(crate) fn config(&self) -> &RelayConfig {
        &self.0.config
    }
}

/// Answers a request.
pub(crate) async fn answer(State(relay): State<Relay>, request: Request) -> Response {
    relay.pass(request).await
}

impl Relay {
    /// Passes a request on, and its response back. When the client disconnects, the server drops this future, and with
    /// it the upstream connection. If the response breaks off, the client's connection is reset.
    pub async fn pass(&self, request: Request) -> Response {
        let connection = Connection::of(&request);
        let (mut head, body) = request.into_parts();
        let tunnel = Tunnel::of(&mut head, connection.clone());
        let Some(address) = head.uri.path_and_query().and_then(|path| self.config().upstream.join(path))
        else {
            return (StatusCode::BAD_REQUEST, "turnwire relay: a request must name a path\n").into_response();
        };
        head.uri = address;
        headers::clean_request(&mut head.headers);
        self.config().secrets.replace_in(&mut head.headers);
        if tunnel.is_some() {
            tunnel::ask_for(&mut head.headers);
        }
        // The extensions describe the client's connection.
        head.extensions.clear();
        head.version = axum::http::Version::HTTP_11;
        match self.0.client.request(Request::from_parts(head, body)).await {
            Ok(answer) if answer.status() == StatusCode::SWITCHING_PROTOCOLS => match tunnel {
                Some(tunnel) => tunnel.open(answer),
                None => (
                    StatusCode::BAD_GATEWAY,
                    "turnwire relay: the server changed to a protocol that was not asked for\n",
                )
                    .into_response(),
            },
            Ok(answer) => {
                let (mut head, body) = answer.into_parts();
                headers::clean_response(&mut head.headers);
                head.extensions.clear();
                head.version = axum::http::Version::HTTP_11;
                Response::from_parts(head, Body::new(Passing::new(body, connection)))
            }
            Err(error) => unanswered(self.config(), &error),
        }
    }
}

/// The relay's own response when the server sends none.
fn unanswered(config: &RelayConfig, error: &(dyn Error + 'static)) -> Response {
    let cause = causes(error).last().map(ToString::to_string).unwrap_or_default();
    let is_late = causes(error).any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::TimedOut)
    });
    let status = if is_late { StatusCode::GATEWAY_TIMEOUT } else { StatusCode::BAD_GATEWAY };
    (status, format!("turnwire relay: {} does not answer: {cause}\n", config.upstream)).into_response()
}

/// An error and its causes.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// With logging on, writes method, path, status, and the time until the response's head. Queries and headers are left
/// out: they may hold secrets.
pub(crate) async fn log(State(relay): State<Relay>, request: Request, next: Next) -> Response {
    if !relay.config().log {
        return next.run(request).await;
    }
    let started = Instant::now();
    let line = format!("{} {}", request.method(), request.uri().path());
    let response = next.run(request).await;
    eprintln!("{line} {} {} ms", response.status().as_u16(), started.elapsed().as_millis());
    response
}
