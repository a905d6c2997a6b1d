//! The protocol's own request for the rest of a turn, to an agent that keeps turns itself. If the log has the turn, it
//! is read from the log, so that an agent has one connection per turn, however many readers there are. All other
//! requests go to the agent, which knows more.

use axum::response::Response;
use bytes::Bytes;

use super::access::Session;
use super::read::{self, Source, Wanted};
use super::refusal::Refusal;
use super::{Call, pass};
use crate::edge;
use crate::limits::Kind;
use crate::log::{LogError, TurnKey};
use crate::route::Protocol;
use crate::turn::End;

pub(super) async fn attach(call: &Call, session: Option<Session>, body: Bytes) -> Result<Response, Refusal> {
    let header = call.head.get(edge::LAST_EVENT_ID).map(|value| value.to_str().unwrap_or("?"));
    let after = Protocol::after(header, &call.query, &body);
    // An invalid request is left to the agent to refuse.
    let kept = if after.is_some() {
        kept(call, session.as_ref().map(|session| session.id().to_owned())).await?
    } else {
        None
    };
    let (Some(after), Some((key, source))) = (after, kept) else {
        return pass::pass(call, session, body).await;
    };
    let reading = call.app.usage.take(Kind::Stream, &call.caller.subject)?;
    let linked = source.hub().map(|hub| &hub.span);
    let span = call.app.traces.attach(&key.upstream, &call.head, linked);
    read::respond(Wanted {
        app: call.app.clone(),
        key,
        source,
        after,
        is_ours: call.is_ours(),
        connection: call.connection.clone(),
        valid_for: call.caller.valid_for,
        reading,
        span,
    })
    .await
}

/// The turn in the log, if the log has all of it so far. It is found among the session's few turns by the agent's id.
async fn kept(call: &Call, session: Option<String>) -> Result<Option<(TurnKey, Source)>, Refusal> {
    let app = &call.app;
    let turns =
        app.log.turns(call.agent().config.name.clone(), call.caller.subject.to_string(), session).await?;
    for (turn, head) in turns {
        if head.is_expired || !matches!(head.end, None | Some(End::Done)) {
            continue;
        }
        let key = call.key(&turn);
        let first = match app.log.read(key.clone(), 0, 1).await {
            Ok(frames) => frames,
            Err(LogError::Gone) => continue,
            Err(error) => return Err(error.into()),
        };
        let name = first.iter().find_map(|frame| call.agent().config.protocol.turn_named(frame));
        if name.is_some() && name == call.matched.turn {
            let hub = app.hubs.get(&key).map(Source::Open);
            let source = match hub {
                Some(source) => source,
                None => Source::of(app, key.clone(), head)?.0,
            };
            return Ok(Some((key, source)));
        }
    }
    Ok(None)
}
