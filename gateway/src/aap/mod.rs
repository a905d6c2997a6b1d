//! The Agent Application Protocol, version 3: sessions whose history the server keeps, and turns in
//! three stream modes.
//!
//! In the order of a turn's way:
//! - `sessions`, `turns`: the endpoints;
//! - `catalog`: the agents, and what each of them declares;
//! - `input`: what a turn is asked to do, checked;
//! - `player`, `round`, `answers`: the script's steps at their pace, calls that wait, and their answers;
//! - `recorder`, `sub_agents`: what steps come to as messages;
//! - `wire`, `stream`: how events look, and the answer that carries them;
//! - `session`, `message`, `pending`: what is kept.

mod answers;
mod catalog;
mod error;
mod input;
mod message;
mod pending;
mod player;
mod recorder;
mod round;
mod session;
mod sessions;
mod stream;
mod sub_agents;
mod traps;
mod turns;
mod wire;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

pub(crate) use session::Sessions;

use crate::server::App;

/// The base URL, and the space of its sessions.
const BASE: &str = "/aap";
const SPACE: &str = "aap";
/// The largest body that is read: images come inside it.
const BODY_LIMIT: usize = 30 * 1024 * 1024;

/// Whether a path leads here.
pub(crate) fn speaks(path: &str) -> bool {
    path.strip_prefix(BASE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a turn's stream mode asks for events.
pub(crate) fn is_stream(mode: &str) -> bool {
    mode == wire::Mode::Delta.as_str() || mode == wire::Mode::Message.as_str()
}

/// A refusal as this protocol writes it, if the path leads here.
pub(crate) fn refusal(path: &str, status: StatusCode, message: &str) -> Option<Response> {
    speaks(path).then(|| error::Refusal::json(status, message).into_response())
}

/// All endpoints.
pub(crate) fn routes() -> Router<App> {
    let endpoints = Router::new()
        .route("/meta", get(sessions::meta))
        .route("/sessions", get(sessions::list).post(sessions::create))
        .route("/sessions/{session}", get(sessions::get).delete(sessions::delete))
        .route("/sessions/{session}/history", get(sessions::history))
        .route("/sessions/{session}/turns", post(turns::create))
        .fallback(no_route)
        .method_not_allowed_fallback(no_route)
        .layer(DefaultBodyLimit::max(BODY_LIMIT));
    Router::new().nest(BASE, endpoints)
}

async fn no_route() -> error::Refusal {
    error::Refusal::text(StatusCode::NOT_FOUND, "404 Not Found")
}
