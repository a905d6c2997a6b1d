//! The TrueFoundry agent protocol: sessions, turns and their event streams over HTTP and SSE.
//!
//! One set of handlers serves two surfaces: the hosted gateway's, under `/{tenant}/v1`, and that
//! of its open-source sibling TrueForge, under `/api/v1`.

mod caller;
mod check;
mod events;
mod extract;
mod forgery;
mod input;
mod message;
mod objects;
mod paging;
mod player;
mod recorder;
mod sandbox;
mod sessions;
mod turns;
mod wire;

use axum::Router;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::context::App;
use crate::error::{ApiError, no_route};
use crate::faults::{On, Surface};
use crate::protocol::Protocol;

/// The family: the context of the gateway keeps its sessions.
pub(crate) fn protocol() -> Protocol {
    Protocol {
        addresses: concat!(
            "TrueFoundry agent protocol: base URL /{tenant}, for example /acme\n",
            "TrueForge dialect:          base URL /api/v1\n"
        ),
        surface: Box::new(TrueFoundry),
        routes: Box::new(|app| routes().method_not_allowed_fallback(no_route).with_state(app.clone())),
    }
}

/// The protocol as the faults see it. Its tenants can have any path that no other protocol has.
#[derive(Debug)]
struct TrueFoundry;

impl Surface for TrueFoundry {
    fn speaks(&self, _: &str) -> bool {
        true
    }

    fn classify(&self, method: &Method, route: &str) -> Option<On> {
        let (_, rest) = route.split_once("{session}")?;
        match (method.as_str(), rest) {
            ("POST", "/turns") => Some(On::Create),
            ("GET" | "POST", "/turns/{turn}/subscribe") => Some(On::Subscribe),
            ("GET", "/turns/{turn}") => Some(On::Turn),
            ("GET", "/turns") => Some(On::Turns),
            ("GET", "/turns/{turn}/events") => Some(On::TurnEvents),
            ("GET", "/events") => Some(On::SessionEvents),
            ("GET", "") => Some(On::Session),
            ("POST", "/cancel") => Some(On::Cancel),
            _ => None,
        }
    }

    fn refuse(&self, status: StatusCode, message: String) -> Response {
        ApiError::new(status, "injected_fault", message).into_response()
    }
}

/// The routes of both surfaces.
fn routes() -> Router<App> {
    Router::new()
        .nest("/{tenant}/v1", gateway())
        // A control plane forwards to the gateway under this prefix.
        .nest("/api/llm/{tenant}/v1", gateway())
        .nest("/api/v1", trueforge())
}

/// The seventeen endpoints of the hosted gateway.
fn gateway() -> Router<App> {
    let session = "/agents/sessions/{session}";
    let turn = "/agents/sessions/{session}/turns/{turn}";
    Router::new()
        .route("/agents/sessions", post(sessions::create).get(sessions::list_saved))
        .route(session, get(sessions::get))
        .route(&format!("{session}/cancel"), post(sessions::cancel))
        .route(&format!("{session}/turns"), post(turns::create).get(turns::list_turns))
        .route(&format!("{session}/events"), get(events::of_session))
        .route(turn, get(turns::get))
        .route(&format!("{turn}/subscribe"), post(turns::subscribe))
        .route(&format!("{turn}/events"), get(events::of_turn))
        .route("/agents/draft-sessions", post(sessions::create_draft).get(sessions::list_drafts))
        .route("/agents/draft-sessions/{session}", get(sessions::get_draft).patch(sessions::update_draft))
        .route("/x/agents/owned-sessions", get(sessions::list_owned))
        .route("/x/agents/search-sessions", get(sessions::search))
        .route("/agents/sandbox/{sandbox}/file", get(sandbox::file))
}

fn trueforge() -> Router<App> {
    let session = "/sessions/{session}";
    let turn = "/sessions/{session}/turns/{turn}";
    Router::new()
        .route("/sessions", post(sessions::create_with_agent).get(sessions::list_by_change))
        .route(session, get(sessions::get).patch(sessions::update_agent).delete(sessions::delete))
        .route(&format!("{session}/cancel"), post(sessions::cancel))
        .route(&format!("{session}/turns"), post(turns::create).get(turns::list_turns))
        .route(&format!("{session}/events"), get(events::of_session))
        .route(turn, get(turns::get))
        .route(&format!("{turn}/subscribe"), get(turns::subscribe_by_query))
        .route(&format!("{turn}/events"), get(events::of_turn))
        .route(&format!("{turn}/download-sandbox-file"), get(sandbox::file_of_turn))
}
