//! The relay: stands before a server that pages cannot call themselves, because it sends no CORS
//! headers or wants a key that no page should hold. It passes requests and streams on as they come.
//!
//! In the order of a request's way:
//! - `config`: where to, for whom, and with which headers;
//! - `host`, `origin`: by which names it is called, and by which pages;
//! - `admit`: who is let in by these;
//! - `headers`: what of a head is for one connection only, or must not leave this machine;
//! - `pass`: the request, its answer, and their ends;
//! - `tunnel`: the same for a WebSocket;
//! - `upstream`: connections to the server.

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

use crate::faults::{Connection, FaultState, Sockets};

pub use config::{RelayConfig, SecretHeaders, Upstream};
pub use origin::Origins;

use host::Hosts;
use pass::Relay;

/// Relays until the process ends.
pub async fn serve_relay(listener: TcpListener, config: RelayConfig) -> std::io::Result<()> {
    let hosts = Hosts::of(listener.local_addr()?.ip());
    // The register of connections is for faults, of which a relay makes none.
    let sockets = Sockets::new(listener, FaultState::new(None).connections);
    let cors = origin::cors(&config.origins);
    let relay = Relay::new(config, hosts);
    let service = Router::new()
        .fallback(pass::pass)
        .layer(from_fn_with_state(relay.clone(), admit::admit))
        .layer(cors)
        .layer(from_fn_with_state(relay.clone(), pass::log))
        .with_state(relay)
        .into_make_service_with_connect_info::<Connection>();
    axum::serve(sockets, service).await
}
