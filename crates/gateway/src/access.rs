//! Logs one line per request to stderr, if enabled, and sets an id on every response.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

use crate::context::App;
use crate::faults::Injected;

/// The header that names a response.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Adds an id to the response. With logging on, writes method, path, status and the time to the
/// response's head, and the fault that it suffered. Queries and headers are left out: they may hold secrets.
pub(crate) async fn access(State(app): State<App>, request: Request, next: Next) -> Response {
    static REQUESTS: AtomicU64 = AtomicU64::new(0);
    let number = REQUESTS.fetch_add(1, Ordering::Relaxed) + 1;
    let started = Instant::now();
    let line = app.config.log.then(|| format!("{} {}", request.method(), request.uri().path()));
    let mut response = next.run(request).await;
    if let Ok(id) = HeaderValue::from_str(&format!("req-{number}")) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    if let Some(line) = line {
        let elapsed = started.elapsed().as_millis();
        let injected = response.extensions().get::<Injected>();
        let status = match injected {
            Some(Injected { unanswered: true, .. }) => "unanswered".to_owned(),
            _ => response.status().as_u16().to_string(),
        };
        let fault = injected.map(|injected| format!(" fault {}", injected.fault)).unwrap_or_default();
        eprintln!("req-{number} {line} {status} {elapsed} ms{fault}");
    }
    response
}
