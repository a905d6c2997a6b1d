//! The relay's own responses to requests that it does not pass on. `error` is a text, as in the agents' errors.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::edge::Foreign;
use crate::identity::Unknown;
use crate::limits::Exceeded;
use crate::log::LogError;

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    status: StatusCode,
    code: &'static str,
    text: String,
    after: Option<Duration>,
    /// A further member of the body.
    detail: Option<(&'static str, String)>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: &'static str, text: impl Into<String>) -> Self {
        Self { status, code, text: text.into(), after: None, detail: None }
    }

    pub(super) fn again_after(self, after: Duration) -> Self {
        Self { after: Some(after), ..self }
    }

    pub(super) fn with(self, name: &'static str, value: String) -> Self {
        Self { detail: Some((name, value)), ..self }
    }

    /// For clients of durable streams, which repeat each request that failed with 5xx: what can no longer be read is gone.
    pub(super) fn or_gone(self) -> Self {
        match self.status {
            StatusCode::PRECONDITION_FAILED | StatusCode::GATEWAY_TIMEOUT => {
                Self { status: StatusCode::GONE, ..self }
            }
            _ => self,
        }
    }

    fn body(&self) -> Value {
        let mut body = json!({ "error": self.text, "code": self.code });
        if let Some((name, value)) = &self.detail {
            body[*name] = json!(value);
        }
        body
    }

    /// It does not exist, or is not the caller's. Callers cannot tell which.
    pub(super) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "there is no such thing here, or it is not yours")
    }

    pub(super) fn bad(text: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", text)
    }

    /// Nothing was sent to the agent.
    pub(super) fn unsent() -> Self {
        let text = "the agent cannot be reached; nothing was sent to it, so send this again";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unreachable", text).again_after(Duration::from_secs(1))
    }

    /// The agent does not answer, and may have received the request.
    pub(super) fn unanswered() -> Self {
        let text = "the agent did not answer; it may have got the request";
        Self::new(StatusCode::BAD_GATEWAY, "unanswered", text)
    }

    /// The relay is shutting down.
    pub(super) fn draining() -> Self {
        let text = "the relay is about to end; nothing was sent to the agent, so send this again";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "draining", text).again_after(Duration::from_secs(1))
    }

    /// The agent did not answer with a socket.
    pub(super) fn no_socket() -> Self {
        Self::new(StatusCode::BAD_GATEWAY, "no_socket", "the agent opened no socket")
    }

    /// The agent did not open the socket in time.
    pub(super) fn unopened() -> Self {
        Self::new(StatusCode::GATEWAY_TIMEOUT, "no_socket", "the agent opened no socket in time")
    }

    /// The agent compresses what it was asked not to compress.
    pub(super) fn encoded() -> Self {
        let text =
            "the agent compressed its answer, although the relay asked it not to; it has got the request";
        Self::new(StatusCode::BAD_GATEWAY, "encoded", text)
    }

    /// The agent rejects the key in the config.
    pub(super) fn key() -> Self {
        let text = "the agent refused the relay's own key: see `headers` of this agent in the relay's config";
        Self::new(StatusCode::BAD_GATEWAY, "key_refused", text)
    }
}

impl From<Foreign> for Refusal {
    fn from(foreign: Foreign) -> Self {
        Self::new(StatusCode::FORBIDDEN, "foreign", foreign.text())
    }
}

impl From<Unknown> for Refusal {
    fn from(unknown: Unknown) -> Self {
        let refusal = |status, code| Self::new(status, code, unknown.to_string());
        match unknown {
            Unknown::Missing | Unknown::Invalid => refusal(StatusCode::UNAUTHORIZED, "unauthenticated"),
            Unknown::Unavailable => refusal(StatusCode::SERVICE_UNAVAILABLE, "identity_unavailable")
                .again_after(Duration::from_secs(2)),
        }
    }
}

impl From<Exceeded> for Refusal {
    fn from(exceeded: Exceeded) -> Self {
        let (status, code) = if exceeded.is_own {
            (StatusCode::TOO_MANY_REQUESTS, "limit")
        } else {
            (StatusCode::SERVICE_UNAVAILABLE, "overloaded")
        };
        Self::new(status, code, exceeded.what).again_after(exceeded.after)
    }
}

impl From<LogError> for Refusal {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Gone => Self::not_found(),
            // A log's error message may name files.
            _ => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "log_unavailable",
                "the relay's log does not answer",
            )
            .again_after(Duration::from_secs(2)),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        metrics::counter!("turnwire_relay_refusals_total", "code" => self.code).increment(1);
        let mut response = (self.status, Json(self.body())).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(after) = self.after {
            // In whole seconds, at least one.
            let seconds = after.as_secs_f64().ceil().max(1.0);
            response.headers_mut().insert(header::RETRY_AFTER, seconds_value(seconds));
        }
        response
    }
}

fn seconds_value(seconds: f64) -> HeaderValue {
    HeaderValue::from_str(&format!("{seconds:.0}")).unwrap_or(HeaderValue::from_static("1"))
}

impl Refusal {
    /// The status and the body.
    pub(super) fn into_parts(self) -> (StatusCode, bytes::Bytes) {
        (self.status, self.body().to_string().into())
    }
}
