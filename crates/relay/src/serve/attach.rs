//! The rest of a turn, asked for as its protocol has it, of an agent that keeps turns itself. What the log has is read from there, so
//! that however many read a turn, the agent has one connection for it; of everything else the agent knows more.

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
    // What cannot be read is the agent's to refuse.
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

/// The turn as the log has it, if it has all of it so far, or all that comes after this place. It is looked for among the few of
/// its session by the name that the agent has given it.
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
