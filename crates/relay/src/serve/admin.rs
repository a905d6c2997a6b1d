//! Metrics and health, at a separate address.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::extract::{RawQuery, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{delete, get, put};
use tokio::time::{Instant, timeout};

use super::App;
use crate::edge::Foreign;
use crate::held::EndReason;
use crate::limits::Kind;
use crate::log::{Purge, Size};
use crate::observe;
use crate::route;

/// How long the log may take to report its size.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) fn routes(app: Arc<App>) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .route("/drain", put(drain))
        .route("/turns", delete(purge))
        .layer(from_fn_with_state(app.clone(), refuse_pages))
        // Without that layer: probes call by any name, and learn nothing else.
        .route("/livez", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .with_state(app)
}

/// A page reads nothing here, even if it has pointed its own host name at this address: browsers send the name that they call.
/// They also name the page in each request that changes something.
async fn refuse_pages(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let head = request.headers();
    // Without a name it is a program. With HTTP/2 the name is in the target.
    let is_named = head.contains_key(header::HOST) || request.uri().authority().is_some();
    if is_named && !app.edge.knows_admin_host(&request) {
        return (StatusCode::FORBIDDEN, format!("{}\n", Foreign::Host.text())).into_response();
    }
    if head.contains_key(header::ORIGIN) {
        return (StatusCode::FORBIDDEN, "no page may do this\n").into_response();
    }
    next.run(request).await
}

#[expect(clippy::cast_precision_loss, reason = "counts far below what a float holds")]
async fn metrics(State(app): State<Arc<App>>) -> String {
    for (name, value) in [
        ("turnwire_relay_turns_open", app.usage.count(Kind::Turn)),
        ("turnwire_relay_streams_open", app.usage.count(Kind::Stream)),
        ("turnwire_relay_sockets_held", app.usage.count(Kind::Socket)),
        ("turnwire_relay_journal_bytes", app.sockets.bytes()),
        ("turnwire_relay_ring_bytes", app.hubs.bytes()),
        ("turnwire_relay_draining", usize::from(app.is_draining())),
    ] {
        metrics::gauge!(name).set(value as f64);
    }
    let until =
        app.drains_until.get().map_or(0.0, |until| until.duration_since(Instant::now()).as_secs_f64());
    metrics::gauge!("turnwire_relay_drain_left_seconds").set(until);
    // The other metrics are reported even if the log does not answer.
    if let Ok(Ok(Size { bytes, room })) = timeout(PATIENCE, app.log.size()).await {
        metrics::gauge!("turnwire_relay_log_bytes").set(bytes as f64);
        let used = if room == 0 { 0.0 } else { bytes as f64 / room as f64 };
        metrics::gauge!("turnwire_relay_log_used_ratio").set(used);
    }
    observe::rendered()
}

/// Whether the relay can take new requests: the log answers, and the process is not shutting down.
async fn ready(State(app): State<Arc<App>>) -> (StatusCode, &'static str) {
    if app.is_draining.load(Ordering::SeqCst) {
        return (StatusCode::SERVICE_UNAVAILABLE, "draining\n");
    }
    match app.log.owner(String::new(), String::new()).await {
        Ok(_) => (StatusCode::OK, "ok\n"),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the log does not answer\n"),
    }
}

/// Removes the data of a user, including held sockets, or of a session. Only the command line can remove everything.
async fn purge(State(app): State<Arc<App>>, RawQuery(query): RawQuery) -> (StatusCode, String) {
    let query = route::query(query.as_deref()).unwrap_or_default();
    let what = match query.as_slice() {
        [(name, subject)] if name == "subject" && !subject.is_empty() => {
            Some(Purge::Subject(subject.clone()))
        }
        [(name, session)] if name == "session" => Purge::session(session),
        _ => None,
    };
    let Some(what) = what else {
        return (StatusCode::BAD_REQUEST, "say whose: `subject=ID`, or `session=AGENT/SESSION`\n".to_owned());
    };
    if let Purge::Subject(subject) = &what {
        for agent in &app.agents {
            for (_, held) in app.sockets.of(&agent.config.name, subject) {
                held.end(EndReason::Stopped);
            }
        }
    }
    match app.log.purge(what).await {
        Ok(count) => (StatusCode::OK, format!("removed {count} turns\n")),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the log does not answer\n".to_owned()),
    }
}

async fn drain(State(app): State<Arc<App>>) -> StatusCode {
    app.ending.notify_one();
    StatusCode::ACCEPTED
}
