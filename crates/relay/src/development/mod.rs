//! A relay for one developer on one machine: it passes any request on as it comes, and knows no users, no routes and no
//! turns.
//!
//! In the order of a request: `config`, where to, for which pages, and with which headers; `origin`, which pages may call;
//! `admit` refuses all others; `pass`, the request, its answer, and how they end.

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
