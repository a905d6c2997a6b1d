//! Whose session a request concerns. What is not the caller's does not exist for the caller.

use std::time::Duration;

use axum::http::{HeaderMap, StatusCode};

use super::Call;
use super::refusal::Refusal;
use crate::client;
use crate::route::{Action, Named, Place};

/// How long the agent may take to tell whose something is.
const PATIENCE: Duration = Duration::from_secs(10);
/// What it may tell at most.
const LARGEST: usize = 16 << 20;

/// Returns the session that a request concerns, if it names one, or refuses it.
pub(super) async fn permit(call: &Call, named: Option<&Named>) -> Result<Option<String>, Refusal> {
    let config = &call.agent().config;
    if !config.is_owned {
        let in_body = named.and_then(|named| named.session.clone());
        return Ok(call.matched.session.clone().or(in_body));
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

async fn is_own(call: &Call, session: String) -> Result<String, Refusal> {
    let owner = call.app.log.owner(call.agent().config.name.clone(), session.clone()).await?;
    if owner.as_deref() == Some(&*call.caller.subject) { Ok(session) } else { Err(Refusal::not_found()) }
}

/// The session of a turn, if it is the caller's. The agent knows it.
async fn session_of(call: &Call, turn: &str) -> Result<String, Refusal> {
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

/// The session of a start whose id a client chooses: the caller's own, or one that is new to the agent too.
async fn begun(call: &Call, session: String) -> Result<String, Refusal> {
    let name = &call.agent().config.name;
    match call.app.log.owner(name.clone(), session.clone()).await? {
        Some(owner) if owner == *call.caller.subject => return Ok(session),
        Some(_) => return Err(Refusal::not_found()),
        None => {}
    }
    if let Some(path) = call.agent().config.protocol.probe(&session) {
        match ask(call, &path).await?.0 {
            StatusCode::NOT_FOUND => {}
            // It was made elsewhere: nothing says whose it is.
            status if status.is_success() => return Err(Refusal::not_found()),
            _ => return Err(Refusal::unanswered()),
        }
    }
    let owner = call.app.log.own(name.clone(), session.clone(), call.caller.subject.to_string()).await?;
    if owner == *call.caller.subject { Ok(session) } else { Err(Refusal::not_found()) }
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
