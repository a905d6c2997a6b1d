//! The event store over HTTP: pages and streams of one thread or one run, by cursor.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::super::canonical::{Recorded, Scope};
use super::super::error::{Admitted, Refusal};
use super::super::stream::follow;
use super::super::surface::Dialect;
use crate::http::Output;
use crate::server::App;

type Answer = Result<Response, Refusal>;

/// The most that a page holds.
const MOST: usize = 200;

fn fifty() -> usize {
    50
}

#[derive(Debug, Deserialize)]
pub(super) struct Reading {
    cursor: Option<String>,
    #[serde(default = "fifty")]
    limit: usize,
}

/// `GET /v1/threads/{id}/events`
pub(super) async fn of_thread(
    State(app): State<App>,
    _: Admitted,
    Path(id): Path<String>,
    Query(reading): Query<Reading>,
) -> Answer {
    page(&app, &Scope::thread(id), &reading)
}

/// `GET /v1/runs/{id}/events`
pub(super) async fn of_run(
    State(app): State<App>,
    _: Admitted,
    Path(id): Path<String>,
    Query(reading): Query<Reading>,
) -> Answer {
    page(&app, &Scope::run(id), &reading)
}

fn page(app: &App, scope: &Scope, reading: &Reading) -> Answer {
    let recorded = app.threads.events().scope(scope);
    let after = match &reading.cursor {
        Some(cursor) => position(&recorded, scope, cursor)?,
        None => 0,
    };
    let (items, next, more) = recorded.page(scope, after, reading.limit.clamp(1, MOST));
    Ok(Json(json!({"items": items, "next_cursor": next, "has_more": more})).into_response())
}

/// `GET /v1/threads/{id}/events/stream`
pub(super) async fn stream_of_thread(
    State(app): State<App>,
    _: Admitted,
    Path(id): Path<String>,
    Query(reading): Query<Reading>,
    output: Output,
    headers: HeaderMap,
) -> Answer {
    stream(&app, &Scope::thread(id), &reading, output, &headers)
}

/// `GET /v1/runs/{id}/events/stream`
pub(super) async fn stream_of_run(
    State(app): State<App>,
    _: Admitted,
    Path(id): Path<String>,
    Query(reading): Query<Reading>,
    output: Output,
    headers: HeaderMap,
) -> Answer {
    stream(&app, &Scope::run(id), &reading, output, &headers)
}

/// The events after the cursor of the query, or else of `Last-Event-ID`; without one, those that are
/// still to come. The stream does not end with the run.
fn stream(app: &App, scope: &Scope, reading: &Reading, output: Output, headers: &HeaderMap) -> Answer {
    let recorded = app.threads.events().scope(scope);
    let in_header = || headers.get("last-event-id")?.to_str().ok().map(str::to_owned);
    let after = match reading.cursor.clone().or_else(in_header) {
        Some(cursor) => position(&recorded, scope, &cursor)?,
        None => recorded.len(),
    };
    Ok(follow(app, &scope.key(), std::sync::Arc::clone(&recorded.log), after as u64, output))
}

fn position(recorded: &Recorded, scope: &Scope, cursor: &str) -> Result<usize, Refusal> {
    if cursor.trim().is_empty() {
        return Err(Refusal::bad(Dialect::Awaken, "event cursor must not be empty"));
    }
    recorded.after(scope, cursor).map_err(|_| Refusal::new(StatusCode::GONE, cursor))
}
