//! A relay for one developer on one machine: it passes every request on unchanged, and knows no users, routes or turns.
//!
//! In the order of a request: `config`, its settings; `origin`, which pages may call; `admit`, which refuses all
//! others; `pass`, the request, its response, and how they end.

mod admit;
mod config;
mod origin;
mod pass;

use axum::Router;
use axum::middleware::from_fn_with_state;
use tokio::net::TcpListener;

use crate::connection::{Connection, Connections, Listener};
use crate::host::Hosts;

pub use config::{RelayConfig, SecretHeaders};
pub use origin::Origins;
pub use pass::Relay;

/// Relays until the process ends.
pub async fn serve(listener: TcpListener, config: RelayConfig) -> std::io::Result<()> {
    let hosts = Hosts::of(listener.local_addr()?.ip());
    let listener = Listener::new(listener, Connections::default());
    let cors = origin::cors(&config.origins);
    let relay = Relay::new(config, hosts);
    let service = Router::new()
        .fallback(pass::answer)
        .layer(from_fn_with_state(relay.clone(), admit::admit))
        .layer(cors)
        .layer(from_fn_with_state(relay.clone(), pass::log))
        .with_state(relay)
        .into_make_service_with_connect_info::<Connection>();
    axum::serve(listener, service).await
}
