//! Hints about new frames of a turn, from requests that the server answers when there is something new (long-poll). A
//! reader that misses one finds the same by itself.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;

use super::super::Hint;
use super::copies::Used;
use super::server::Piece;
use super::turn::Turn;
use super::{Kept, names};

/// How many hints may wait for a reader. One that misses some reads the log.
const WAITING: usize = 256;
/// How long to wait after a request that has failed or has found nothing.
const PAUSE: Duration = Duration::from_secs(1);

/// Hints of a turn until the receiver is dropped.
pub(super) fn watch(kept: Arc<Kept>, tag: String) -> mpsc::Receiver<Hint> {
    let (sender, receiver) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        tokio::select! {
            () = sender.closed() => {}
            () = follow(&kept, &tag, &sender) => {}
        }
    });
    receiver
}

async fn follow(kept: &Kept, tag: &str, hints: &mpsc::Sender<Hint>) {
    let (used, path) = (kept.copies.of(tag), names::turn(tag));
    // Covers what was written before.
    let mut hint = Some(Hint::Look);
    loop {
        if let Some(hint) = hint {
            // A hint that finds no room is lost.
            let _ = hints.try_send(hint);
        }
        let from = used.copy.lock().await.next.clone();
        hint = match kept.server.wait(&path, &from).await {
            Ok(Some(piece)) if piece.is_closed => {
                took(&used, piece, &from).await;
                let _ = hints.send(Hint::Look).await;
                // The end was sent, and nothing can follow.
                return hints.closed().await;
            }
            Ok(Some(piece)) => took(&used, piece, &from).await,
            Ok(None) | Err(_) => {
                sleep(PAUSE).await;
                Some(Hint::Look)
            }
        };
    }
}

/// Adds a piece to the copy, unless another watcher was faster. Returns a hint if it contains more than beats.
async fn took(used: &Used, piece: Piece, from: &str) -> Option<Hint> {
    let mut copy = used.copy.lock().await;
    let state =
        |turn: &Option<Turn>| turn.as_ref().map(|turn| (turn.epoch, turn.response.is_some(), turn.end));
    let (known, before) = (copy.frames.len(), state(&copy.turn));
    if copy.next != from || piece.next.as_str() < from || copy.feed(&piece.bytes, piece.next).is_err() {
        return Some(Hint::Look);
    }
    let frames = copy.frames.get(known..).unwrap_or_default().to_vec();
    match &copy.turn {
        _ if state(&copy.turn) != before => Some(Hint::Look),
        Some(turn) if !frames.is_empty() => {
            Some(Hint::Frames { log: turn.log, first: known as u64 + 1, frames })
        }
        _ => None,
    }
}
