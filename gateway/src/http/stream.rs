//! A turn's log as the body of a response.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use futures_util::stream::unfold;
use tokio::time::timeout;

use super::Delivery;
use crate::store::{Read, Turn};

/// How much of a log is written at once when the request does not say.
const WRITE_BYTES: usize = 64 * 1024;

/// An SSE comment: a sign of life that no client takes for an event.
const PING: &[u8] = b": ping\n\n";

/// Streams the frames after a cursor until the turn ends, with a comment after each silence.
pub(crate) fn stream(turn: Arc<Turn>, after: u64, delivery: Delivery, silence: Duration) -> Body {
    let reader = Reader { turn, cursor: after, delivery, silence, uncut: BytesMut::new() };
    Body::from_stream(unfold(reader, |mut reader| async {
        let bytes = reader.next().await?;
        Some((Ok::<_, std::convert::Infallible>(bytes), reader))
    }))
}

struct Reader {
    turn: Arc<Turn>,
    cursor: u64,
    delivery: Delivery,
    silence: Duration,
    /// Bytes that do not fill a chunk yet.
    uncut: BytesMut,
}

impl Reader {
    /// The next write.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(chunk) = self.chunk() {
                flush().await;
                return Some(chunk);
            }
            let bytes = match self.read() {
                Read::Frames(bytes, last) => {
                    self.cursor = last;
                    bytes
                }
                Read::Pending => match self.wait().await {
                    Some(ping) => ping,
                    None => continue,
                },
                Read::End if self.uncut.is_empty() => return None,
                Read::End => return Some(self.uncut.split().freeze()),
            };
            if self.delivery.chunk_bytes.is_some() {
                self.uncut.extend_from_slice(&bytes);
                continue;
            }
            if self.delivery.batch.is_some() {
                flush().await;
            }
            return Some(bytes);
        }
    }

    fn chunk(&mut self) -> Option<Bytes> {
        let size = self.delivery.chunk_bytes?;
        (self.uncut.len() >= size).then(|| self.uncut.split_to(size).freeze())
    }

    fn read(&self) -> Read {
        let log = &self.turn.log;
        match self.delivery.batch {
            Some(events) => log.read(self.cursor, events, events, usize::MAX),
            None => log.read(self.cursor, 1, usize::MAX, WRITE_BYTES),
        }
    }

    /// Waits for the next frames, or gives a sign of life after a silence.
    async fn wait(&self) -> Option<Bytes> {
        let wanted = self.delivery.batch.unwrap_or(1) as u64;
        let frames = self.cursor.saturating_add(wanted);
        match timeout(self.silence, self.turn.log.reaches(frames)).await {
            Ok(()) => None,
            Err(_) => Some(Bytes::from_static(PING)),
        }
    }
}

/// Lets the connection write out what it has: it does so whenever a body makes it wait.
async fn flush() {
    tokio::task::yield_now().await;
}
