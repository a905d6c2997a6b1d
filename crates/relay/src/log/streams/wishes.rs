//! What users want of a turn that runs elsewhere: a stream with one byte for each wish, which the turn's owner reads.

use bytes::Bytes;

use super::super::{LogError, Wishes};
use super::Kept;
use super::copies::Used;
use super::names;
use super::server::{BEGINNING, Posted};

/// A wish.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wish {
    /// Stop the turn.
    Stop,
    /// The turn has a reader.
    Read,
}

impl Wish {
    fn bytes(self) -> Bytes {
        Bytes::from_static(match self {
            Self::Stop => b"s",
            Self::Read => b"r",
        })
    }
}

impl Kept {
    /// Adds a wish.
    pub(super) async fn wish(&self, tag: &str, wish: Wish) -> Result<(), LogError> {
        let path = names::wishes(tag);
        if self.server.post(&path, None, false, wish.bytes()).await? == Posted::Gone {
            self.server.make(&path, Some(self.lifetimes.while_running()), Bytes::new()).await?;
            self.server.post(&path, None, false, wish.bytes()).await?;
        }
        Ok(())
    }

    /// All wishes so far.
    pub(super) async fn wishes(&self, used: &Used, tag: &str) -> Result<Wishes, LogError> {
        let mut wanted = used.wanted.lock().await;
        let from = wanted.next.clone().unwrap_or_else(|| BEGINNING.to_owned());
        if let Some((pieces, next)) = self.server.rest(&names::wishes(tag), &from).await? {
            for byte in pieces.concat() {
                match byte {
                    b's' => wanted.wishes.is_stopped = true,
                    _ => wanted.wishes.readers += 1,
                }
            }
            wanted.next = Some(next);
        }
        Ok(wanted.wishes)
    }
}
