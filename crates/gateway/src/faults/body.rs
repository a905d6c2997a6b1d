//! The body of a stream with faults: the editor changes its pieces, and decides its end.

use std::pin::Pin;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream::{BoxStream, unfold};
use futures_util::{Stream, StreamExt};
use tokio::time::sleep;
use turnwire_relay::connection::Connection;

use super::edit::Editor;
use super::fault::Ending;
use super::streams::OpenStream;

/// The pause between comments while there is nothing else to write.
const COMMENT_PAUSE: Duration = Duration::from_millis(20);
const COMMENT: &[u8] = b": still here\n\n";

/// A part of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// To be written.
    Bytes(Bytes),
    /// The end of the stream; nothing follows.
    End(Ending),
}

/// The pieces of a stream without faults.
pub(crate) fn plain(source: impl Stream<Item = Bytes> + Send + 'static) -> BoxStream<'static, Piece> {
    source.map(Piece::Bytes).boxed()
}

/// The pieces that an editor makes of a stream.
pub(super) fn edited(
    source: impl Stream<Item = Bytes> + Send + 'static,
    mut editor: Editor,
) -> BoxStream<'static, Piece> {
    let (first, ending) = editor.begin();
    let edits = Edits { source: Box::pin(source), editor: Some(editor), next: Some(first), ending };
    unfold(edits, |mut edits| async {
        let piece = edits.next().await?;
        Some((piece, edits))
    })
    .boxed()
}

struct Edits<S> {
    source: Pin<Box<S>>,
    /// `None` when the source is exhausted, or no longer needed.
    editor: Option<Editor>,
    next: Option<Bytes>,
    ending: Option<Ending>,
}

impl<S: Stream<Item = Bytes>> Edits<S> {
    async fn next(&mut self) -> Option<Piece> {
        loop {
            if let Some(bytes) = self.next.take().filter(|bytes| !bytes.is_empty()) {
                return Some(Piece::Bytes(bytes));
            }
            if let Some(ending) = self.ending.take() {
                self.editor = None;
                return Some(Piece::End(ending));
            }
            let editor = self.editor.as_mut()?;
            let (bytes, ending) = if let Some(bytes) = self.source.next().await {
                editor.edit(&bytes)
            } else {
                let rest = editor.finish();
                self.editor = None;
                rest
            };
            (self.next, self.ending) = (Some(bytes), ending);
        }
    }
}

/// Writes pieces, and ends as the last piece or an order from outside says.
pub(crate) fn deliver(pieces: impl Stream<Item = Piece> + Send + 'static, open: OpenStream) -> Body {
    let delivery = Delivered { pieces: Some(pieces.boxed()), open };
    Body::from_stream(unfold(Some(delivery), |delivery| async {
        let mut delivery = delivery?;
        match delivery.next().await {
            Step::Write(bytes) => Some((Ok(bytes), Some(delivery))),
            Step::End => None,
            Step::Break => Some((Err(Broken), None)),
        }
    }))
}

/// The body of a response that breaks off after this many bytes.
pub(super) fn half(body: Body, bytes: u64, connection: Connection) -> Body {
    let pieces = unfold((body.into_data_stream(), bytes), |(mut body, mut left)| async move {
        // A body that cannot be read has also broken off.
        let mut chunk = body.next().await?.ok()?;
        chunk.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        left -= chunk.len() as u64;
        (!chunk.is_empty()).then_some((Ok(chunk), (body, left)))
    });
    let breaks = futures_util::stream::once(async move {
        connection.reset_when_written().await;
        Err(Broken)
    });
    Body::from_stream(pieces.chain(breaks))
}

/// Why a body broke off, for the server's own use.
#[derive(Debug)]
struct Broken;

impl std::fmt::Display for Broken {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("broken off on purpose")
    }
}

impl std::error::Error for Broken {}

enum Step {
    Write(Bytes),
    End,
    Break,
}

struct Delivered {
    /// `None` when nothing more is to be written, though the stream stays open.
    pieces: Option<BoxStream<'static, Piece>>,
    open: OpenStream,
}

impl Delivered {
    async fn next(&mut self) -> Step {
        loop {
            let piece = tokio::select! {
                biased;
                ending = self.open.order() => Some(Piece::End(ending)),
                piece = next_of(&mut self.pieces) => piece,
            };
            match piece {
                Some(Piece::Bytes(bytes)) => return Step::Write(bytes),
                None | Some(Piece::End(Ending::Eof)) => return Step::End,
                Some(Piece::End(Ending::Reset)) => {
                    self.open.connection.reset_when_written().await;
                    return Step::Break;
                }
                Some(Piece::End(Ending::Stall)) => self.pieces = None,
                Some(Piece::End(Ending::Comments)) => self.pieces = Some(comments()),
            }
        }
    }
}

async fn next_of(pieces: &mut Option<BoxStream<'static, Piece>>) -> Option<Piece> {
    match pieces {
        Some(pieces) => pieces.next().await,
        None => std::future::pending().await,
    }
}

fn comments() -> BoxStream<'static, Piece> {
    unfold((), |()| async {
        sleep(COMMENT_PAUSE).await;
        Some((Piece::Bytes(Bytes::from_static(COMMENT)), ()))
    })
    .boxed()
}
