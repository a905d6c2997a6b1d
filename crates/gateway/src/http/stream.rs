//! A turn's log as the body of a response.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures_util::stream::{BoxStream, unfold};
use futures_util::{Stream, StreamExt};
use tokio::time::timeout;

use super::Delivery;
use crate::faults::{Ending, FaultState, Forge, Injection, Piece};
use crate::store::{EventLog, Read};

/// How much of a log is written at once when the request does not say.
const WRITE_BYTES: usize = 64 * 1024;

/// A sign of life after each silence: an SSE comment, which no client takes for an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ping {
    pub(crate) silence: Duration,
    pub(crate) comment: &'static [u8],
}

/// How one stream is written.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) delivery: Delivery,
    pub(crate) injection: Injection,
    /// `None` for streams without comments.
    pub(crate) ping: Option<Ping>,
}

/// The response with this event stream.
pub(crate) fn event_stream(body: Body) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::CONNECTION, HeaderValue::from_static("keep-alive")),
    ];
    (headers, body).into_response()
}

/// Streams the frames of a log after a cursor until it ends, or a fault ends the stream.
pub(crate) fn stream(
    turn: &str,
    log: Arc<EventLog>,
    after: u64,
    output: Output,
    faults: &FaultState,
    forge: impl Forge + 'static,
) -> Body {
    let cursor = output.injection.cursor(after);
    let reader = Reader { log, cursor, batch: output.delivery.batch, ping: output.ping };
    write(turn, reader.stream(), output, faults, forge)
}

/// Streams the frames of a turn. Each piece consists of whole frames.
pub(crate) fn write(
    turn: &str,
    source: impl Stream<Item = Bytes> + Send + 'static,
    output: Output,
    faults: &FaultState,
    forge: impl Forge + 'static,
) -> Body {
    let Output { delivery, injection, .. } = output;
    let mut pieces = injection.apply(faults, turn, source, forge);
    if let Some(numbers) = delivery.numbers {
        let written = move |piece| match piece {
            Piece::Bytes(bytes) => Piece::Bytes(numbers.apply(bytes)),
            end @ Piece::End(_) => end,
        };
        pieces = pieces.map(written).boxed();
    }
    match delivery.chunk_bytes {
        Some(size) => injection.deliver(faults, chunks(pieces, size)),
        None => injection.deliver(faults, pieces),
    }
}

/// Reads a log.
struct Reader {
    log: Arc<EventLog>,
    cursor: u64,
    batch: Option<usize>,
    ping: Option<Ping>,
}

impl Reader {
    /// Whole frames, and a comment after each silence.
    fn stream(self) -> impl Stream<Item = Bytes> {
        unfold(self, |mut reader| async {
            let bytes = reader.next().await?;
            Some((bytes, reader))
        })
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            match self.read() {
                Read::Frames(bytes, last) => {
                    self.cursor = last;
                    if self.batch.is_some() {
                        flush().await;
                    }
                    return Some(bytes);
                }
                Read::Pending => {
                    if let Some(ping) = self.wait().await {
                        return Some(ping);
                    }
                }
                Read::End => return None,
            }
        }
    }

    fn read(&self) -> Read {
        let log = &self.log;
        match self.batch {
            Some(events) => log.read(self.cursor, events, events, usize::MAX),
            None => log.read(self.cursor, 1, usize::MAX, WRITE_BYTES),
        }
    }

    /// Waits for the next frames. After a silence it returns a comment.
    async fn wait(&self) -> Option<Bytes> {
        let wanted = self.batch.unwrap_or(1) as u64;
        let frames = self.cursor.saturating_add(wanted);
        let reached = self.log.reaches(frames);
        let Some(ping) = self.ping else {
            reached.await;
            return None;
        };
        match timeout(ping.silence, reached).await {
            Ok(()) => None,
            Err(_) => Some(Bytes::from_static(ping.comment)),
        }
    }
}

/// The same pieces cut to exactly this size; the last one, before the end, may be shorter.
fn chunks(pieces: BoxStream<'static, Piece>, size: usize) -> impl Stream<Item = Piece> {
    let cutter = Cutter { pieces, size, uncut: BytesMut::new(), ending: None };
    unfold(cutter, |mut cutter| async {
        let piece = cutter.next().await?;
        Some((piece, cutter))
    })
}

struct Cutter {
    pieces: BoxStream<'static, Piece>,
    size: usize,
    /// Bytes that do not fill a chunk yet.
    uncut: BytesMut,
    /// The end that follows when all bytes are written.
    ending: Option<Ending>,
}

impl Cutter {
    async fn next(&mut self) -> Option<Piece> {
        loop {
            if self.uncut.len() >= self.size {
                flush().await;
                return Some(Piece::Bytes(self.uncut.split_to(self.size).freeze()));
            }
            match self.ending {
                None => {}
                Some(ending) if self.uncut.is_empty() => return Some(Piece::End(ending)),
                Some(_) => return Some(Piece::Bytes(self.uncut.split().freeze())),
            }
            match self.pieces.next().await {
                Some(Piece::Bytes(bytes)) => self.uncut.extend_from_slice(&bytes),
                Some(Piece::End(ending)) => self.ending = Some(ending),
                None => self.ending = Some(Ending::Eof),
            }
        }
    }
}

/// Lets the connection flush, which it does whenever a body is pending.
async fn flush() {
    tokio::task::yield_now().await;
}
