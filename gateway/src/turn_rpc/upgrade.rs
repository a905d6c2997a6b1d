//! A WebSocket is opened: who may, and from where.

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts, Query, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use serde::Deserialize;

use super::socket::{LARGEST_MESSAGE, serve};
use crate::http::Output;
use crate::server::App;

/// `GET /turn-rpc`, as a WebSocket. Pages of any origin may open one, as they may call the other surfaces.
pub(super) async fn upgrade(
    State(app): State<App>,
    _: Admitted,
    output: Output,
    upgrade: WebSocketUpgrade,
) -> Response {
    // As long as the socket is open, its connection is not idle.
    let under_way = output.injection.connection.begin_request();
    upgrade
        .max_message_size(LARGEST_MESSAGE)
        .max_frame_size(LARGEST_MESSAGE)
        .on_upgrade(async move |socket| serve(app, socket, output, under_way).await)
}

/// Somebody who may enter, where a token is wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Admitted;

#[derive(Debug, Default, Deserialize)]
struct InQuery {
    access_token: Option<String>,
}

impl FromRequestParts<App> for Admitted {
    type Rejection = (StatusCode, &'static str);

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        let Some(expected) = &app.config.token else {
            return Ok(Self);
        };
        if bearer(&parts.headers) == Some(expected) {
            return Ok(Self);
        }
        // A page cannot set a header on a WebSocket. This form (RFC 6750, section 2.3) is ours alone.
        if app.config.token_in_query {
            let query = Query::<InQuery>::try_from_uri(&parts.uri).unwrap_or_default().0;
            if query.access_token.as_ref() == Some(expected) {
                return Ok(Self);
            }
        }
        Err((StatusCode::UNAUTHORIZED, "missing or invalid bearer token"))
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
