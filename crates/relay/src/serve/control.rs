//! The relay's own requests, below each agent's path.

use std::sync::Arc;

use axum::Json;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use percent_encoding::percent_decode_str;
use serde_json::json;

use super::asked::Asked;
use super::durable;
use super::held::Held;
use super::hub::Request;
use super::read;
use super::refusal::Refusal;
use super::wanted::{log_changed, log_name};
use crate::held::EndReason;
use crate::log::Head;

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

    /// The caller's held sockets.
    fn sockets(&self) -> Response {
        let (upstream, subject) = (&self.app.agents[self.agent].config.name, &self.caller.subject);
        let shown = |(name, held): (String, Arc<Held>)| {
            let socket = held.socket();
            json!({
                "conversation": name,
                "log": log_name(socket.log()),
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
        if self.parameter("log").is_some_and(|log| log != log_name(source.log())) {
            return Err(log_changed(source.log()));
        }
        read::respond(self.wanted(key, source, reading, after)).await
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
                    "log": log_name(head.log),
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
