//! The protocol's own request for the rest of a turn, to an agent that keeps turns itself. If the log has the turn, it
//! is read from the log, so that an agent has one connection per turn, however many readers there are. All other
//! requests go to the agent, which knows more.

use axum::response::Response;
use bytes::Bytes;

use super::access::Session;
use super::read;
use super::refusal::Refusal;
use super::wanted::{Source, Wanted};
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
    let kept = match after {
        Some(after) => kept(call, session.as_ref().map(|session| session.id().to_owned()), after).await?,
        None => None,
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

/// The turn in the log, if the log has all of it so far, or all that comes after this offset. It is found among the session's
/// few turns by the agent's id.
async fn kept(
    call: &Call,
    session: Option<String>,
    after: u64,
) -> Result<Option<(TurnKey, Source)>, Refusal> {
    let app = &call.app;
    let turns =
        app.log.turns(call.agent().config.name.clone(), call.caller.subject.to_string(), session).await?;
    for (turn, head) in turns {
        let is_whole = head.end.is_none() || head.end == Some(End::Done) && after <= head.last;
        if head.is_expired || !is_whole {
            continue;
        }
        let key = call.key(&turn);
        let name = match app.name_of(&key, call.agent().config.protocol).await {
            Ok(name) => name,
            Err(LogError::Gone) => continue,
            Err(error) => return Err(error.into()),
        };
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
