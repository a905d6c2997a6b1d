//! Opens WebSockets: who may, and from which pages.

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use serde::Deserialize;

use super::socket::{LARGEST_MESSAGE, serve};
use super::thread::App;
use crate::context::bearer;
use crate::http::Output;

/// `GET /turn-rpc`, as a WebSocket. Pages of any origin may open one, as they may call the other surfaces.
pub(super) async fn upgrade(Admitted(app): Admitted, output: Output, upgrade: WebSocketUpgrade) -> Response {
    // As long as the socket is open, its connection is not idle.
    let active = output.injection.connection.begin_request();
    upgrade
        .max_message_size(LARGEST_MESSAGE)
        .max_frame_size(LARGEST_MESSAGE)
        .on_upgrade(async move |socket| serve(app, socket, output, active).await)
}

/// A request that was admitted: the state of its handler.
#[derive(Debug)]
pub(super) struct Admitted(App);

#[derive(Debug, Default, Deserialize)]
struct InQuery {
    access_token: Option<String>,
}

impl FromRequestParts<App> for Admitted {
    type Rejection = (StatusCode, &'static str);

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        // A page cannot set a header on a WebSocket. This form (RFC 6750, section 2.3) is ours alone.
        let in_query = || Query::<InQuery>::try_from_uri(&parts.uri).unwrap_or_default().0.access_token;
        let is_admitted = app.admits(bearer(&parts.headers))
            || app.config.token_in_query && app.admits(in_query().as_deref());
        if is_admitted {
            return Ok(Self(app.clone()));
        }
        Err((StatusCode::UNAUTHORIZED, "missing or invalid bearer token"))
    }
}
