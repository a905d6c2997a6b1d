//! Responses → turnwire's records, lists and events (sections 2 and 5).

use crate::error::Result;
use crate::json::{Object, Value};
use crate::protocol::Call;
use crate::protocol::body::{object, page, take_list, unexpected};
use crate::protocol::options::unsupported;

use super::{Dialect, messages, pages, record};

/// Converts the response to `call`.
pub(super) fn normalize<'a>(
    dialect: Dialect,
    call: Call,
    params: &Object<'_>,
    body: Value<'a>,
) -> Result<Value<'a>> {
    match call {
        Call::GetSession => record::session_with_actions(&object(body)?).map(Value::Object),
        Call::ListSessions => sessions(dialect, params, body),
        Call::GetTurn => record::turn(object(body)?).map(Value::Object),
        Call::ListNewestTurns => {
            let turn = record::turn(object(body)?)?;
            Ok(page(vec![turn.into()], Value::Null))
        }
        Call::ListTurns => {
            let mut body = object(body)?;
            let runs = take_list(&mut body, "items")?;
            let next = next_place(params, &body, runs.len());
            let turns = runs.into_iter().map(|run| record::turn(object(run)?).map(Value::Object));
            Ok(page(turns.collect::<Result<_>>()?, next))
        }
        Call::ListTurnEvents => events(body, |entry| entry.event),
        Call::ListSessionEvents => events(body, |entry| {
            let mut item = Object::new();
            item.set("turn_id", entry.turn_id.into());
            item.set("event", entry.event.into());
            item
        }),
        Call::ListMessages => {
            let mut body = object(body)?;
            let messages = take_list(&mut body, "messages")?;
            let next = next_cursor(&body, messages.len());
            Ok(page(messages, next))
        }
        Call::GetSessionState => state(dialect, object(body)?),
        Call::ListTurnFrames => frames(body),
        Call::CancelSession
        | Call::CancelTurn
        | Call::InterruptSession
        | Call::AnswerTurn
        | Call::RenameSession
        | Call::DeleteSession
        | Call::CreateTurnStream
        | Call::SubscribeTurn => Ok(Value::Null),
        _ => Err(unsupported()),
    }
}

/// The first page of tirea's sessions is a list of summaries, the others have only ids; awaken's pages have summaries.
fn sessions<'a>(dialect: Dialect, params: &Object<'_>, body: Value<'a>) -> Result<Value<'a>> {
    let (summaries, next) = match body {
        Value::Array(summaries) => {
            // The number of the next page is unknown: threads of sub-agents were left out.
            let next = if summaries.is_empty() { Value::Null } else { pages::token(pages::LONGEST) };
            (summaries, next)
        }
        body => {
            let mut body = object(body)?;
            let items = take_list(&mut body, "items")?;
            let next = match body.get("next_cursor").filter(|_| dialect == Dialect::Awaken) {
                None => next_place(params, &body, items.len()),
                Some(_) => next_cursor(&body, items.len()),
            };
            (items, next)
        }
    };
    let session = |summary| {
        let summary = match summary {
            Value::String(id) => {
                let mut only = Object::new();
                only.set("id", Value::String(id));
                only
            }
            summary => object(summary)?,
        };
        record::session(&summary).map(Value::Object)
    };
    Ok(page(summaries.into_iter().map(session).collect::<Result<_>>()?, next))
}

fn events<'a>(body: Value<'a>, item: fn(messages::Entry<'a>) -> Object<'a>) -> Result<Value<'a>> {
    let mut body = object(body)?;
    let messages = take_list(&mut body, "messages")?;
    let next = next_cursor(&body, messages.len());
    let entries = messages::entries(messages)?;
    Ok(page(entries.into_iter().map(|entry| item(entry).into()).collect(), next))
}

/// The state without the servers' internal names. awaken's is that of the last run, with its names in `extensions`
/// (section 5).
fn state(dialect: Dialect, mut owner: Object<'_>) -> Result<Value<'_>> {
    // Both owners have an id: anything else is not a response to this call.
    let id = if dialect == Dialect::Tirea { "id" } else { "run_id" };
    if owner.text(id).is_empty() {
        return Err(unexpected("the answer has no id"));
    }
    let mut state = owner.remove("state").unwrap_or_default();
    if let Value::Object(members) = state {
        let mut members = public(members);
        if dialect == Dialect::Awaken
            && let Some(extensions) = members.get_mut("extensions").and_then(Value::as_object_mut)
        {
            *extensions = public(std::mem::take(extensions));
        }
        state = members.into();
    }
    let mut answer = Object::new();
    answer.set("state", state);
    Ok(answer.into())
}

fn public(members: Object<'_>) -> Object<'_> {
    let mut shown = Object::new();
    for (name, value) in members {
        if !name.starts_with("__") {
            shown.insert(name, value);
        }
    }
    shown
}

/// The frames of a run: the payloads that are events of its stream, and the list's cursor (section 5).
fn frames(body: Value<'_>) -> Result<Value<'_>> {
    let mut body = object(body)?;
    let events = take_list(&mut body, "items")?;
    let next = next_cursor(&body, events.len());
    let mut cursor = body.get("next_cursor").filter(|cursor| cursor.is_string()).cloned();
    if cursor.is_none() {
        cursor = events.last().and_then(run_cursor);
    }
    let payloads = events.into_iter().filter_map(|event| {
        let payload = event.get("payload")?;
        payload.get("event_type")?.as_str()?;
        Some(payload.clone())
    });
    let mut page = Object::new();
    page.set("items", payloads.collect::<Vec<_>>().into());
    page.set("next", next);
    page.set("cursor", cursor.unwrap_or_default());
    Ok(page.into())
}

/// The cursor of an event within its run.
fn run_cursor<'a>(event: &Value<'a>) -> Option<Value<'a>> {
    let cursors = event.get("cursors_by_scope")?.as_array()?;
    let of_run = cursors.iter().find(|cursor| {
        let scope = cursor.get("scope").and_then(|scope| scope.get("scope_type"));
        scope.and_then(Value::as_str) == Some("run")
    });
    of_run?.get("cursor").cloned()
}

fn has_more(body: &Object<'_>, length: usize) -> bool {
    length > 0 && body.get("has_more").and_then(Value::as_bool) == Some(true)
}

/// The token of the page after one that has a cursor.
fn next_cursor<'a>(body: &Object<'a>, length: usize) -> Value<'a> {
    match body.get("next_cursor").filter(|_| has_more(body, length)) {
        Some(Value::Number(cursor)) => cursor.to_string().into(),
        Some(Value::String(cursor)) if !cursor.is_empty() => Value::String(cursor.clone()),
        _ => Value::Null,
    }
}

/// The token of the page after one that is identified by its offset.
fn next_place(params: &Object<'_>, body: &Object<'_>, length: usize) -> Value<'static> {
    if has_more(body, length) { pages::after(params, length) } else { Value::Null }
}
