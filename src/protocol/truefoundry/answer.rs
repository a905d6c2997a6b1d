//! Brings JSON answers into the form of turnwire's records (sections 1.2, 1.3, 1.6 and 7).

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};
use crate::protocol::Call;
use crate::protocol::options::unsupported;

use super::spelling::{default, default_nulls};
use super::{Dialect, canonical, spelling};

/// Normalizes the answer to `call`.
pub(super) fn normalize(dialect: Dialect, call: Call, mut body: Value<'_>) -> Result<Value<'_>> {
    match call {
        Call::CreateSession
        | Call::GetSession
        | Call::CreateDraftSession
        | Call::GetDraftSession
        | Call::UpdateDraftSession => one(body, session),
        Call::CreateTurn | Call::GetTurn => one(body, turn),
        Call::ListSessions | Call::ListDraftSessions | Call::ListOwnedSessions | Call::SearchSessions => {
            list(body, session)
        }
        Call::ListTurns => list(body, turn),
        Call::ListNewestTurns => {
            // Of its events one page is enough.
            if let Some(page) = body.as_object_mut().filter(|_| dialect == Dialect::TrueForge) {
                page.remove("pagination");
            }
            list(body, newest)
        }
        Call::ListTurnEvents => list(body, event),
        Call::ListSessionEvents => list(body, session_event),
        Call::CancelSession
        | Call::DeleteSession
        | Call::DownloadSandboxFile
        | Call::CreateTurnStream
        | Call::SubscribeTurn
        | Call::CancelTurn
        | Call::InterruptSession => Ok(Value::Null),
        _ => Err(unsupported()),
    }
}

fn data<'v, 'a>(body: &'v mut Value<'a>) -> Option<&'v mut Value<'a>> {
    body.as_object_mut()?.get_mut("data")
}

/// Objects come wrapped in `data`.
fn one<'a>(mut body: Value<'a>, complete: fn(&mut Object<'a>)) -> Result<Value<'a>> {
    let data = data(&mut body).and_then(Value::as_object_mut);
    let data = data.filter(|data| data.get("id").is_some_and(|id| id.as_str().is_some()));
    let data = data.ok_or_else(|| unexpected("the answer has no `data` object with an `id`"))?;
    complete(data);
    Ok(Value::Object(std::mem::take(data)))
}

/// There is a next page if `next_page_token` is neither null nor empty, and this page is not empty.
fn list<'a>(mut body: Value<'a>, complete: fn(&mut Object<'a>)) -> Result<Value<'a>> {
    let items = data(&mut body).and_then(Value::as_array_mut);
    let mut items = std::mem::take(items.ok_or_else(|| unexpected("the answer has no `data` list"))?);
    items.iter_mut().filter_map(Value::as_object_mut).for_each(complete);
    let token = body.get("pagination").and_then(|pagination| pagination.get("next_page_token"));
    let token = token.filter(|token| token.as_str().is_some_and(|token| !token.is_empty()));
    let next = token.filter(|_| !items.is_empty()).cloned().unwrap_or_default();
    let mut page = Object::new();
    page.set("items", items.into());
    page.set("next", next);
    Ok(Value::Object(page))
}

/// The sibling's session names its agent in an object and its creator by name.
fn session(session: &mut Object<'_>) {
    if let Some(agent) = session.get("agent").and_then(Value::as_object).cloned() {
        if let Some(name) = agent.get("name") {
            default(session, "agent_name", name.clone());
        }
        if let Some(spec) = agent.get("spec") {
            default(session, "agent_spec", spec.clone());
        }
    }
    spelling::created_by(session);
    default(session, "type", "session".into());
    default_nulls(session, &["agent_name", "title", "created_by_subject", "created_at", "updated_at"]);
}

fn turn(turn: &mut Object<'_>) {
    spelling::created_by(turn);
    spelling::input(turn);
    default_nulls(turn, &["session_id", "previous_turn_id", "created_by_subject", "created_at"]);
    if let Some(state) = turn.get_mut("state").and_then(Value::as_object_mut) {
        spelling::turn_state(state);
    }
}

/// Where events are listed in place of turns, the first one is of the newest turn.
fn newest(turn: &mut Object<'_>) {
    if let Some(id) = turn.remove("turn_id") {
        turn.set("id", id);
    }
}

fn event(event: &mut Object<'_>) {
    *event = canonical::event(Value::Object(std::mem::take(event)));
}

fn session_event(entry: &mut Object<'_>) {
    if let Some(inner) = entry.get_mut("event").and_then(Value::as_object_mut) {
        event(inner);
    }
}

fn unexpected(problem: &str) -> Error {
    Error::new(ErrorCode::UnexpectedResponse, problem)
}
