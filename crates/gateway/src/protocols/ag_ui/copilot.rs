//! The endpoints of CopilotKit's runtime: what it serves, a run, reading a thread again, stopping it.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::compact::compacted;
use super::error::Refusal;
use super::event::write_json;
use super::input::RunInput;
use super::recorder::RunIds;
use super::runs;
use super::runs::{admit, answer};
use super::server::Server;
use super::stream::{nothing, replay};
use super::threads::App;
use crate::http::Output;
use crate::store::{EventLog, Read, Turn};
use crate::turns::Stop;

/// The only agent that is listed. Others are served too.
const AGENT: &str = "support-bot";
/// How many bytes of a live run are copied at once.
const COPY_BYTES: usize = 64 * 1024;

/// Whether there is an agent of this name.
fn known(agent: &str) -> Result<(), Refusal> {
    let unknown = agent == "nope" || agent.starts_with("no-such");
    if unknown { Err(Refusal::no_agent(agent)) } else { Ok(()) }
}

/// `GET /ag-ui/copilotkit/info`
pub(super) async fn info(State(app): State<App>, headers: HeaderMap) -> Response {
    if let Err(refusal) = admit(&app, &headers) {
        return refusal.into_response();
    }
    let agent = json!({"name": AGENT, "description": "A small support desk.", "className": "ScriptedAgent"});
    Json(json!({"version": "1.75.0", "agents": {AGENT: agent}, "mode": "sse"})).into_response()
}

/// `POST /ag-ui/copilotkit/agent/{agent}/run`
pub(super) async fn run(
    State(app): State<App>,
    Path(agent): Path<String>,
    headers: HeaderMap,
    output: Output,
    body: Bytes,
) -> Response {
    answer(known(&agent).and_then(|()| runs::run(&app, Server::Copilot, &headers, output, &body)))
}

/// `POST /ag-ui/copilotkit/agent/{agent}/connect`: all runs of a thread. Finished runs are compacted, the live run is
/// sent from its beginning.
pub(super) async fn connect(
    State(app): State<App>,
    Path(agent): Path<String>,
    headers: HeaderMap,
    mut output: Output,
    body: Bytes,
) -> Response {
    let input = known(&agent)
        .and_then(|()| admit(&app, &headers))
        .and_then(|()| RunInput::read(Server::Copilot, &body));
    let input = match input {
        Ok(input) => input,
        Err(refusal) => return refusal.into_response(),
    };
    output.injection.of_session(&input.thread);
    let Some(thread) = app.own.find(Server::Copilot, &input.thread) else {
        return nothing(&app, output);
    };
    let runs = thread.state().runs.clone();
    let log = Arc::new(EventLog::new());
    let mut live = None;
    for run in runs {
        if run.is_running() {
            live = Some(run);
        } else {
            // Its last event may be in flight.
            run.log.closed().await;
            for event in compacted(&run.log.recorded()) {
                log.append(|_, bytes| write_json(&event, bytes));
            }
        }
    }
    match live {
        Some(run) => drop(tokio::spawn(follow(run, Arc::clone(&log)))),
        None => log.close(),
    }
    let ids = RunIds { thread: input.thread, run: input.run, base: String::new() };
    replay(&app, ids, log, output)
}

/// Copies a run as it goes.
async fn follow(run: Arc<Turn>, log: Arc<EventLog>) {
    let mut copied = 0;
    loop {
        match run.log.read(copied, 1, 1, COPY_BYTES) {
            Read::Frames(bytes, last) => {
                copied = last;
                log.append(|_, frame| frame.extend_from_slice(&bytes));
            }
            Read::Pending => run.log.reaches(copied + 1).await,
            Read::End => return log.close(),
        }
    }
}

/// `POST /ag-ui/copilotkit/agent/{agent}/stop/{session}`
pub(super) async fn stop(
    State(app): State<App>,
    Path((agent, thread)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if let Err(refusal) = known(&agent).and_then(|()| admit(&app, &headers)) {
        return refusal.into_response();
    }
    let thread = app.own.find(Server::Copilot, &thread);
    let live = thread.and_then(|thread| thread.state().live().cloned());
    let Some(run) = live else {
        return Json(json!({"stopped": false})).into_response();
    };
    run.stop(Stop::Cancelled);
    let interrupt = json!({"type": "RUN_ERROR", "message": "Run stopped by user", "code": "STOPPED"});
    Json(json!({"stopped": true, "interrupt": interrupt})).into_response()
}
