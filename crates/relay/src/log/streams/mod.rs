//! A log on a server that speaks the protocol "durable streams", for several relays. All streams are append-only.
//!
//! Each turn has a stream of records (`record`), which each relay reads for itself (`turn`, `copies`). The server
//! accepts the records of a log's producer in order, and none of an older epoch: a claim is the next epoch's first
//! record, and fences the previous owner. In addition there are an index of turns (`index`), a stream of what users
//! want of each (`wishes`), and the owners of sessions (`sessions`). What remains of an expired turn has a stream
//! (`ends`).

mod copies;
mod ends;
mod flight;
mod index;
mod names;
mod owned;
mod probe;
mod record;
mod server;
mod sessions;
#[cfg(test)]
mod tests;
mod turn;
mod watch;
mod wishes;

use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};
use bytes::Bytes;
use tokio::sync::mpsc;

use self::copies::Copies;
use self::index::{Index, Which};
use self::names::{digest, tag};
use self::server::Server;
use super::{
    Answer, Change, Claim, Created, Head, Hint, Lifetimes, LogError, NewTurn, Purge, REMEMBERED, ReplayLog,
    ResponseHead, SharedLog, Sign, TurnKey, Wishes,
};
use crate::address::Upstream;

/// How many requests are in flight at once, for one operation on many turns.
const AT_ONCE: usize = 64;

/// Keeps turns on a durable-streams server.
#[derive(Debug)]
pub struct StreamsLog(Arc<Kept>);

/// What the log shares with its watchers.
#[derive(Debug)]
struct Kept {
    server: Server,
    lifetimes: Lifetimes,
    copies: Copies,
    index: Index,
}

impl StreamsLog {
    /// Checks that the server at this address does everything that a log needs. Each request to it has these headers.
    pub async fn open(
        address: &Upstream,
        headers: Vec<(HeaderName, HeaderValue)>,
        lifetimes: Lifetimes,
    ) -> Result<Self, LogError> {
        let server = Server::new(address, headers);
        probe::probe(&server).await?;
        let index = Index::new(lifetimes.while_running() + REMEMBERED);
        Ok(Self(Arc::new(Kept { server, lifetimes, copies: Copies::default(), index })))
    }
}

impl Kept {
    /// The turn and its head.
    async fn head(&self, tag: &str) -> Result<(TurnKey, Head), LogError> {
        let used = self.copies.of(tag);
        let copy = used.refreshed(&self.server, &names::turn(tag)).await?;
        if let Some(turn) = copy.present() {
            return Ok((turn.key.clone(), turn.head()));
        }
        drop(copy);
        self.past(tag).await?.ok_or(LogError::Gone)
    }

    async fn read(&self, tag: &str, after: u64, max_bytes: usize) -> Result<Vec<Bytes>, LogError> {
        let used = self.copies.of(tag);
        let copy = used.refreshed(&self.server, &names::turn(tag)).await?;
        if copy.present().is_some() {
            return Ok(copy.page(after, max_bytes));
        }
        drop(copy);
        self.past(tag).await?.map(|_| Vec::new()).ok_or(LogError::Gone)
    }

    async fn listed(&self, which: &Which) -> Result<Vec<(TurnKey, Head)>, LogError> {
        use futures_util::{StreamExt, TryStreamExt, stream};
        self.index.refresh(&self.server).await?;
        let head = async |tag: String| match self.head(&tag).await {
            Ok(turn) => Ok(Some(turn)),
            Err(LogError::Gone | LogError::Unreadable) => Ok(None),
            Err(error) => Err(error),
        };
        let tags: Vec<String> = self.index.of(which).into_iter().map(|turn| turn.tag).collect();
        let turns = stream::iter(tags).map(head).buffered(AT_ONCE);
        turns.try_filter_map(|turn| async { Ok(turn) }).try_collect().await
    }
}

impl ReplayLog for StreamsLog {
    fn create(&self, key: TurnKey, new: NewTurn) -> Answer<'_, Created> {
        Box::pin(self.0.create(key, new))
    }

    fn claim(&self, key: TurnKey, seen: u64) -> Answer<'_, Claim> {
        Box::pin(self.0.claim(key, seen))
    }

    fn append(&self, claim: &Claim, at: u64, frames: Vec<Bytes>, change: Change) -> Answer<'_, ()> {
        Box::pin(self.0.append(claim.clone(), at, frames, change))
    }

    fn head(&self, key: TurnKey) -> Answer<'_, Head> {
        Box::pin(async move { Ok(self.0.head(&tag(&key)).await?.1) })
    }

    fn read(&self, key: TurnKey, after: u64, max_bytes: usize) -> Answer<'_, Vec<Bytes>> {
        Box::pin(async move { self.0.read(&tag(&key), after, max_bytes).await })
    }

    fn open_turns(&self) -> Answer<'_, Vec<(TurnKey, u64)>> {
        Box::pin(async move {
            let signs = self.0.signs().await?;
            Ok(signs.into_iter().map(|(key, sign)| (key, sign.epoch)).collect())
        })
    }

    fn turns(
        &self,
        upstream: String,
        subject: String,
        session: Option<String>,
    ) -> Answer<'_, Vec<(String, Head)>> {
        Box::pin(async move {
            let turns = self.0.listed(&Which::User { upstream, subject, session }).await?;
            Ok(turns.into_iter().map(|(key, head)| (key.turn, head)).collect())
        })
    }

    fn remove(&self, claim: &Claim) -> Answer<'_, ()> {
        Box::pin(self.0.remove(claim.clone()))
    }

    fn expire(&self, retention: Duration) -> Answer<'_, usize> {
        Box::pin(self.0.expire(retention))
    }

    fn purge(&self, what: Purge) -> Answer<'_, usize> {
        Box::pin(self.0.purge(what))
    }

    fn is_removed(&self, key: TurnKey) -> Answer<'_, bool> {
        Box::pin(async move { self.0.is_removed(&tag(&key)).await })
    }

    fn own(&self, upstream: String, session: String, subject: String) -> Answer<'_, String> {
        Box::pin(
            async move { sessions::own(&self.0.server, &digest(&[&upstream, &session]), &subject).await },
        )
    }

    fn owner(&self, upstream: String, session: String) -> Answer<'_, Option<String>> {
        Box::pin(async move { sessions::owner(&self.0.server, &digest(&[&upstream, &session])).await })
    }

    fn disown(&self, upstream: String, session: String) -> Answer<'_, ()> {
        Box::pin(async move { self.0.server.delete(&names::session(&digest(&[&upstream, &session]))).await })
    }

    fn shared(&self) -> Option<&dyn SharedLog> {
        Some(self)
    }
}

impl SharedLog for StreamsLog {
    fn beat(&self, claim: &Claim, last: u64) -> Answer<'_, Wishes> {
        Box::pin(self.0.beat(claim.clone(), last))
    }

    fn restore(&self, claim: &Claim, new: NewTurn, response: Option<ResponseHead>) -> Answer<'_, ()> {
        Box::pin(self.0.restore(claim.clone(), new, response))
    }

    fn signs(&self) -> Answer<'_, Vec<(TurnKey, Sign)>> {
        Box::pin(self.0.signs())
    }

    fn ask_to_stop(&self, key: TurnKey) -> Answer<'_, ()> {
        Box::pin(async move { self.0.wish(&tag(&key), wishes::Wish::Stop).await })
    }

    fn note_readers(&self, key: TurnKey) -> Answer<'_, ()> {
        Box::pin(async move { self.0.wish(&tag(&key), wishes::Wish::Read).await })
    }

    fn watch(&self, key: &TurnKey) -> mpsc::Receiver<Hint> {
        watch::watch(self.0.clone(), tag(key))
    }
}
