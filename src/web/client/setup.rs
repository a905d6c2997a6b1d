//! Creates and reads sessions, with what each protocol needs first.

use std::rc::Rc;

use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::error::{Error, ErrorCode, Result};
use crate::event::{SessionRecord, TurnRecord};
use crate::protocol::{Call, Capability};
use crate::web::random::new_id;

use super::server::Server;
use super::session::Session;
use super::{list, object, parsed};

/// Creates a session for a saved agent.
pub(super) async fn create(server: &Rc<Server>, agent_name: &str) -> Result<Session> {
    let capabilities = server.protocol.protocol().capabilities();
    if capabilities.lacks_turn_ids() && capabilities.has(Capability::Agents) {
        let agent = agent(server, agent_name).await?;
        let tools: Vec<Json> = agent.tools.iter().map(|tool| json!({ "name": tool.name })).collect();
        let params = json!({ "agent_name": agent_name, "agent_tools": tools });
        let record = server.ask(Call::CreateSession, object(&params)?).await?;
        let session = Session::new(server, parsed(&record)?, true);
        session.set_terms(agent.terms(), Some((0, Vec::new())));
        return Ok(session);
    }
    let mut params = json!({ "agent_name": agent_name });
    if capabilities.has_client_ids() {
        params["id"] = json!(new_id());
    }
    let record: SessionRecord = parsed(&server.ask(Call::CreateSession, object(&params)?).await?)?;
    let workspace_id = record.workspace_id.clone();
    let session = Session::new(server, record, true);
    if let Some(id) = workspace_id {
        // Until the session has a message, another connection must create it again.
        let terms = json!({ "workspace_id": id, "creation": { "agentName": agent_name } });
        session.set_terms(terms, None);
    }
    Ok(session)
}

/// A session from a stored conversation (JSON).
pub(super) fn restore(server: &Rc<Server>, id: &str, conversation: &str) -> Result<Session> {
    let params = object(&json!({ "id": id }))?;
    let protocol = server.protocol.protocol();
    let record = protocol.local(Call::CreateSession, &params).ok_or_else(|| {
        Error::new(ErrorCode::Unsupported, "the server keeps the conversations of its sessions")
    })?;
    let session = Session::new(server, parsed(&record.to_json())?, true);
    session.shared.state.borrow_mut().set_conversation(conversation)?;
    Ok(session)
}

/// Reads a session by its id.
pub(super) async fn read(server: &Rc<Server>, id: &str) -> Result<Session> {
    let params = json!({ "session_id": id });
    let mut record: SessionRecord = parsed(&server.read(Call::GetSession, object(&params)?).await?)?;
    let capabilities = server.protocol.protocol().capabilities();
    if capabilities.lacks_turn_ids() {
        let agent = agent(server, record.agent_name.as_deref().unwrap_or_default()).await?;
        let terms = agent.terms();
        let session = Session::new(server, record, false);
        session.set_terms(terms, None);
        session.find_place().await?;
        return Ok(session);
    }
    if record.agent_name.is_none() && capabilities.has_client_ids() {
        // The server does not record the session's agent: the agent of its last turn continues.
        let turns: Vec<TurnRecord> = list(server, Call::ListTurns, object(&params)?).await?;
        record.agent_name = turns.last().and_then(|turn| turn.agent_name.clone());
    }
    let (is_new, workspace_id) = (record.is_new == Some(true), record.workspace_id.clone());
    let session = Session::new(server, record, is_new);
    if let Some(id) = workspace_id {
        session.set_terms(json!({ "workspace_id": id }), None);
    }
    Ok(session)
}

/// An agent in the list of a server of the Agent Application Protocol, with the parts that its sessions need.
#[derive(Deserialize)]
struct Agent {
    name: String,
    #[serde(default)]
    tools: Vec<Tool>,
    terms: Json,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
}

impl Agent {
    fn terms(&self) -> Json {
        let mut terms = self.terms.clone();
        terms["tools"] = json!([]);
        terms["trusted"] = json!([]);
        terms
    }
}

async fn agent(server: &Server, name: &str) -> Result<Agent> {
    #[derive(Deserialize)]
    struct Agents {
        items: Vec<Agent>,
    }
    let agents: Agents = parsed(&server.read(Call::ListAgents, object(&json!({}))?).await?)?;
    let known: Vec<String> = agents.items.iter().map(|agent| agent.name.clone()).collect();
    agents.items.into_iter().find(|agent| agent.name == name).ok_or_else(|| {
        let problem = ["the server has no agent `", name, "`; it has ", &known.join(", ")].concat();
        Error::new(ErrorCode::InvalidOption, &problem)
    })
}
