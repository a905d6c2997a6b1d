//! Refusals as the real server writes them: some are JSON, `{"error":"…"}`, some are plain text.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::session::App;

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    status: StatusCode,
    body: Body,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Body {
    Json(String),
    Text(&'static str),
    /// Text, and the challenge in `WWW-Authenticate`.
    Challenge(&'static str, &'static str),
}

impl Refusal {
    pub(super) fn json(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, body: Body::Json(message.into()) }
    }

    pub(super) fn text(status: StatusCode, text: &'static str) -> Self {
        Self { status, body: Body::Text(text) }
    }

    /// A request that contradicts the protocol. The real server checks little of this; a development server should say
    /// what is wrong.
    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::json(StatusCode::BAD_REQUEST, message)
    }

    pub(super) fn no_session() -> Self {
        Self::json(StatusCode::NOT_FOUND, "Session not found")
    }

    pub(super) fn no_history() -> Self {
        Self::json(StatusCode::NOT_FOUND, "Specified history not found")
    }

    /// An exception that the real server does not catch.
    pub(super) fn internal() -> Self {
        Self::text(StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error")
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let plain = |kind| [(header::CONTENT_TYPE, HeaderValue::from_static(kind))];
        match self.body {
            Body::Json(message) => (self.status, axum::Json(json!({"error": message}))).into_response(),
            Body::Text(text) => (self.status, plain("text/plain; charset=UTF-8"), text).into_response(),
            Body::Challenge(text, challenge) => {
                let headers = [(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge))];
                (self.status, plain("text/plain;charset=UTF-8"), headers, text).into_response()
            }
        }
    }
}

/// A request that was admitted: the state of its handler.
#[derive(Debug)]
pub(super) struct Admitted(pub(super) App);

impl FromRequestParts<App> for Admitted {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let credentials = credentials(&parts.headers);
        let token = match &credentials {
            Credentials::Token(token) => Some(*token),
            Credentials::Missing | Credentials::Malformed => None,
        };
        if app.admits(token) {
            return Ok(Self(app.clone()));
        }
        let (status, text, challenge) = match credentials {
            Credentials::Token(_) => {
                (StatusCode::UNAUTHORIZED, "Unauthorized", "Bearer error=\"invalid_token\"")
            }
            Credentials::Malformed => {
                (StatusCode::BAD_REQUEST, "Bad Request", "Bearer error=\"invalid_request\"")
            }
            Credentials::Missing => (StatusCode::UNAUTHORIZED, "Unauthorized", "Bearer realm=\"\""),
        };
        Err(Refusal { status, body: Body::Challenge(text, challenge) })
    }
}

/// The credentials of a request.
#[derive(Debug, PartialEq, Eq)]
enum Credentials<'a> {
    Missing,
    /// Another scheme, no token, or characters that no token has.
    Malformed,
    Token(&'a str),
}

fn credentials(headers: &HeaderMap) -> Credentials<'_> {
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        return Credentials::Missing;
    };
    let token = value.to_str().ok().and_then(|text| text.strip_prefix("Bearer ")).map(str::trim);
    match token {
        Some(token) if is_token(token) => Credentials::Token(token),
        _ => Credentials::Malformed,
    }
}

/// Whether a text has the form of a token: RFC 6750, section 2.1.
fn is_token(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    !body.is_empty() && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_missing_malformed_or_a_token() {
        let of = |value: &'static str| {
            let headers: HeaderMap =
                [(header::AUTHORIZATION, HeaderValue::from_static(value))].into_iter().collect();
            match credentials(&headers) {
                Credentials::Token(token) => token.to_owned(),
                other => format!("{other:?}"),
            }
        };
        assert_eq!(credentials(&HeaderMap::new()), Credentials::Missing);
        assert_eq!(of("Bearer  key.1~+/=="), "key.1~+/==");
        for malformed in ["Basic a2V5", "Bearer", "Bearer ", "bearer key", "Bearer two words", "Bearer k=y"] {
            assert_eq!(of(malformed), "Malformed", "{malformed}");
        }
    }
}
