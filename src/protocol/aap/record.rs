//! Server sessions → records (sections 2 and 3).

use crate::error::Result;
use crate::json::{Object, Value};
use crate::protocol::body::{object, page, take_list, unexpected};

/// The record of a session that was created for an agent with this name.
pub(super) fn made<'a>(agent_name: &str, answer: Value<'a>) -> Result<Value<'a>> {
    let answer = object(answer)?;
    let mut session = session(&answer)?;
    session.set("agent_name", agent_name.to_owned().into());
    Ok(session.into())
}

/// A session, with its agent and its tools from the server, which masks secret options.
pub(super) fn read(answer: Value<'_>) -> Result<Value<'_>> {
    let mut answer = object(answer)?;
    let mut session = session(&answer)?;
    for name in ["agent", "tools"] {
        if let Some(value) = answer.remove(name).filter(|value| !value.is_null()) {
            session.set(name, value);
        }
    }
    Ok(session.into())
}

/// The sessions of an agent; without a name those of all agents, as the server lists them.
pub(super) fn list<'a>(agent_name: &str, answer: Value<'a>) -> Result<Value<'a>> {
    let mut answer = object(answer)?;
    let next = answer.remove("next").filter(|next| next.as_str().is_some_and(|next| !next.is_empty()));
    let mut sessions = Vec::new();
    for session in take_list(&mut answer, "sessions")? {
        let session = read(session)?;
        let name = session.as_object().map_or("", |session| session.text("agent_name"));
        if agent_name.is_empty() || name == agent_name {
            sessions.push(session);
        }
    }
    Ok(page(sessions, next.unwrap_or_default()))
}

fn session<'a>(answer: &Object<'a>) -> Result<Object<'a>> {
    let id = answer.get("sessionId").filter(|id| id.as_str().is_some_and(|id| !id.is_empty()));
    let id = id.ok_or_else(|| unexpected("a session has no `sessionId`"))?;
    let agent = answer.object("agent").and_then(|agent| agent.get("name"));
    let mut session = Object::new();
    session.set("type", "session".into());
    session.set("id", id.clone());
    session.set("agent_name", agent.filter(|name| name.is_string()).cloned().unwrap_or_default());
    for name in ["title", "created_by_subject", "created_at", "updated_at"] {
        session.set(name, Value::Null);
    }
    Ok(session)
}
