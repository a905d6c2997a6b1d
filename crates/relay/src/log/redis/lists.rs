//! Operations on several turns: the running ones, a user's, and those to be removed. The lists are kept beside the
//! turns and may name some that are gone: each turn's own key is authoritative.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fred::interfaces::{KeysInterface, SetsInterface, SortedSetsInterface};
use fred::types::Expiration;
use futures_util::{StreamExt, TryStreamExt, future::Either, stream};

use super::super::{Head, LogError, Purge, REMEMBERED, Sign, TurnKey};
use super::connection::failed;
use super::rows::{Row, millis, value};
use super::scripts::run;
use super::{RedisLog, keys};

/// How many requests are in flight at once.
const AT_ONCE: usize = 64;
/// How long a turn must be missing before the list of running turns forgets it: a turn is listed before it is created.
const FORGOTTEN: Duration = Duration::from_mins(1);
/// How long the owner of a turn that was removed on purpose must not restore it. It notices within seconds.
pub(super) const REMOVED: Duration = Duration::from_mins(5);

/// Listed turns that are missing, each with the time when that was noticed.
#[derive(Debug, Default)]
pub(super) struct Lists {
    gone: Mutex<HashMap<String, Instant>>,
}

impl RedisLog {
    /// Lists a turn that is about to be created.
    pub(super) async fn list(&self, key: &TurnKey, tag: &str, session: Option<&str>) -> Result<(), LogError> {
        let commands = &self.connections.commands;
        let list = vec![keys::list(&key.upstream, &key.subject)];
        let lives = self.lifetimes.while_running() + REMEMBERED;
        let arguments = vec![value(member(&key.turn, session)), millis(lives)];
        let running = async {
            let added: Result<(), _> = commands.sadd(keys::OPEN, tag).await;
            added.map_err(|error| failed(&error))
        };
        tokio::try_join!(running, run(commands, &self.scripts.list, list, arguments)).map(drop)
    }

    /// Removes an ended turn from the list of running turns. If that fails, the next look does it.
    pub(super) async fn unlist(&self, tag: &str) {
        let _: Result<(), _> = self.connections.commands.srem(keys::OPEN, tag).await;
    }

    /// The existing turns with these tags.
    async fn rows(&self, tags: Vec<String>) -> Result<Vec<(String, Option<Row>)>, LogError> {
        let row = async |tag: String| match self.row(&tag).await {
            Ok(row) => Ok((tag, Some(row))),
            Err(LogError::Gone) => Ok((tag, None)),
            Err(error) => Err(error),
        };
        stream::iter(tags).map(row).buffered(AT_ONCE).try_collect().await
    }

    /// The running turns.
    pub(super) async fn open_rows(&self) -> Result<Vec<(TurnKey, Sign)>, LogError> {
        let tags: Result<Vec<String>, _> = self.connections.commands.smembers(keys::OPEN).await;
        let mut open = Vec::new();
        let mut over = Vec::new();
        for (tag, row) in self.rows(tags.map_err(|error| failed(&error))?).await? {
            let mut gone = self.lists.gone.lock().unwrap_or_else(PoisonError::into_inner);
            match row {
                Some(row) => {
                    gone.remove(&tag);
                    if row.head.end.is_none() {
                        open.push((row.key, row.sign));
                    } else {
                        over.push((tag, Some(row.key)));
                    }
                }
                None if gone.entry(tag.clone()).or_insert_with(Instant::now).elapsed() > FORGOTTEN => {
                    gone.remove(&tag);
                    over.push((tag, None));
                }
                None => {}
            }
        }
        for (tag, key) in over {
            // Its relay may have died before it stopped counting the turn, or Redis was unavailable.
            let is_uncounted = match key {
                Some(key) => self.uncount(&key).await,
                None => true,
            };
            if is_uncounted {
                self.unlist(&tag).await;
            }
        }
        Ok(open)
    }

    /// A user's turns, newest first.
    pub(super) async fn listed(
        &self,
        upstream: String,
        subject: String,
        session: Option<String>,
    ) -> Result<Vec<(String, Head)>, LogError> {
        let list = keys::list(&upstream, &subject);
        let members: Result<Vec<String>, _> =
            self.connections.commands.zrevrange(list.as_str(), 0, -1, false).await;
        let members = members.map_err(|error| failed(&error))?;
        let named = |member: &String| {
            let (turn, its) = parts(member);
            let key = TurnKey { upstream: upstream.clone(), subject: subject.clone(), turn: turn.to_owned() };
            (session.is_none() || its == session.as_deref()).then(|| keys::tag(&key))
        };
        let rows = self.rows(members.iter().filter_map(named).collect()).await?;
        Ok(rows.into_iter().filter_map(|(_, row)| row).map(|row| (row.key.turn, row.head)).collect())
    }

    /// Removes turns and the records of session owners.
    pub(super) async fn remove_all(&self, what: Purge) -> Result<usize, LogError> {
        let commands = &self.connections.commands;
        let mut count = 0;
        let tags = self.scan(keys::TURNS).await?;
        let tags = tags.iter().filter_map(|name| keys::tag_of(name).map(str::to_owned)).collect();
        for (tag, row) in self.rows(tags).await? {
            let Some(row) = row else { continue };
            let is_meant = match &what {
                Purge::All => true,
                Purge::Subject(subject) => row.key.subject == *subject,
                Purge::Session { upstream, session } => {
                    row.key.upstream == *upstream && row.head.new.session.as_ref() == Some(session)
                }
            };
            if is_meant {
                let lives = Some(Expiration::PX(i64::try_from(REMOVED.as_millis()).unwrap_or(i64::MAX)));
                let noted: Result<(), _> = commands.set(keys::removed(&tag), "", lives, None, false).await;
                noted.map_err(|error| failed(&error))?;
                let removed: Result<(), _> = commands.del(vec![keys::turn(&tag), keys::frames(&tag)]).await;
                removed.map_err(|error| failed(&error))?;
                let list = keys::list(&row.key.upstream, &row.key.subject);
                let member = member(&row.key.turn, row.head.new.session.as_deref());
                let unlisted: Result<(), _> = commands.zrem(list, member).await;
                unlisted.map_err(|error| failed(&error))?;
                self.uncount(&row.key).await;
                count += 1;
            }
        }
        let subject = match what {
            Purge::Session { .. } => return Ok(count),
            Purge::Subject(subject) => Some(subject),
            Purge::All => None,
        };
        for session in self.scan(keys::SESSIONS).await? {
            let owner: Option<String> =
                commands.get(session.as_str()).await.map_err(|error| failed(&error))?;
            if subject.is_none() || owner == subject {
                let removed: Result<(), _> = commands.del(session).await;
                removed.map_err(|error| failed(&error))?;
            }
        }
        Ok(count)
    }

    /// All keys that match a pattern. This scans the whole database in small steps.
    async fn scan(&self, pattern: &str) -> Result<Vec<String>, LogError> {
        let commands = &self.connections.commands;
        let keys = if self.is_cluster {
            Either::Left(commands.scan_cluster_buffered(pattern, Some(500), None))
        } else {
            Either::Right(commands.scan_buffered(pattern, Some(500), None))
        };
        let keys: Result<Vec<_>, _> = keys.try_collect().await;
        let mut keys: Vec<String> = keys
            .map_err(|error| failed(&error))?
            .into_iter()
            .filter_map(fred::types::Key::into_string)
            .collect();
        // A scan may return a key twice.
        keys.sort();
        keys.dedup();
        Ok(keys)
    }
}

/// A turn in a user's list. The separator follows the turn's id, which cannot contain it.
fn member(turn: &str, session: Option<&str>) -> String {
    session.map_or_else(|| turn.to_owned(), |session| format!("{turn} {session}"))
}

fn parts(member: &str) -> (&str, Option<&str>) {
    member.split_once(' ').map_or((member, None), |(turn, session)| (turn, Some(session)))
}
