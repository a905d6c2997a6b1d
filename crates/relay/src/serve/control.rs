//! The relay's own requests, below each agent's path.

use std::sync::Arc;

use axum::Json;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use percent_encoding::percent_decode_str;
use serde_json::json;

use super::held::Held;
use super::hub::Request;
use super::read::{self, Source, Wanted};
use super::refusal::Refusal;
use super::{App, durable, start};
use crate::connection::Connection;
use crate::edge;
use crate::held::EndReason;
use crate::identity::Caller;
use crate::limits::{InUse, Kind};
use crate::log::{Head, TurnKey};

/// A request with its caller.
pub(super) struct Asked<'a> {
    pub(super) app: &'a Arc<App>,
    pub(super) agent: usize,
    pub(super) caller: Caller,
    pub(super) query: Vec<(String, String)>,
    pub(super) head: HeaderMap,
    pub(super) connection: Connection,
}

pub(super) async fn answer(asked: Asked<'_>, method: &Method, path: &str) -> Result<Response, Refusal> {
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    let is_logged = asked.app.agents[asked.agent].config.is_logged;
    match (method, segments.as_slice()) {
        (&Method::GET, [] | [""]) => Ok(asked.about()),
        (&Method::GET, ["sockets"]) => Ok(asked.sockets()),
        (&Method::DELETE, ["sockets", name]) => asked.end_socket(name),
        (_, ["turns" | "streams", ..]) if !is_logged => Err(Refusal::not_found()),
        (&Method::GET, ["turns"]) => asked.list().await,
        (&Method::GET, ["turns", turn, "events"]) => asked.attach(turn).await,
        (&Method::DELETE, ["turns", turn]) => asked.stop(turn).await,
        (_, ["streams", turn]) => durable::answer(&asked, method, turn).await,
        _ => Err(Refusal::not_found()),
    }
}

impl Asked<'_> {
    fn about(&self) -> Response {
        let config = &self.app.agents[self.agent].config;
        let limits = &self.app.config.limits;
        let is_logged = config.is_logged;
        let (resume, starts, readers) = match (is_logged, config.protocol.is_socket()) {
            (true, _) => ("cursor", "idempotent", "many"),
            (false, true) => ("socket", "idempotent", "many"),
            (false, false) => ("none", "once", "one"),
        };
        Json(json!({
            "version": 1,
            "protocol": config.protocol.to_string(),
            "resume": resume,
            "starts": starts,
            "readers": readers,
            "stop": is_logged,
            "retention_seconds": self.app.config.log.retention.as_secs(),
            // The limits that a client can reach by itself.
            "limits": {
                "turns_per_subject": limits.turns_per_subject,
                "streams_per_subject": limits.streams_per_subject,
                "starts_per_minute": limits.starts_per_minute,
                "sockets_per_subject": limits.sockets_per_subject,
                "socket_requests": limits.socket_requests,
                "body_bytes": limits.body,
                "turn_seconds": limits.turn_time.as_secs(),
                "silence_seconds": limits.silence.as_secs(),
            },
        }))
        .into_response()
    }

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

    fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The caller's held sockets.
    fn sockets(&self) -> Response {
        let (upstream, subject) = (&self.app.agents[self.agent].config.name, &self.caller.subject);
        let shown = |(name, held): (String, Arc<Held>)| {
            let socket = held.socket();
            json!({
                "conversation": name,
                "log": read::log_name(socket.log()),
                "readers": socket.reader_count(),
                "pending": socket.pending_count(),
                "busy": socket.is_busy(),
            })
        };
        let sockets: Vec<_> = self.app.sockets.of(upstream, subject).into_iter().map(shown).collect();
        Json(json!({ "sockets": sockets })).into_response()
    }

    fn end_socket(&self, name: &str) -> Result<Response, Refusal> {
        let name = percent_decode_str(name).decode_utf8().map_err(|_| Refusal::not_found())?;
        let (upstream, subject) = (&self.app.agents[self.agent].config.name, &self.caller.subject);
        let own = self.app.sockets.of(upstream, subject).into_iter().find(|(known, _)| *known == name);
        let (_, held) = own.ok_or_else(Refusal::not_found)?;
        held.end(EndReason::Stopped);
        Ok(StatusCode::ACCEPTED.into_response())
    }

    async fn attach(self, turn: &str) -> Result<Response, Refusal> {
        let key = self.key(turn)?;
        let after = read::cursor(&self.head, &self.query)?;
        let has_read = after > 0 || self.parameter("log").is_some();
        let (source, reading) = self.source(&key, has_read).await?;
        if self.parameter("log").is_some_and(|log| log != read::log_name(source.log())) {
            return Err(read::log_changed(source.log()));
        }
        read::respond(self.wanted(key, source, reading, after)).await
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

    async fn list(self) -> Result<Response, Refusal> {
        let state = match self.parameter("state") {
            None => None,
            Some("open") => Some(true),
            Some("closed") => Some(false),
            Some(_) => return Err(Refusal::bad("`state` must be `open` or `closed`")),
        };
        let upstream = self.app.agents[self.agent].config.name.clone();
        let session = self.parameter("session").map(str::to_owned);
        let turns = self.app.log.turns(upstream, self.caller.subject.to_string(), session).await?;
        let shown = |(turn, head): (String, Head)| {
            let is_open = head.end.is_none();
            (state.is_none_or(|wanted| wanted == is_open)).then(|| {
                json!({
                    "id": turn,
                    "session": head.new.session,
                    "log": read::log_name(head.log),
                    "last": head.last,
                    "state": if is_open { "open" } else { "closed" },
                    "end": head.end,
                    "expired": head.is_expired,
                })
            })
        };
        let turns: Vec<_> = turns.into_iter().filter_map(shown).collect();
        Ok(Json(json!({ "turns": turns })).into_response())
    }

    async fn stop(self, turn: &str) -> Result<Response, Refusal> {
        let key = self.key(turn)?;
        if self.app.hubs.get(&key).is_some_and(|hub| hub.ask(Request::Stop)) {
            return Ok(StatusCode::ACCEPTED.into_response());
        }
        match (self.app.log.head(key.clone()).await?.end, self.app.log.shared()) {
            (None, Some(shared)) => {
                shared.ask_to_stop(key).await?;
                Ok(StatusCode::ACCEPTED.into_response())
            }
            // It has ended: there is nothing to stop.
            _ => Ok(StatusCode::NO_CONTENT.into_response()),
        }
    }
}
