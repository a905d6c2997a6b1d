//! The endpoints under `/_gateway`: planning faults, cutting streams, releasing turns, inspecting the past.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{any, get, post, put};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;

use crate::context::App;
use crate::error::ApiError;
use crate::faults::{Ending, PORTAL, PORTAL_PATH, PlannedText};
use crate::store::Session;

type Answer = Result<Response, ApiError>;

/// The routes, which faults do not affect.
pub(crate) fn routes() -> Router<App> {
    let session = "/_gateway/sessions/{session}";
    Router::new()
        .route(PORTAL_PATH, any(async || Html(PORTAL)))
        .route(&format!("{session}/faults"), put(plan).delete(unplan))
        .route(&format!("{session}/cut"), post(cut))
        .route(&format!("{session}/requests"), get(requests))
        .route(&format!("{session}/expire"), put(expire))
        .route("/_gateway/turns/{turn}/log", get(log))
        .route("/_gateway/release", post(release))
        .route("/_gateway/streams", get(streams))
}

#[derive(Debug, Deserialize)]
struct Ahead {
    /// Whether the session may not exist yet: the client chooses its id.
    #[serde(default)]
    ahead: bool,
}

/// `PUT …/faults`: the schedule, which replaces an earlier one.
async fn plan(
    Admitted(app): Admitted,
    Path(id): Path<String>,
    Query(ahead): Query<Ahead>,
    body: String,
) -> Answer {
    if !ahead.ahead {
        find(&app, &id)?;
    }
    let planned: Vec<PlannedText> = serde_json::from_str(&body)
        .map_err(|error| ApiError::invalid(format!("Not a schedule of faults: {error}")))?;
    app.faults.plans.put(&app.faults.grammar, &id, &planned).map_err(ApiError::invalid)?;
    if app.faults.plans.leave_no_answer() {
        app.faults.connections.retire().await;
    }
    Ok(Json(planned).into_response())
}

/// `DELETE …/faults`
async fn unplan(Admitted(app): Admitted, Path(id): Path<String>) -> Answer {
    known(&app, &id)?;
    app.faults.plans.put(&app.faults.grammar, &id, &[]).map_err(ApiError::invalid)?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

#[derive(Debug, Deserialize)]
struct Cut {
    how: Option<String>,
}

/// `POST …/cut?how=reset|eof|stall`: ends the open streams of a session.
async fn cut(Admitted(app): Admitted, Path(id): Path<String>, Query(cut): Query<Cut>) -> Answer {
    known(&app, &id)?;
    let how = match cut.how.as_deref() {
        None | Some("reset") => Ending::Reset,
        Some("eof") => Ending::Eof,
        Some("stall") => Ending::Stall,
        Some(other) => {
            let message = format!("how must be reset, eof, or stall, got `{other}`");
            return Err(ApiError::invalid(message));
        }
    };
    let cut = app.faults.streams.cut(&id, how);
    Ok(Json(json!({ "cut": cut })).into_response())
}

/// `GET …/requests`: the journal.
async fn requests(Admitted(app): Admitted, Path(id): Path<String>) -> Answer {
    known(&app, &id)?;
    Ok(Json(app.faults.plans.journal(&id)).into_response())
}

/// `PUT …/expire`: the streams of all turns so far cannot be read any more.
async fn expire(Admitted(app): Admitted, Path(id): Path<String>) -> Answer {
    let session = find(&app, &id)?;
    let turns = session.all_turns();
    for turn in &turns {
        turn.log.expire();
    }
    Ok(Json(json!({ "expired": turns.len() })).into_response())
}

/// `GET /_gateway/turns/{turn}/log`: everything recorded so far.
async fn log(Admitted(app): Admitted, Path(id): Path<String>) -> Answer {
    let turn = app.store.any_turn(&id).ok_or_else(|| ApiError::no_turn(&id))?;
    let kind = HeaderValue::from_static("text/event-stream");
    Ok(([(header::CONTENT_TYPE, kind)], turn.log.recorded()).into_response())
}

/// `POST /_gateway/release`: turns that have begun, and that their requests hold, continue.
async fn release(Admitted(app): Admitted) -> Answer {
    app.gate.release();
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// `GET /_gateway/streams`: how many event streams are open.
async fn streams(Admitted(app): Admitted) -> Answer {
    Ok(Json(json!({ "open": app.faults.streams.count() })).into_response())
}

/// A session of this gateway, or one that it has seen or planned faults for.
fn known(app: &App, session: &str) -> Result<(), ApiError> {
    if app.faults.plans.knows(session) { Ok(()) } else { find(app, session).map(drop) }
}

fn find(app: &App, session: &str) -> Result<Arc<Session>, ApiError> {
    app.store.any_session(session).ok_or_else(|| ApiError::no_session(session))
}

/// A request that was admitted: the state of its handler.
struct Admitted(App);

impl FromRequestParts<App> for Admitted {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        app.admit(&parts.headers).map(|()| Self(app.clone()))
    }
}
