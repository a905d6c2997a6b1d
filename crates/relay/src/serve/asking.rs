//! The relay's requests to an agent about a kept turn: its start, the rest of it, its end.

use std::time::Duration;

use axum::body::Body;
use axum::http::response::Parts;
use axum::http::{HeaderMap, HeaderValue, Request as HttpRequest, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use tokio::time::{sleep, timeout};

use super::Agent;
use super::refusal::Refusal;
use crate::edge;
use crate::mutant::mutant;
use crate::route::Request;
use crate::sse::LARGEST;
use crate::turn::End;

/// How long an agent may take to end its response after the turn's last frame, or after a request to cancel.
pub(super) const FAREWELL: Duration = Duration::from_secs(5);
/// How long an agent may take to begin the rest of a turn.
const PATIENCE: Duration = Duration::from_secs(30);

/// How the agent's response begins.
pub(super) enum Asked {
    /// A stream of frames.
    Stream(Parts, Incoming),
    /// Another response, complete.
    Whole(Parts, Bytes),
    /// The agent has not begun the turn.
    NotBegun(NotBegun),
    /// No response, or none that has the rest of a turn.
    Lost,
    /// The agent no longer has the rest of the turn.
    Gone,
}

/// Why an agent has not begun a turn. Its id can be used again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotBegun {
    /// Nothing was sent to the agent.
    Unsent,
    /// The agent refused the turn.
    Refused(AgentRefusal),
}

impl NotBegun {
    /// How the turn has ended, if the agent had received its start.
    pub(super) fn end(&self) -> Option<End> {
        match self {
            Self::Unsent => None,
            Self::Refused(refusal) => Some(End::Refused { status: refusal.status.as_u16() }),
        }
    }
}

/// An agent's refusal, as it passes to callers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AgentRefusal {
    pub(super) status: StatusCode,
    pub(super) head: HeaderMap,
    pub(super) body: Bytes,
}

/// The relay's own words, where a caller would misread the agent's.
impl From<Refusal> for AgentRefusal {
    fn from(refusal: Refusal) -> Self {
        let (status, body) = refusal.into_parts();
        let head =
            [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))].into_iter().collect();
        Self { status, head, body }
    }
}

impl IntoResponse for AgentRefusal {
    fn into_response(self) -> Response {
        (self.status, self.head, self.body).into_response()
    }
}

/// Asks the agent to start a turn.
pub(super) async fn start(agent: &Agent, request: HttpRequest<Body>) -> Asked {
    let answer = match agent.client.request(request).await {
        Ok(answer) => answer,
        Err(error) if error.is_connect() => return Asked::NotBegun(NotBegun::Unsent),
        Err(_) if mutant!("called_unsent") => return Asked::NotBegun(NotBegun::Unsent),
        Err(_) => return Asked::Lost,
    };
    let (parts, body) = answer.into_parts();
    match parts.status {
        // No client has asked to switch to another protocol.
        status if status.is_informational() => return Asked::Lost,
        // A page would blame its own token.
        StatusCode::UNAUTHORIZED => return not_begun(Refusal::key().into()),
        _ if edge::is_encoded(&parts.headers) => return encoded(parts),
        _ if is_stream(&parts) => return Asked::Stream(parts, body),
        _ => {}
    }
    match Limited::new(body, LARGEST).collect().await {
        Ok(body) if has_refused(parts.status) => {
            let mut head = edge::for_caller(&parts.headers);
            // The length is written anew.
            head.remove(header::CONTENT_LENGTH);
            not_begun(AgentRefusal { status: parts.status, head, body: body.to_bytes() })
        }
        Ok(body) => Asked::Whole(parts, body.to_bytes()),
        Err(_) => Asked::Lost,
    }
}

/// Whether an answer shows that no turn has begun. After a timeout or a server's error one may have.
fn has_refused(status: StatusCode) -> bool {
    status == StatusCode::SERVICE_UNAVAILABLE
        || (status.is_client_error() && status != StatusCode::REQUEST_TIMEOUT)
}

fn not_begun(refusal: AgentRefusal) -> Asked {
    Asked::NotBegun(NotBegun::Refused(refusal))
}

/// The relay's own answer in place of one that it cannot read. The agent may have begun the turn.
fn encoded(mut parts: Parts) -> Asked {
    let AgentRefusal { status, head, body } = Refusal::encoded().into();
    (parts.status, parts.headers) = (status, head);
    Asked::Whole(parts, body)
}

/// Asks the agent for the rest of a turn, with a delay that grows with the failed attempts.
pub(super) async fn rest(agent: &Agent, request: Option<Request>, tried: u32) -> Asked {
    if tried > 0 {
        sleep(Duration::from_millis(250) * 2_u32.saturating_pow(tried - 1)).await;
    }
    let Some(request) = request.and_then(|request| agent.own(request)) else { return Asked::Lost };
    let Ok(Ok(answer)) = timeout(PATIENCE, agent.client.request(request)).await else { return Asked::Lost };
    let (parts, body) = answer.into_parts();
    match parts.status {
        StatusCode::NOT_FOUND | StatusCode::GONE | StatusCode::PRECONDITION_FAILED => Asked::Gone,
        _ if is_stream(&parts) && !edge::is_encoded(&parts.headers) => Asked::Stream(parts, body),
        _ => Asked::Lost,
    }
}

/// Asks the agent to end a turn. The response is ignored: the turn's stream shows the effect.
pub(super) fn cancel(agent: &Agent, request: Request) {
    if let Some(request) = agent.own(request) {
        tokio::spawn(timeout(FAREWELL, agent.client.request(request)));
    }
}

fn is_stream(parts: &Parts) -> bool {
    let kind = parts.headers.get(header::CONTENT_TYPE).map(|kind| kind.as_bytes().to_ascii_lowercase());
    parts.status.is_success() && kind.is_some_and(|kind| kind.starts_with(b"text/event-stream"))
}
