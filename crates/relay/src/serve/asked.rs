//! One of the relay's own requests, with its caller.

use std::sync::Arc;

use axum::http::HeaderMap;

use super::refusal::Refusal;
use super::wanted::{Source, Wanted};
use super::{App, read, start};
use crate::connection::Connection;
use crate::edge;
use crate::identity::Caller;
use crate::limits::{InUse, Kind};
use crate::log::TurnKey;

/// A request with its caller.
pub(super) struct Asked<'a> {
    pub(super) app: &'a Arc<App>,
    pub(super) agent: usize,
    pub(super) caller: Caller,
    pub(super) query: Vec<(String, String)>,
    pub(super) head: HeaderMap,
    pub(super) connection: Connection,
}

impl Asked<'_> {
    pub(super) fn key(&self, turn: &str) -> Result<TurnKey, Refusal> {
        if !start::is_id(turn) {
            return Err(Refusal::not_found());
        }
        Ok(TurnKey {
            upstream: self.app.agents[self.agent].config.name.clone(),
            subject: self.caller.subject.to_string(),
            turn: turn.to_owned(),
        })
    }

    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Where a turn is read, and the count of the caller as a reader, which includes waiting for the turn.
    pub(super) async fn source(&self, key: &TurnKey, has_read: bool) -> Result<(Source, InUse), Refusal> {
        let reading = self.app.usage.take(Kind::Stream, &self.caller.subject)?;
        if let Some(hub) = self.app.hubs.get(key) {
            return Ok((Source::Open(hub), reading));
        }
        let head =
            if has_read { read::seen(self.app, key).await? } else { self.app.log.head(key.clone()).await? };
        Ok((Source::of(self.app, key.clone(), head)?.0, reading))
    }

    /// A turn for the caller, from this place on.
    pub(super) fn wanted(&self, key: TurnKey, source: Source, reading: InUse, after: u64) -> Wanted {
        let linked = source.hub().map(|hub| &hub.span);
        let span = self.app.traces.attach(&key.upstream, &self.head, linked);
        Wanted {
            app: self.app.clone(),
            key,
            source,
            after,
            is_ours: self.head.contains_key(edge::RELAY),
            connection: self.connection.clone(),
            valid_for: self.caller.valid_for,
            reading,
            span,
        }
    }
}
