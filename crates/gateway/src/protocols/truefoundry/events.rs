//! Lists of persisted events: of one turn, and of a session across its turns.

use std::sync::Arc;

use axum::extract::Path;
use axum::response::Response;
use serde::Serialize;
use serde_json::value::RawValue;

use super::caller::{Caller, Dialect};
use super::extract::Params;
use super::objects::list;
use super::paging::{Order, Paging};
use super::sessions::SessionPath;
use super::turns::TurnPath;
use crate::error::ApiError;
use crate::store::{PageToken, Session, Turn, paginate};

type Answer = Result<Response, ApiError>;

/// `GET …/turns/{turn}/events`: the content of a turn that is over. The open-source server also
/// lists running turns, and the events of the turn's own life.
pub(crate) async fn of_turn(
    caller: Caller,
    Path(session): Path<SessionPath>,
    Path(turn): Path<TurnPath>,
    Params(paging): Params<Paging>,
) -> Answer {
    let session = session.find(&caller)?;
    let turn = turn.find(&session)?;
    let gateway = caller.dialect == Dialect::Gateway;
    let limit = if gateway { paging.limit(25, 25)? } else { paging.limit(100, 100)? };
    if gateway && turn.is_running() {
        return Err(ApiError::running(&turn.id));
    }
    let mut events = numbered(&turn, gateway);
    if paging.order == Some(Order::Desc) {
        events.reverse();
    }
    let page = paging.page(events, |event| event.number.to_string(), limit)?;
    Ok(list(page, limit, |event| event.json))
}

#[derive(Debug, Serialize)]
struct SessionEvent {
    turn_id: String,
    event: Box<RawValue>,
    #[serde(skip)]
    key: String,
}

/// `GET …/sessions/{session}/events`: newest first, from the last turn to its first ancestor.
/// The gateway leaves out a running turn.
pub(crate) async fn of_session(
    caller: Caller,
    Path(path): Path<SessionPath>,
    Params(paging): Params<Paging>,
) -> Answer {
    let session = path.find(&caller)?;
    let limit = paging.limit(100, 100)?;
    let token = paging.token()?;
    let last_turn = paging.last_turn_id.as_deref().filter(|_| token.is_none());
    let anchor = anchor(&session, last_turn, caller.dialect)?;
    let from = |turn: Option<String>| turn.map(|id| chained(&session, &id)).unwrap_or_default();
    let key = |event: &SessionEvent| event.key.clone();
    let page = match paginate(from(anchor), key, token.as_ref(), limit) {
        Some(page) => page,
        // The token's turn is on another branch by now: continue along that one.
        None => paging.page(from(token.as_ref().and_then(turn_of)), key, limit)?,
    };
    Ok(list(page, limit, |event| event))
}

/// The turn at which a session's history begins.
fn anchor(session: &Session, last_turn: Option<&str>, dialect: Dialect) -> Result<Option<String>, ApiError> {
    let turn = match last_turn {
        Some(id) => Some(session.turn(id).ok_or_else(|| ApiError::no_turn(id))?),
        None => session.last_turn(),
    };
    Ok(turn.and_then(|turn| {
        if dialect == Dialect::Gateway && turn.is_running() {
            turn.previous.clone()
        } else {
            Some(turn.id.clone())
        }
    }))
}

/// All events of a turn and its ancestors, newest first.
fn chained(session: &Session, from: &str) -> Vec<SessionEvent> {
    let turns = session.chain(from).into_iter();
    let events = turns.flat_map(|turn: Arc<Turn>| {
        let id = turn.id.clone();
        let newest_first = numbered(&turn, false).into_iter().rev();
        newest_first.map(move |event| SessionEvent {
            key: format!("{id}:{}", event.number),
            turn_id: id.clone(),
            event: event.json,
        })
    });
    events.collect()
}

fn turn_of(token: &PageToken) -> Option<String> {
    let (turn, _) = token.key.rsplit_once(':')?;
    Some(turn.to_owned())
}

struct Numbered {
    number: usize,
    json: Box<RawValue>,
}

/// The persisted events of a turn in order, with or without those of its own life.
fn numbered(turn: &Turn, content_only: bool) -> Vec<Numbered> {
    let progress = turn.progress();
    let entries = progress.history.iter().enumerate();
    let wanted = entries.filter(|(_, entry)| !(content_only && entry.lifecycle));
    let numbered = wanted.map(|(number, entry)| Numbered { number, json: entry.json.clone() });
    numbered.collect()
}
