//! AG-UI, version 1.0, and 0.x on request: one POST, one stream of events, and a conversation that the client keeps.
//!
//! In the order of a run:
//! - `runs`: a request becomes a run; `server`: the servers that this one stands for;
//! - `input`, `error`: what a request asks for, and how it is refused;
//! - `scripts`: what only this protocol has;
//! - `player`, `asking`, `waiting`: the script's acts at their pace, pending questions, and their answers;
//! - `recorder`: the events of steps;
//! - `wire`, `habits`: how events change before the wire; `traps`: how to request that;
//! - `stream`: the answer that carries them;
//! - `copilot`, `compact`, `adk`: reading a thread again, and stopping it;
//! - `threads`, `message`, `event`: what is kept, and how it looks.

mod adk;
mod asking;
mod compact;
mod conversation;
mod copilot;
mod error;
mod event;
mod habits;
mod input;
mod message;
mod player;
mod recorder;
mod runs;
mod scripts;
mod server;
mod stream;
mod threads;
mod traps;
mod waiting;
mod wire;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::faults::{On, Surface, TrapKind};
use crate::protocol::Protocol;
use error::Refusal;
use threads::{App, Threads};

/// The address of the agent.
const BASE: &str = "/ag-ui";
/// The largest body that is read: whole conversations come inside it, with their images.
const BODY_LIMIT: usize = 30 * 1024 * 1024;

/// The family, with nothing kept yet.
pub(crate) fn protocol() -> Protocol {
    let threads = Arc::<Threads>::default();
    Protocol {
        addresses: "AG-UI:                      POST /ag-ui, or /ag-ui/store, or /ag-ui/copilotkit/agent/{agent}/run\n",
        surface: Box::new(AgUi),
        routes: Box::new(move |app| routes().with_state(app.with(threads))),
    }
}

/// The protocol as the faults see it.
#[derive(Debug)]
struct AgUi;

impl Surface for AgUi {
    fn speaks(&self, path: &str) -> bool {
        path.strip_prefix(BASE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    fn classify(&self, method: &Method, route: &str) -> Option<On> {
        if *method != Method::POST {
            return None;
        }
        match route.strip_prefix(BASE)? {
            "" | "/store" | "/copilotkit/agent/{agent}/run" => Some(On::Create),
            "/copilotkit/agent/{agent}/connect" => Some(On::Subscribe),
            "/copilotkit/agent/{agent}/stop/{session}" => Some(On::Cancel),
            "/agents/state" => Some(On::SessionEvents),
            _ => None,
        }
    }

    fn refuse(&self, status: StatusCode, message: String) -> Response {
        Refusal::detail(status, message).into_response()
    }

    fn traps(&self) -> &'static [TrapKind] {
        traps::TRAPS
    }
}

/// All endpoints.
fn routes() -> Router<App> {
    let copilot = "/copilotkit";
    let agent = format!("{copilot}/agent/{{agent}}");
    let endpoints = Router::new()
        .route("/", post(runs::plain))
        .route("/store", post(runs::store))
        .route("/agents/state", post(adk::state))
        .route(&format!("{copilot}/info"), get(copilot::info))
        .route(&format!("{agent}/run"), post(copilot::run))
        .route(&format!("{agent}/connect"), post(copilot::connect))
        .route(&format!("{agent}/stop/{{session}}"), post(copilot::stop))
        .fallback(async || Refusal::text(StatusCode::NOT_FOUND, "Not Found"))
        .method_not_allowed_fallback(async || {
            Refusal::text(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed")
        })
        .layer(DefaultBodyLimit::max(BODY_LIMIT));
    Router::new().nest(BASE, endpoints)
}
