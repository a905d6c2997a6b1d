//! A small durable-streams server over a log, for tests only: streams are turns, and each append is a frame. It has what a log has:
//! bytes, offsets, closing, and claims for a producer's epochs. What the protocol has besides, it leaves out.

#![expect(clippy::result_large_err, reason = "what refuses is an answer as any other")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use tokio::time::{Instant, sleep};
use turnwire_relay::log::{
    Change, Claim, Created, Head, LogError, NewTurn, ReplayLog, ResponseHead, TurnKey,
};
use turnwire_relay::turn::End;

/// How long a request waits for something new, and how often it looks.
const LONG_POLL: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(10);
/// How much one answer has.
const PAGE: usize = 256 << 10;

/// What the protocol has of a stream, and a log does not.
struct Stream {
    claim: Claim,
    last_seq: Option<String>,
    /// The epoch and the last number of each producer.
    producers: HashMap<String, (u64, u64)>,
    closed_by: Option<(String, u64, u64)>,
}

type Shared = Arc<tokio::sync::Mutex<Stream>>;

struct Shim {
    log: Arc<dyn ReplayLog>,
    streams: Mutex<HashMap<String, Shared>>,
}

/// The server, over this log.
pub(crate) fn routes(log: Arc<dyn ReplayLog>) -> Router {
    Router::new()
        .fallback(answer)
        .layer(axum::extract::DefaultBodyLimit::disable())
        .with_state(Arc::new(Shim { log, streams: Mutex::default() }))
}

/// A status, with the headers of the answer.
type Answered = Result<Response, Response>;

fn plain(status: StatusCode) -> Response {
    status.into_response()
}

fn with<const N: usize>(
    status: StatusCode,
    headers: [(&'static str, String); N],
    body: impl Into<axum::body::Body>,
) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    for (name, value) in headers {
        if let Ok(value) = value.parse()
            && response.headers().get(name) != Some(&value)
        {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn closed(mut response: Response, is_closed: bool) -> Response {
    if is_closed {
        response.headers_mut().insert("stream-closed", axum::http::HeaderValue::from_static("true"));
    }
    response
}

fn failed(error: LogError) -> Response {
    match error {
        LogError::Gone => plain(StatusCode::NOT_FOUND),
        LogError::Fenced => plain(StatusCode::FORBIDDEN),
        LogError::Closed => closed(plain(StatusCode::CONFLICT), true),
        error => with(StatusCode::INTERNAL_SERVER_ERROR, [], error.to_string()),
    }
}

/// A place in a stream: the number of frames before it.
fn offset(last: u64) -> String {
    format!("{last:020}")
}

fn text<'h>(head: &'h HeaderMap, name: &str) -> Option<&'h str> {
    head.get(name).map(|value| value.to_str().unwrap_or_default())
}

fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

async fn answer(
    State(shim): State<Arc<Shim>>,
    method: Method,
    uri: Uri,
    head: HeaderMap,
    body: Bytes,
) -> Response {
    let answered = match method.as_str() {
        "PUT" => shim.make(uri.path(), &head, body).await,
        "POST" => shim.append(uri.path(), &head, body).await,
        "GET" => shim.read(uri.path(), uri.query().unwrap_or_default(), &head).await,
        "HEAD" => shim.look(uri.path()).await,
        "DELETE" => shim.remove(uri.path()).await,
        "OPTIONS" => Ok(plain(StatusCode::NO_CONTENT)),
        _ => Err(plain(StatusCode::METHOD_NOT_ALLOWED)),
    };
    let mut response = answered.unwrap_or_else(|refused| refused);
    for (name, value) in [
        ("access-control-allow-origin", "*"),
        ("access-control-allow-methods", "GET, POST, PUT, DELETE, HEAD, OPTIONS"),
        (
            "access-control-allow-headers",
            "content-type, authorization, if-none-match, stream-seq, stream-closed, producer-id, producer-epoch, producer-seq",
        ),
        (
            "access-control-expose-headers",
            "stream-next-offset, stream-cursor, stream-up-to-date, stream-closed, etag, content-type",
        ),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-resource-policy", "cross-origin"),
    ] {
        response.headers_mut().insert(name, axum::http::HeaderValue::from_static(value));
    }
    response
}

impl Shim {
    fn key(path: &str) -> TurnKey {
        TurnKey { upstream: "shim".to_owned(), subject: "suite".to_owned(), turn: path.to_owned() }
    }

    fn stream(&self, path: &str) -> Result<Shared, Response> {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.get(path).cloned().ok_or_else(|| plain(StatusCode::NOT_FOUND))
    }

    /// Where a stream is, and its content type.
    async fn head(&self, path: &str) -> Result<(Head, String), Response> {
        let head = self.log.head(Self::key(path)).await.map_err(failed)?;
        let content_type = head.response.clone().map(|response| response.content_type).unwrap_or_default();
        Ok((head, content_type))
    }

    async fn make(&self, path: &str, head: &HeaderMap, body: Bytes) -> Answered {
        let is_type = |kind: &&str| {
            media_type(kind).split_once('/').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty())
        };
        let content_type = text(head, "content-type").filter(is_type).unwrap_or("application/octet-stream");
        let is_closed = text(head, "stream-closed") == Some("true");
        let new = NewTurn { session: None, request: [0; 32] };
        match self.log.create(Self::key(path), new).await.map_err(failed)? {
            Created::New(claim) => {
                let response = Some(ResponseHead { status: 200, content_type: content_type.to_owned() });
                let frames = if body.is_empty() { Vec::new() } else { vec![body] };
                let last = frames.len() as u64;
                let change = Change { response, end: is_closed.then_some(End::Done) };
                self.log.append(&claim, 1, frames, change).await.map_err(failed)?;
                let stream = Stream { claim, last_seq: None, producers: HashMap::new(), closed_by: None };
                let stream = Arc::new(tokio::sync::Mutex::new(stream));
                self.streams.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), stream);
                let host = text(head, "host").unwrap_or_default();
                let headers = [
                    ("location", format!("http://{host}{path}")),
                    ("content-type", content_type.to_owned()),
                    ("stream-next-offset", offset(last)),
                ];
                Ok(closed(with(StatusCode::CREATED, headers, ""), is_closed))
            }
            Created::Exists(known) => {
                let kind = known.response.map(|response| response.content_type).unwrap_or_default();
                if media_type(&kind) != media_type(content_type) || known.end.is_some() != is_closed {
                    return Err(plain(StatusCode::CONFLICT));
                }
                let headers = [("content-type", kind), ("stream-next-offset", offset(known.last))];
                Ok(closed(with(StatusCode::OK, headers, ""), is_closed))
            }
        }
    }

    /// What an append's producer says, if it has one.
    fn producer(head: &HeaderMap) -> Result<Option<(String, u64, u64)>, Response> {
        let bad = || plain(StatusCode::BAD_REQUEST);
        let number = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u64>().ok().filter(|&number| is_number && number < 1 << 53).ok_or_else(bad)
        };
        match ["producer-id", "producer-epoch", "producer-seq"].map(|name| text(head, name)) {
            [None, None, None] => Ok(None),
            [Some(id), Some(epoch), Some(seq)] if !id.is_empty() => {
                Ok(Some((id.to_owned(), number(epoch)?, number(seq)?)))
            }
            _ => Err(bad()),
        }
    }

    async fn append(&self, path: &str, head: &HeaderMap, body: Bytes) -> Answered {
        let stream = self.stream(path)?;
        let mut stream = stream.lock().await;
        let producer = Self::producer(head)?;
        let is_last = text(head, "stream-closed") == Some("true");
        let (known, kind) = self.head(path).await?;
        if body.is_empty() && !is_last {
            return Err(plain(StatusCode::BAD_REQUEST));
        }
        if !body.is_empty() && text(head, "content-type").is_none() {
            return Err(plain(StatusCode::BAD_REQUEST));
        }
        let next = ("stream-next-offset", offset(known.last));
        if known.end.is_some() {
            let is_repeated = producer.is_some() && producer == stream.closed_by;
            if is_repeated || (body.is_empty() && producer.is_none()) {
                let mut response = with(StatusCode::NO_CONTENT, [next], "");
                if let Some((_, epoch, seq)) = &producer {
                    response.headers_mut().insert("producer-epoch", (*epoch).into());
                    response.headers_mut().insert("producer-seq", (*seq).into());
                }
                return Ok(closed(response, true));
            }
            return Err(closed(with(StatusCode::CONFLICT, [next], ""), true));
        }
        if !body.is_empty() && media_type(text(head, "content-type").unwrap_or_default()) != media_type(&kind)
        {
            return Err(plain(StatusCode::CONFLICT));
        }
        if let Some((id, epoch, seq)) = &producer {
            self.admit(&mut stream, id, *epoch, *seq).await?;
        }
        let seq = text(head, "stream-seq");
        if seq.is_some_and(|seq| stream.last_seq.as_deref().is_some_and(|last| seq <= last)) {
            return Err(plain(StatusCode::CONFLICT));
        }
        let frames = if body.is_empty() { Vec::new() } else { vec![body] };
        let last = known.last + frames.len() as u64;
        let change = Change { response: None, end: is_last.then_some(End::Done) };
        self.log.append(&stream.claim, known.last + 1, frames, change).await.map_err(failed)?;
        stream.last_seq = seq.map(str::to_owned).or(stream.last_seq.take());
        let next = ("stream-next-offset", offset(last));
        let Some((id, epoch, seq)) = producer else {
            return Ok(closed(with(StatusCode::NO_CONTENT, [next], ""), is_last));
        };
        stream.producers.insert(id.clone(), (epoch, seq));
        let status = if last == known.last { StatusCode::NO_CONTENT } else { StatusCode::OK };
        let headers = [next, ("producer-epoch", epoch.to_string()), ("producer-seq", seq.to_string())];
        if is_last {
            stream.closed_by = Some((id, epoch, seq));
        }
        Ok(closed(with(status, headers, ""), is_last))
    }

    /// Whether a producer's record is its next one. A newer epoch is a claim.
    async fn admit(&self, stream: &mut Stream, id: &str, epoch: u64, seq: u64) -> Result<(), Response> {
        let gap = |expected: u64| {
            let headers =
                [("producer-expected-seq", expected.to_string()), ("producer-received-seq", seq.to_string())];
            Err(with(StatusCode::CONFLICT, headers, ""))
        };
        match stream.producers.get(id).copied() {
            None if seq != 0 => gap(0),
            Some((known, _)) if epoch < known => {
                Err(with(StatusCode::FORBIDDEN, [("producer-epoch", known.to_string())], ""))
            }
            Some((known, _)) if epoch > known && seq != 0 => Err(plain(StatusCode::BAD_REQUEST)),
            Some((known, last)) if epoch == known && seq <= last => {
                let headers = [("producer-epoch", known.to_string()), ("producer-seq", last.to_string())];
                Err(with(StatusCode::NO_CONTENT, headers, ""))
            }
            Some((known, last)) if epoch == known && seq > last + 1 => gap(last + 1),
            Some((known, _)) if epoch > known => {
                let zombie = stream.claim.clone();
                stream.claim = self.log.claim(zombie.key.clone(), zombie.epoch).await.map_err(failed)?;
                let fenced =
                    self.log.append(&zombie, 1, vec![Bytes::from_static(b"late")], Change::default());
                assert_eq!(fenced.await, Err(LogError::Fenced), "an owner before the last claim");
                Ok(())
            }
            _ => Ok(()),
        }
    }

    async fn read(&self, path: &str, query: &str, head: &HeaderMap) -> Answered {
        let bad = || plain(StatusCode::BAD_REQUEST);
        let values = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.filter(|(key, _)| *key == name).map(|(_, value)| value.to_owned()).collect::<Vec<_>>()
        };
        let (mut known, kind) = self.head(path).await?;
        let offsets = values("offset");
        let live = values("live").pop();
        let is_place = |text: &str| text.len() == 20 && text.bytes().all(|byte| byte.is_ascii_digit());
        let after = match offsets.as_slice() {
            [] if live.is_some() => return Err(bad()),
            [] => 0,
            [one] if one == "-1" => 0,
            [one] if one == "now" => known.last,
            [one] if is_place(one) => one.parse().map_err(|_| bad())?,
            _ => return Err(bad()),
        };
        let is_live = match live.as_deref() {
            None => false,
            Some("long-poll") => true,
            Some(_) => return Err(bad()),
        };
        let began = Instant::now();
        while is_live && known.last <= after && known.end.is_none() && began.elapsed() < LONG_POLL {
            sleep(LOOK).await;
            known = self.head(path).await?.0;
        }
        let frames = self.log.read(Self::key(path), after, PAGE).await.map_err(failed)?;
        let next = after.min(known.last) + frames.len() as u64;
        // What was appended after the head was read makes no difference: it comes next.
        let is_all = next >= known.last;
        let is_closed = is_all && known.end.is_some();
        let etag = format!("\"{path}:{after}:{next}{}\"", if is_closed { ":c" } else { "" });
        if text(head, "if-none-match") == Some(&etag) {
            return Ok(with(StatusCode::NOT_MODIFIED, [("etag", etag)], ""));
        }
        let is_now = offsets.first().is_some_and(|one| one == "now");
        let status = if is_live && frames.is_empty() { StatusCode::NO_CONTENT } else { StatusCode::OK };
        let headers = [("content-type", kind), ("stream-next-offset", offset(next))];
        let mut response = with(status, headers, frames.concat());
        let head = response.headers_mut();
        if is_all {
            head.insert("stream-up-to-date", axum::http::HeaderValue::from_static("true"));
        }
        if is_live {
            // Each answer to a cursor has a later one, so that no cache goes in a circle.
            let cursor = values("cursor").pop().and_then(|cursor| cursor.parse::<u64>().ok());
            head.insert("stream-cursor", cursor.map_or(1, |cursor| cursor + 1).into());
        }
        if is_now {
            head.insert("cache-control", axum::http::HeaderValue::from_static("no-store"));
        } else if let Ok(etag) = etag.parse() {
            head.insert("etag", etag);
        }
        Ok(closed(response, is_closed))
    }

    async fn look(&self, path: &str) -> Answered {
        let (known, kind) = self.head(path).await?;
        let headers = [
            ("content-type", kind),
            ("stream-next-offset", offset(known.last)),
            ("cache-control", "no-store".to_owned()),
        ];
        Ok(closed(with(StatusCode::OK, headers, ""), known.end.is_some()))
    }

    async fn remove(&self, path: &str) -> Answered {
        let stream = self.stream(path)?;
        let stream = stream.lock().await;
        self.log.remove(&stream.claim).await.map_err(failed)?;
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
        Ok(plain(StatusCode::NO_CONTENT))
    }
}
