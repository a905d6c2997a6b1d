//! Refusals as each framework writes them. They repeat what they refuse, as the real ones do.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::server::Server;

/// A refused request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Refusal {
    status: StatusCode,
    body: Body,
}

#[derive(Debug, Clone, PartialEq)]
enum Body {
    Json(Value),
    Text(String),
}

/// A body's mistake, as pydantic reports it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Flaw {
    kind: &'static str,
    path: Vec<Value>,
    message: String,
    input: Value,
}

impl Flaw {
    pub(super) fn new(kind: &'static str, message: &str, input: Value) -> Self {
        Self { kind, path: Vec::new(), message: message.to_owned(), input }
    }

    /// A field is missing in this object.
    pub(super) fn missing(object: &Map<String, Value>) -> Self {
        Self::new("missing", "Field required", Value::Object(object.clone()))
    }

    /// The location. Numbers are indexes in lists; an empty name is left out.
    pub(super) fn at<'a>(mut self, path: impl IntoIterator<Item = &'a str>) -> Self {
        let path = path.into_iter().filter(|name| !name.is_empty());
        self.path = path
            .map(|name| name.parse::<u64>().map_or_else(|_| json!(name), |number| json!(number)))
            .collect();
        self
    }
}

impl Refusal {
    pub(super) fn json(status: StatusCode, body: Value) -> Self {
        Self { status, body: Body::Json(body) }
    }

    pub(super) fn text(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, body: Body::Text(text.into()) }
    }

    /// A sentence as FastAPI writes it.
    pub(super) fn detail(status: StatusCode, detail: impl Into<String>) -> Self {
        Self::json(status, json!({"detail": detail.into()}))
    }

    /// The body is not JSON.
    pub(super) fn bad_json(server: Server, body: &[u8], error: &serde_json::Error) -> Self {
        let input = String::from_utf8_lossy(body);
        match server {
            Server::Plain => Self::json(
                StatusCode::UNPROCESSABLE_ENTITY,
                json!([{
                    "type": "json_invalid", "loc": [], "msg": format!("Invalid JSON: {error}"), "input": input,
                    "ctx": {"error": error.to_string()},
                    "url": "https://errors.pydantic.dev/2.14/v/json_invalid",
                }]),
            ),
            Server::Store => Self::json(
                StatusCode::UNPROCESSABLE_ENTITY,
                json!({"detail": [{
                    "type": "json_invalid", "loc": ["body", error.column()], "msg": "JSON decode error", "input": {},
                    "ctx": {"error": error.to_string()},
                }]}),
            ),
            Server::Copilot => Self::json(
                StatusCode::BAD_REQUEST,
                json!({"error": "Invalid request body", "details": error.to_string()}),
            ),
        }
    }

    /// The body is not a `RunAgentInput`.
    pub(super) fn invalid(server: Server, flaws: Vec<Flaw>) -> Self {
        let list = |prefix: &[&str], url: bool| {
            let flaws = flaws.iter().map(|flaw| {
                let path: Vec<Value> =
                    prefix.iter().map(|name| json!(name)).chain(flaw.path.clone()).collect();
                let mut told =
                    json!({"type": flaw.kind, "loc": path, "msg": flaw.message, "input": flaw.input});
                if url {
                    told["url"] = json!(format!("https://errors.pydantic.dev/2.14/v/{}", flaw.kind));
                }
                told
            });
            flaws.collect::<Vec<_>>()
        };
        match server {
            Server::Plain => Self::json(StatusCode::UNPROCESSABLE_ENTITY, json!(list(&[], true))),
            Server::Store => {
                Self::json(StatusCode::UNPROCESSABLE_ENTITY, json!({"detail": list(&["body"], false)}))
            }
            Server::Copilot => {
                let issues = flaws
                    .into_iter()
                    .map(|flaw| json!({"code": "invalid_type", "path": flaw.path, "message": flaw.message}));
                let details = serde_json::to_string_pretty(&issues.collect::<Vec<_>>()).unwrap_or_default();
                Self::json(
                    StatusCode::BAD_REQUEST,
                    json!({"error": "Invalid request body", "details": details}),
                )
            }
        }
    }

    /// Another run of the thread is active.
    pub(super) fn busy() -> Self {
        Self::detail(StatusCode::CONFLICT, "An AG-UI run is already active for this scoped thread.")
    }

    pub(super) fn unauthorized() -> Self {
        Self::detail(StatusCode::UNAUTHORIZED, "Not authenticated")
    }

    pub(super) fn no_agent(name: &str) -> Self {
        let message = format!("Agent '{name}' does not exist");
        Self::json(StatusCode::NOT_FOUND, json!({"error": "Agent not found", "message": message}))
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self.body {
            Body::Json(body) => (self.status, Json(body)).into_response(),
            Body::Text(text) => {
                let kind = HeaderValue::from_static("text/plain; charset=utf-8");
                (self.status, [(header::CONTENT_TYPE, kind)], text).into_response()
            }
        }
    }
}
