//! Converts JSON responses into turnwire's records (sections 1.2, 1.3, 1.6 and 7).

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};
use crate::protocol::Call;
use crate::protocol::options::{unsupported, wire};

use super::spelling::{default, default_nulls};
use super::{Dialect, canonical, spelling};

/// `type` of a session whose agent the client supplies.
const DRAFT: &str = "session/draft";

/// Converts the response to `call`. `params` are those of the request.
pub(super) fn normalize<'a>(
    dialect: Dialect,
    call: Call,
    params: &Object<'_>,
    mut body: Value<'a>,
) -> Result<Value<'a>> {
    match call {
        Call::CreateSession
        | Call::GetSession
        | Call::CreateDraftSession
        | Call::GetDraftSession
        | Call::UpdateDraftSession => one(body, session),
        Call::CreateTurn | Call::GetTurn => one(body, turn),
        Call::ListSessions | Call::ListDraftSessions | Call::ListOwnedSessions | Call::SearchSessions => {
            let mut page = list(body, session)?;
            if dialect == Dialect::TrueForge {
                keep_asked(call, wire(params).text("agent_name"), &mut page);
            }
            Ok(Value::Object(page))
        }
        Call::ListTurns => list(body, turn).map(Value::Object),
        Call::ListNewestTurns => {
            // One page of its events is enough.
            if let Some(page) = body.as_object_mut().filter(|_| dialect == Dialect::TrueForge) {
                page.remove("pagination");
            }
            list(body, newest).map(Value::Object)
        }
        Call::ListTurnEvents => list(body, event).map(Value::Object),
        Call::ListSessionEvents => list(body, session_event).map(Value::Object),
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
    let data = data.filter(|data| data.get("id").is_some_and(Value::is_string));
    let data = data.ok_or_else(|| unexpected("the answer has no `data` object with an `id`"))?;
    complete(data);
    Ok(Value::Object(std::mem::take(data)))
}

/// There is a next page if `next_page_token` is neither null nor empty, and this page is not empty.
fn list<'a>(mut body: Value<'a>, complete: fn(&mut Object<'a>)) -> Result<Object<'a>> {
    let items = data(&mut body).and_then(Value::as_array_mut);
    let mut items = std::mem::take(items.ok_or_else(|| unexpected("the answer has no `data` list"))?);
    items.iter_mut().filter_map(Value::as_object_mut).for_each(complete);
    let token = body.get("pagination").and_then(|pagination| pagination.get("next_page_token"));
    let token = token.filter(|token| token.as_str().is_some_and(|token| !token.is_empty()));
    let next = token.filter(|_| !items.is_empty()).cloned().unwrap_or_default();
    let mut page = Object::new();
    page.set("items", items.into());
    page.set("next", next);
    Ok(page)
}

/// `TrueForge` has one list of all sessions: this keeps those of the requested kind and agent.
fn keep_asked(call: Call, agent_name: &str, page: &mut Object<'_>) {
    let is_asked = |session: &Object<'_>| {
        let is_draft = session.text("type") == DRAFT;
        (agent_name.is_empty() || session.text("agent_name") == agent_name)
            && (call == Call::ListOwnedSessions || is_draft == (call == Call::ListDraftSessions))
    };
    if let Some(sessions) = page.get_mut("items").and_then(Value::as_array_mut) {
        sessions.retain(|session| session.as_object().is_none_or(is_asked));
    }
}

/// A session of `TrueForge` names its agent in an object and its creator by name.
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
    let kind = if session.contains("agent_spec") { DRAFT } else { "session" };
    default(session, "type", kind.into());
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

/// If events are listed in place of turns, the first one belongs to the newest turn.
fn newest(turn: &mut Object<'_>) {
    if let Some(id) = turn.remove("turn_id") {
        turn.set("id", id);
    }
}

/// A listed event keeps its number, if it has a valid one.
fn event(event: &mut Object<'_>) {
    let (number, read) = canonical::event(Value::Object(std::mem::take(event)));
    *event = read;
    if number > 0 {
        event.set(canonical::NUMBER, number.into());
    }
}

fn session_event(entry: &mut Object<'_>) {
    if let Some(inner) = entry.get_mut("event").and_then(Value::as_object_mut) {
        event(inner);
    }
}

fn unexpected(problem: &str) -> Error {
    Error::new(ErrorCode::UnexpectedResponse, problem)
}
