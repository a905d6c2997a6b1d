//! What a request is about, seen before it is processed.

use axum::RequestExt;
use axum::body::{Body, to_bytes};
use axum::extract::{MatchedPath, Query, RawPathParams, Request};
use axum::http::{HeaderMap, Method, Uri, header};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{aap, turn_rpc};

/// The largest body that is looked into; what it says counts as unknown in larger ones.
const BODY_LIMIT: u64 = 1024 * 1024;

/// What a request does, or requests of several kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum On {
    /// A turn is made.
    Create,
    /// A turn is followed.
    Subscribe,
    /// Either of the two, if the answer is an event stream.
    Stream,
    /// One turn is read.
    Turn,
    /// Turns are listed.
    Turns,
    /// The events of a turn are listed.
    TurnEvents,
    /// The events of a session are listed.
    SessionEvents,
    /// A session is read.
    Session,
    /// A session's last turn is cancelled.
    Cancel,
    /// What a turn asked is answered.
    Answer,
    /// A WebSocket is opened.
    Connect,
    /// Any request of a session.
    Any,
}

impl On {
    /// What the requests of a route do, by its path such as `…/{session}/turns/{turn}`, or
    /// `…/runs/{turn}` where a turn is named without its session.
    fn of(method: &Method, route: &str) -> Option<Self> {
        if let Some((_, rest)) = route.split_once("/v1/runs") {
            return Self::of_run(method, rest);
        }
        if turn_rpc::speaks(route) {
            return Some(Self::Connect);
        }
        let (before, rest) = route.split_once("{session}")?;
        match (method.as_str(), rest) {
            ("GET", "/events") if before.ends_with("/v1/threads/") => Some(Self::TurnEvents),
            ("POST", "/turns") => Some(Self::Create),
            ("GET" | "POST", "/turns/{turn}/subscribe") | ("GET", "/events/stream") => Some(Self::Subscribe),
            ("GET", "/turns/{turn}" | "/runs/latest" | "/runs/active") => Some(Self::Turn),
            ("GET", "/turns" | "/runs") => Some(Self::Turns),
            ("GET", "/turns/{turn}/events") => Some(Self::TurnEvents),
            ("GET", "/events" | "/messages" | "/history") => Some(Self::SessionEvents),
            ("GET", "") => Some(Self::Session),
            ("POST", "/decision") => Some(Self::Answer),
            ("POST", "/cancel" | "/interrupt") => Some(Self::Cancel),
            _ => None,
        }
    }

    fn of_run(method: &Method, rest: &str) -> Option<Self> {
        match (method.as_str(), rest) {
            ("POST", "") => Some(Self::Create),
            ("GET", "") => Some(Self::Turns),
            ("GET", "/{turn}") => Some(Self::Turn),
            ("GET", "/{turn}/events") => Some(Self::TurnEvents),
            ("GET", "/{turn}/events/stream") => Some(Self::Subscribe),
            ("POST", "/{turn}/inputs" | "/{turn}/decision") => Some(Self::Answer),
            ("POST", "/{turn}/cancel") => Some(Self::Cancel),
            _ => None,
        }
    }
}

/// A request, as far as faults care.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The session that the request belongs to.
    pub(crate) session: Option<String>,
    /// `None` for requests that no plan can name.
    pub(crate) on: Option<On>,
    /// Whether an event stream is asked for.
    pub(crate) streaming: bool,
    /// The sequence number after which a stream is to begin.
    pub(crate) after: Option<u64>,
}

impl View {
    /// Looks at a request and gives it back unchanged. `session_of` finds the session of a turn that
    /// a path names alone.
    pub(crate) async fn of(
        mut request: Request,
        session_of: impl Fn(&str, &str) -> Option<String>,
    ) -> (Self, Request) {
        let route = request.extensions().get::<MatchedPath>();
        let on = route.and_then(|route| On::of(request.method(), route.as_str()));
        let session = match request.extract_parts::<RawPathParams>().await {
            Ok(params) => {
                let param = |wanted| params.iter().find(|(name, _)| *name == wanted).map(|(_, id)| id);
                let of_turn = |turn: &str| session_of(request.uri().path(), turn);
                param("session").map(str::to_owned).or_else(|| of_turn(param("turn")?))
            }
            Err(_) => None,
        };
        let mut view = Self {
            method: request.method().to_string(),
            path: request.uri().path().to_owned(),
            session,
            on,
            streaming: matches!(on, Some(On::Subscribe | On::Connect)),
            after: None,
        };
        if on == Some(On::Connect) {
            view.session = Some(turn_rpc::SOCKETS.to_owned());
        }
        if on == Some(On::Create) || on == Some(On::Subscribe) {
            let wish;
            (wish, request) = Wish::of(request).await;
            if on == Some(On::Create) {
                view.streaming = wish.streams(&view.path);
                view.session = view.session.or(wish.thread);
            } else if !view.path.ends_with("/events/stream") {
                // Those streams have cursors that are no numbers.
                view.after = wish.cursor(request.uri(), request.headers());
            }
        }
        if on == Some(On::Turns) && view.session.is_none() {
            let query = Query::<Listed>::try_from_uri(request.uri()).unwrap_or_default().0;
            view.session = query.thread_id;
        }
        (view, request)
    }

    /// Whether a plan for this kind of requests is meant.
    pub(crate) fn fits(&self, on: On) -> bool {
        match on {
            On::Any => true,
            On::Stream => self.streaming,
            on => self.on == Some(on),
        }
    }
}

/// What the query says of the turns that are wanted.
#[derive(Debug, Default, Deserialize)]
struct Listed {
    thread_id: Option<String>,
}

/// What the body says of the stream that is wanted.
#[derive(Debug, Default, Deserialize)]
struct Wish {
    /// Whether events are wanted, or which.
    stream: Option<Value>,
    /// The session, where clients choose its id.
    #[serde(rename = "threadId", alias = "thread_id", alias = "contextId", alias = "context_id")]
    thread: Option<String>,
    after_sequence_number: Option<u64>,
}

impl Wish {
    /// A body that is too large, or no JSON, says nothing here; the endpoint will judge it.
    async fn of(request: Request) -> (Self, Request) {
        let length = request.headers().get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if length.is_none_or(|length| length > BODY_LIMIT) {
            return (Self::default(), request);
        }
        let (parts, body) = request.into_parts();
        // It fails only if the client leaves, who does not need an answer either.
        let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
        let wish = serde_json::from_slice(&bytes).unwrap_or_default();
        (wish, Request::from_parts(parts, Body::from(bytes)))
    }

    /// Whether an event stream is wanted. Without a word of it that depends on the protocol.
    fn streams(&self, path: &str) -> bool {
        match &self.stream {
            Some(Value::Bool(stream)) => *stream,
            Some(Value::String(mode)) => aap::is_stream(mode),
            _ => !aap::speaks(path),
        }
    }

    /// The cursor, wherever it stands; 0 if nowhere.
    fn cursor(&self, uri: &Uri, headers: &HeaderMap) -> Option<u64> {
        let in_header = || headers.get("last-event-id")?.to_str().ok()?.trim().parse().ok();
        let in_query = || Query::<Self>::try_from_uri(uri).ok()?.after_sequence_number;
        self.after_sequence_number.or_else(in_header).or_else(in_query).or(Some(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_of_both_surfaces_are_known() {
        for (method, route, on) in [
            ("POST", "/{tenant}/v1/agents/sessions/{session}/turns", Some(On::Create)),
            ("GET", "/api/v1/sessions/{session}/turns/{turn}/subscribe", Some(On::Subscribe)),
            ("GET", "/{tenant}/v1/agents/draft-sessions/{session}", Some(On::Session)),
            ("DELETE", "/api/v1/sessions/{session}", None),
            ("POST", "/{tenant}/v1/agents/sessions", None),
            ("POST", "/tirea/v1/runs", Some(On::Create)),
            ("POST", "/tirea/v1/runs/{turn}/inputs", Some(On::Answer)),
            ("GET", "/tirea/v1/threads/{session}/messages", Some(On::SessionEvents)),
            ("GET", "/awaken/v1/threads/{session}/events", Some(On::TurnEvents)),
            ("GET", "/awaken/v1/runs/{turn}/events/stream", Some(On::Subscribe)),
            ("POST", "/awaken/v1/threads/{session}/interrupt", Some(On::Cancel)),
            ("POST", "/aap/sessions/{session}/turns", Some(On::Create)),
            ("GET", "/aap/sessions/{session}/history", Some(On::SessionEvents)),
            ("GET", "/aap/sessions/{session}", Some(On::Session)),
            ("GET", "/turn-rpc", Some(On::Connect)),
        ] {
            assert_eq!(On::of(&method.parse().expect("a method"), route), on, "{method} {route}");
        }
    }

    #[tokio::test]
    async fn the_body_is_looked_into_and_kept() {
        let body = r#"{"after_sequence_number":7,"stream":false}"#;
        let request = Request::post("/x").header("content-length", body.len()).body(Body::from(body));
        let (wish, request) = Wish::of(request.expect("a request")).await;
        assert_eq!((wish.streams("/x"), wish.after_sequence_number), (false, Some(7)));
        let kept = to_bytes(request.into_body(), 100).await.expect("a body");
        assert_eq!(kept, body.as_bytes());
    }

    #[test]
    fn a_stream_is_wanted_by_a_flag_a_mode_or_by_silence() {
        let streams =
            |body: &str, path: &str| serde_json::from_str::<Wish>(body).expect("a wish").streams(path);
        let turns = "/aap/sessions/s/turns";
        assert!(streams("{}", "/acme/v1/agents/sessions/s/turns"));
        assert!(!streams(r#"{"stream":false}"#, "/acme/v1/agents/sessions/s/turns"));
        assert!(!streams("{}", turns));
        for (mode, streaming) in [("delta", true), ("message", true), ("none", false), ("weird", false)] {
            assert_eq!(streams(&format!(r#"{{"stream":"{mode}"}}"#), turns), streaming, "{mode}");
        }
    }

    #[test]
    fn a_cursor_may_stand_in_three_places() {
        let uri: Uri = "/x?after_sequence_number=3".parse().expect("a URI");
        let headers: HeaderMap =
            [("last-event-id".parse().expect("a name"), "5".parse().expect("a value"))].into_iter().collect();
        let body = Wish { after_sequence_number: Some(9), ..Wish::default() };
        assert_eq!(body.cursor(&uri, &headers), Some(9));
        assert_eq!(Wish::default().cursor(&uri, &headers), Some(5));
        assert_eq!(Wish::default().cursor(&uri, &HeaderMap::new()), Some(3));
        assert_eq!(Wish::default().cursor(&Uri::from_static("/x"), &HeaderMap::new()), Some(0));
    }
}
