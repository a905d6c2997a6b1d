//! The event store over HTTP: pages and streams of one thread or one run, by cursor.

use axum::Json;
use axum::extract::{Path, Query};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::super::call::Call;
use super::super::canonical::{Recorded, Scope};
use super::super::error::Refusal;
use super::super::paging::Paging;
use super::super::stream::follow;
use super::super::surface::Dialect;
use crate::http::Output;

type Answer = Result<Response, Refusal>;

/// `GET /v1/threads/{id}/events`
pub(super) async fn of_thread(call: Call, Path(id): Path<String>, Query(paging): Query<Paging>) -> Answer {
    page(&call, &Scope::thread(id), &paging)
}

/// `GET /v1/runs/{id}/events`
pub(super) async fn of_run(call: Call, Path(id): Path<String>, Query(paging): Query<Paging>) -> Answer {
    page(&call, &Scope::run(id), &paging)
}

fn page(call: &Call, scope: &Scope, paging: &Paging) -> Answer {
    let recorded = call.own.events().scope(scope);
    let after = match &paging.cursor {
        Some(cursor) => position(&recorded, scope, cursor)?,
        None => 0,
    };
    let (items, next, more) = recorded.page(scope, after, paging.limit());
    Ok(Json(json!({"items": items, "next_cursor": next, "has_more": more})).into_response())
}

/// `GET /v1/threads/{id}/events/stream`
pub(super) async fn stream_of_thread(
    call: Call,
    Path(id): Path<String>,
    Query(paging): Query<Paging>,
    output: Output,
    headers: HeaderMap,
) -> Answer {
    stream(&call, &Scope::thread(id), paging, output, &headers)
}

/// `GET /v1/runs/{id}/events/stream`
pub(super) async fn stream_of_run(
    call: Call,
    Path(id): Path<String>,
    Query(paging): Query<Paging>,
    output: Output,
    headers: HeaderMap,
) -> Answer {
    stream(&call, &Scope::run(id), paging, output, &headers)
}

/// The events after the cursor of the query, or else of `Last-Event-ID`; without one, those that are
/// still to come. The stream does not end with the run.
fn stream(call: &Call, scope: &Scope, paging: Paging, output: Output, headers: &HeaderMap) -> Answer {
    let recorded = call.own.events().scope(scope);
    let in_header = || headers.get("last-event-id")?.to_str().ok().map(str::to_owned);
    let after = match paging.cursor.or_else(in_header) {
        Some(cursor) => position(&recorded, scope, &cursor)?,
        None => recorded.len(),
    };
    Ok(follow(call, &scope.key(), std::sync::Arc::clone(&recorded.log), after as u64, output))
}

fn position(recorded: &Recorded, scope: &Scope, cursor: &str) -> Result<usize, Refusal> {
    if cursor.trim().is_empty() {
        return Err(Refusal::bad(Dialect::Awaken, "event cursor must not be empty"));
    }
    recorded.after(scope, cursor).map_err(|_| Refusal::new(StatusCode::GONE, cursor))
}
