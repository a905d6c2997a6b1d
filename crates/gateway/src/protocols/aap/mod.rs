//! The Agent Application Protocol, version 3: sessions whose history the server keeps, and turns in
//! three stream modes.
//!
//! In the order of a turn:
//! - `sessions`, `turns`: the endpoints;
//! - `catalog`: the agents, and what each of them declares;
//! - `input`: what a turn is asked to do, checked;
//! - `player`: the script's steps at their pace, calls that wait, and their answers;
//! - `recorder`, `sub_agents`: the messages and events of steps;
//! - `wire`, `stream`: how events look, and the answer that carries them;
//! - `session`, `message`, `pending`: what is kept.

mod catalog;
mod error;
mod input;
mod message;
mod pending;
mod player;
mod recorder;
mod session;
mod sessions;
mod stream;
mod sub_agents;
mod traps;
mod turns;
mod wire;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::Value;

use crate::faults::{On, Surface, TrapKind};
use crate::protocol::Protocol;
use session::{App, Sessions};
use wire::Mode;

/// The base URL.
const BASE: &str = "/aap";
/// The largest body that is read: images come inside it.
const BODY_LIMIT: usize = 30 * 1024 * 1024;

/// The family, with nothing kept yet.
pub(crate) fn protocol() -> Protocol {
    let sessions = Arc::<Sessions>::default();
    Protocol {
        addresses: "Agent Application Protocol: base URL /aap\n",
        surface: Box::new(Aap),
        routes: Box::new(move |app| routes().with_state(app.with(sessions))),
    }
}

/// The protocol as the faults see it.
#[derive(Debug)]
struct Aap;

impl Surface for Aap {
    fn speaks(&self, path: &str) -> bool {
        path.strip_prefix(BASE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    fn classify(&self, method: &Method, route: &str) -> Option<On> {
        match (method.as_str(), route.strip_prefix(BASE)?) {
            ("POST", "/sessions/{session}/turns") => Some(On::Create),
            ("GET", "/sessions/{session}/history") => Some(On::SessionEvents),
            ("GET", "/sessions/{session}") => Some(On::Session),
            _ => None,
        }
    }

    fn streams(&self, stream: Option<&Value>) -> bool {
        Mode::of(stream) != Mode::None
    }

    fn refuse(&self, status: StatusCode, message: String) -> Response {
        error::Refusal::json(status, message).into_response()
    }

    fn traps(&self) -> &'static [TrapKind] {
        traps::TRAPS
    }
}

/// All endpoints.
fn routes() -> Router<App> {
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
