//! The endpoints of awaken (`AgentEvent` HTTP, awaken).

mod events;
mod named;
mod runs;
mod threads;

use axum::http::StatusCode;
use axum::routing::{get, patch, post};
use axum::{Json, Router};
use serde_json::json;

use super::server::Server;
use super::threads::App;

/// The routes of a server; those of the event store are there only if it has one.
pub(super) fn routes(server: Server) -> Router<App> {
    let thread = "/v1/threads/{session}";
    let run = "/v1/runs/{turn}";
    let mut routes = Router::new()
        .route("/health", get(health))
        .route("/health/live", get(async || StatusCode::OK))
        .route("/v1/runs", post(runs::start_run).get(runs::list))
        .route(run, get(runs::get))
        .route(&format!("{run}/cancel"), post(runs::cancel))
        .route(&format!("{run}/decision"), post(runs::decide))
        .route("/v1/threads", get(threads::list).post(threads::create))
        .route("/v1/threads/summaries", get(threads::summaries))
        .route(thread, get(threads::get).delete(threads::delete))
        .route(&format!("{thread}/messages"), get(threads::messages))
        .route(&format!("{thread}/metadata"), patch(threads::update))
        .route(&format!("{thread}/interrupt"), post(runs::interrupt))
        .route(&format!("{thread}/cancel"), post(runs::cancel))
        .route(&format!("{thread}/decision"), post(runs::decide))
        .route(&format!("{thread}/runs"), get(runs::list_of_thread))
        .route(&format!("{thread}/runs/latest"), get(runs::latest))
        .route(&format!("{thread}/runs/active"), get(runs::active));
    if server.keeps_events() {
        routes = routes
            .route(&format!("{thread}/events"), get(events::page))
            .route(&format!("{thread}/events/stream"), get(events::stream))
            .route(&format!("{run}/events"), get(events::page))
            .route(&format!("{run}/events/stream"), get(events::stream));
    }
    routes.fallback(async || StatusCode::NOT_FOUND)
}

async fn health() -> Json<serde_json::Value> {
    Json(json!({"status": "healthy", "components": {"store": "ok", "runtime": "ok"}}))
}
