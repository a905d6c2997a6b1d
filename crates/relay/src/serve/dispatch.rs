//! Finds a request's agent, its caller, and its route.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};

use super::refusal::Refusal;
use super::{App, Call, access, asked, attach, control, pass, socket, socket_reader, start};
use crate::connection::Connection;
use crate::edge;
use crate::held::Words;
use crate::route::{self, Action, StartBody, Unmatched};
use crate::tunnel::{self, Tunnel};

/// The beginning of the relay's own paths, below an agent's.
const OWN: &str = "/_turnwire/v1";
/// A token in the address, for sockets only: pages cannot set their headers.
const TOKEN: &str = "access_token";

/// Answers a request.
pub(super) async fn answer(State(app): State<Arc<App>>, request: Request) -> Response {
    let mut response = handle(app, request).await.unwrap_or_else(IntoResponse::into_response);
    let head = response.headers_mut();
    head.insert(edge::RELAY, HeaderValue::from_static("1"));
    // A cache must not return one user's response to another.
    head.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

async fn handle(app: Arc<App>, request: Request) -> Result<Response, Refusal> {
    app.edge.judge(&request)?;
    let connection = Connection::of(&request);
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let (name, rest) = path
        .strip_prefix('/')
        .map(|path| path.split_at(path.find('/').unwrap_or(path.len())))
        .ok_or_else(Refusal::not_found)?;
    let agent = app.agents.iter().position(|agent| agent.config.name == name);
    let agent = agent.ok_or_else(|| {
        Refusal::new(
            StatusCode::NOT_FOUND,
            "no_agent",
            "the path begins with no agent's name of the relay's config",
        )
    })?;
    let config = &app.agents[agent].config;
    let is_socket = tunnel::is_wanted(&parts.headers);
    let mut query =
        route::query(parts.uri.query()).ok_or_else(|| Refusal::bad("the query cannot be read"))?;
    let token = query.iter().find(|(name, _)| name == TOKEN).map(|(_, token)| token.clone());
    query.retain(|(name, _)| name != TOKEN);
    let caller = app.identity.identify(&parts.headers, token.as_deref().filter(|_| is_socket)).await?;
    if let Some(own) = rest.strip_prefix(OWN) {
        return control::answer(
            asked::Asked { app: &app, agent, caller, query, head: parts.headers, connection },
            &parts.method,
            own,
        )
        .await;
    }
    let matched = config.protocol.route(&parts.method, rest).map_err(|unmatched| match unmatched {
        Unmatched::Path => {
            Refusal::new(StatusCode::NOT_FOUND, "no_route", "the agent's protocol has no such path")
        }
        Unmatched::Method => {
            Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "no_route", "the path has no such method")
        }
    })?;
    if is_socket != (matched.route.action == Action::Socket) {
        return Err(Refusal::bad("this agent's protocol opens no socket here, or opens nothing else"));
    }
    let tunnel = Tunnel::of(&mut parts, connection.clone());
    let head: HeaderMap = std::mem::take(&mut parts.headers);
    let call = Call { agent, caller, matched, query, method: parts.method, head, connection, app };
    if let Some(tunnel) = tunnel {
        return match Words::of(call.agent().config.protocol) {
            Some(words) if socket_reader::is_wanted(&call.head) => {
                socket_reader::open(call, tunnel, words).await
            }
            _ => socket::open(&call, tunnel).await,
        };
    }
    let body = collect(body, call.app.config.limits.body).await?;
    let keys = call.matched.route.keys;
    let named = match (keys, call.agent().config.is_owned) {
        ([], _) => None,
        (keys, true) => {
            Some(StartBody::read(&body, keys).and_then(|body| body.named()).map_err(Refusal::bad)?)
        }
        // Nothing is hidden from any user here, so how the agent reads the body does not matter.
        (_, false) => StartBody::any(&body).and_then(|body| body.named()).ok(),
    };
    let session = access::permit(&call, named.as_ref()).await?;
    match call.matched.route.action {
        Action::Start if call.agent().config.is_logged => start::start(&call, session, body).await,
        Action::Attach if call.agent().config.is_logged => attach::attach(&call, session, body).await,
        _ => pass::pass(&call, session, body).await,
    }
}

async fn collect(body: Body, limit: usize) -> Result<Bytes, Refusal> {
    match Limited::new(body, limit).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            let text = format!("the body has more than {limit} bytes");
            Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", text))
        }
        Err(_) => Err(Refusal::bad("the body broke off")),
    }
}
