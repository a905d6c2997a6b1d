//! The middleware that looks up the faults of a request, and applies those of its answer's head.

use std::sync::Arc;
use std::time::Duration;

use axum::body::HttpBody;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use serde::Deserialize;
use tokio::time::sleep;
use turnwire_relay::connection::Connection;

use super::body::half;
use super::fault::{Fault, Instead, Refusal};
use super::grammar::{Faults, NONE};
use super::injection::{FaultState, Injection};
use super::request::View;
use crate::error::ApiError;

/// The header that requests a fault.
const HEADER: &str = "x-turnwire-fault";
/// Where the page of the captive portal is.
pub(crate) const PORTAL_PATH: &str = "/_gateway/portal";
/// The page of a captive portal, which answers every request with it.
pub(crate) const PORTAL: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>Welcome</title>\
    <body><h1>Welcome to the guest network</h1><p>Please accept the terms to go online.</p></body></html>\n";

/// The fault that was injected into an answer, for the log.
#[derive(Debug, Clone)]
pub(crate) struct Injected {
    pub(crate) fault: String,
    /// Whether the answer will not be sent.
    pub(crate) unanswered: bool,
}

/// Injects the faults that were requested, planned, or chosen at random.
pub(crate) async fn inject(State(state): State<Arc<FaultState>>, request: Request, next: Next) -> Response {
    let connection = Connection::of(&request);
    let path = request.uri().path().to_owned();
    let (view, request) = View::of(request, state.surface(&path)).await;
    let wanted = wanted(&state, &view, &request);
    let faults = wanted.as_ref().ok().and_then(Option::as_ref);
    let place = state.plans.note(&view, faults.map(|faults| faults.text.as_str()));
    let response = match wanted {
        Err(sentence) => ApiError::invalid(sentence).into_response(),
        Ok(None) => process(&view, Vec::new(), &connection, request, next).await,
        Ok(Some(faults)) => {
            let mut response = with_faults(&state, &view, &faults.list, &connection, request, next).await;
            let unanswered = response.extensions().get::<Unanswered>().is_some();
            response.extensions_mut().insert(Injected { fault: faults.text, unanswered });
            response
        }
    };
    if let Some(place) = place
        && response.extensions().get::<Unanswered>().is_none()
    {
        state.plans.answered(&place, response.status());
    }
    response
}

#[derive(Debug, Default, Deserialize)]
struct Asked {
    fault: Option<String>,
}

/// The faults of a request: its own, or else those planned for its session, or else chance.
fn wanted(state: &FaultState, view: &View, request: &Request) -> Result<Option<Faults>, String> {
    // An unreadable query is left to the endpoint.
    let query = Query::<Asked>::try_from_uri(request.uri()).unwrap_or_default().0.fault;
    if query.as_deref() == Some(NONE) {
        return Ok(None);
    }
    let header = match request.headers().get(HEADER) {
        Some(value) => Some(value.to_str().map_err(|_| format!("Header {HEADER} must be ASCII text"))?),
        None => None,
    };
    let faults: Option<Faults> = match header.or(query.as_deref()) {
        Some(text) => Some(state.grammar.parse(text)?),
        None => state.plans.take(view).or_else(|| state.dice.as_ref()?.roll(&state.grammar, view)),
    };
    Ok(faults.filter(|faults| !faults.list.is_empty()))
}

/// Passes the request to its endpoint, which gets the faults of the stream.
async fn process(
    view: &View,
    faults: Vec<Fault>,
    connection: &Connection,
    mut request: Request,
    next: Next,
) -> Response {
    let session = view.session.clone().unwrap_or_default();
    request.extensions_mut().insert(Injection { faults, session, connection: connection.clone() });
    next.run(request).await
}

/// The response with the faults of its head.
async fn with_faults(
    state: &FaultState,
    view: &View,
    faults: &[Fault],
    connection: &Connection,
    request: Request,
    next: Next,
) -> Response {
    let uri = request.uri().clone();
    let instead = faults.iter().find_map(|fault| match fault {
        Fault::Instead(instead) => Some(instead),
        _ => None,
    });
    let answer = match instead {
        Some(instead) => Err(instead),
        None => Ok(process(view, faults.to_vec(), connection, request, next).await),
    };
    sleep(delay(faults)).await;
    let answer = answer.unwrap_or_else(|instead| answer_instead(state, instead, connection, &uri));
    faults.iter().fold(answer, |answer, fault| apply_to_head(state, fault, answer, connection, &uri))
}

fn delay(faults: &[Fault]) -> Duration {
    let delays = faults.iter().map(|fault| match fault {
        Fault::SlowHead(delay) => *delay,
        _ => Duration::ZERO,
    });
    delays.sum()
}

fn answer_instead(state: &FaultState, instead: &Instead, connection: &Connection, uri: &Uri) -> Response {
    match instead {
        Instead::Status(refusal) => refuse(state, *refusal, uri),
        Instead::TextStatus(status) => (*status, format!("{status}, on purpose\n")).into_response(),
        Instead::Nothing => {
            connection.close();
            Unanswered::response()
        }
        Instead::Portal => Html(PORTAL).into_response(),
        Instead::Redirect => redirect(StatusCode::TEMPORARY_REDIRECT, &without_faults(uri)),
        Instead::RedirectPortal => redirect(StatusCode::FOUND, PORTAL_PATH),
    }
}

fn apply_to_head(
    state: &FaultState,
    fault: &Fault,
    mut response: Response,
    connection: &Connection,
    uri: &Uri,
) -> Response {
    match fault {
        Fault::LateStatus(refusal) => refuse(state, *refusal, uri),
        Fault::Lost => {
            connection.reset();
            Unanswered::response()
        }
        Fault::Type(value) => {
            response.headers_mut().insert(header::CONTENT_TYPE, value.clone());
            response
        }
        // Only the body knows the fault of a stream.
        Fault::Half(_) if is_stream(response.headers()) => response,
        Fault::Half(bytes) => {
            if let Some(length) = response.body().size_hint().exact() {
                response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
            }
            response.map(|body| half(body, *bytes, connection.clone()))
        }
        _ => response,
    }
}

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// A refusal in the form of the request's protocol.
fn refuse(state: &FaultState, refusal: Refusal, uri: &Uri) -> Response {
    let message = format!("{}, on purpose", refusal.status);
    let mut response = match state.surface(uri.path()) {
        Some(surface) => surface.refuse(refusal.status, message),
        None => (refusal.status, message).into_response(),
    };
    if let Some(seconds) = refusal.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn redirect(status: StatusCode, location: &str) -> Response {
    (status, [(header::LOCATION, location)]).into_response()
}

/// The same path and query, with the fault `none`, which also overrules the header and the plan.
fn without_faults(uri: &Uri) -> String {
    let pairs = uri.query().unwrap_or_default().split('&');
    let others = pairs.filter(|pair| !pair.is_empty() && !pair.starts_with("fault="));
    let no_fault = format!("fault={NONE}");
    let query: Vec<&str> = others.chain([no_fault.as_str()]).collect();
    format!("{}?{}", uri.path(), query.join("&"))
}

/// Marks the placeholder for a response that the broken connection will not carry.
#[derive(Debug, Clone, Copy)]
struct Unanswered;

impl Unanswered {
    fn response() -> Response {
        let mut response = Response::default();
        response.extensions_mut().insert(Self);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_leads_to_the_same_address_without_faults() {
        for (from, to) in [
            ("/a/b", "/a/b?fault=none"),
            ("/a?fault=redirect", "/a?fault=none"),
            ("/a?limit=3&fault=redirect&order=asc", "/a?limit=3&order=asc&fault=none"),
        ] {
            assert_eq!(without_faults(&from.parse().expect("a URI")), to);
        }
    }
}
