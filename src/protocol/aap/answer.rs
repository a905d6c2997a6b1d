//! Responses → turnwire's records, lists and events (section 2).

use crate::error::Result;
use crate::json::{Object, Value};
use crate::protocol::Call;
use crate::protocol::body::page;
use crate::protocol::options::{unsupported, wire};

use super::find::{self, Part};
use super::history::{self, Turn};
use super::story::{self, Story, Tools};
use super::terms::History;
use super::{Aap, agents, ids, record};

/// Converts the response to `call`.
pub(super) fn normalize<'a>(aap: Aap, call: Call, params: &Object<'_>, body: Value<'a>) -> Result<Value<'a>> {
    let params = wire(params);
    let aap = aap.with(&params);
    match call {
        Call::ListAgents => agents::list(body),
        Call::CreateSession => record::made(params.text("agent_name"), body),
        Call::GetSession => record::read(body),
        Call::ListSessions => record::list(params.text("agent_name"), body),
        Call::DeleteSession => Ok(Value::Null),
        // The decoder reads a turn that is not streamed.
        Call::CreateTurnStream => Ok(body),
        Call::GetTurn => turn(aap, &params, body),
        Call::ListTurns => turns(aap, &params, body),
        Call::ListTurnEvents => {
            let history = history::messages(aap, body)?;
            let part = find::part(aap, &params, &history)?;
            let story = Story::of(params.text("turn_id"), part.messages, part.answered.as_deref());
            Ok(ordered(&params, events_so_far(story, &Tools::of(&params), part.is_followed)))
        }
        Call::ListSessionEvents => {
            let history = history::messages(aap, body)?;
            Ok(ordered(&params, session_events(&history, &Tools::of(&params))))
        }
        Call::ListMessages => Ok(ordered(&params, history::messages(aap, body)?)),
        _ => Err(unsupported()),
    }
}

/// A page of items that the server has oldest first.
fn ordered<'a>(params: &Object<'_>, mut items: Vec<Value<'a>>) -> Value<'a> {
    if params.text("order") == "desc" {
        items.reverse();
    }
    page(items, Value::Null)
}

/// The events that a turn's stream would have sent by now.
fn events_so_far<'a>(story: Story<'_, 'a>, tools: &Tools, is_followed: bool) -> Vec<Value<'a>> {
    let events = if is_followed { story.into_past() } else { story.into_events(tools) };
    events.into_iter().map(Value::Object).collect()
}

/// A turn's record together with its events: a second read of the history might contain more.
fn turn<'a>(aap: Aap, params: &Object<'_>, body: Value<'a>) -> Result<Value<'a>> {
    let history = history::messages(aap, body)?;
    let is_awaited = params.get("is_awaited").and_then(Value::as_bool) == Some(true);
    let part = match find::part(aap, params, &history) {
        // The turn has begun: the client waits until the history contains it.
        Err(_) if is_awaited => Part::default(),
        part => part?,
    };
    let turn_id = params.text("turn_id");
    let story = Story::of(turn_id, part.messages, part.answered.as_deref());
    let input = params.get("input").cloned().unwrap_or_default().into_owned();
    let tools = Tools::of(params);
    let state = story.state(&tools, part.is_followed);
    let mut record = turn_record(params, turn_id, Value::Null, input, state);
    record.set("events", events_so_far(story, &tools, part.is_followed).into());
    // A compacted history may have other words.
    record.set("is_exact", (aap.history == Some(History::Full)).into());
    Ok(record.into())
}

fn turns<'a>(aap: Aap, params: &Object<'_>, body: Value<'a>) -> Result<Value<'a>> {
    let history = history::messages(aap, body)?;
    let tools = Tools::of(params);
    let turns = history::turns(&history);
    let last = turns.len().saturating_sub(1);
    let (mut records, mut before) = (Vec::new(), 0);
    for (at, turn) in turns.iter().enumerate() {
        let id = ids::turn(turn.number);
        let state = Story::of(&id, turn.messages, None).state(&tools, at < last);
        let mut record = turn_record(params, &id, previous(&turns, at), said(turn), state);
        // Used to find the turn again when others have followed it.
        record.set("said", before.into());
        before += u64::try_from(turn.said.len()).unwrap_or_default();
        records.push(record.into());
    }
    let mut page = page(records, Value::Null);
    if let Value::Object(page) = &mut page {
        // Distinguishes a later turn from an earlier one with the same input.
        let count = u64::try_from(history::count_user_messages(&history)).unwrap_or_default();
        page.set("user_messages", count.into());
    }
    Ok(page)
}

fn session_events<'a>(history: &[Value<'a>], tools: &Tools) -> Vec<Value<'a>> {
    let turns = history::turns(history);
    let last = turns.len().saturating_sub(1);
    let mut items = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        let id = ids::turn(turn.number);
        let story = Story::of(&id, turn.messages, None);
        let created = story::created(&id, ids::event(&id, 1), previous(&turns, at), said(turn));
        for event in std::iter::once(Value::Object(created)).chain(events_so_far(story, tools, at < last)) {
            let mut item = Object::new();
            item.set("turn_id", id.clone().into());
            item.set("event", event);
            items.push(item.into());
        }
    }
    items
}

/// The turn before this one.
fn previous<'a>(turns: &[Turn<'_, '_>], at: usize) -> Value<'a> {
    let before = at.checked_sub(1).and_then(|at| turns.get(at));
    before.map_or(Value::Null, |turn| ids::turn(turn.number).into())
}

/// A turn's input.
fn said<'a>(turn: &Turn<'_, 'a>) -> Value<'a> {
    turn.said.iter().map(|message| history::item(message)).collect::<Vec<_>>().into()
}

fn turn_record<'a>(
    params: &Object<'_>,
    id: &str,
    previous_turn_id: Value<'a>,
    input: Value<'a>,
    state: Object<'a>,
) -> Object<'a> {
    let mut record = Object::new();
    record.set("id", id.to_owned().into());
    record.set("session_id", params.text("session_id").to_owned().into());
    record.set("previous_turn_id", previous_turn_id);
    record.set("input", input);
    record.set("state", state.into());
    record.set("created_by_subject", Value::Null);
    record.set("created_at", Value::Null);
    record
}
