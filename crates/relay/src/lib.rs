//! The relay stands before a server that pages cannot call themselves, because it sends no CORS
//! headers or wants a key that no page should hold. It passes requests and streams on as they come.
//!
//! In the order of a request:
//! - [`connection`]: connections that can be closed and reset from elsewhere;
//! - `config`: where to, for which pages, and with which headers;
//! - `host`, `origin`: by which names it may be called, and by which pages;
//! - `admit`: refuses all others;
//! - `headers`: which headers are passed on;
//! - `pass`: the request, its answer, and how they end;
//! - `tunnel`: the same for a WebSocket;
//! - `upstream`: connections to the server.

pub mod connection;

mod admit;
mod config;
mod headers;
mod host;
mod origin;
mod pass;
mod tunnel;
mod upstream;

use axum::Router;
use axum::middleware::from_fn_with_state;
use tokio::net::TcpListener;

pub use config::{RelayConfig, SecretHeaders, Upstream};
pub use origin::Origins;

use connection::{Connection, Connections, Listener};
use host::Hosts;
use pass::Relay;

/// Relays until the process ends.
pub async fn serve(listener: TcpListener, config: RelayConfig) -> std::io::Result<()> {
    let hosts = Hosts::of(listener.local_addr()?.ip());
    let listener = Listener::new(listener, Connections::default());
    let cors = origin::cors(&config.origins);
    let relay = Relay::new(config, hosts);
    let service = Router::new()
        .fallback(pass::pass)
        .layer(from_fn_with_state(relay.clone(), admit::admit))
        .layer(cors)
        .layer(from_fn_with_state(relay.clone(), pass::log))
        .with_state(relay)
        .into_make_service_with_connect_info::<Connection>();
    axum::serve(listener, service).await
}
