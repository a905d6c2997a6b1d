//! `AgentEvent`: the run streams of tirea and of its successor awaken, with their threads and runs.
//!
//! In the order of a run's way:
//! - `tirea`, `awaken`: the endpoints of each;
//! - `start`: a request becomes a run;
//! - `player`, `waiting`: the script's steps at their pace, decisions and halts on the way;
//! - `recorder`, `round`, `sub_agents`, `progress`, `springs`, `ending`: what steps come to as events;
//! - `wire`, `event`: how events look;
//! - `threads`, `run`, `message`, `state`, `suspension`, `canonical`: what is kept.

mod awaken;
mod canonical;
mod decision;
mod ending;
mod error;
mod event;
mod message;
mod player;
mod progress;
mod recorder;
mod round;
mod run;
mod springs;
mod start;
mod state;
mod stream;
mod sub_agents;
mod surface;
mod suspension;
mod threads;
mod tirea;
mod traps;
mod waiting;
mod wire;

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

pub(crate) use surface::Surface;
pub(crate) use threads::Threads;

use crate::server::App;

/// A refusal as these surfaces write it, if the path leads to one of them.
pub(crate) fn refusal(path: &str, status: StatusCode, message: &str) -> Option<Response> {
    Surface::of_path(path)?;
    Some(error::Refusal::new(status, message).into_response())
}

/// The routes of all surfaces.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .nest("/tirea", tirea::routes())
        .nest("/awaken", awaken::routes(Surface::Awaken))
        .nest("/awaken-plain", awaken::routes(Surface::AwakenPlain))
}
