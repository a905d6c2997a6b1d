//! The agents, and sessions: make, list, read, delete, and their histories.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};

use super::catalog::{self, capabilities};
use super::error::{Admitted, Refusal};
use super::input::{check_images, check_tools, contents, read};
use super::message::{Message, compacted};
use super::session::{AgentConfig, App, Session, ToolSpec};
use super::traps::OTHER_VERSION;
use crate::faults::Injection;
use crate::json;

/// The version of the protocol.
const VERSION: u64 = 3;

type Answer = Result<Response, Refusal>;

/// `GET /meta`, without a token.
pub(super) async fn meta(injection: Option<Extension<Injection>>) -> Json<Value> {
    let injection = injection.map(|Extension(injection)| injection).unwrap_or_default();
    let version = if injection.traps().has(&OTHER_VERSION) { VERSION + 1 } else { VERSION };
    Json(catalog::meta(version))
}

#[derive(Debug, Deserialize)]
pub(super) struct Listing {
    after: Option<String>,
}

/// `GET /sessions`: oldest first.
pub(super) async fn list(Admitted(app): Admitted, Query(listing): Query<Listing>) -> Answer {
    let page = app.own.page(listing.after.as_deref());
    let (sessions, next) = page.ok_or_else(|| Refusal::bad("Unknown cursor"))?;
    let sessions: Vec<Value> = sessions.iter().map(|session| session.show()).collect();
    let mut page = json!({"sessions": sessions});
    json::add(&mut page, [("next", next)]);
    Ok(Json(page).into_response())
}

#[derive(Debug, Deserialize)]
struct NewSession {
    agent: AgentConfig,
    #[serde(default)]
    messages: Option<Vec<Message>>,
    #[serde(default)]
    tools: Option<Vec<ToolSpec>>,
}

/// `POST /sessions`: the agent does not run yet, and need not even be there.
pub(super) async fn create(Admitted(app): Admitted, body: Bytes) -> Answer {
    let body: Value = read(&body)?;
    if body.get("agent").is_none() {
        return Err(Refusal::internal());
    }
    let new: NewSession = serde_json::from_value(body)
        .map_err(|error| Refusal::bad(format!("Invalid request body: {error}")))?;
    let messages = new.messages.unwrap_or_default();
    if let Some(capabilities) = capabilities(&new.agent.name) {
        check_tools(&new.agent.name, capabilities, new.tools.as_deref())?;
        check_images(&new.agent.name, capabilities, contents(&messages))?;
    }
    let session = app.own.create(&app, new.agent, new.tools, messages);
    Ok((StatusCode::CREATED, Json(json!({"sessionId": session.id}))).into_response())
}

fn find(app: &App, id: &str) -> Result<Arc<Session>, Refusal> {
    app.own.find(id).ok_or_else(Refusal::no_session)
}

/// `GET /sessions/{id}`
pub(super) async fn get(Admitted(app): Admitted, Path(id): Path<String>) -> Answer {
    Ok(Json(find(&app, &id)?.show()).into_response())
}

/// `DELETE /sessions/{id}`
pub(super) async fn delete(Admitted(app): Admitted, Path(id): Path<String>) -> Answer {
    if app.own.remove(&app, &id) {
        Ok(StatusCode::NO_CONTENT.into_response())
    } else {
        Err(Refusal::no_session())
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Which {
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// `GET /sessions/{id}/history`
pub(super) async fn history(
    Admitted(app): Admitted,
    Path(id): Path<String>,
    Query(which): Query<Which>,
) -> Answer {
    let kind = which.kind.filter(|kind| kind == "compacted" || kind == "full");
    let kind = kind.ok_or_else(|| Refusal::bad("type must be \"compacted\" or \"full\""))?;
    let session = app.own.find(&id).ok_or_else(Refusal::no_history)?;
    let state = session.state();
    let declared = capabilities(&state.agent.name);
    let supported = declared.is_none_or(|declared| declared.has("history", &kind));
    if !supported {
        return Err(Refusal::no_history());
    }
    let messages = if kind == "full" { state.history.as_slice() } else { compacted(&state.history) };
    Ok(Json(json!({"history": {kind: messages}})).into_response())
}
