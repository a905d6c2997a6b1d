//! Sessions of saved agents and drafts: create, read, list, search, change, delete.

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

use super::caller::{Caller, Dialect};
use super::extract::{JsonObject, Params};
use super::objects::{SessionObject, created, data, kind, list};
use super::paging::{Order, Paging};
use crate::error::ApiError;
use crate::store::{Agent, Session};
use crate::time;
use crate::turns::Stop;

/// How far back lists of the gateway reach when the caller does not say.
const DEFAULT_WINDOW: SignedDuration = SignedDuration::from_mins(30);

type Answer = Result<Response, ApiError>;

/// The session named in a path.
#[derive(Debug, Deserialize)]
pub(crate) struct SessionPath {
    session: String,
}

impl SessionPath {
    /// Finds the session, of any kind, and checks that the caller may use it.
    pub(crate) fn find(&self, caller: &Caller) -> Result<Arc<Session>, ApiError> {
        let found = caller.app.store.session(&caller.space, &self.session);
        let session = found.ok_or_else(|| ApiError::no_session(&self.session))?;
        if !caller.sees(&session) {
            let message = format!("You are not allowed to use this session: {}", session.id);
            return Err(ApiError::forbidden(message));
        }
        Ok(session)
    }

    fn find_saved(&self, caller: &Caller) -> Result<Arc<Session>, ApiError> {
        let session = self.find(caller)?;
        if caller.dialect == Dialect::Gateway && session.details().agent.is_draft() {
            return Err(ApiError::no_session(&self.session));
        }
        Ok(session)
    }

    /// A draft is seen by its owner only.
    fn find_draft(&self, caller: &Caller) -> Result<Arc<Session>, ApiError> {
        let found = caller.app.store.session(&caller.space, &self.session);
        found
            .filter(|session| session.details().agent.is_draft() && caller.owns(session))
            .ok_or_else(|| ApiError::no_session(&self.session))
    }
}

#[derive(Debug, Deserialize)]
struct NewSession {
    agent_name: String,
    title: Option<String>,
}

#[derive(Debug, Deserialize)]
struct NewDraft {
    agent_spec: Value,
    agent_name: Option<String>,
    title: Option<String>,
}

/// `POST …/agents/sessions`
pub(crate) async fn create(caller: Caller, body: JsonObject) -> Answer {
    let new: NewSession = body.parse()?;
    let agent = named(new.agent_name)?;
    let session = insert(&caller, agent, new.title);
    Ok(created(SessionObject::new(&session, caller.dialect)))
}

/// `POST …/agents/draft-sessions`
pub(crate) async fn create_draft(caller: Caller, body: JsonObject) -> Answer {
    let new: NewDraft = body.parse()?;
    let agent = Agent::Draft { spec: checked_spec(new.agent_spec)?, name: new.agent_name };
    let session = insert(&caller, agent, new.title);
    Ok(data(SessionObject::new(&session, caller.dialect)))
}

/// The sibling refuses unknown fields, such as a title: it derives that itself.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WithAgent {
    agent: AgentChoice,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentChoice {
    name: Option<String>,
    spec: Option<Value>,
}

impl AgentChoice {
    fn into_agent(self) -> Result<Agent, ApiError> {
        match (self.name, self.spec) {
            (Some(name), None) => named(name),
            (None, Some(spec)) => Ok(Agent::Draft { spec: checked_spec(spec)?, name: None }),
            _ => Err(ApiError::invalid("agent must have either a name or a spec")),
        }
    }
}

/// `POST /api/v1/sessions`
pub(crate) async fn create_with_agent(caller: Caller, body: JsonObject) -> Answer {
    let new: WithAgent = body.parse()?;
    let session = insert(&caller, new.agent.into_agent()?, None);
    Ok(created(SessionObject::new(&session, caller.dialect)))
}

fn named(name: String) -> Result<Agent, ApiError> {
    if name.trim().is_empty() {
        return Err(ApiError::invalid("agent_name must not be empty"));
    }
    Ok(Agent::Named(name))
}

/// A spec needs at least a model with a name; the rest is kept as it is.
fn checked_spec(spec: Value) -> Result<Value, ApiError> {
    match spec.pointer("/model/name") {
        Some(Value::String(name)) if !name.is_empty() => Ok(spec),
        _ => Err(ApiError::invalid("agent_spec.model.name must be a non-empty string")),
    }
}

fn insert(caller: &Caller, agent: Agent, title: Option<String>) -> Arc<Session> {
    let id = caller.dialect.session_id(caller.app.store.ids.next());
    let title = title.filter(|title| !title.trim().is_empty());
    let (space, owner) = (caller.space.clone(), caller.subject.clone());
    caller.app.store.insert(Session::new(id, space, owner, agent, title))
}

/// `GET …/sessions/{session}`
pub(crate) async fn get(caller: Caller, Path(path): Path<SessionPath>) -> Answer {
    let session = path.find_saved(&caller)?;
    Ok(data(SessionObject::new(&session, caller.dialect)))
}

/// `GET …/draft-sessions/{session}`
pub(crate) async fn get_draft(caller: Caller, Path(path): Path<SessionPath>) -> Answer {
    let session = path.find_draft(&caller)?;
    Ok(data(SessionObject::new(&session, caller.dialect)))
}

/// `PATCH …/draft-sessions/{session}`: an empty body only touches `updated_at`.
pub(crate) async fn update_draft(caller: Caller, Path(path): Path<SessionPath>, body: JsonObject) -> Answer {
    #[derive(Deserialize)]
    struct Change {
        agent_spec: Option<Value>,
    }
    let change: Change = body.parse()?;
    let session = path.find_draft(&caller)?;
    if let Some(new_spec) = change.agent_spec {
        let new_spec = checked_spec(new_spec)?;
        if let Agent::Draft { spec, .. } = &mut session.details().agent {
            *spec = new_spec;
        }
    }
    session.details().updated_at = time::now();
    Ok(data(SessionObject::new(&session, caller.dialect)))
}

/// `PATCH /api/v1/sessions/{session}`: only an agent that is given inline can be changed.
pub(crate) async fn update_agent(caller: Caller, Path(path): Path<SessionPath>, body: JsonObject) -> Answer {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Change {
        agent: Option<Inline>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inline {
        spec: Value,
    }
    let session = path.find(&caller)?;
    let change: Change = body.parse()?;
    if let Some(Inline { spec: new_spec }) = change.agent {
        let new_spec = checked_spec(new_spec)?;
        match &mut session.details().agent {
            Agent::Draft { spec, .. } => *spec = new_spec,
            Agent::Named(_) => return Err(ApiError::named_agent(&session.id)),
        }
    }
    session.details().updated_at = time::now();
    Ok(data(SessionObject::new(&session, caller.dialect)))
}

/// `DELETE /api/v1/sessions/{session}`
pub(crate) async fn delete(caller: Caller, Path(path): Path<SessionPath>) -> Answer {
    let session = path.find(&caller)?;
    if let Some(turn) = session.last_turn() {
        turn.stop(Stop::Cancelled);
    }
    caller.app.store.remove(&session);
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// `POST …/sessions/{session}/cancel`: asks the last turn to stop, and does not wait for it.
pub(crate) async fn cancel(caller: Caller, Path(path): Path<SessionPath>) -> Answer {
    let session = path.find(&caller)?;
    if let Some(turn) = session.last_turn() {
        turn.stop(Stop::Cancelled);
    }
    Ok(Json(json!({})).into_response())
}

/// The query of every list of sessions.
#[derive(Debug, Deserialize)]
pub(crate) struct SessionQuery {
    limit: Option<usize>,
    page_token: Option<String>,
    order: Option<Order>,
    agent_name: Option<String>,
    start_timestamp: Option<String>,
    end_timestamp: Option<String>,
    created_by_subject_id: Option<String>,
    created_by_subject_type: Option<String>,
    session_type: Option<String>,
    session_id: Option<String>,
}

/// `GET …/agents/sessions`
pub(crate) async fn list_saved(caller: Caller, Params(query): Params<SessionQuery>) -> Answer {
    if query.agent_name.is_none() {
        return Err(ApiError::invalid("agent_name is required"));
    }
    let recent = Window::of(&query, Some(DEFAULT_WINDOW))?;
    let keep = |session: &Session| caller.sees(session) && !session.details().agent.is_draft();
    sessions(&caller, &query, recent, keep)
}

/// `GET …/agents/draft-sessions`
pub(crate) async fn list_drafts(caller: Caller, Params(query): Params<SessionQuery>) -> Answer {
    let recent = Window::of(&query, Some(DEFAULT_WINDOW))?;
    let keep = |session: &Session| caller.owns(session) && session.details().agent.is_draft();
    sessions(&caller, &query, recent, keep)
}

/// `GET …/x/agents/owned-sessions`
pub(crate) async fn list_owned(caller: Caller, Params(query): Params<SessionQuery>) -> Answer {
    let recent = Window::of(&query, Some(DEFAULT_WINDOW))?;
    sessions(&caller, &query, recent, |session| caller.owns(session))
}

/// `GET …/x/agents/search-sessions`
pub(crate) async fn search(caller: Caller, Params(query): Params<SessionQuery>) -> Answer {
    let any_time = Window::of(&query, None)?;
    let matches =
        |wanted: &Option<String>, value: &str| wanted.as_deref().is_none_or(|wanted| wanted == value);
    let keep = |session: &Session| {
        caller.sees(session)
            && matches(&query.created_by_subject_id, &session.owner)
            && matches(&query.created_by_subject_type, "user")
            && matches(&query.session_type, kind(&session.details().agent))
            && matches(&query.session_id, &session.id)
    };
    sessions(&caller, &query, any_time, keep)
}

/// `GET /api/v1/sessions`: the latest changed first, of any age unless the caller sets a range.
pub(crate) async fn list_by_change(caller: Caller, Params(query): Params<SessionQuery>) -> Answer {
    let window = Window::of(&query, None)?;
    let paging = Paging { limit: query.limit, page_token: query.page_token.clone(), ..Paging::default() };
    let limit = paging.limit(25, 25)?;
    let mut found = caller.app.store.sessions(&caller.space);
    found.retain(|session| caller.sees(session) && window.contains(session.created_at));
    found.sort_by_key(|session| std::cmp::Reverse((session.details().updated_at, session.id.clone())));
    if query.order == Some(Order::Asc) {
        found.reverse();
    }
    let page = paging.page(found, |session| session.id.clone(), limit)?;
    Ok(list(page, limit, |session| SessionObject::new(&session, caller.dialect)))
}

/// A range of time, both ends included.
#[derive(Debug, Clone, Copy)]
struct Window {
    start: Option<Timestamp>,
    end: Timestamp,
}

impl Window {
    fn of(query: &SessionQuery, default_length: Option<SignedDuration>) -> Result<Self, ApiError> {
        let read = |name: &str, text: &Option<String>| {
            let text = text.as_deref().filter(|text| !text.is_empty());
            let time = text.map(|text| {
                time::parse(text)
                    .ok_or_else(|| ApiError::invalid(format!("{name} must be an ISO-8601 timestamp")))
            });
            time.transpose()
        };
        let end = read("end_timestamp", &query.end_timestamp)?.unwrap_or_else(Timestamp::now);
        let start = read("start_timestamp", &query.start_timestamp)?
            .or_else(|| default_length.and_then(|length| end.checked_sub(length).ok()));
        Ok(Self { start, end })
    }

    fn contains(&self, time: Timestamp) -> bool {
        self.start.is_none_or(|start| start <= time) && time <= self.end
    }
}

/// A page of the sessions of a window that are kept, newest first unless asked otherwise.
fn sessions(
    caller: &Caller,
    query: &SessionQuery,
    window: Window,
    keep: impl Fn(&Session) -> bool,
) -> Answer {
    let paging = Paging { limit: query.limit, page_token: query.page_token.clone(), ..Paging::default() };
    let limit = paging.limit(10, 100)?;
    let mut found = caller.app.store.sessions(&caller.space);
    found.retain(|session| {
        let named = query.agent_name.as_deref();
        let name_fits = named.is_none_or(|name| session.details().agent.name() == Some(name));
        name_fits && window.contains(session.created_at) && keep(session)
    });
    if query.order != Some(Order::Asc) {
        found.reverse();
    }
    let page = paging.page(found, |session| session.id.clone(), limit)?;
    Ok(list(page, limit, |session| SessionObject::new(&session, caller.dialect)))
}
