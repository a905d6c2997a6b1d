//! Sessions, turns and lists as the API shows them (TrueFoundry objects).

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::caller::{Dialect, Subject};
use super::wire::TurnState;
use crate::store::{Agent, Page, Session, Turn};
use crate::time::iso;

/// Every successful answer with a body: `{"data": …}`.
#[derive(Debug, Serialize)]
struct Data<T> {
    data: T,
}

/// `{"data": …}` with status 200.
pub(crate) fn data(value: impl Serialize) -> Response {
    Json(Data { data: value }).into_response()
}

/// `{"data": …}` with status 201.
pub(crate) fn created(value: impl Serialize) -> Response {
    (StatusCode::CREATED, Json(Data { data: value })).into_response()
}

#[derive(Debug, Serialize)]
struct List<T> {
    data: Vec<T>,
    pagination: Pagination,
}

/// The vendor's Python client refuses lists without `limit`.
#[derive(Debug, Serialize)]
struct Pagination {
    limit: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_page_token: Option<String>,
}

/// `{"data": […], "pagination": …}`.
pub(crate) fn list<T, U: Serialize>(page: Page<T>, limit: usize, show: impl FnMut(T) -> U) -> Response {
    Json(List {
        data: page.items.into_iter().map(show).collect(),
        pagination: Pagination { limit, next_page_token: page.next, previous_page_token: page.previous },
    })
    .into_response()
}

/// A session as a dialect shows it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum SessionObject {
    Gateway {
        #[serde(rename = "type")]
        kind: &'static str,
        id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        agent_spec: Option<Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        agent_name: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        created_by_subject: Subject,
        created_at: String,
        updated_at: String,
    },
    TrueForge {
        id: String,
        agent: AgentObject,
        title: Option<String>,
        created_by: String,
        created_at: String,
        updated_at: String,
    },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum AgentObject {
    Reference { id: String, name: String },
    Inline { spec: Value },
}

impl SessionObject {
    pub(crate) fn new(session: &Session, dialect: Dialect) -> Self {
        let details = session.details();
        let id = session.id.clone();
        let title = details.title.clone();
        let created_at = iso(session.created_at);
        let updated_at = iso(details.updated_at);
        let agent = details.agent.clone();
        match dialect {
            Dialect::Gateway => Self::Gateway {
                kind: kind(&agent),
                id,
                agent_name: agent.name().map(str::to_owned),
                agent_spec: match agent {
                    Agent::Named(_) => None,
                    Agent::Draft { spec, .. } => Some(spec),
                },
                title,
                created_by_subject: Subject::of(&session.owner),
                created_at,
                updated_at,
            },
            Dialect::TrueForge => Self::TrueForge {
                id,
                agent: match agent {
                    Agent::Named(name) => AgentObject::Reference { id: format!("agent-{name}"), name },
                    Agent::Draft { spec, .. } => AgentObject::Inline { spec },
                },
                title,
                created_by: session.owner.clone(),
                created_at,
                updated_at,
            },
        }
    }
}

/// The `type` of a session.
pub(crate) fn kind(agent: &Agent) -> &'static str {
    if agent.is_draft() { "session/draft" } else { "session" }
}

/// A turn with its present state.
#[derive(Debug, Serialize)]
pub(crate) struct TurnObject {
    id: String,
    session_id: String,
    previous_turn_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Box<RawValue>>,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_by_subject: Option<Subject>,
    created_at: String,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum State {
    Running(TurnState),
    Ended(Box<RawValue>),
}

impl TurnObject {
    /// The turn as it is now.
    pub(crate) fn new(session: &Session, turn: &Turn, dialect: Dialect) -> Self {
        let ended = turn.progress().state.clone();
        Self::with_state(session, turn, dialect, ended)
    }

    /// The turn as it was at its beginning, even if it has ended since.
    pub(crate) fn started(session: &Session, turn: &Turn, dialect: Dialect) -> Self {
        Self::with_state(session, turn, dialect, None)
    }

    fn with_state(session: &Session, turn: &Turn, dialect: Dialect, ended: Option<Box<RawValue>>) -> Self {
        Self {
            id: turn.id.clone(),
            session_id: session.id.clone(),
            previous_turn_id: turn.previous.clone(),
            input: turn.input.clone(),
            state: ended.map_or(State::Running(TurnState::Running), State::Ended),
            created_by_subject: (dialect == Dialect::Gateway).then(|| Subject::of(&turn.creator)),
            created_at: iso(turn.created_at),
        }
    }
}
