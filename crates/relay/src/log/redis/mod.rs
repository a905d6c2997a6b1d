//! A log in Redis or Valkey, for several relays. Each change of a turn is one atomic script (`scripts`).
//!
//! Each turn has a hash, a stream with its frames, and a channel with hints (`keys`). In addition there are a set of
//! running turns, and a list of turns for each user (`lists`). All data expires: its time to live is set when it is
//! created, and again at the turn's end.

mod admission;
mod connection;
mod hints;
mod keys;
mod lists;
mod replicas;
mod rows;
mod scripts;
#[cfg(test)]
mod tests;

use std::time::Duration;

use bytes::Bytes;
use fred::interfaces::{ClientLike, KeysInterface};
use fred::prelude::Value;
use fred::types::InfoKind;
use fred::types::scripts::Script;
use tokio::sync::mpsc;

use self::connection::{Connections, failed};
use self::hints::Hints;
use self::lists::Lists;
use self::replicas::Replicas;
use self::rows::{Row, fields, log_id, millis, value};
use self::scripts::{Scripts, number, run};
use super::{
    Admission, Answer, Change, Claim, Created, Head, Hint, Lifetimes, LogError, NewTurn, Purge, REMEMBERED,
    ReplayLog, ResponseHead, SharedLog, Sign, Size, TurnKey, Wishes, new_log_id,
};
use crate::mutant::mutant;
use crate::turn::End;

/// Keeps turns in Redis.
#[derive(Debug)]
pub struct RedisLog {
    connections: Connections,
    scripts: Scripts,
    hints: Hints,
    lists: Lists,
    lifetimes: Lifetimes,
    is_cluster: bool,
    /// If they have to have starts and ends.
    replicas: Option<Replicas>,
}

impl RedisLog {
    /// Connects to the server at a URL, and checks that it can keep turns. The password is not part of the URL.
    pub async fn open(url: &str, password: Option<&str>, lifetimes: Lifetimes) -> Result<Self, LogError> {
        let connections = connection::connect(url, password).await?;
        let is_cluster = connections.commands.is_clustered();
        let hints = Hints::start(&connections.hints, is_cluster);
        Ok(Self {
            hints,
            connections,
            scripts: Scripts::new(),
            lists: Lists::default(),
            lifetimes,
            is_cluster,
            replicas: None,
        })
    }

    /// The same log, but a turn is new, and an end that is no cut is acknowledged and shown, only once a replica has it.
    #[must_use]
    pub fn replicated(self) -> Self {
        Self { replicas: Some(Replicas::default()), ..self }
    }

    fn publish(&self) -> Value {
        value(if self.is_cluster { "SPUBLISH" } else { "PUBLISH" })
    }

    async fn row(&self, tag: &str) -> Result<Row, LogError> {
        let keys = vec![keys::turn(tag), keys::frames(tag)];
        rows::row(&run(&self.connections.commands, &self.scripts.head, keys, Vec::new()).await?)
    }

    async fn make(&self, key: TurnKey, new: NewTurn) -> Result<Created, LogError> {
        let (tag, log) = (keys::tag(&key), new_log_id()?);
        // The lists come first: a listed turn that does not exist does no harm.
        self.list(&key, &tag, new.session.as_deref()).await?;
        let mut arguments = vec![log_id(log), millis(self.lifetimes.while_running())];
        arguments.extend(fields(&key, &new));
        let keys = vec![keys::turn(&tag), keys::removed(&tag)];
        let answer = run(&self.connections.commands, &self.scripts.create, keys, arguments);
        match answer.await {
            Ok(_) => {
                self.keep_counted(&key).await;
                let claim = Claim { key, log, epoch: 1 };
                if let Some(replicas) = &self.replicas
                    && let Err(error) = replicas.have(self, &tag).await
                {
                    // Its agent has not got it: it may be sent again.
                    let _ = self.remove(&claim).await;
                    return Err(error);
                }
                Ok(Created::New(claim))
            }
            Err(LogError::Closed) => Ok(Created::Exists(self.row(&tag).await?.head)),
            Err(error) => Err(error),
        }
    }

    async fn add(&self, claim: Claim, at: u64, frames: Vec<Bytes>, change: Change) -> Result<(), LogError> {
        let tag = keys::tag(&claim.key);
        let unknown = |error: serde_json::Error| LogError::Unreachable(error.to_string());
        let end = change.end.map(|end| serde_json::to_string(&end)).transpose().map_err(unknown)?;
        // A cut that is lost is made again.
        let is_held = change.end.is_some_and(|end| !matches!(end, End::Cut { .. }));
        let replicas = self.replicas.as_ref().filter(|_| is_held);
        let is_over = end.is_some() && replicas.is_none();
        let (status, content_type) = change
            .response
            .map_or_else(Default::default, |response| (response.status.to_string(), response.content_type));
        // Redis has exact numbers up to 2^53; a larger offset is invalid.
        let at = at.min(1 << 53);
        let script = if frames.is_empty() { &self.scripts.end } else { &self.scripts.append };
        let mut arguments = vec![
            log_id(claim.log),
            value(claim.epoch.to_string()),
            value(at.to_string()),
            value(status),
            value(content_type),
            value(end.unwrap_or_default()),
            if replicas.is_some() { value("") } else { self.publish() },
            millis(self.lifetimes.while_running()),
            millis(self.lifetimes.retention),
            millis(self.lifetimes.retention + REMEMBERED),
        ];
        arguments.extend(frames.into_iter().map(Value::Bytes));
        let added = self.change(&claim.key, is_over, script, arguments).await?;
        match replicas {
            Some(replicas) if added.is_empty() => {
                replicas.have(self, &tag).await?;
                self.show(&claim).await
            }
            // Or its end was shown before.
            _ => Ok(()),
        }
    }

    /// Shows an end that was held back.
    async fn show(&self, claim: &Claim) -> Result<(), LogError> {
        let arguments = vec![log_id(claim.log), value(claim.epoch.to_string()), self.publish()];
        self.change(&claim.key, true, &self.scripts.end, arguments).await.map(drop)
    }

    /// Runs a script that appends to a turn.
    async fn change(
        &self,
        key: &TurnKey,
        is_over: bool,
        script: &Script,
        arguments: Vec<Value>,
    ) -> Result<Vec<Bytes>, LogError> {
        let tag = keys::tag(key);
        let keys = vec![keys::turn(&tag), keys::frames(&tag), keys::channel(&tag)];
        // The count is reduced first: a client that sees the end may start the next turn at once.
        let uncounted = async { is_over && self.uncount(key).await };
        let (is_uncounted, changed) =
            tokio::join!(uncounted, run(&self.connections.commands, script, keys, arguments));
        let answer = match changed {
            Err(LogError::Unreachable(_)) if mutant!("unheard_acknowledged") => Vec::new(),
            changed => changed?,
        };
        if is_uncounted {
            self.unlist(&tag).await;
        }
        Ok(answer)
    }

    /// Takes a turn over, unless it has ended. Its owner may have died before it could show an end that a replica has.
    async fn take(&self, key: TurnKey, seen: u64) -> Result<Claim, LogError> {
        let tag = keys::tag(&key);
        let claim = async |held: &'static str| {
            let arguments = vec![value(seen.to_string()), log_id(new_log_id()?), self.publish(), value(held)];
            let keys = vec![keys::turn(&tag), keys::channel(&tag)];
            let answer = run(&self.connections.commands, &self.scripts.claim, keys, arguments).await?;
            let hexadecimal = |text: &Bytes| u64::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok();
            let unread = || LogError::Unreachable("Redis: a claim there cannot be read".to_owned());
            let log = answer.first().and_then(hexadecimal).ok_or_else(unread)?;
            let epoch = answer.get(1).and_then(|text| number(text)).ok_or_else(unread)?;
            Ok((Claim { key: key.clone(), log, epoch }, answer.len() > 2))
        };
        match claim("").await? {
            (claim, false) => Ok(claim),
            (its_owners, true) if self.has_replica(&tag).await? => {
                self.show(&its_owners).await?;
                Err(LogError::Closed)
            }
            (_, true) => claim("discard").await.map(|(claim, _)| claim),
        }
    }

    async fn note(&self, key: TurnKey, field: &'static str) -> Result<(), LogError> {
        let keys = vec![keys::turn(&keys::tag(&key))];
        run(&self.connections.commands, &self.scripts.note, keys, vec![value(field)]).await.map(drop)
    }
}

impl ReplayLog for RedisLog {
    fn create(&self, key: TurnKey, new: NewTurn) -> Answer<'_, Created> {
        Box::pin(self.make(key, new))
    }

    fn claim(&self, key: TurnKey, seen: u64) -> Answer<'_, Claim> {
        Box::pin(self.take(key, seen))
    }

    fn append(&self, claim: &Claim, at: u64, frames: Vec<Bytes>, change: Change) -> Answer<'_, ()> {
        Box::pin(self.add(claim.clone(), at, frames, change))
    }

    fn head(&self, key: TurnKey) -> Answer<'_, Head> {
        Box::pin(async move { Ok(self.row(&keys::tag(&key)).await?.head) })
    }

    fn read(&self, key: TurnKey, after: u64, max_bytes: usize) -> Answer<'_, Vec<Bytes>> {
        Box::pin(async move {
            let tag = keys::tag(&key);
            let arguments = vec![value(after.to_string()), value(max_bytes.to_string())];
            let keys = vec![keys::turn(&tag), keys::frames(&tag)];
            run(&self.connections.commands, &self.scripts.read, keys, arguments).await
        })
    }

    fn open_turns(&self) -> Answer<'_, Vec<(TurnKey, u64)>> {
        Box::pin(async move {
            let signs = self.open_rows().await?;
            Ok(signs.into_iter().map(|(key, sign)| (key, sign.epoch)).collect())
        })
    }

    fn turns(
        &self,
        upstream: String,
        subject: String,
        session: Option<String>,
    ) -> Answer<'_, Vec<(String, Head)>> {
        Box::pin(self.listed(upstream, subject, session))
    }

    fn remove(&self, claim: &Claim) -> Answer<'_, ()> {
        let (key, tag) = (claim.key.clone(), keys::tag(&claim.key));
        let arguments = vec![log_id(claim.log), value(claim.epoch.to_string()), millis(lists::REMOVED)];
        Box::pin(async move {
            // First: once the turn is gone, no look at the running turns could find its user.
            self.uncount(&key).await;
            let keys = vec![keys::turn(&tag), keys::frames(&tag), keys::removed(&tag)];
            run(&self.connections.commands, &self.scripts.remove, keys, arguments).await.map(drop)
        })
    }

    /// Redis removes expired data itself.
    fn expire(&self, _retention: Duration) -> Answer<'_, usize> {
        Box::pin(async { Ok(0) })
    }

    fn purge(&self, what: Purge) -> Answer<'_, usize> {
        Box::pin(self.remove_all(what))
    }

    fn is_removed(&self, key: TurnKey) -> Answer<'_, bool> {
        Box::pin(async move {
            let found = self.connections.commands.exists(keys::removed(&keys::tag(&key))).await;
            found.map_err(|error| failed(&error))
        })
    }

    fn own(&self, upstream: String, session: String, subject: String) -> Answer<'_, String> {
        Box::pin(async move {
            let keys = vec![keys::session(&upstream, &session)];
            let owner = self.scripts.own.evalsha_with_reload(&self.connections.commands, keys, vec![subject]);
            owner.await.map_err(|error| failed(&error))
        })
    }

    fn owner(&self, upstream: String, session: String) -> Answer<'_, Option<String>> {
        Box::pin(async move {
            let owner = self.connections.commands.get(keys::session(&upstream, &session)).await;
            owner.map_err(|error| failed(&error))
        })
    }

    fn disown(&self, upstream: String, session: String) -> Answer<'_, ()> {
        Box::pin(async move {
            let removed = self.connections.commands.del(keys::session(&upstream, &session)).await;
            removed.map_err(|error| failed(&error))
        })
    }

    /// The whole server's memory, as all its users share the limit. In a cluster, that of one node.
    fn size(&self) -> Answer<'_, Size> {
        Box::pin(async {
            let info: Result<String, _> = self.connections.commands.info(Some(InfoKind::Memory)).await;
            let info = info.map_err(|error| failed(&error))?;
            let value = |name: &str| {
                info.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap_or(0)
            };
            Ok(Size { bytes: value("used_memory:"), room: value("maxmemory:") })
        })
    }

    fn shared(&self) -> Option<&dyn SharedLog> {
        Some(self)
    }
}

impl SharedLog for RedisLog {
    fn admit(&self, key: &TurnKey, starts_per_minute: u32, turns: usize) -> Answer<'_, Admission> {
        let key = key.clone();
        Box::pin(async move { self.count(&key, starts_per_minute, turns).await })
    }

    fn beat(&self, claim: &Claim, last: u64) -> Answer<'_, Wishes> {
        let claim = claim.clone();
        Box::pin(async move {
            let keys = vec![keys::turn(&keys::tag(&claim.key))];
            let arguments = vec![log_id(claim.log), value(claim.epoch.to_string()), value(last.to_string())];
            let answer = run(&self.connections.commands, &self.scripts.beat, keys, arguments).await?;
            let count = |place: usize| answer.get(place).and_then(|text| number(text)).unwrap_or(0);
            Ok(Wishes { is_stopped: count(0) > 0, readers: count(1) })
        })
    }

    fn restore(&self, claim: &Claim, new: NewTurn, response: Option<ResponseHead>) -> Answer<'_, ()> {
        let claim = claim.clone();
        Box::pin(async move {
            let tag = keys::tag(&claim.key);
            self.list(&claim.key, &tag, new.session.as_deref()).await?;
            let mut arguments = vec![
                log_id(claim.log),
                value(claim.epoch.to_string()),
                millis(self.lifetimes.while_running()),
            ];
            arguments.extend(fields(&claim.key, &new));
            if let Some(response) = response {
                let status = value(response.status.to_string());
                arguments.extend([value("status"), status, value("type"), value(response.content_type)]);
            }
            let keys = vec![keys::turn(&tag), keys::removed(&tag)];
            run(&self.connections.commands, &self.scripts.restore, keys, arguments).await?;
            self.keep_counted(&claim.key).await;
            Ok(())
        })
    }

    fn signs(&self) -> Answer<'_, Vec<(TurnKey, Sign)>> {
        Box::pin(self.open_rows())
    }

    fn ask_to_stop(&self, key: TurnKey) -> Answer<'_, ()> {
        Box::pin(self.note(key, "stop"))
    }

    fn note_readers(&self, key: TurnKey) -> Answer<'_, ()> {
        Box::pin(self.note(key, "readers"))
    }

    fn watch(&self, key: &TurnKey) -> mpsc::Receiver<Hint> {
        self.hints.watch(keys::channel(&keys::tag(key)))
    }
}
