//! turn-rpc: JSON-RPC over a WebSocket, with threads, turns and items.
//!
//! In the order of a turn:
//! - `upgrade`, `socket`, `peer`, `outbox`: a WebSocket is opened, read and written;
//! - `envelope`, `methods`, `asked`, `reply`: requests, where they go, and how they are answered;
//! - `thread_calls`, `turn_calls`, `timeline`, `workspace`: the methods;
//! - `input`, `capability`: what a turn is asked to do, checked;
//! - `scripts`, `player`, `recorder`, `model_writer`, `task`, `recovery`: the script's steps at their pace, and the
//!   items of these steps;
//! - `tool`, `markdown`, `turn_writer`, `event`: how items and their deltas look, and how they are sent;
//! - `thread`, `turn`: what is kept, and which sockets are notified;
//! - `traps`: planned faults of turns.

mod asked;
mod capability;
mod envelope;
mod event;
mod input;
mod markdown;
mod methods;
mod model_writer;
mod outbox;
mod peer;
mod player;
mod recorder;
mod recovery;
mod reply;
mod scripts;
mod socket;
mod task;
mod thread;
mod thread_calls;
mod timeline;
mod tool;
mod traps;
mod turn;
mod turn_calls;
mod turn_writer;
mod upgrade;
mod workspace;

use std::sync::Arc;

use axum::Router;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::faults::{On, Surface, TrapKind};
use crate::protocol::Protocol;
use crate::store::{Session, Store};
use thread::{App, Threads};

/// Where WebSockets are opened.
const PATH: &str = "/turn-rpc";
/// The space of its threads.
const SPACE: &str = "turn-rpc";
/// The one session of all sockets, which can serve any threads.
const SOCKETS: &str = "turn-rpc";

/// The family, with nothing kept yet.
pub(crate) fn protocol() -> Protocol {
    let threads = Arc::<Threads>::default();
    Protocol {
        addresses: "turn-rpc:                   WebSocket at /turn-rpc\n",
        surface: Box::new(TurnRpc),
        routes: Box::new(move |app| {
            prepare(&app.store);
            routes().with_state(app.with(threads))
        }),
    }
}

/// The protocol as the faults see it.
#[derive(Debug)]
struct TurnRpc;

impl Surface for TurnRpc {
    fn speaks(&self, path: &str) -> bool {
        path == PATH
    }

    fn classify(&self, _: &Method, _: &str) -> Option<On> {
        Some(On::Connect)
    }

    fn session_of(&self, _: &str, _: Option<&str>) -> Option<String> {
        Some(SOCKETS.to_owned())
    }

    /// The real server's refusals of WebSockets are text.
    fn refuse(&self, status: StatusCode, message: String) -> Response {
        (status, message).into_response()
    }

    fn traps(&self) -> &'static [TrapKind] {
        traps::TRAPS
    }
}

/// The one endpoint.
fn routes() -> Router<App> {
    Router::new().route(PATH, get(upgrade::upgrade))
}

/// Makes the session of all sockets, so that faults can be planned for them.
fn prepare(store: &Store) {
    store.insert(Session::plain(SOCKETS, SPACE, "sockets"));
}
