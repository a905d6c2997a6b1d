//! The outermost middleware. It knows which connections have an active request, and closes them after the response if
//! the next request must use a new connection.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use turnwire_relay::connection::Connection;

use super::injection::FaultState;
use crate::guarded::Guarded;

/// Follows a request to the end of its answer.
pub(crate) async fn follow(State(faults): State<Arc<FaultState>>, request: Request, next: Next) -> Response {
    let connection = Connection::of(&request);
    let active = connection.begin_request();
    let mut response = next.run(request).await;
    let upgrades = response.status() == StatusCode::SWITCHING_PROTOCOLS;
    if !upgrades && (connection.is_retired() || faults.leave_no_answer()) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    // It is active until its body is written or dropped.
    response.map(|body| Guarded::body(body, active))
}
