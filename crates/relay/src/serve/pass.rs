//! Passes a request that is not kept to the agent, and the response back.

use axum::body::Body;
use axum::http::{HeaderValue, Response as HttpResponse, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use serde_json::Value;

use super::Call;
use super::access::Session;
use super::refusal::Refusal;
use crate::edge;
use crate::limits::Kind;
use crate::log::Purge;
use crate::passing::Passing;
use crate::route::Action;

/// The largest response that is read here: a list of sessions, or a new session.
const LARGEST: usize = 16 << 20;

pub(super) async fn pass(call: &Call, session: Option<Session>, body: Bytes) -> Result<Response, Refusal> {
    let agent = call.agent();
    let (action, subject) = (call.matched.route.action, &call.caller.subject);
    if action == Action::Start {
        call.app.usage.start(subject)?;
    }
    let streams = matches!(action, Action::Start | Action::Stream | Action::Attach);
    let stream = streams.then(|| call.app.usage.take(Kind::Stream, subject)).transpose()?;
    if let Some(session) = &session {
        session.own(&*call.app.log, &agent.config.name, subject).await?;
    }
    let target = call.matched.target(&call.query);
    let head = edge::for_agent(&call.head, false);
    let request = agent.request(call.method.clone(), &target, head, body).ok_or_else(Refusal::not_found)?;
    let answer = agent
        .client
        .request(request)
        .await
        .map_err(|error| if error.is_connect() { Refusal::unsent() } else { Refusal::unanswered() })?;
    if answer.status() == StatusCode::UNAUTHORIZED {
        return Err(Refusal::key());
    }
    if answer.status().is_informational() {
        // No client has asked to switch to another protocol.
        return Err(Refusal::unanswered());
    }
    if edge::is_encoded(answer.headers()) {
        return Err(Refusal::encoded());
    }
    let (is_owned, is_good) = (agent.config.is_owned, answer.status().is_success());
    match action {
        Action::Create(pointer) if is_owned && is_good => created(call, answer, pointer).await,
        Action::List(list, id) if is_owned && is_good => listed(call, answer, list, id).await,
        Action::Delete if is_owned && is_good => {
            if let Some(session) = session {
                let (upstream, session) = (agent.config.name.clone(), session.id().to_owned());
                let purged = Purge::Session { upstream: upstream.clone(), session: session.clone() };
                call.app.log.purge(purged).await?;
                call.app.log.disown(upstream, session).await?;
            }
            Ok(passed(call, answer, stream))
        }
        _ => Ok(passed(call, answer, stream)),
    }
}

/// The response as it arrives.
fn passed(call: &Call, answer: HttpResponse<Incoming>, stream: Option<crate::limits::InUse>) -> Response {
    let (parts, body) = answer.into_parts();
    let is_stream = parts
        .headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    // As with kept turns, no stream outlives the caller's token.
    let body = Passing::new(body, call.connection.clone()).at_most(call.caller.stays());
    let body = match stream {
        Some(stream) => Body::new(body.holding(stream)),
        None => Body::new(body),
    };
    let mut response = Response::new(body);
    *response.status_mut() = parts.status;
    *response.headers_mut() = edge::for_caller(&parts.headers);
    if is_stream {
        unbuffered(&mut response);
    }
    response
}

/// Asks proxies to pass each frame on at once.
pub(super) fn unbuffered(response: &mut Response) {
    let head = response.headers_mut();
    head.insert("x-accel-buffering", HeaderValue::from_static("no"));
    head.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
}

/// Records the owner of a new session.
async fn created(call: &Call, answer: HttpResponse<Incoming>, pointer: &str) -> Result<Response, Refusal> {
    let (parts, body) = read(answer).await?;
    let value: Value = serde_json::from_slice(&body).map_err(|_| Refusal::unanswered())?;
    let session = value.pointer(pointer).and_then(Value::as_str).ok_or_else(Refusal::unanswered)?;
    let subject = call.caller.subject.to_string();
    // The agent has made the session: the error must not suggest that the request can be repeated.
    let owner = call.app.log.own(call.agent().config.name.clone(), session.to_owned(), subject).await;
    let owner = owner.map_err(|_| Refusal::unanswered())?;
    // An agent that reuses an id would show one user's session to another.
    if owner != *call.caller.subject {
        return Err(Refusal::new(
            StatusCode::BAD_GATEWAY,
            "session_taken",
            "the agent made a session that another user has",
        ));
    }
    Ok(whole(&parts, body))
}

/// Keeps in a list what belongs to the caller.
async fn listed(
    call: &Call,
    answer: HttpResponse<Incoming>,
    list: &str,
    id: &str,
) -> Result<Response, Refusal> {
    let (parts, body) = read(answer).await?;
    let mut value: Value = serde_json::from_slice(&body).map_err(|_| Refusal::unanswered())?;
    let items = value.pointer_mut(list).and_then(Value::as_array_mut).ok_or_else(Refusal::unanswered)?;
    let mut own = Vec::new();
    for item in std::mem::take(items) {
        let Some(session) = item.pointer(id).and_then(Value::as_str) else { continue };
        let owner = call.app.log.owner(call.agent().config.name.clone(), session.to_owned()).await?;
        if owner.as_deref() == Some(&*call.caller.subject) {
            own.push(item);
        }
    }
    *items = own;
    if let Some(total) = value.get_mut("total") {
        // Callers do not learn the number of all users' sessions.
        *total = Value::Null;
    }
    Ok(whole(&parts, value.to_string().into()))
}

async fn read(answer: HttpResponse<Incoming>) -> Result<(axum::http::response::Parts, Bytes), Refusal> {
    let (parts, body) = answer.into_parts();
    let body = Limited::new(body, LARGEST).collect().await.map_err(|_| Refusal::unanswered())?;
    Ok((parts, body.to_bytes()))
}

fn whole(parts: &axum::http::response::Parts, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = parts.status;
    *response.headers_mut() = edge::for_caller(&parts.headers);
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.headers_mut().remove(header::ETAG);
    response
}
