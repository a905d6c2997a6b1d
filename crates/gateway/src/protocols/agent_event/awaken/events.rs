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
use super::super::server::Dialect;
use super::super::stream::follow;
use super::named::Named;
use crate::http::Output;

type Answer = Result<Response, Refusal>;

/// A page of the events of a thread or a run: `GET …/events`.
pub(super) async fn page(call: Call, Path(named): Path<Named>, Query(paging): Query<Paging>) -> Answer {
    let scope = &named.scope();
    let recorded = call.own.events().scope(scope);
    let after = match &paging.cursor {
        Some(cursor) => position(&recorded, scope, cursor)?,
        None => 0,
    };
    let (items, next, more) = recorded.page(scope, after, paging.limit());
    Ok(Json(json!({"items": items, "next_cursor": next, "has_more": more})).into_response())
}

/// `GET …/events/stream`: the events after the cursor in the query, or else in `Last-Event-ID`; without one, new events
/// only. The stream does not end with the run.
pub(super) async fn stream(
    call: Call,
    Path(named): Path<Named>,
    Query(paging): Query<Paging>,
    output: Output,
    headers: HeaderMap,
) -> Answer {
    let scope = &named.scope();
    let recorded = call.own.events().scope(scope);
    let in_header = || headers.get("last-event-id")?.to_str().ok().map(str::to_owned);
    let after = match paging.cursor.or_else(in_header) {
        Some(cursor) => position(&recorded, scope, &cursor)?,
        None => recorded.len(),
    };
    Ok(follow(&call, &scope.key(), std::sync::Arc::clone(&recorded.log), after as u64, output))
}

fn position(recorded: &Recorded, scope: &Scope, cursor: &str) -> Result<usize, Refusal> {
    if cursor.trim().is_empty() {
        return Err(Refusal::bad(Dialect::Awaken, "event cursor must not be empty"));
    }
    recorded.after(scope, cursor).map_err(|_| Refusal::new(StatusCode::GONE, cursor))
}
