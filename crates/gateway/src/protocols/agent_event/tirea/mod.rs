//! The endpoints of tirea (`AgentEvent` HTTP, tirea).

mod runs;
mod threads;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, patch, post};
use axum::{Json, Router};
use serde_json::Value;

use super::error::Refusal;
use super::threads::App;

pub(super) fn routes() -> Router<App> {
    let thread = "/v1/threads/{session}";
    let run = "/v1/runs/{turn}";
    Router::new()
        .route("/health", get(async || StatusCode::OK))
        .route("/v1/runs", post(runs::start_run).get(runs::list))
        .route(run, get(runs::get))
        .route(&format!("{run}/inputs"), post(runs::inputs))
        .route(&format!("{run}/cancel"), post(runs::cancel))
        .route("/v1/threads", get(threads::list))
        .route("/v1/threads/summaries", get(threads::summaries))
        .route(thread, get(threads::get).delete(threads::delete))
        .route(&format!("{thread}/messages"), get(threads::messages))
        .route(&format!("{thread}/metadata"), patch(threads::rename))
        .route(&format!("{thread}/interrupt"), post(threads::interrupt))
        .route(&format!("{thread}/mailbox"), get(threads::mailbox))
        .fallback(async || StatusCode::NOT_FOUND)
}

/// An answer with status 202.
#[allow(clippy::unnecessary_wraps)] // so that handlers can end with it
fn accepted(body: &Value) -> Result<Response, Refusal> {
    Ok((StatusCode::ACCEPTED, Json(body)).into_response())
}
