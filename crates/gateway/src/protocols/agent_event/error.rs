//! Refusals: `{"error":"…"}` with a fitting status.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::server::Dialect;

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    status: StatusCode,
    message: String,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    pub(super) fn bad(dialect: Dialect, message: impl AsRef<str>) -> Self {
        let prefix = match dialect {
            Dialect::Tirea => "bad request: ",
            Dialect::Awaken => "",
        };
        Self::new(StatusCode::BAD_REQUEST, format!("{prefix}{}", message.as_ref()))
    }

    pub(super) fn no_agent(id: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("agent not found: {id}"))
    }

    pub(super) fn no_thread(id: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("thread not found: {id}"))
    }

    pub(super) fn no_run(id: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("run not found: {id}"))
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, axum::Json(json!({"error": self.message}))).into_response()
    }
}
