//! Turns as streams of the protocol "durable streams", for its clients, read only: `GET` and `HEAD` with `offset` and `live`.
//! An offset is the id of a log and the number of the last frame that a reader has.
//!
//! A stream is closed if its turn is done. The protocol has no word for any other end: behind the last frame of such a
//! turn the answer is 410, and nothing says that a reader has all of it.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use bytes::BytesMut;
use futures_util::stream::{self, StreamExt};
use serde_json::json;

use super::asked::Asked;
use super::delivery::{Delivery, Next};
use super::pass::unbuffered;
use super::read::{self, Broken, Settled};
use super::refusal::Refusal;
use super::wanted;
use crate::turn::End;

const NEXT: HeaderName = HeaderName::from_static("stream-next-offset");
const UP_TO_DATE: HeaderName = HeaderName::from_static("stream-up-to-date");
const CLOSED: HeaderName = HeaderName::from_static("stream-closed");
const CURSOR: HeaderName = HeaderName::from_static("stream-cursor");
const TRUE: HeaderValue = HeaderValue::from_static("true");

/// The content type of a stream. Clients take an answer with an agent's own type, `text/event-stream`, for the protocol's
/// live form, and skip all of its events.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
/// How long a request waits for something new. Clients wait for half a minute.
const LONG_POLL: Duration = Duration::from_secs(20);

/// How a reader gets what comes later.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Live {
    /// Not with this request.
    No,
    /// This request waits until there is something.
    LongPoll,
    /// As server-sent events.
    Events,
}

/// Where a reader begins.
enum Place {
    Start,
    Now,
    After { log: u64, last: u64 },
}

/// What a request asks for.
struct Query {
    place: Place,
    live: Live,
    /// The cursor for this answer. Each one follows the last one, so that no cache can send a reader in a circle.
    cursor: u64,
}

impl Query {
    fn of(pairs: &[(String, String)]) -> Result<Self, Refusal> {
        let one = |name: &'static str| {
            let mut values = pairs.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str());
            match (values.next(), values.next()) {
                (value, None) => Ok(value),
                _ => Err(Refusal::bad(format!("the query may have `{name}` once"))),
            }
        };
        let live = match one("live")? {
            None => Live::No,
            Some("long-poll") => Live::LongPoll,
            Some("sse") => Live::Events,
            Some(_) => return Err(Refusal::bad("`live` must be `long-poll` or `sse`")),
        };
        let place = match one("offset")? {
            None if live != Live::No => return Err(Refusal::bad("`live` needs an `offset`")),
            None | Some("-1") => Place::Start,
            Some("now") => Place::Now,
            Some(text) => place(text).ok_or_else(|| Refusal::bad("this is no `offset` of this stream"))?,
        };
        let last = one("cursor")?.and_then(|cursor| cursor.parse::<u64>().ok());
        Ok(Self { place, live, cursor: last.unwrap_or(0).saturating_add(1) })
    }
}

/// A place as readers get it. Those of one log have the order of their texts.
fn offset(log: u64, last: u64) -> String {
    format!("{}_{last:020}", wanted::log_name(log))
}

fn place(text: &str) -> Option<Place> {
    let (log, last) = text.split_once('_')?;
    let found = (u64::from_str_radix(log, 16).ok()?, last.parse().ok()?);
    (offset(found.0, found.1) == text).then_some(Place::After { log: found.0, last: found.1 })
}

/// Answers a request for a turn as a stream.
pub(super) async fn answer(asked: &Asked<'_>, method: &Method, turn: &str) -> Result<Response, Refusal> {
    let query = match *method {
        Method::GET => Query::of(&asked.query)?,
        // The same as an answer at the stream's end, whose body is empty.
        Method::HEAD => Query { place: Place::Now, live: Live::No, cursor: 0 },
        _ => {
            let text = "a turn is written by its agent only; `DELETE` at `turns` stops it";
            return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "read_only", text));
        }
    };
    let mut response = found(asked, turn, query).await.map_err(Refusal::or_gone)?;
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Ok(response)
}

async fn found(asked: &Asked<'_>, turn: &str, query: Query) -> Result<Response, Refusal> {
    let Query { place, live, cursor } = query;
    let is_now = matches!(place, Place::Now);
    let (log, mut turn) = opened(asked, turn, place).await?;
    if live == Live::LongPoll {
        turn.wait(LONG_POLL).await;
    }
    if let Some(end) = turn.end().filter(|end| *end != End::Done) {
        turn.over(end);
        return Err(cut(end));
    }
    if live == Live::Events {
        return Ok(events(Events { turn, log, cursor }));
    }
    let is_empty = turn.is_caught_up();
    let mut response = page(turn, log);
    let is_known = response.headers().get(header::ETAG) == asked.head.get(header::IF_NONE_MATCH);
    if is_now {
        // What is at the end now is something else the next time.
        response.headers_mut().remove(header::ETAG);
    } else if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    if live == Live::LongPoll {
        response.headers_mut().insert(CURSOR, cursor.into());
        if is_empty {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
    }
    if is_empty || response.status() != StatusCode::OK {
        *response.body_mut() = Body::empty();
    }
    Ok(response)
}

/// A reader of a turn from this place on, and the id of the turn's log.
async fn opened(asked: &Asked<'_>, turn: &str, place: Place) -> Result<(u64, Delivery), Refusal> {
    let key = asked.key(turn)?;
    let (source, reading) = asked.source(&key, matches!(place, Place::After { .. })).await?;
    let log = source.log();
    let after = match place {
        Place::After { log: other, .. } if other != log => return Err(wanted::log_changed(log)),
        Place::After { last, .. } => Some(last),
        Place::Start => Some(0),
        Place::Now => None,
    };
    let mut wanted = asked.wanted(key, source, reading, after.unwrap_or(0));
    let Settled::Begun(progress, response) = read::settled(&wanted).await? else {
        return Err(Refusal::not_found());
    };
    if !read::is_stream(&response) {
        let text = "the agent did not answer with a stream: read its answer at `turns`";
        return Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, "no_stream", text));
    }
    wanted.after = after.unwrap_or(progress.known.last);
    Ok((log, Delivery::new(wanted, progress)))
}

/// The rest of a turn is missing.
fn cut(end: End) -> Refusal {
    let reason = match end {
        End::Cut { reason, .. } => reason.name(),
        end => end.name(),
    };
    let text = "the turn has ended, and is not done: there is no more of it";
    Refusal::new(StatusCode::GONE, "cut", text).with("reason", reason.to_owned())
}

/// What there is from a reader's place on.
fn page(mut turn: Delivery, log: u64) -> Response {
    let after = turn.cursor();
    let (last, end) = turn.stop_here();
    let is_done = end == Some(End::Done);
    let frames = stream::unfold(Some(turn), move |turn| async move {
        let mut turn = turn.filter(|turn| turn.cursor() < last)?;
        match turn.next().await {
            Next::Frames(first, frames) => Some((Ok(read::page(first, &frames)), Some(turn))),
            _ => Some((Err(Broken), None)),
        }
    });
    let mut response = Response::new(Body::from_stream(frames));
    let head = response.headers_mut();
    head.insert(header::CONTENT_TYPE, TEXT);
    let next = offset(log, last);
    let tag = format!("\"{}-{next}{}\"", offset(log, after), if is_done { "-closed" } else { "" });
    if let (Ok(next), Ok(tag)) = (HeaderValue::from_str(&next), HeaderValue::from_str(&tag)) {
        head.insert(NEXT, next);
        head.insert(header::ETAG, tag);
    }
    // Before any other end, the reader is to ask for more, and is told.
    if is_done || end.is_none() {
        head.insert(UP_TO_DATE, TRUE);
    }
    if is_done {
        head.insert(CLOSED, TRUE);
    }
    response
}

/// A reader of server-sent events.
struct Events {
    turn: Delivery,
    log: u64,
    cursor: u64,
}

/// The protocol's live form. Its readers reconnect after every end of a connection, and ask for what follows.
fn events(reader: Events) -> Response {
    // A reader that has everything is told so at once.
    let first = (reader.turn.is_caught_up() && reader.turn.end().is_none()).then(|| reader.control(false));
    let rest = stream::unfold(Some(Box::new(reader)), |reader| async {
        let mut reader = reader?;
        match reader.turn.next().await {
            Next::Frames(first, frames) => {
                let mut out = event("data", &read::page(first, &frames));
                out.extend_from_slice(&reader.control(false));
                Some((out, Some(reader)))
            }
            Next::Silence => Some((reader.control(false), Some(reader))),
            Next::End(End::Done) => Some((reader.control(true), None)),
            // The next request is told why.
            Next::End(_) | Next::SentAway | Next::Left => None,
        }
    });
    let events = stream::iter(first).chain(rest).map(|event| Ok::<_, Broken>(event.freeze()));
    let mut response = Response::new(Body::from_stream(events));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    unbuffered(&mut response);
    response
}

impl Events {
    /// Where the reader is, after what it has got.
    fn control(&self, is_closed: bool) -> BytesMut {
        let mut place = json!({ "streamNextOffset": offset(self.log, self.turn.cursor()) });
        if is_closed {
            place["streamClosed"] = json!(true);
        } else {
            place["streamCursor"] = json!(self.cursor.to_string());
        }
        if self.turn.is_caught_up() && self.turn.end().is_none() {
            place["upToDate"] = json!(true);
        }
        event("control", place.to_string().as_bytes())
    }
}

/// An event. Frames have no other line ends than LF.
fn event(name: &str, data: &[u8]) -> BytesMut {
    let mut out = BytesMut::from(format!("event: {name}\n").as_bytes());
    for line in data.split(|&byte| byte == b'\n') {
        // Without a space: clients take one away.
        out.extend_from_slice(b"data:");
        out.extend_from_slice(line);
        out.extend_from_slice(b"\n");
    }
    out.extend_from_slice(b"\n");
    out
}
