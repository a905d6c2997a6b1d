//! Results → turnwire's records, lists and events (sections 3, 4 and 14).

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};
use crate::names::Names;
use crate::protocol::Call;
use crate::protocol::body::{object, page, take_list, unexpected};
use crate::protocol::fields::with_text;
use crate::protocol::options::{unsupported, wire};

use super::fields::{Objects, first_text, inner, members, objects};
use super::{Dialect, lists, record};

/// Normalizes the result of `call`.
pub(super) fn normalize<'a>(
    dialect: Dialect,
    call: Call,
    params: &Object<'_>,
    result: Value<'a>,
) -> Result<Value<'a>> {
    let params = wire(params);
    let session_id = params.text("session_id");
    if matches!(
        call,
        Call::Ping
            | Call::CancelTurn
            | Call::AnswerTurn
            | Call::SteerTurn
            | Call::RenameSession
            | Call::DeleteSession
            | Call::CreateTurnStream
            | Call::SubscribeTurn
    ) {
        // Our response to a request of the server has no result.
        return Ok(Value::Null);
    }
    let mut result = object(result)?;
    match call {
        Call::Connect => Ok(connection(dialect, &result).into()),
        Call::CreateSession | Call::GetSession => {
            record::session(dialect, thread(&result)?).map(Value::Object)
        }
        Call::ListSessions => page_of(&mut result, &|thread| record::session(dialect, &thread)),
        Call::ListAgents => page_of(&mut result, &agent),
        Call::ListTurns => {
            let mut turns = record::turns(session_id, thread(&result)?)?;
            if params.text("order") != "asc" {
                turns.reverse();
            }
            Ok(page(turns, Value::Null))
        }
        Call::ListNewestTurns => {
            // Older turns are not wanted.
            result.remove("nextCursor");
            page_of(&mut result, &|turn| record::turn(session_id, Value::Null, &turn))
        }
        Call::CreateTurn | Call::GetTurn if result.object("turn").is_some() => {
            let turn = inner(&result, "turn");
            record::turn(session_id, Value::Null, turn).map(Value::Object)
        }
        Call::GetTurn => {
            let turns = record::turns(session_id, thread(&result)?)?;
            let turn_id = params.text("turn_id");
            for turn in turns {
                if members(&turn).text("id") == turn_id {
                    return Ok(turn);
                }
            }
            Err(no_such_turn())
        }
        Call::ListTurnEvents => turn_events(dialect, &params, &result),
        Call::ListSessionEvents => session_events(dialect, &params, &result),
        _ => Err(unsupported()),
    }
}

/// The data of the connection that later calls need.
fn connection<'a>(dialect: Dialect, result: &Object<'a>) -> Object<'a> {
    let mut connection = Object::new();
    let (from, name, of) = match dialect {
        Dialect::Gateway => (result.object("workspace"), "workspace_id", "id"),
        Dialect::Codex => (Some(result), "user_agent", "userAgent"),
    };
    connection.set(name, from.and_then(|from| from.get(of)).cloned().unwrap_or_default());
    connection
}

fn thread<'o, 'a>(result: &'o Object<'a>) -> Result<&'o Object<'a>> {
    result.object("thread").ok_or_else(|| unexpected("the result has no `thread`"))
}

fn no_such_turn() -> Error {
    Error::new(ErrorCode::Rpc, "the thread has no such turn").with_status(Some(404))
}

/// A page of the server's list, with each of its items as `read` returns it.
fn page_of<'a>(
    result: &mut Object<'a>,
    read: &dyn Fn(Object<'a>) -> Result<Object<'a>>,
) -> Result<Value<'a>> {
    let next = result.remove("nextCursor").filter(Value::is_string);
    let mut items = Vec::new();
    for item in take_list(result, "data")? {
        items.push(read(object(item)?)?.into());
    }
    Ok(page(items, next.unwrap_or_default()))
}

/// A model as an agent.
fn agent(mut model: Object<'_>) -> Result<Object<'_>> {
    let name = first_text(&model, "model, id").to_owned();
    if name.is_empty() {
        return Err(unexpected("a model has no `model`"));
    }
    model.set("name", name.into());
    if let Some(title) = model.get("displayName").cloned() {
        model.set("title", title);
    }
    Ok(model)
}

/// A page of a list that has the oldest items first.
fn ordered<'a>(params: &Object<'_>, mut items: Vec<Value<'a>>) -> Value<'a> {
    if params.text("order") == "desc" {
        items.reverse();
    }
    page(items, Value::Null)
}

/// The events of a turn, without its beginning and end.
fn turn_events<'a>(dialect: Dialect, params: &Object<'_>, result: &Object<'a>) -> Result<Value<'a>> {
    let (thread_id, turn_id) = (params.text("session_id"), params.text("turn_id"));
    let events = match dialect {
        Dialect::Gateway => {
            if result.get("items").and_then(Value::as_array).is_none() {
                return Err(unexpected("the result has no list `items`"));
            }
            lists::of_timeline(thread_id, turn_id, result)
        }
        Dialect::Codex => {
            let mut turns = objects(thread(result)?, "turns");
            let turn = turns.find(|turn| turn.text("id") == turn_id).ok_or_else(no_such_turn)?;
            lists::of_turn(thread_id, turn)
        }
    };
    let mut inside = Vec::new();
    for event in events {
        if !matches!(event.text("type"), "turn.created" | "turn.done") {
            inside.push(event.into());
        }
    }
    Ok(ordered(params, inside))
}

fn session_events<'a>(dialect: Dialect, params: &Object<'_>, result: &Object<'a>) -> Result<Value<'a>> {
    let thread_id = params.text("session_id");
    let mut items = Vec::new();
    let mut take = |turn_id: &str, events: Vec<Object<'static>>| {
        for event in events {
            let mut item = with_text("turn_id", turn_id);
            item.set("event", event.into());
            items.push(item.into());
        }
    };
    match dialect {
        Dialect::Gateway => {
            let Some(Value::Array(events)) = result.get("events") else {
                return Err(unexpected("the result has no list `events`"));
            };
            let (mut names, mut turns) = (Names::default(), Vec::<Vec<&Object<'_>>>::new());
            for event in Objects::of(events) {
                let (number, is_new) = names.number(event.text("turn_id"));
                if is_new {
                    turns.push(Vec::new());
                }
                if let Some(turn) = turns.get_mut(number as usize) {
                    turn.push(event);
                }
            }
            for turn in turns {
                let turn_id = turn.first().map_or("", |event| event.text("turn_id"));
                take(turn_id, lists::of_events(thread_id, turn_id, &turn));
            }
        }
        Dialect::Codex => {
            for turn in objects(thread(result)?, "turns") {
                take(turn.text("id"), lists::of_turn(thread_id, turn));
            }
        }
    }
    // The newest items first, as in lists of turns.
    if params.text("order") != "asc" {
        items.reverse();
    }
    Ok(page(items, Value::Null))
}
