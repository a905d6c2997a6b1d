//! Requests for a kept turn: any number of them, from any place.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use tokio::time::{Instant, sleep, timeout};

use super::App;
use super::asking::{AgentRefusal, NotBegun};
use super::delivery::{AGAIN, Delivery, Next};
use super::hub::Known;
use super::pass::unbuffered;
use super::refusal::Refusal;
use super::wanted::{Progress, Source, Wanted, log_changed, log_name, unsettled};
use crate::connection::Connection;
use crate::edge;
use crate::log::{Head, LogError, ResponseHead, TurnKey};
use crate::sse::numbered;
use crate::turn::End;

/// The longest wait until a response begins: clients wait for half a minute.
const PATIENCE: Duration = Duration::from_secs(20);

/// The number of the last frame that a caller has.
pub(super) fn cursor(head: &HeaderMap, query: &[(String, String)]) -> Result<u64, Refusal> {
    let header = head.get(edge::LAST_EVENT_ID).map(|value| value.to_str().unwrap_or("?"));
    let query = query.iter().find(|(name, _)| name == "after").map(|(_, value)| value.as_str());
    let text = header.filter(|text| !text.is_empty()).or(query);
    text.map_or(Ok(0), |text| {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse()
            .ok()
            .filter(|_| is_number)
            .ok_or_else(|| Refusal::bad("the last event id must be a number"))
    })
}

/// The state of a turn of which the caller has read something. If the log has lost it, its owner may restore it: a new reader
/// waits for that as connected ones do. Someone who names a turn that never was has read nothing of it.
pub(super) async fn seen(app: &App, key: &TurnKey) -> Result<Head, LogError> {
    let until = Instant::now() + app.config.log.repair().min(PATIENCE);
    loop {
        match app.log.head(key.clone()).await {
            Err(LogError::Gone)
                if Instant::now() < until && app.log.is_removed(key.clone()).await == Ok(false) =>
            {
                sleep(AGAIN).await;
            }
            head => return head,
        }
    }
}

/// The agent's answer to a turn's start.
pub(super) enum Settled {
    /// It has begun the turn: what is known of it, and the head of the answer.
    Begun(Progress, Arc<ResponseHead>),
    /// It has refused the turn, of which nothing is kept.
    Refused(AgentRefusal),
}

/// Waits until the agent has answered, and the wanted place is there.
pub(super) async fn settled(wanted: &Wanted) -> Result<Settled, Refusal> {
    let progress = match &wanted.source {
        Source::Closed(_, known) => Progress { known: known.clone(), watched: None },
        Source::Open(hub) => {
            let mut watched = hub.watch();
            let before = watched.borrow().departures;
            let is_known =
                |known: &Known| known.response.is_some() || known.end.is_some() || known.not_begun.is_some();
            let is_ready = |known: &Known| is_known(known) || known.departures != before;
            watched.wait_for(is_ready).await.map_err(|_| unsettled())?;
            // It may be ahead of what is known here: it has read from another relay, or the log is being repaired.
            let is_settled = |known: &Known| {
                let is_over = known.end.is_some() || known.not_begun.is_some();
                known.last >= wanted.after || is_over || known.departures != before
            };
            let patience = wanted.app.config.log.repair().min(PATIENCE);
            let _ = timeout(patience, watched.wait_for(is_settled)).await;
            let known = watched.borrow_and_update().clone();
            if known.departures != before {
                return Err(unsettled());
            }
            Progress { known, watched: Some(watched) }
        }
    };
    match progress.known.not_begun.as_deref() {
        Some(NotBegun::Unsent) => return Err(Refusal::unsent()),
        Some(NotBegun::Refused(refusal)) => return Ok(Settled::Refused(refusal.clone())),
        None => {}
    }
    let Some(response) = progress.known.response.clone() else {
        let text = "the agent did not answer, and may have got the request; the relay does not send it again";
        return Err(Refusal::new(StatusCode::GATEWAY_TIMEOUT, "cut", text));
    };
    if wanted.after > progress.known.last {
        return Err(log_changed(wanted.source.log()));
    }
    Ok(Settled::Begun(progress, response))
}

/// Whether the agent has answered with a stream of frames.
pub(super) fn is_stream(response: &ResponseHead) -> bool {
    // Any other answer is kept as it is, and has no frames.
    matches!(response.status, 200..300)
        && response.content_type.to_ascii_lowercase().starts_with("text/event-stream")
}

/// Responds with a turn.
pub(super) async fn respond(wanted: Wanted) -> Result<Response, Refusal> {
    let (progress, response) = match settled(&wanted).await? {
        Settled::Begun(progress, response) => (progress, response),
        Settled::Refused(refusal) => return Ok(refusal.into_response()),
    };
    let (log, turn) = (wanted.source.log(), wanted.key.turn.clone());
    let mut answer =
        if is_stream(&response) { stream_of(wanted, progress) } else { whole(wanted, progress).await? };
    let head = answer.headers_mut();
    if let Ok(content_type) = HeaderValue::from_str(&response.content_type) {
        head.insert(header::CONTENT_TYPE, content_type);
    }
    // Both are hexadecimal digits, or an id that was checked.
    if let (Ok(turn), Ok(log)) = (HeaderValue::from_str(&turn), HeaderValue::from_str(&log_name(log))) {
        head.insert(edge::TURN, turn);
        head.insert(edge::LOG, log);
    }
    *answer.status_mut() = StatusCode::from_u16(response.status).unwrap_or(StatusCode::OK);
    Ok(answer)
}

/// A response that is not a stream: it is the turn's only entry.
async fn whole(wanted: Wanted, Progress { known, watched }: Progress) -> Result<Response, Refusal> {
    let mut end = known.end;
    if let Some(mut watched) = watched {
        let is_over = |now: &Known| now.end.is_some() || now.departures != known.departures;
        end = watched.wait_for(is_over).await.map_err(|_| Refusal::unanswered())?.end;
        if end.is_none() {
            return Err(unsettled());
        }
    }
    if matches!(end, Some(End::Cut { .. } | End::Stopped)) {
        return Err(Refusal::unanswered());
    }
    let frames = wanted.app.log.read(wanted.key, 0, usize::MAX).await.map_err(|_| Refusal::unanswered())?;
    Ok(Response::new(Body::from(frames.concat())))
}

fn stream_of(wanted: Wanted, progress: Progress) -> Response {
    let (is_ours, connection) = (wanted.is_ours, wanted.connection.clone());
    let reading = Delivery::new(wanted, progress);
    // Boxed: the stream would have room for it twice.
    let attached = Box::new(Attached { reading, is_ours, connection, is_leaving: false });
    let frames = stream::unfold(Some(attached), |attached| async {
        let mut attached = attached?;
        match attached.next().await {
            Written::More(bytes) => Some((Ok(bytes), Some(attached))),
            Written::End => None,
            Written::Broken => {
                attached.connection.reset_when_written().await;
                Some((Err(Broken), None))
            }
        }
    });
    let mut response = Response::new(Body::from_stream(frames));
    unbuffered(&mut response);
    response
}

/// The rest of the turn is missing.
#[derive(Debug)]
pub(super) struct Broken;

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the turn broke off")
    }
}

impl std::error::Error for Broken {}

enum Written {
    More(Bytes),
    End,
    Broken,
}

/// A reader for whom a turn is its agent's own stream.
struct Attached {
    reading: Delivery,
    is_ours: bool,
    connection: Connection,
    is_leaving: bool,
}

impl Attached {
    async fn next(&mut self) -> Written {
        if self.is_leaving {
            return Written::End;
        }
        match self.reading.next().await {
            Next::Frames(first, frames) => Written::More(page(first, &frames)),
            Next::Silence => Written::More(Bytes::from_static(b":\n\n")),
            // It reconnects at once: its frames are already there.
            Next::SentAway => self.tell(Bytes::from_static(b"retry: 50\n\n")),
            Next::End(End::Done | End::Eof | End::Refused { .. }) => Written::End,
            Next::End(end @ (End::Cut { .. } | End::Stopped)) => self.tell(told(end, self.reading.cursor())),
            Next::Left if self.is_ours => Written::End,
            Next::Left => Written::Broken,
        }
    }

    /// The last words to a client that knows the relay. For others the connection is broken off, as a normal end would look
    /// like the turn's.
    fn tell(&mut self, words: Bytes) -> Written {
        self.is_leaving = true;
        if self.is_ours { Written::More(words) } else { Written::Broken }
    }
}

/// Frames as they are sent to readers, the first of them with this number.
pub(super) fn page(first: u64, frames: &[Bytes]) -> Bytes {
    let mut page = BytesMut::new();
    for (offset, frame) in (first..).zip(frames) {
        numbered(offset, frame, &mut page);
    }
    page.freeze()
}

/// The frame in which the relay reports that the rest of a turn is missing.
fn told(end: End, last: u64) -> Bytes {
    let (reason, upstream) = match end {
        End::Cut { reason, upstream } => (reason.name(), upstream.name()),
        _ => ("stopped", "gone"),
    };
    let data = serde_json::json!({ "reason": reason, "last": last, "upstream": upstream });
    Bytes::from(format!("event: turnwire.cut\ndata: {data}\n\n"))
}
