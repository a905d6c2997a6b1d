//! A server's records of sessions and turns, as its JSON endpoints return them.

use serde::{Deserialize, Serialize};
use tsify::Tsify;

use super::{CreatedBy, Event, RequiredActionEvent, Subject, TurnInputItem, TurnState};

/// A server's record of a session or of a draft; `type` says which.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct SessionRecord {
    /// `"session"`, or `"session/draft"` for a session whose agent can still be changed.
    #[tsify(type = "\"session\" | \"session/draft\"")]
    pub r#type: String,
    /// The session's id.
    pub id: String,
    /// The saved agent's name; a draft may have none.
    pub agent_name: Option<String>,
    /// A label for people; servers derive it from the first message.
    pub title: Option<String>,
    /// The session's creator.
    pub created_by_subject: Option<Subject>,
    /// ISO 8601.
    pub created_at: Option<String>,
    /// ISO 8601.
    pub updated_at: Option<String>,
    /// A draft's agent, in the server's schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "Record<string, unknown>")]
    pub agent_spec: Option<serde_json::Map<String, serde_json::Value>>,
    /// The session's workspace. Only the JSON-RPC turn gateway has this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// Whether the session has no messages yet, if the server says so (Codex app-server).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_new: Option<bool>,
    /// The actions for which the last turn waits, if the server returns them with the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[tsify(optional)]
    pub required_actions: Vec<RequiredActionEvent>,
}

/// A server's record of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct TurnRecord {
    /// The turn's id.
    pub id: String,
    /// Its session.
    pub session_id: Option<String>,
    /// The turn that it follows; `null` for a first turn.
    pub previous_turn_id: Option<String>,
    /// The turn's input; also empty if the server does not keep it with the turn.
    #[serde(default)]
    pub input: Vec<TurnInputItem>,
    /// The turn's state.
    pub state: TurnState,
    /// The turn's creator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<CreatedBy>,
    /// The turn's creator, if it is a subject.
    pub created_by_subject: Option<Subject>,
    /// ISO 8601.
    pub created_at: Option<String>,
    /// The agent, if every turn names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
}

/// An item of a session's list of events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct SessionEvent {
    /// The turn that the event belongs to.
    pub turn_id: String,
    /// The event; never a delta.
    pub event: Event,
}
