//! Readers of kept turns, any number of them, from any place.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::App;
use super::follow::{self, LOST};
use super::hub::{Hub, Known, Reading};
use super::pass::unbuffered;
use super::refusal::Refusal;
use crate::connection::Connection;
use crate::edge;
use crate::identity::LONGEST;
use crate::limits::InUse;
use crate::log::{Head, LogError, ReplayLog, TurnKey};
use crate::mutant::mutant;
use crate::observe::Span;
use crate::sse::numbered;
use crate::turn::{CutReason, End, Reader, Step};

/// How many bytes are written at once.
pub(super) const PAGE: usize = 64 << 10;
/// The silence after which a reader gets a comment, so that proxies do not close the connection as idle.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(15);

/// The longest wait until a response begins: clients wait for half a minute.
const PATIENCE: Duration = Duration::from_secs(20);
/// The pause before a log that does not answer is read again.
pub(super) const AGAIN: Duration = Duration::from_millis(200);
/// One write in this many is measured, so that measuring does not delay thousands of readers of one turn.
const MEASURED: u32 = 8;

/// The source of a turn's frames.
pub(super) enum Source {
    /// A turn that is running, here or elsewhere.
    Open(Arc<Hub>),
    /// A turn that has ended.
    Closed(u64, Known),
}

impl Source {
    /// A turn that this process does not own, and the digest of the request that started it.
    pub(super) fn of(app: &Arc<App>, key: TurnKey, head: Head) -> Result<(Self, [u8; 32]), Refusal> {
        let request = head.new.request;
        if head.is_expired {
            return Err(expired());
        }
        if head.end.is_none() {
            if app.log.shared().is_some() {
                return Ok((Self::Open(follow::follow(app, key, head)), request));
            }
            // Its end could not be written. The sweep writes it as soon as the log answers.
            return Err(unsettled());
        }
        let known = Known { last: head.last, end: head.end, response: head.response, ..Known::default() };
        Ok((Self::Closed(head.log, known), request))
    }

    /// The hub of a running turn.
    pub(super) fn hub(&self) -> Option<&Hub> {
        match self {
            Self::Open(hub) => Some(hub),
            Self::Closed(..) => None,
        }
    }

    pub(super) fn log(&self) -> u64 {
        match self {
            Self::Open(hub) => hub.log,
            Self::Closed(log, _) => *log,
        }
    }
}

/// What a caller wants to read.
pub(super) struct Wanted {
    pub(super) app: Arc<App>,
    pub(super) key: TurnKey,
    pub(super) source: Source,
    pub(super) after: u64,
    /// Whether the caller understands the relay's cut frame.
    pub(super) is_ours: bool,
    pub(super) connection: Connection,
    pub(super) valid_for: Option<Duration>,
    pub(super) reading: InUse,
    /// The span of the reading.
    pub(super) span: Span,
}

pub(super) fn expired() -> Refusal {
    Refusal::new(StatusCode::PRECONDITION_FAILED, "expired", "the turn's frames are no longer kept")
}

/// The turn's state will be known soon.
fn unsettled() -> Refusal {
    let text = "where the turn is, or how it has ended, is not known yet";
    let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "unsettled", text);
    refusal.again_after(Duration::from_secs(2))
}

pub(super) fn log_changed(log: u64) -> Refusal {
    let text = "the turn's log is another one, or ends before this place: read it from its beginning";
    Refusal::new(StatusCode::PRECONDITION_FAILED, "log_changed", text).about_log(log_name(log))
}

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

/// Responds with a turn.
pub(super) async fn respond(wanted: Wanted) -> Result<Response, Refusal> {
    let (known, watched) = match &wanted.source {
        Source::Closed(_, known) => (known.clone(), None),
        Source::Open(hub) => {
            let mut watched = hub.watch();
            let before = watched.borrow().departures;
            let is_known = |known: &Known| known.response.is_some() || known.end.is_some() || known.is_unsent;
            let is_ready = |known: &Known| is_known(known) || known.departures != before;
            watched.wait_for(is_ready).await.map_err(|_| unsettled())?;
            // It may be ahead of what is known here: it has read from another relay, or the log is being repaired.
            let is_settled = |known: &Known| {
                known.last >= wanted.after || known.end.is_some() || known.departures != before
            };
            let patience = wanted.app.config.log.repair().min(PATIENCE);
            let _ = timeout(patience, watched.wait_for(is_settled)).await;
            let known = watched.borrow_and_update().clone();
            if known.departures != before {
                return Err(unsettled());
            }
            (known, Some(watched))
        }
    };
    if known.is_unsent {
        return Err(Refusal::unsent());
    }
    let (log, turn) = (wanted.source.log(), wanted.key.turn.clone());
    let Some(response) = known.response.clone() else {
        let text = "the agent did not answer, and may have got the request; the relay does not send it again";
        return Err(Refusal::new(StatusCode::GATEWAY_TIMEOUT, "cut", text));
    };
    if wanted.after > known.last {
        return Err(log_changed(log));
    }
    let is_stream = response.content_type.to_ascii_lowercase().starts_with("text/event-stream");
    let mut answer =
        if is_stream { stream_of(wanted, known, watched) } else { whole(wanted, known, watched).await? };
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

/// A log's id as it is sent to callers.
pub(super) fn log_name(log: u64) -> String {
    format!("{log:016x}")
}

/// A response that is not a stream: it is the turn's only entry.
async fn whole(
    wanted: Wanted,
    known: Known,
    watched: Option<watch::Receiver<Known>>,
) -> Result<Response, Refusal> {
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

fn stream_of(wanted: Wanted, known: Known, watched: Option<watch::Receiver<Known>>) -> Response {
    let lives = wanted.valid_for.map_or(LONGEST, |valid| valid.min(LONGEST));
    let (hub, counted) = match &wanted.source {
        Source::Open(hub) => (Some(hub.clone()), Some(hub.reading())),
        Source::Closed(..) => (None, None),
    };
    let connected = Connected {
        log: wanted.app.log.clone(),
        key: wanted.key,
        hub,
        departures: known.departures,
        is_leaving: false,
        known,
        watched,
        reader: Reader::after(wanted.after),
        until: Instant::now() + lives,
        is_ours: wanted.is_ours,
        connection: wanted.connection,
        closing: Closing("gone"),
        is_waiting: false,
        writes: 0,
        _counted: (counted, wanted.reading, wanted.span),
    };
    let frames = stream::unfold(Some(connected), |connected| async {
        let mut connected = connected?;
        match connected.next().await {
            Written::More(bytes) => Some((Ok(bytes), Some(connected))),
            Written::End => None,
            Written::Broken => {
                connected.connection.reset_when_written().await;
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
struct Broken;

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

/// Why a reader's connection ends; counted when it does. If the relay sets no reason, the reader has gone.
struct Closing(&'static str);

impl Drop for Closing {
    fn drop(&mut self) {
        metrics::counter!("turnwire_relay_readers_closed_total", "reason" => self.0).increment(1);
    }
}

struct Connected {
    log: Arc<dyn ReplayLog>,
    key: TurnKey,
    hub: Option<Arc<Hub>>,
    known: Known,
    /// The value of `Known::departures` when it connected.
    departures: u64,
    is_leaving: bool,
    watched: Option<watch::Receiver<Known>>,
    reader: Reader,
    until: Instant,
    is_ours: bool,
    connection: Connection,
    closing: Closing,
    /// It has read everything, and waits for more.
    is_waiting: bool,
    /// How often it got what it was waiting for.
    writes: u32,
    _counted: (Option<Reading>, InUse, Span),
}

impl Connected {
    async fn next(&mut self) -> Written {
        loop {
            if let Some(watched) = &mut self.watched {
                self.known = watched.borrow_and_update().clone();
            }
            if self.is_leaving {
                return Written::End;
            }
            if self.known.departures != self.departures {
                self.is_leaving = true;
                self.closing.0 = "sent_away";
                // It reconnects at once: its frames are already there.
                return if self.is_ours {
                    Written::More(Bytes::from_static(b"retry: 50\n\n"))
                } else {
                    Written::Broken
                };
            }
            match self.reader.next(self.known.last, self.known.end) {
                Step::Read(after) => return self.page(after).await,
                Step::Over => return Written::End,
                Step::Tell(End::Done | End::Eof | End::Refused { .. }) => {
                    self.closing.0 = "end";
                    return Written::End;
                }
                Step::Tell(end @ (End::Cut { .. } | End::Stopped)) => return self.cut(end),
                Step::Wait => {}
            }
            let Some(watched) = &mut self.watched else { return self.leave("unread") };
            self.is_waiting = true;
            tokio::select! {
                changed = timeout(HEARTBEAT, watched.changed()) => match changed {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return self.leave("unread"),
                    Err(_) => return Written::More(Bytes::from_static(b":\n\n")),
                },
                () = sleep_until(self.until) => return self.leave("lifetime"),
            }
        }
    }

    /// Ends the connection before the turn's end. A client that knows the relay reconnects; for others the connection
    /// is broken off, as a normal end would look like the turn's.
    fn leave(&mut self, reason: &'static str) -> Written {
        self.closing.0 = reason;
        if self.is_ours { Written::End } else { Written::Broken }
    }

    /// Informs the reader that the rest of the turn is missing.
    fn cut(&mut self, end: End) -> Written {
        self.closing.0 = "cut";
        self.is_leaving = true;
        if self.is_ours { Written::More(told(end, self.reader.cursor())) } else { Written::Broken }
    }

    /// The frames after an offset, or the turn's end if the log has lost it for good. While the log is unavailable, or its
    /// owner may restore the turn, all readers of a page share one pause.
    async fn frames(&self, after: u64) -> Result<Vec<Bytes>, End> {
        let read = async {
            loop {
                let read = self.log.read(self.key.clone(), after, PAGE);
                let read = match &self.hub {
                    Some(hub) => hub.page(after, PAGE, read).await,
                    None => read.await,
                };
                match read {
                    Ok(frames) => return Ok(frames),
                    Err(LogError::Unreachable(_)) => {}
                    Err(LogError::Gone) => {
                        if let Some(end) = self.lost().await {
                            return Err(end);
                        }
                    }
                    Err(_) => return Ok(Vec::new()),
                }
                sleep(AGAIN).await;
            }
        };
        timeout(HEARTBEAT, read).await.unwrap_or_else(|_| Ok(Vec::new()))
    }

    /// The end of a turn that is no longer in the log, if it cannot return.
    async fn lost(&self) -> Option<End> {
        let end = self.watched.as_ref().and_then(|watched| watched.borrow().end);
        if matches!(end, Some(End::Cut { reason: CutReason::LogLost, .. })) {
            return end;
        }
        (self.log.is_removed(self.key.clone()).await == Ok(true)).then_some(LOST)
    }

    #[expect(clippy::cast_precision_loss, reason = "counts far below what a float holds")]
    fn measure(&mut self, count: u64) {
        metrics::counter!("turnwire_relay_frames_delivered_total").increment(count);
        let is_awaited = std::mem::take(&mut self.is_waiting);
        let is_measured = is_awaited && self.writes.is_multiple_of(MEASURED);
        self.writes = self.writes.wrapping_add(u32::from(is_awaited));
        if !is_measured {
            return;
        }
        // Frames that a reader catches up on are not measured: their age says nothing about the relay.
        let behind = self.known.last.saturating_sub(self.reader.cursor());
        metrics::histogram!("turnwire_relay_reader_lag_frames").record(behind as f64);
        let age = self.hub.as_ref().filter(|_| behind == 0).and_then(|hub| hub.age(self.known.last));
        if let Some(age) = age {
            metrics::histogram!("turnwire_relay_delivery_seconds").record(age.as_secs_f64());
        }
    }

    async fn page(&mut self, after: u64) -> Written {
        let after = if mutant!("to_the_tail") && self.hub.is_some() {
            self.reader = Reader::after(self.known.last - 1);
            self.known.last - 1
        } else {
            after
        };
        let frames = match self.frames(after).await {
            Ok(frames) => frames,
            Err(end) => return self.cut(end),
        };
        // It has expired meanwhile, or the log does not answer.
        if frames.is_empty() || self.reader.wrote(after + 1, frames.len() as u64).is_err() {
            return self.leave("unread");
        }
        let mut page = BytesMut::new();
        for (offset, frame) in (after + 1..).zip(&frames) {
            numbered(offset, frame, &mut page);
        }
        self.measure(frames.len() as u64);
        Written::More(page.freeze())
    }
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
