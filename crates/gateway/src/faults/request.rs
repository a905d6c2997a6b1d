//! What a request does, determined before it is processed.

use axum::RequestExt;
use axum::body::{Body, to_bytes};
use axum::extract::{MatchedPath, Query, RawPathParams, Request};
use axum::http::{HeaderMap, Method, Uri, header};
use serde::Deserialize;
use serde_json::Value;

use super::surface::{On, Surface};

/// The largest body that is read here; the content of larger ones counts as unknown.
const BODY_LIMIT: u64 = 1024 * 1024;

/// A request, as faults see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The session that the request belongs to.
    pub(crate) session: Option<String>,
    /// `None` for requests that no plan can name.
    pub(crate) on: Option<On>,
    /// Whether an event stream is requested.
    pub(crate) streaming: bool,
    /// The sequence number after which a stream is to begin.
    pub(crate) after: Option<u64>,
}

impl View {
    /// Looks at a request and returns it unchanged.
    pub(super) async fn of(mut request: Request, surface: Option<&dyn Surface>) -> (Self, Request) {
        let route = request.extensions().get::<MatchedPath>();
        let on = surface
            .zip(route)
            .and_then(|(surface, route)| surface.classify(request.method(), route.as_str()));
        let session = match request.extract_parts::<RawPathParams>().await {
            Ok(params) => {
                let param = |wanted| params.iter().find(|(name, _)| *name == wanted).map(|(_, id)| id);
                let of_turn = || surface?.session_of(request.uri().path(), param("turn"));
                param("session").map(str::to_owned).or_else(of_turn)
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
        let is_stream = on == Some(On::Create) || on == Some(On::Subscribe);
        let is_unnamed = on.is_some() && view.session.is_none() && *request.method() == Method::POST;
        if is_stream || is_unnamed {
            let mut options;
            (options, request) = StreamOptions::of(request).await;
            view.session = view.session.or(options.thread.take());
            if on == Some(On::Create) {
                view.streaming = surface.is_some_and(|surface| surface.streams(options.stream.as_ref()));
            } else if on == Some(On::Subscribe) && !view.path.ends_with("/events/stream") {
                // Those streams have cursors that are not numbers.
                view.after = options.cursor(request.uri(), request.headers());
            }
        }
        if on == Some(On::Turns) && view.session.is_none() {
            let query = Query::<Listed>::try_from_uri(request.uri()).unwrap_or_default().0;
            view.session = query.thread_id;
        }
        (view, request)
    }

    /// Whether a plan for this kind of request applies.
    pub(crate) fn fits(&self, on: On) -> bool {
        match on {
            On::Any => true,
            On::Stream => self.streaming,
            on => self.on == Some(on),
        }
    }
}

/// The query of a list of turns.
#[derive(Debug, Default, Deserialize)]
struct Listed {
    #[serde(alias = "session")]
    thread_id: Option<String>,
}

/// The options of a stream in a body.
#[derive(Debug, Default, Deserialize)]
struct StreamOptions {
    /// Whether events are wanted, or which.
    stream: Option<Value>,
    /// The session, where clients choose its id.
    #[serde(rename = "threadId", alias = "thread_id", alias = "contextId", alias = "context_id")]
    thread: Option<String>,
    #[serde(alias = "after")]
    after_sequence_number: Option<u64>,
}

impl StreamOptions {
    /// A body that is too large, or not JSON, has no options here; its endpoint refuses it.
    async fn of(request: Request) -> (Self, Request) {
        let length = request.headers().get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if length.is_none_or(|length| length > BODY_LIMIT) {
            return (Self::default(), request);
        }
        let (parts, body) = request.into_parts();
        // It fails only if the client has left, and then no answer is needed.
        let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
        let options = serde_json::from_slice(&bytes).unwrap_or_default();
        (options, Request::from_parts(parts, Body::from(bytes)))
    }

    /// The cursor, from any of its places; 0 if there is none.
    fn cursor(&self, uri: &Uri, headers: &HeaderMap) -> Option<u64> {
        let in_header = || headers.get("last-event-id")?.to_str().ok()?.trim().parse().ok();
        let in_query = || Query::<Self>::try_from_uri(uri).ok()?.after_sequence_number;
        self.after_sequence_number.or_else(in_header).or_else(in_query).or(Some(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_body_is_read_and_kept() {
        let body = r#"{"after_sequence_number":7,"stream":false}"#;
        let request = Request::post("/x").header("content-length", body.len()).body(Body::from(body));
        let (options, request) = StreamOptions::of(request.expect("a request")).await;
        assert_eq!((options.stream, options.after_sequence_number), (Some(Value::Bool(false)), Some(7)));
        let kept = to_bytes(request.into_body(), 100).await.expect("a body");
        assert_eq!(kept, body.as_bytes());
    }

    #[test]
    fn a_cursor_may_stand_in_three_places() {
        let uri: Uri = "/x?after_sequence_number=3".parse().expect("a URI");
        let headers: HeaderMap =
            [("last-event-id".parse().expect("a name"), "5".parse().expect("a value"))].into_iter().collect();
        let body = StreamOptions { after_sequence_number: Some(9), ..StreamOptions::default() };
        assert_eq!(body.cursor(&uri, &headers), Some(9));
        assert_eq!(StreamOptions::default().cursor(&uri, &headers), Some(5));
        assert_eq!(StreamOptions::default().cursor(&uri, &HeaderMap::new()), Some(3));
        assert_eq!(StreamOptions::default().cursor(&Uri::from_static("/x"), &HeaderMap::new()), Some(0));
    }
}
