//! The session of a request. To a caller, other users' sessions and turns do not exist.

use std::time::Duration;

use axum::http::{HeaderMap, StatusCode};

use super::Call;
use super::refusal::Refusal;
use crate::client;
use crate::log::ReplayLog;
use crate::route::{Action, Named, Place};

/// How long the agent may take to name the owner or the session of something.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest such response.
const LARGEST: usize = 16 << 20;

/// A session that a caller may use.
#[derive(Debug, Clone)]
pub(super) enum Session {
    /// An existing session.
    Known(String),
    /// A session that a start creates with the client's id. It has no owner yet.
    New(String),
}

impl Session {
    pub(super) fn id(&self) -> &str {
        let (Self::Known(id) | Self::New(id)) = self;
        id
    }

    /// Records this user as the owner of a new session, before the agent is called: earlier refusals leave no trace.
    pub(super) async fn own(
        &self,
        log: &dyn ReplayLog,
        upstream: &str,
        subject: &str,
    ) -> Result<(), Refusal> {
        let Self::New(id) = self else { return Ok(()) };
        let owner = log.own(upstream.to_owned(), id.clone(), subject.to_owned()).await?;
        (owner == subject).then_some(()).ok_or_else(Refusal::not_found)
    }
}

/// Returns the session that a request names, if any, or refuses the request.
pub(super) async fn permit(call: &Call, named: Option<&Named>) -> Result<Option<Session>, Refusal> {
    let config = &call.agent().config;
    if !config.is_owned {
        let in_body = named.and_then(|named| named.session.clone());
        return Ok(call.matched.session.clone().or(in_body).map(Session::Known));
    }
    match call.matched.route.place {
        Place::Nowhere => Ok(None),
        Place::Session => {
            let session = call.matched.session.clone().ok_or_else(Refusal::not_found)?;
            is_own(call, session).await.map(Some)
        }
        Place::Turn => {
            let turn = call.matched.turn.as_deref().ok_or_else(Refusal::not_found)?;
            session_of(call, turn).await.map(Some)
        }
        Place::Query(name) => {
            let mut values = call.query.iter().filter(|(key, _)| key == name).map(|(_, value)| value);
            match (values.next(), values.next()) {
                (Some(session), None) => is_own(call, session.clone()).await.map(Some),
                _ => Err(Refusal::bad(format!("the query must have `{name}` once"))),
            }
        }
        Place::Body => {
            if let Some(parent) = named.and_then(|named| named.parent.as_deref()) {
                session_of(call, parent).await?;
            }
            let session = named.and_then(|named| named.session.clone());
            let session =
                session.ok_or_else(|| Refusal::bad("the body must name its session: `threadId`"))?;
            let is_start = call.matched.route.action == Action::Start;
            if is_start {
                begun(call, session).await.map(Some)
            } else {
                is_own(call, session).await.map(Some)
            }
        }
    }
}

async fn is_own(call: &Call, session: String) -> Result<Session, Refusal> {
    let owner = call.app.log.owner(call.agent().config.name.clone(), session.clone()).await?;
    let is_own = owner.as_deref() == Some(&*call.caller.subject);
    is_own.then_some(Session::Known(session)).ok_or_else(Refusal::not_found)
}

/// The session of a turn, as the agent names it, if it is the caller's.
async fn session_of(call: &Call, turn: &str) -> Result<Session, Refusal> {
    let (path, pointer) = call.agent().config.protocol.record(turn).ok_or_else(Refusal::not_found)?;
    let (status, body) = ask(call, &path).await?;
    if !status.is_success() {
        return Err(Refusal::not_found());
    }
    let record: serde_json::Value = serde_json::from_slice(&body).map_err(|_| Refusal::unanswered())?;
    let session =
        record.pointer(pointer).and_then(serde_json::Value::as_str).ok_or_else(Refusal::not_found)?;
    is_own(call, session.to_owned()).await
}

/// The session of a start with an id that the client chooses: the caller's own, or one that is new to the agent too.
async fn begun(call: &Call, session: String) -> Result<Session, Refusal> {
    if call.app.log.owner(call.agent().config.name.clone(), session.clone()).await?.is_some() {
        return is_own(call, session).await;
    }
    if let Some(path) = call.agent().config.protocol.probe(&session) {
        match ask(call, &path).await?.0 {
            StatusCode::NOT_FOUND => {}
            // It was made elsewhere and its owner is unknown, or another start of the caller has just made it.
            status if status.is_success() => return is_own(call, session).await,
            _ => return Err(Refusal::unanswered()),
        }
    }
    Ok(Session::New(session))
}

async fn ask(call: &Call, path: &str) -> Result<(StatusCode, bytes::Bytes), Refusal> {
    let agent = call.agent();
    let address = agent.address(path).ok_or_else(Refusal::not_found)?;
    let mut head = HeaderMap::new();
    for (name, value) in &agent.config.headers {
        head.insert(name, value.value());
    }
    let answer = client::get(&agent.client, address, head, PATIENCE, LARGEST).await;
    let (parts, body) = answer.map_err(|_| Refusal::unanswered())?;
    Ok((parts.status, body))
}
