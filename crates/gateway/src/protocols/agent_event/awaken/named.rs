//! The subject of a path: a run, or a thread, which stands for its active run.

use std::sync::Arc;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::call::Call;
use super::super::canonical::Scope;
use super::super::error::Refusal;
use super::super::run::{Run, RunStatus};
use super::super::threads::Thread;

#[derive(Debug, Deserialize)]
#[serde(from = "Ids")]
pub(super) enum Named {
    Run { turn: String },
    Thread { session: String },
}

/// The ids of a path, of which it has one.
#[derive(Debug, Deserialize)]
struct Ids {
    turn: Option<String>,
    session: Option<String>,
}

impl From<Ids> for Named {
    fn from(Ids { turn, session }: Ids) -> Self {
        match turn {
            Some(turn) => Self::Run { turn },
            None => Self::Thread { session: session.unwrap_or_default() },
        }
    }
}

impl Named {
    pub(super) fn run(&self, call: &Call) -> Result<Arc<Run>, Refusal> {
        match self {
            Self::Run { turn } => call.run(turn),
            Self::Thread { session } => {
                active_run(call, &*call.thread(session)?).ok_or_else(|| self.missing())
            }
        }
    }

    pub(super) fn missing(&self) -> Refusal {
        match self {
            Self::Run { turn } => Refusal::no_run(turn),
            Self::Thread { session } => Refusal::no_thread(session),
        }
    }

    pub(super) fn scope(&self) -> Scope {
        match self {
            Self::Run { turn } => Scope::run(turn),
            Self::Thread { session } => Scope::thread(session),
        }
    }

    /// An answer with status 202 that names it.
    pub(super) fn accepted(&self, mut body: Value) -> Response {
        let (name, id) = match self {
            Self::Run { turn } => ("run_id", turn),
            Self::Thread { session } => ("thread_id", session),
        };
        body[name] = json!(id);
        (StatusCode::ACCEPTED, Json(body)).into_response()
    }
}

/// The run of a thread that is live, or waits.
pub(super) fn active_run(call: &Call, thread: &Thread) -> Option<Arc<Run>> {
    let (live, latest) = {
        let content = thread.content();
        (content.runs.live.clone(), content.runs.latest.clone())
    };
    let latest = || call.own.run(thread.server, &latest?);
    live.or_else(latest).filter(|run| run.record().status != RunStatus::Done)
}
