//! turn-rpc: JSON-RPC over a WebSocket, with threads, turns and items.
//!
//! In the order of a turn's way:
//! - `upgrade`, `socket`, `outbox`: a WebSocket is opened, read and written;
//! - `envelope`, `methods`, `reply`: requests, where they go, and how they are answered;
//! - `thread_calls`, `turn_calls`, `timeline`, `workspace`: the methods;
//! - `input`, `capability`: what a turn is asked to do, checked;
//! - `scripts`, `player`, `recorder`, `voice`, `task`, `recovery`: the script's steps at their pace, and the
//!   items they come to;
//! - `tool`, `markdown`, `track`, `event`: how items and their deltas look, and how they are told;
//! - `thread`, `turn`: what is kept, and who is told of it;
//! - `traps`: what goes wrong on purpose.

mod capability;
mod envelope;
mod event;
mod input;
mod markdown;
mod methods;
mod outbox;
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
mod track;
mod traps;
mod turn;
mod turn_calls;
mod upgrade;
mod voice;
mod workspace;

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

pub(crate) use thread::Threads;

use crate::server::App;
use crate::store::{Agent, Session, Store};

/// Where WebSockets are opened.
const PATH: &str = "/turn-rpc";
/// The space of its threads.
const SPACE: &str = "turn-rpc";
/// The session that stands for all sockets, whatever threads they serve.
pub(crate) const SOCKETS: &str = "turn-rpc";

/// Whether a path leads here.
pub(crate) fn speaks(path: &str) -> bool {
    path == PATH
}

/// A refusal of a WebSocket, if the path leads here: the real server's are text.
pub(crate) fn refusal(path: &str, status: StatusCode, message: &str) -> Option<Response> {
    speaks(path).then(|| (status, message.to_owned()).into_response())
}

/// The one endpoint.
pub(crate) fn routes() -> Router<App> {
    Router::new().route(PATH, get(upgrade::upgrade))
}

/// Makes the session of all sockets, so that faults can be planned for them.
pub(crate) fn prepare(store: &Store) {
    let agent = Agent::Named("sockets".to_owned());
    store.insert(Session::new(SOCKETS.to_owned(), SPACE.to_owned(), String::new(), agent, None));
}
