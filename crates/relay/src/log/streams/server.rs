//! A client of the protocol "durable streams" 1.0:
//! <https://github.com/durable-streams/durable-streams/blob/main/PROTOCOL.md>. Nothing else here depends on its words.
//! The numbers in parentheses are its sections.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use tokio::time::timeout;

use super::super::LogError;
use crate::address::Upstream;
use crate::client::{self, UpstreamClient};

/// The time limit of a response, and of one that waits for news, which servers end after a minute at most.
const PATIENCE: Duration = Duration::from_secs(10);
const LIVE_PATIENCE: Duration = Duration::from_secs(90);
/// The largest response.
const LARGEST: usize = 256 << 20;
/// Streams are opaque bytes to the server.
const BYTES: HeaderValue = HeaderValue::from_static("application/octet-stream");
/// The beginning of a stream (6).
pub(super) const BEGINNING: &str = "-1";

const NEXT: HeaderName = HeaderName::from_static("stream-next-offset");
const CLOSED: HeaderName = HeaderName::from_static("stream-closed");
const UP_TO_DATE: HeaderName = HeaderName::from_static("stream-up-to-date");
const TTL: HeaderName = HeaderName::from_static("stream-ttl");
const PRODUCER_ID: HeaderName = HeaderName::from_static("producer-id");
const PRODUCER_EPOCH: HeaderName = HeaderName::from_static("producer-epoch");
const PRODUCER_SEQ: HeaderName = HeaderName::from_static("producer-seq");
const EXPECTED_SEQ: HeaderName = HeaderName::from_static("producer-expected-seq");

/// A server, and the connections to it.
pub(super) struct Server {
    client: UpstreamClient,
    address: Upstream,
    head: HeaderMap,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Server({})", self.address)
    }
}

/// The number of a record of its producer (5.2.1). The server accepts a producer's records one by one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turnstile {
    /// The writer: a turn's log id, so that a record for one log does not count for another. Its epochs are the claims.
    pub(super) producer: u64,
    pub(super) epoch: u64,
    pub(super) seq: u64,
}

/// The result of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Posted {
    /// Appended.
    New,
    /// A record with this number exists: this one, or another.
    Known,
    /// The server expects another number.
    Gap(u64),
    /// There is a newer epoch.
    Fenced,
    /// The stream is closed.
    Closed,
    /// There is no such stream.
    Gone,
}

/// A part of a stream.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) bytes: Bytes,
    /// The offset to continue from.
    pub(super) next: String,
    /// Whether nothing else is there now.
    pub(super) is_all: bool,
    /// Whether nothing will follow.
    pub(super) is_closed: bool,
}

/// The end of a stream.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) next: String,
    pub(super) is_closed: bool,
}

impl Server {
    pub(super) fn new(address: &Upstream, headers: Vec<(HeaderName, HeaderValue)>) -> Self {
        Self {
            client: client::client(address),
            address: address.clone(),
            head: headers.into_iter().collect(),
        }
    }

    /// Sends a request and reads the whole response.
    async fn ask(
        &self,
        method: Method,
        target: &str,
        headers: &[(HeaderName, HeaderValue)],
        body: Bytes,
        patience: Duration,
    ) -> Result<(StatusCode, HeaderMap, Bytes), LogError> {
        let address = target.parse().ok().and_then(|target| self.address.join(&target));
        let address = address.ok_or_else(|| failed("an offset there is none for an address"))?;
        let mut request = Request::new(Body::new(Full::new(body)));
        (*request.method_mut(), *request.uri_mut()) = (method, address);
        *request.headers_mut() = self.head.clone();
        request.headers_mut().extend(headers.iter().cloned());
        let answered = timeout(patience, async {
            let (head, body) =
                self.client.request(request).await.map_err(|error| failed(&error))?.into_parts();
            let body = Limited::new(body, LARGEST).collect().await.map_err(|error| failed(&error))?;
            Ok((head.status, head.headers, body.to_bytes()))
        });
        answered.await.map_err(|_| failed("no answer in time"))?
    }

    /// Creates a stream, unless it exists (5.1).
    pub(super) async fn make(
        &self,
        path: &str,
        lives: Option<Duration>,
        body: Bytes,
    ) -> Result<(), LogError> {
        let mut headers = vec![(header::CONTENT_TYPE, BYTES)];
        headers.extend(lives.map(|lives| (TTL, HeaderValue::from(lives.as_secs().max(1)))));
        match self.ask(Method::PUT, path, &headers, body, PATIENCE).await? {
            // Another relay with other lifetimes may have created it.
            (StatusCode::OK | StatusCode::CREATED | StatusCode::CONFLICT, ..) => Ok(()),
            (status, ..) => Err(refused("to make a stream", status)),
        }
    }

    /// Appends to a stream (5.2), and closes it if this is its last record.
    pub(super) async fn post(
        &self,
        path: &str,
        turnstile: Option<Turnstile>,
        is_last: bool,
        body: Bytes,
    ) -> Result<Posted, LogError> {
        let mut headers = vec![(header::CONTENT_TYPE, BYTES)];
        if let Some(Turnstile { producer, epoch, seq }) = turnstile {
            headers.extend([
                (PRODUCER_ID, producer.into()),
                (PRODUCER_EPOCH, epoch.into()),
                (PRODUCER_SEQ, seq.into()),
            ]);
        }
        if is_last {
            headers.push((CLOSED, HeaderValue::from_static("true")));
        }
        let (status, head, _) = self.ask(Method::POST, path, &headers, body, PATIENCE).await?;
        let expected = || head.get(EXPECTED_SEQ)?.to_str().ok()?.parse().ok();
        Ok(match status {
            StatusCode::NO_CONTENT if turnstile.is_some() => Posted::Known,
            StatusCode::OK | StatusCode::NO_CONTENT => Posted::New,
            StatusCode::FORBIDDEN if turnstile.is_some() && head.contains_key(PRODUCER_EPOCH) => {
                Posted::Fenced
            }
            StatusCode::CONFLICT if head.contains_key(CLOSED) => Posted::Closed,
            StatusCode::CONFLICT if let Some(expected) = expected() => Posted::Gap(expected),
            StatusCode::NOT_FOUND | StatusCode::GONE => Posted::Gone,
            status => return Err(refused("an append", status)),
        })
    }

    /// Reads from an offset on (5.5). `None` if there is no such stream or offset.
    pub(super) async fn read(&self, path: &str, from: &str) -> Result<Option<Piece>, LogError> {
        self.piece(format!("{path}?offset={from}"), PATIENCE).await
    }

    /// The same, but waits until there is something new (5.6).
    pub(super) async fn wait(&self, path: &str, from: &str) -> Result<Option<Piece>, LogError> {
        self.piece(format!("{path}?offset={from}&live=long-poll"), LIVE_PATIENCE).await
    }

    async fn piece(&self, target: String, patience: Duration) -> Result<Option<Piece>, LogError> {
        let (status, head, bytes) = self.ask(Method::GET, &target, &[], Bytes::new(), patience).await?;
        match status {
            StatusCode::OK | StatusCode::NO_CONTENT => Ok(Some(Piece {
                bytes,
                next: next(&head)?,
                is_all: head.contains_key(UP_TO_DATE),
                is_closed: head.contains_key(CLOSED),
            })),
            StatusCode::NOT_FOUND | StatusCode::GONE => Ok(None),
            status => Err(refused("to read", status)),
        }
    }

    /// The rest of a stream from an offset on, and the offset after it.
    pub(super) async fn rest(
        &self,
        path: &str,
        from: &str,
    ) -> Result<Option<(Vec<Bytes>, String)>, LogError> {
        let (mut pieces, mut from) = (Vec::new(), from.to_owned());
        loop {
            let Some(piece) = self.read(path, &from).await? else { return Ok(None) };
            let is_over = piece.is_all || piece.is_closed || piece.next == from;
            from = piece.next;
            pieces.push(piece.bytes);
            if is_over {
                return Ok(Some((pieces, from)));
            }
        }
    }

    /// Where a stream ends (5.4). `None` if there is no such stream.
    pub(super) async fn tail(&self, path: &str) -> Result<Option<Tail>, LogError> {
        let (status, head, _) = self.ask(Method::HEAD, path, &[], Bytes::new(), PATIENCE).await?;
        match status {
            StatusCode::OK => Ok(Some(Tail { next: next(&head)?, is_closed: head.contains_key(CLOSED) })),
            StatusCode::NOT_FOUND | StatusCode::GONE => Ok(None),
            status => Err(refused("to look", status)),
        }
    }

    /// Removes a stream, if it exists (5.3).
    pub(super) async fn delete(&self, path: &str) -> Result<(), LogError> {
        match self.ask(Method::DELETE, path, &[], Bytes::new(), PATIENCE).await?.0 {
            StatusCode::NOT_FOUND | StatusCode::GONE => Ok(()),
            status if status.is_success() => Ok(()),
            status => Err(refused("to remove a stream", status)),
        }
    }
}

fn next(head: &HeaderMap) -> Result<String, LogError> {
    let next = head.get(NEXT).and_then(|next| next.to_str().ok());
    next.map(str::to_owned).ok_or_else(|| failed("an answer without `Stream-Next-Offset`"))
}

fn failed(cause: &(impl std::fmt::Display + ?Sized)) -> LogError {
    LogError::Unreachable(format!("the streams' server: {cause}"))
}

fn refused(what: &str, status: StatusCode) -> LogError {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE | StatusCode::INSUFFICIENT_STORAGE => LogError::Full,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            failed(&format!("it refuses {what} with {status}: `log.headers` must have its key"))
        }
        status => failed(&format!("it refuses {what} with {status}")),
    }
}
