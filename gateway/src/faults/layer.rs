//! The middleware that finds out what a request is to meet, and spoils the head of its answer.

use std::time::Duration;

use axum::body::HttpBody;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use serde::Deserialize;
use tokio::time::sleep;

use super::body::half;
use super::control::PORTAL_PATH;
use super::fault::{Fault, Instead, Refusal};
use super::grammar::Faults;
use super::injection::Injection;
use super::request::View;
use super::socket::Connection;
use crate::server::App;
use crate::truefoundry::ApiError;
use crate::{aap, agent_event, turn_rpc};

/// The header that asks for a fault.
const HEADER: &str = "x-turnwire-fault";
/// The fault that asks for none, also of those that are planned.
const NO_FAULT: &str = "none";

/// The page that a captive portal gives instead of whatever was asked for.
pub(super) const PORTAL: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>Welcome</title>\
    <body><h1>Welcome to the guest network</h1><p>Please accept the terms to go online.</p></body></html>\n";

/// The fault that an answer suffered, for the log.
#[derive(Debug, Clone)]
pub(crate) struct Injected {
    pub(crate) fault: String,
    /// Whether the answer will not be sent.
    pub(crate) unanswered: bool,
}

/// Injects what was asked for, planned, or rolled.
pub(crate) async fn inject(State(app): State<App>, request: Request, next: Next) -> Response {
    let connection = Connection::of(&request);
    let session_of = |path: &str, turn: &str| app.threads.session_of(path, turn);
    let (view, request) = View::of(request, session_of).await;
    let wanted = wanted(&app, &view, &request);
    let faults = wanted.as_ref().ok().and_then(Option::as_ref);
    let place = app.faults.plans.note(&view, faults.map(|faults| faults.text.as_str()));
    let response = match wanted {
        Err(sentence) => ApiError::invalid(sentence).into_response(),
        Ok(None) => process(&view, Vec::new(), &connection, request, next).await,
        Ok(Some(faults)) => {
            let mut response = spoiled(&view, &faults.list, &connection, request, next).await;
            let unanswered = response.extensions().get::<Unanswered>().is_some();
            response.extensions_mut().insert(Injected { fault: faults.text, unanswered });
            response
        }
    };
    if let Some(place) = place
        && response.extensions().get::<Unanswered>().is_none()
    {
        app.faults.plans.answered(&place, response.status());
    }
    response
}

#[derive(Debug, Default, Deserialize)]
struct Asked {
    fault: Option<String>,
}

/// The faults of a request: its own, or else those planned for its session, or else chance.
fn wanted(app: &App, view: &View, request: &Request) -> Result<Option<Faults>, String> {
    // A query that cannot be read at all is the business of the endpoint itself.
    let query = Query::<Asked>::try_from_uri(request.uri()).unwrap_or_default().0.fault;
    if query.as_deref() == Some(NO_FAULT) {
        return Ok(None);
    }
    let header = match request.headers().get(HEADER) {
        Some(value) => Some(value.to_str().map_err(|_| format!("Header {HEADER} must be ASCII text"))?),
        None => None,
    };
    let faults: Option<Faults> = match header.or(query.as_deref()) {
        Some(text) => Some(text.parse()?),
        None => app.faults.plans.take(view).or_else(|| app.faults.dice.as_ref()?.roll(view)),
    };
    Ok(faults.filter(|faults| !faults.list.is_empty()))
}

/// Has the request answered by its endpoint, which gets the faults of the stream.
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

/// The answer under the faults of its head.
async fn spoiled(
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
    let answer = answer.unwrap_or_else(|instead| answer_instead(instead, connection, &uri));
    faults.iter().fold(answer, |answer, fault| spoil_head(fault, answer, connection, &uri))
}

fn delay(faults: &[Fault]) -> Duration {
    let delays = faults.iter().map(|fault| match fault {
        Fault::SlowHead(delay) => *delay,
        _ => Duration::ZERO,
    });
    delays.sum()
}

fn answer_instead(instead: &Instead, connection: &Connection, uri: &Uri) -> Response {
    match instead {
        Instead::Status(refusal) => refuse(*refusal, uri),
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

fn spoil_head(fault: &Fault, mut response: Response, connection: &Connection, uri: &Uri) -> Response {
    match fault {
        Fault::LateStatus(refusal) => refuse(*refusal, uri),
        Fault::Lost => {
            connection.reset();
            Unanswered::response()
        }
        Fault::Type(value) => {
            response.headers_mut().insert(header::CONTENT_TYPE, value.clone());
            response
        }
        // In a stream it is the body that knows the fault.
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

/// A refusal in the form of the protocol that was spoken.
fn refuse(refusal: Refusal, uri: &Uri) -> Response {
    let message = format!("{}, on purpose", refusal.status);
    let path = uri.path();
    let mut response = agent_event::refusal(path, refusal.status, &message)
        .or_else(|| aap::refusal(path, refusal.status, &message))
        .or_else(|| turn_rpc::refusal(path, refusal.status, &message))
        .unwrap_or_else(|| ApiError::new(refusal.status, "injected_fault", message).into_response());
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
    let no_fault = format!("fault={NO_FAULT}");
    let query: Vec<&str> = others.chain([no_fault.as_str()]).collect();
    format!("{}?{}", uri.path(), query.join("&"))
}

/// Marks the stand-in for an answer that the broken connection will not carry.
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
