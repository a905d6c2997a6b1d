//! The ends of turns: which turns are running, and how turns are removed when they expire or are purged. The protocol
//! sets a stream's lifetime only when it is created, so relays remove old streams.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::super::{Head, LogError, Purge, REMEMBERED, Sign, TurnKey};
use super::index::{Listed, Seen, Stage, Which};
use super::server::BEGINNING;
use super::{AT_ONCE, Kept, names, sessions};

/// How many turns expire at once.
const A_FEW: usize = 16;
/// How long the owner of a turn that was removed on purpose must not restore it. It notices within seconds.
const REMOVED: Duration = Duration::from_mins(5);

impl Kept {
    /// What remains of an expired turn.
    pub(super) async fn past(&self, tag: &str) -> Result<Option<(TurnKey, Head)>, LogError> {
        let Some((pieces, _)) = self.server.rest(&names::past(tag), BEGINNING).await? else {
            return Ok(None);
        };
        serde_json::from_slice(&pieces.concat()).map(Some).map_err(|_| LogError::Unreadable)
    }

    /// Notes that this process has ended a turn.
    pub(super) fn ended(&self, tag: &str) {
        self.index.found(tag, Stage::Ended(Instant::now()));
    }

    /// Looks at a turn that is not known to have ended.
    async fn look(&self, tag: &str, stage: Stage) -> Result<Stage, LogError> {
        let missing = || match stage {
            Stage::Missing(since) => Stage::Missing(since),
            _ => Stage::Missing(Instant::now()),
        };
        let Some(tail) = self.server.tail(&names::turn(tag)).await? else { return Ok(missing()) };
        if tail.is_closed {
            return Ok(Stage::Ended(Instant::now()));
        }
        match &stage {
            Stage::Running(Some(seen)) if seen.tail != tail.next => {
                let sign = Sign { beats: seen.sign.beats + 1, ..seen.sign };
                return Ok(Stage::Running(Some(Seen { tail: tail.next, sign, silent: 0, ..seen.clone() })));
            }
            // A claim by another owner is looked for only after two looks without news.
            Stage::Running(Some(seen)) if seen.silent != 1 => {
                let silent = seen.silent.saturating_add(1);
                return Ok(Stage::Running(Some(Seen { silent, ..seen.clone() })));
            }
            _ => {}
        }
        let (key, head) = match self.head(tag).await {
            Ok(turn) => turn,
            // An unreadable turn cannot be helped, and must not block the others.
            Err(LogError::Gone | LogError::Unreadable) => return Ok(missing()),
            Err(error) => return Err(error),
        };
        let (beats, silent) = match &stage {
            Stage::Running(Some(seen)) => (seen.sign.beats, seen.silent + 1),
            _ => (0, 0),
        };
        let sign = Sign { epoch: head.epoch, last: head.last, beats };
        Ok(Stage::Running(Some(Seen { key, tail: tail.next, sign, silent })))
    }

    /// The running turns with their signs of life: a growing stream.
    pub(super) async fn signs(&self) -> Result<Vec<(TurnKey, Sign)>, LogError> {
        self.index.refresh(&self.server).await?;
        let running =
            self.index.at(|stage| matches!(stage, Stage::Running(_) | Stage::Missing(_)), usize::MAX);
        let look = async |turn: Listed| Ok((self.look(&turn.tag, turn.stage).await?, turn.tag));
        let found: Vec<(Stage, String)> =
            stream::iter(running).map(look).buffer_unordered(AT_ONCE).try_collect().await?;
        let mut signs = Vec::new();
        for (stage, tag) in found {
            if let Stage::Running(Some(seen)) = &stage {
                signs.push((seen.key.clone(), seen.sign));
            }
            self.index.found(&tag, stage);
        }
        Ok(signs)
    }

    /// Removes the frames of some turns whose end this relay saw longer ago than this.
    pub(super) async fn expire(&self, retention: Duration) -> Result<usize, LogError> {
        let is_old = |stage: &Stage| matches!(stage, Stage::Ended(at) if at.elapsed() >= retention);
        let old = self.index.at(is_old, A_FEW);
        let mut count = 0;
        for Listed { tag, .. } in old {
            match self.head(&tag).await {
                Ok((key, head)) if !head.is_expired => {
                    let rest = serde_json::to_vec(&(key, Head { is_expired: true, ..head }));
                    let rest = rest.map_err(|error| LogError::Unreachable(error.to_string()))?;
                    // In this order: the turn, or what remains of it, always exists.
                    self.server.make(&names::past(&tag), Some(REMEMBERED), rest.into()).await?;
                    self.server.delete(&names::turn(&tag)).await?;
                    self.server.delete(&names::wishes(&tag)).await?;
                    self.index.expired(&self.server, &tag).await?;
                    count += 1;
                }
                // Another relay was faster.
                Ok(_) => self.index.found(&tag, Stage::Expired),
                Err(LogError::Gone) => self.index.forget(&tag),
                Err(LogError::Unreadable) => {
                    self.server.delete(&names::turn(&tag)).await?;
                    self.index.forget(&tag);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }

    pub(super) async fn mark_removed(&self, tag: &str) -> Result<(), LogError> {
        self.server.make(&names::removed(tag), Some(REMOVED), Bytes::new()).await
    }

    /// Whether a turn was removed on purpose.
    pub(super) async fn is_removed(&self, tag: &str) -> Result<bool, LogError> {
        Ok(self.server.tail(&names::removed(tag)).await?.is_some())
    }

    /// Removes turns and the records of session owners.
    pub(super) async fn purge(&self, what: Purge) -> Result<usize, LogError> {
        let which = match &what {
            Purge::All => Which::All,
            Purge::Subject(subject) => Which::Subject(subject.clone()),
            Purge::Session { upstream, session } => {
                Which::Session { upstream: upstream.clone(), session: session.clone() }
            }
        };
        self.index.refresh(&self.server).await?;
        let mut count = 0;
        for Listed { tag, .. } in self.index.of(&which) {
            match self.head(&tag).await {
                // Unreadable turns are purged as well.
                Ok(_) | Err(LogError::Unreadable) => count += 1,
                Err(LogError::Gone) => continue,
                Err(error) => return Err(error),
            }
            self.mark_removed(&tag).await?;
            for path in [names::turn(&tag), names::wishes(&tag), names::past(&tag)] {
                self.server.delete(&path).await?;
            }
            self.copies.forget(&tag);
            self.index.gone(&self.server, &tag).await?;
            self.index.forget(&tag);
        }
        match what {
            Purge::Session { .. } => {}
            Purge::Subject(subject) => sessions::purge(&self.server, Some(&subject)).await?,
            Purge::All => sessions::purge(&self.server, None).await?,
        }
        Ok(count)
    }
}
