//! The error envelope: `{"error":{"message","type","code"}}` with a fitting status.

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    code: &'static str,
    message: String,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    pub(crate) fn unauthorized() -> Self {
        let message = "Unauthorized: a valid bearer token is required";
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    pub(crate) fn no_session(id: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "session_not_found", format!("Session not found: {id}"))
    }

    /// The session's agent is a saved one, and cannot be changed.
    pub(crate) fn named_agent(id: &str) -> Self {
        let message = format!("Cannot update the agent of a session with a named agent: {id}");
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_session", message)
    }

    pub(crate) fn no_turn(id: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "turn_not_found", format!("Turn not found: {id}"))
    }

    /// The turn has not reached its end yet.
    pub(crate) fn running(id: &str) -> Self {
        let message = format!("Turn is still running, its events cannot be listed yet: {id}");
        Self::new(StatusCode::CONFLICT, "turn_running", message)
    }

    /// The turn's stream was freed some time after its end.
    pub(crate) fn stream_gone(id: &str) -> Self {
        let message = format!("Cannot read from stream, stream does not exist anymore: {id}");
        Self::new(StatusCode::PRECONDITION_FAILED, "stream_expired", message)
    }
}

/// The answer where there is no route.
pub(crate) async fn no_route(request: Request) -> ApiError {
    let message = format!("Route not found: {} {}", request.method(), request.uri().path());
    ApiError::new(StatusCode::NOT_FOUND, "route_not_found", message)
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let kind = match self.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            404 | 410 => "not_found_error",
            409 => "conflict_error",
            412 => "precondition_error",
            500.. => "server_error",
            _ => "invalid_request_error",
        };
        let body = json!({"error": {"message": self.message, "type": kind, "code": self.code}});
        let json = HeaderValue::from_static("application/json");
        (self.status, [(header::CONTENT_TYPE, json)], body.to_string()).into_response()
    }
}
