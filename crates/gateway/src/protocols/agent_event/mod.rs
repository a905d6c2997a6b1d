//! `AgentEvent`: the run streams of tirea and of its successor awaken, with their threads and runs.
//!
//! In the order of a run:
//! - `tirea`, `awaken`: the endpoints of each; `call`: admission, and what the endpoints share;
//! - `start`: a request becomes a run;
//! - `player`: the script's steps at their pace, with decisions and stops on the way;
//! - `recorder`, `progress`: the events that come of the steps;
//! - `wire`, `event`, `stream`: how events look, and the answer that carries them;
//! - `threads`, `run`, `message`, `state`, `suspension`, `sub_agents`, `canonical`: what is kept.

mod awaken;
mod call;
mod canonical;
mod decision;
mod error;
mod event;
mod message;
mod paging;
mod player;
mod progress;
mod recorder;
mod run;
mod server;
mod start;
mod state;
mod stream;
mod sub_agents;
mod suspension;
mod threads;
mod tirea;
mod traps;
mod wire;

use std::sync::Arc;

use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};

use crate::faults::{On, TrapKind};
use crate::protocol::Protocol;
use server::Server;
use threads::{App, Threads};

/// The family, with nothing kept yet.
pub(crate) fn protocol() -> Protocol {
    let threads = Arc::<Threads>::default();
    Protocol {
        addresses: concat!(
            "AgentEvent, tirea:          base URL /tirea\n",
            "AgentEvent, awaken:         base URL /awaken, or /awaken-plain without an event store\n"
        ),
        surface: Box::new(AgentEvent(Arc::clone(&threads))),
        routes: Box::new(move |app| routes().with_state(app.with(threads))),
    }
}

/// The protocol as the faults see it.
#[derive(Debug)]
struct AgentEvent(Arc<Threads>);

impl crate::faults::Surface for AgentEvent {
    fn speaks(&self, path: &str) -> bool {
        Server::of_path(path).is_some()
    }

    fn classify(&self, method: &Method, route: &str) -> Option<On> {
        let (_, rest) = route.split_once("/v1")?;
        Some(match (method.as_str(), rest) {
            ("POST", "/runs") => On::Create,
            ("GET", "/runs/{turn}/events/stream" | "/threads/{session}/events/stream") => On::Subscribe,
            ("GET", "/runs/{turn}" | "/threads/{session}/runs/latest" | "/threads/{session}/runs/active") => {
                On::Turn
            }
            ("GET", "/runs" | "/threads/{session}/runs") => On::Turns,
            ("GET", "/runs/{turn}/events" | "/threads/{session}/events") => On::TurnEvents,
            ("GET", "/threads/{session}/messages") => On::SessionEvents,
            ("GET", "/threads/{session}") => On::Session,
            ("POST", "/runs/{turn}/inputs" | "/runs/{turn}/decision" | "/threads/{session}/decision") => {
                On::Answer
            }
            (
                "POST",
                "/runs/{turn}/cancel" | "/threads/{session}/cancel" | "/threads/{session}/interrupt",
            ) => On::Cancel,
            _ => return None,
        })
    }

    fn session_of(&self, path: &str, turn: Option<&str>) -> Option<String> {
        self.0.run(Server::of_path(path)?, turn?).map(|run| run.thread.clone())
    }

    fn refuse(&self, status: StatusCode, message: String) -> Response {
        error::Refusal::new(status, message).into_response()
    }

    fn traps(&self) -> &'static [TrapKind] {
        traps::TRAPS
    }
}

/// The routes of all servers.
fn routes() -> Router<App> {
    let of = |server, routes: Router<App>| routes.layer(Extension::<Server>(server));
    Router::new()
        .nest("/tirea", of(Server::Tirea, tirea::routes()))
        .nest("/awaken", of(Server::Awaken, awaken::routes(Server::Awaken)))
        .nest("/awaken-plain", of(Server::AwakenPlain, awaken::routes(Server::AwakenPlain)))
}
