//! What a server keeps of sessions and turns, as its JSON endpoints answer it.

use serde::{Deserialize, Serialize};
use tsify::Tsify;

use super::{CreatedBy, Event, RequiredActionEvent, Subject, TurnInputItem, TurnState};

/// A session, or a draft of one (`type` tells which), as a server keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct SessionRecord {
    /// `"session"`, or `"session/draft"` for one whose agent is still being written.
    #[tsify(type = "\"session\" | \"session/draft\"")]
    pub r#type: String,
    /// The session's id.
    pub id: String,
    /// The saved agent's name; a draft may have none.
    pub agent_name: Option<String>,
    /// A label for people; servers derive it from the first message.
    pub title: Option<String>,
    /// Who created it.
    pub created_by_subject: Option<Subject>,
    /// ISO 8601.
    pub created_at: Option<String>,
    /// ISO 8601.
    pub updated_at: Option<String>,
    /// A draft's agent, as the server's schema has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "Record<string, unknown>")]
    pub agent_spec: Option<serde_json::Map<String, serde_json::Value>>,
    /// The workspace that it is in. Only the JSON-RPC turn gateway has this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// Whether nothing was said in it yet, where the server says so (Codex app-server).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_new: Option<bool>,
    /// What its last turn waits for, where the server says so with the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[tsify(optional)]
    pub required_actions: Vec<RequiredActionEvent>,
}

/// A turn as a server keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct TurnRecord {
    /// The turn's id.
    pub id: String,
    /// Its session.
    pub session_id: Option<String>,
    /// The turn that it follows; `null` for a first turn.
    pub previous_turn_id: Option<String>,
    /// What it was given; empty also where the server does not keep it with the turn.
    #[serde(default)]
    pub input: Vec<TurnInputItem>,
    /// Where it stands.
    pub state: TurnState,
    /// Who created it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<CreatedBy>,
    /// Who created it, where that is a subject.
    pub created_by_subject: Option<Subject>,
    /// ISO 8601.
    pub created_at: Option<String>,
    /// The agent, where every turn names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
}

/// An entry of a session's event list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tsify)]
pub struct SessionEvent {
    /// The turn that the event belongs to.
    pub turn_id: String,
    /// The event; never a delta.
    pub event: Event,
}
