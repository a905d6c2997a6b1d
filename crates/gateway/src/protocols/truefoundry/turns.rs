//! Turns: start, read, list, follow.

use std::sync::Arc;

use axum::extract::Path;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::to_raw_value;

use super::caller::{Caller, Dialect};
use super::check::{Accepted, check};
use super::extract::{JsonObject, Params};
use super::forgery::Forgery;
use super::input::InputItem;
use super::objects::{TurnObject, data, list};
use super::paging::{Paging, invalid_token};
use super::player::Player;
use super::recorder::TurnRecorder;
use super::sessions::SessionPath;
use crate::agents::{self, Prompt, Steps};
use crate::error::ApiError;
use crate::http::{Delivery, Output, event_stream, stream};
use crate::store::{Pending, Session, Turn, paginate};
use crate::turns::Stop;

type Answer = Result<Response, ApiError>;

/// The turn named in a path.
#[derive(Debug, Deserialize)]
pub(crate) struct TurnPath {
    turn: String,
}

impl TurnPath {
    pub(crate) fn find(&self, session: &Session) -> Result<Arc<Turn>, ApiError> {
        session.turn(&self.turn).ok_or_else(|| ApiError::no_turn(&self.turn))
    }
}

#[derive(Debug, Deserialize)]
struct NewTurn {
    input: Option<Vec<InputItem>>,
    previous_turn_id: Option<String>,
    stream: Option<bool>,
}

/// `POST …/sessions/{session}/turns`
pub(crate) async fn create(
    caller: Caller,
    Path(path): Path<SessionPath>,
    output: Output,
    headers: HeaderMap,
    body: JsonObject,
) -> Answer {
    let session = path.find(&caller)?;
    if caller.dialect == Dialect::TrueForge {
        refuse_null(&body)?;
    }
    let new: NewTurn = body.parse()?;
    let streaming = new.stream.unwrap_or(true);
    let origin = origin(&headers);
    let turn = start(&caller, &session, new, output.delivery, origin).await?;
    if streaming {
        return Ok(events(&caller, turn, 0, output));
    }
    Ok(data(TurnObject::started(&session, &turn, caller.dialect)))
}

/// The open-source server accepts a field or its absence, but not `null`.
fn refuse_null(body: &JsonObject) -> Result<(), ApiError> {
    let null =
        ["input", "previous_turn_id"].into_iter().find(|field| body.0.get(*field) == Some(&Value::Null));
    null.map_or(Ok(()), |field| Err(ApiError::invalid(format!("{field} must not be null"))))
}

/// Starts a turn; it runs on by itself.
async fn start(
    caller: &Caller,
    session: &Arc<Session>,
    new: NewTurn,
    delivery: Delivery,
    origin: String,
) -> Result<Arc<Turn>, ApiError> {
    let app = &caller.app;
    let items = new.input.unwrap_or_default();
    let _starting = session.starting.lock().await;
    let previous = previous(session, new.previous_turn_id.as_deref())?;
    let accept = || {
        let nothing = Pending::default();
        let pending = previous.as_ref().map(|turn| turn.progress().pending.clone());
        check(&items, &pending.unwrap_or(nothing)).map_err(|refusal| refusal.into_error(caller.dialect))
    };
    let mut accepted = accept()?;
    if let Some(running) = session.last_turn().filter(|turn| turn.is_running()) {
        running.stop(Stop::NextTurn);
        running.log.closed().await;
        // It may have paused by itself in the meantime.
        accepted = accept()?;
    }
    let memory = previous.as_ref().map(|turn| turn.progress().memory.clone());
    let turn = Turn::new(
        caller.dialect.turn_id(app.store.ids.next()),
        previous.as_ref().map(|turn| turn.id.clone()),
        caller.subject.clone(),
        // Items that were read from JSON can be written as JSON.
        (!items.is_empty()).then(|| to_raw_value(&items).unwrap_or_default()),
        accepted.text.clone(),
        memory.unwrap_or_default(),
    );
    let (steps, preferred) = script(session, previous.as_deref(), accepted);
    session.add(&turn);
    let clock = app.clock(&turn, delivery, preferred);
    let recorder = TurnRecorder::begin(app.clone(), Arc::clone(&turn), caller.dialect, origin);
    let (keep, running) = (app.config.stream_kept, Arc::clone(&turn));
    tokio::spawn(async move {
        Player { recorder, clock }.play(steps).await;
        tokio::time::sleep(keep).await;
        running.log.expire();
    });
    Ok(turn)
}

/// The turn that a new one follows: the last one (`auto`), none, or the one named.
fn previous(session: &Session, id: Option<&str>) -> Result<Option<Arc<Turn>>, ApiError> {
    match id {
        None | Some("auto") => Ok(session.last_turn()),
        Some("none") => Ok(None),
        Some(id) => match session.turn(id) {
            Some(turn) => Ok(Some(turn)),
            None => Err(ApiError::no_turn(id)),
        },
    }
}

/// What the agent does: goes on after a pause, or answers the user's words.
fn script(
    session: &Session,
    previous: Option<&Turn>,
    accepted: Accepted,
) -> (Steps, Option<std::time::Duration>) {
    if let Some(previous) = previous
        && accepted.text.is_empty()
        && accepted.files.is_empty()
        && let Some(resume) = previous.progress().resume.clone()
    {
        return (resume(&accepted.answers), None);
    }
    let prompt = Prompt {
        text: accepted.text,
        files: accepted.files,
        memory: previous.map(|turn| turn.progress().memory.clone()).unwrap_or_default(),
        turns_before: previous.map_or(0, |turn| session.chain(&turn.id).len()),
    };
    agents::perform(&prompt)
}

/// `GET …/turns/{turn}`
pub(crate) async fn get(
    caller: Caller,
    Path(session): Path<SessionPath>,
    Path(turn): Path<TurnPath>,
) -> Answer {
    let session = session.find(&caller)?;
    let turn = turn.find(&session)?;
    Ok(data(TurnObject::new(&session, &turn, caller.dialect)))
}

/// `GET …/turns`: newest first along the ancestors of the session's last turn, or of the turn
/// that the page token names.
pub(crate) async fn list_turns(
    caller: Caller,
    Path(path): Path<SessionPath>,
    Params(paging): Params<Paging>,
) -> Answer {
    let session = path.find(&caller)?;
    let show = |turn: Arc<Turn>| TurnObject::new(&session, &turn, caller.dialect);
    if caller.dialect == Dialect::TrueForge {
        let limit = paging.limit(25, 25)?;
        let page = paging.page(session.all_turns(), |turn| turn.id.clone(), limit)?;
        return Ok(list(page, limit, show));
    }
    let limit = paging.limit(10, 25)?;
    let token = paging.token()?;
    let newest = session.last_turn().map(|turn| turn.id.clone());
    let chains = [newest, token.as_ref().map(|token| token.key.clone())];
    let pages = chains.into_iter().flatten().filter_map(|from| {
        let chain = session.chain(&from);
        paginate(chain, |turn| turn.id.clone(), token.as_ref(), limit)
    });
    let page = match (pages.into_iter().next(), &token) {
        (Some(page), _) => page,
        (None, None) => paging.page(Vec::new(), |turn: &Arc<Turn>| turn.id.clone(), limit)?,
        (None, Some(_)) => return Err(invalid_token()),
    };
    Ok(list(page, limit, show))
}

/// `POST …/turns/{turn}/subscribe`: the cursor of the body, else that of `Last-Event-ID`.
pub(crate) async fn subscribe(
    caller: Caller,
    Path(session): Path<SessionPath>,
    Path(turn): Path<TurnPath>,
    output: Output,
    headers: HeaderMap,
    body: JsonObject,
) -> Answer {
    let cursor: Cursor = body.parse()?;
    let after = match cursor.after_sequence_number {
        Some(after) => after,
        None => last_event_id(&headers)?.unwrap_or(0),
    };
    let turn = turn.find(&*session.find(&caller)?)?;
    follow(&caller, turn, after, output)
}

/// `GET /api/v1/…/turns/{turn}/subscribe`: here `Last-Event-ID` wins over the query.
pub(crate) async fn subscribe_by_query(
    caller: Caller,
    Path(session): Path<SessionPath>,
    Path(turn): Path<TurnPath>,
    Params(cursor): Params<Cursor>,
    output: Output,
    headers: HeaderMap,
) -> Answer {
    let after = last_event_id(&headers)?.or(cursor.after_sequence_number);
    let turn = turn.find(&*session.find(&caller)?)?;
    follow(&caller, turn, after.unwrap_or(0), output)
}

/// The sequence number after which a stream begins.
#[derive(Debug, Deserialize)]
pub(crate) struct Cursor {
    after_sequence_number: Option<u64>,
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<u64>, ApiError> {
    let Some(value) = headers.get("last-event-id") else {
        return Ok(None);
    };
    let number = value.to_str().ok().and_then(|text| text.trim().parse().ok());
    number.map(Some).ok_or_else(|| ApiError::invalid("Invalid Last-Event-Id header"))
}

fn follow(caller: &Caller, turn: Arc<Turn>, after: u64, output: Output) -> Answer {
    if turn.log.is_expired() {
        return Err(ApiError::stream_gone(&turn.id));
    }
    Ok(events(caller, turn, after, output))
}

/// A turn's events as a response.
fn events(caller: &Caller, turn: Arc<Turn>, after: u64, output: Output) -> Response {
    let (id, log) = (turn.id.clone(), Arc::clone(&turn.log));
    let forgery = Forgery { turn, dialect: caller.dialect };
    event_stream(stream(&id, log, after, output, &caller.app.faults, forgery))
}

/// The address at which the caller reached this gateway.
fn origin(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    format!("http://{}", host.unwrap_or("127.0.0.1"))
}
