//! Relays whose clients meet faults: what is asked below `/relay` passes to a `turnwire-relay`, and its streams are edited as the
//! gateway's own are. Several relays take turns, as behind a balancer. The agents behind them may be another gateway, with faults
//! of its own.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderName, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use bytes::{Bytes, BytesMut};
use futures_util::stream::unfold;
use futures_util::{Stream, StreamExt};
use serde_json::json;
use turnwire_relay::Upstream;
use turnwire_relay::development::Relay;

use crate::context;
use crate::faults::{Forge, On, Surface};
use crate::http::{Output, write};
use crate::lock::lock;
use crate::protocol::Protocol;

/// What the paths begin with.
const BASE: &str = "/relay";
/// Where in a route the agent's name ends.
const AGENT: &str = "/relay/{agent}";
/// The header in which a start names its turn.
const TURN: &str = "turnwire-turn";

/// What a relay says in the heads of its answers, which pages must be able to read.
pub(crate) const HEADERS: [HeaderName; 3] = [
    HeaderName::from_static("turnwire-relay"),
    HeaderName::from_static(TURN),
    HeaderName::from_static("turnwire-log"),
];

/// The session of each turn that was started, by the turn's id.
#[derive(Debug, Default)]
struct Turns(Mutex<HashMap<String, String>>);

type App = context::App<Turns>;

/// The paths below `/relay`, of which there are none without relays.
pub(crate) fn protocol(relays: &[Upstream]) -> Protocol {
    let turns = Arc::<Turns>::default();
    let relays: Vec<Relay> = relays.iter().cloned().map(Relay::unguarded).collect();
    Protocol {
        addresses: "",
        surface: Box::new(Relayed(Arc::clone(&turns))),
        routes: Box::new(move |app| {
            let routes = if relays.is_empty() { Router::new() } else { routes(relays) };
            routes.with_state(app.with(turns))
        }),
    }
}

/// A relay as the faults see it: the protocols whose turns it keeps.
#[derive(Debug)]
struct Relayed(Arc<Turns>);

impl Surface for Relayed {
    fn speaks(&self, path: &str) -> bool {
        path.strip_prefix(BASE).is_some_and(|rest| rest.starts_with('/'))
    }

    fn classify(&self, method: &Method, route: &str) -> Option<On> {
        match (method.as_str(), route.strip_prefix(AGENT)?) {
            ("POST", "/sessions/{session}/turns" | "/v1/runs") => Some(On::Create),
            ("GET", "/_turnwire/v1/turns/{turn}/events") => Some(On::Subscribe),
            ("GET", "/_turnwire/v1/turns") => Some(On::Turns),
            ("DELETE", "/_turnwire/v1/turns/{turn}") => Some(On::Cancel),
            ("GET", "/sessions/{session}/history" | "/v1/threads/{session}/messages") => {
                Some(On::SessionEvents)
            }
            ("GET", "/sessions/{session}" | "/v1/threads/{session}") => Some(On::Session),
            _ => None,
        }
    }

    fn session_of(&self, _path: &str, turn: Option<&str>) -> Option<String> {
        lock(&self.0.0).get(turn?).cloned()
    }

    /// AAP's modes of streams are words.
    fn streams(&self, stream: Option<&serde_json::Value>) -> bool {
        stream.and_then(|mode| mode.as_str()) != Some("none")
    }

    fn refuse(&self, status: StatusCode, message: String) -> Response {
        (status, axum::Json(json!({ "error": message, "code": "on_purpose" }))).into_response()
    }
}

/// All paths below `/relay`. Those that the faults know have routes of their own.
fn routes(relays: Vec<Relay>) -> Router<App> {
    let asked = Arc::new(AtomicUsize::new(0));
    let answer = any(move |State(app): State<App>, output: Output, request: Request| {
        let relay = relays[asked.fetch_add(1, Ordering::Relaxed) % relays.len()].clone();
        async move { pass(&relay, &app, output, request).await }
    });
    let known = [
        "/sessions/{session}/turns",
        "/sessions/{session}/history",
        "/sessions/{session}",
        "/v1/runs",
        "/v1/threads/{session}/messages",
        "/v1/threads/{session}",
        "/_turnwire/v1/turns",
        "/_turnwire/v1/turns/{turn}",
        "/_turnwire/v1/turns/{turn}/events",
        "/{*rest}",
    ];
    let route = |routes: Router<App>, path: &&str| routes.route(&format!("{AGENT}{path}"), answer.clone());
    known.iter().fold(Router::new(), route)
}

/// Passes a request on. The answer's stream, if it is one, is written under the request's faults.
async fn pass(relay: &Relay, app: &App, output: Output, mut request: Request) -> Response {
    let named = request.headers().get(TURN).and_then(|turn| turn.to_str().ok()).map(str::to_owned);
    if let Some(turn) = &named {
        let session = output.injection.session().to_owned();
        lock(&app.own.0).insert(turn.clone(), session);
    }
    let turn = named.or_else(|| turn_in(request.uri().path())).unwrap_or_default();
    *request.uri_mut() = address(request.uri(), |after| output.injection.cursor(after));
    let answer = relay.pass(request).await;
    let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
        return answer;
    }
    let (mut head, body) = answer.into_parts();
    head.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(head, write(&turn, frames(body), output, &app.faults, Agents))
}

/// The turn in a path such as `…/turns/ID/events`.
fn turn_in(path: &str) -> Option<String> {
    path.strip_suffix("/events")?.rsplit('/').next().map(str::to_owned)
}

/// The relay's own address of a request, whose stream begins elsewhere if a fault says so.
fn address(uri: &Uri, cursor: impl Fn(u64) -> u64) -> Uri {
    let path = uri.path().strip_prefix(BASE).unwrap_or_default();
    let pairs = uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.filter(|pair| !pair.starts_with("fault=")).map(|pair| {
        let after = pair.strip_prefix("after=").and_then(|after| after.parse().ok());
        after.map_or_else(|| pair.to_owned(), |after| format!("after={}", cursor(after)))
    });
    let query = pairs.collect::<Vec<String>>().join("&");
    let target = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
    PathAndQuery::try_from(target).map_or_else(|_| uri.clone(), Uri::from)
}

/// The whole frames of a stream, as they come. What a broken stream leaves of a frame is not among them: its connection is
/// being reset.
fn frames(body: Body) -> impl Stream<Item = Bytes> + Send {
    let parts = (body.into_data_stream(), BytesMut::new());
    unfold(parts, |(mut body, mut kept)| async move {
        loop {
            let end = kept.windows(2).rposition(|pair| pair == b"\n\n").map(|at| at + 2);
            if let Some(end) = end {
                return Some((kept.split_to(end).freeze(), (body, kept)));
            }
            match body.next().await {
                Some(Ok(bytes)) => kept.extend_from_slice(&bytes),
                _ => return None,
            }
        }
    })
}

/// Imitates the frames of the agents, as the relay numbers them: a piece of a text, wherever something is made up.
struct Agents;

impl Forge for Agents {
    fn is_last(&self, frame: &[u8]) -> bool {
        let mut lines = frame.split(|&byte| byte == b'\n');
        lines.any(|line| line == b"event: turn_stop" || line.starts_with(b"data: {\"type\":\"run_finish\""))
    }

    fn beginning(&self, number: u64) -> Vec<u8> {
        self.delta(number)
    }

    fn delta(&self, number: u64) -> Vec<u8> {
        let data = json!({ "type": "text_delta", "delta": " too late", "data": { "delta": " too late" } });
        format!("id: {number}\nevent: text_delta\ndata: {data}\n\n").into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(uri: &str, restarts: bool) -> String {
        address(&uri.parse().expect("a URI"), |after| if restarts { 0 } else { after }).to_string()
    }

    #[test]
    fn a_request_keeps_its_query_but_for_the_fault_and_the_place() {
        for (uri, restarts, expected) in [
            ("/relay/aap/meta", false, "/aap/meta"),
            ("/relay/aap/x?a=b&fault=eof:3", false, "/aap/x?a=b"),
            (
                "/relay/a/_turnwire/v1/turns/t/events?after=7&log=00",
                false,
                "/a/_turnwire/v1/turns/t/events?after=7&log=00",
            ),
            (
                "/relay/a/_turnwire/v1/turns/t/events?after=7&log=00",
                true,
                "/a/_turnwire/v1/turns/t/events?after=0&log=00",
            ),
        ] {
            assert_eq!(asked(uri, restarts), expected);
        }
    }

    #[test]
    fn the_ends_of_both_protocols_are_known() {
        assert!(Agents.is_last(b"id: 9\nevent: turn_stop\ndata: {}\n\n"));
        assert!(Agents.is_last(b"id: 9\ndata: {\"type\":\"run_finish\",\"seq\":4}\n\n"));
        assert!(!Agents.is_last(b"id: 9\nevent: text_delta\ndata: {\"delta\":\"turn_stop\"}\n\n"));
    }

    #[tokio::test]
    async fn frames_come_whole() {
        let pieces = ["id: 1\nda", "ta: a\n\nid: 2\ndata: b\n\n", "id: 3\nda"];
        let body =
            Body::from_stream(futures_util::stream::iter(pieces.map(Ok::<_, std::convert::Infallible>)));
        let read: Vec<Bytes> = frames(body).collect().await;
        assert_eq!(read, ["id: 1\ndata: a\n\nid: 2\ndata: b\n\n"]);
    }
}
