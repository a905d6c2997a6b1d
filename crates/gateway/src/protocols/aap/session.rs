//! Sessions, in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::catalog;
use super::message::Message;
use super::pending::Pending;
use crate::agents::Conversation;
use crate::json;
use crate::lock::lock;
use crate::store::{self, PageToken};
use crate::turns::Stop;

/// The space of all sessions in the store.
const SPACE: &str = "aap";
/// The number of sessions in a page.
const PAGE: usize = 20;

/// The state of the handlers.
pub(super) type App = crate::context::App<Sessions>;

/// All sessions, by id; ids sort by creation.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<BTreeMap<String, Arc<Session>>>);

/// A conversation.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: String,
    /// The same session as the gateway's own endpoints see it.
    pub(super) kept: Arc<store::Session>,
    state: Mutex<State>,
}

/// What a session holds.
#[derive(Debug)]
pub(super) struct State {
    pub(super) agent: AgentConfig,
    /// The tools that the client runs.
    pub(super) tools: Option<Vec<ToolSpec>>,
    pub(super) history: Vec<Message>,
    /// The calls that wait for the client.
    pub(super) pending: Option<Box<Pending>>,
    pub(super) conversation: Conversation,
}

/// The agent of a session, as the client has set it up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct AgentConfig {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<Vec<ServerTool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) options: Option<BTreeMap<String, String>>,
}

/// A tool of the server that the client switches on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ServerTool {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    trust: Option<bool>,
}

/// A tool that the client runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ToolSpec {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    description: String,
    parameters: Value,
}

/// Who runs a tool, as far as the client has said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runner {
    Client,
    /// The server, without asking.
    Trusted,
    /// The server, once allowed.
    Untrusted,
    /// The server, although the client did not switch the tool on.
    Unexposed,
}

impl State {
    pub(super) fn runner(&self, tool: &str) -> Runner {
        if self.tools.iter().flatten().any(|spec| spec.name == tool) {
            return Runner::Client;
        }
        let exposed = self.agent.tools.iter().flatten().find(|exposed| exposed.name == tool);
        match exposed.map(|exposed| exposed.trust.unwrap_or_default()) {
            Some(true) => Runner::Trusted,
            Some(false) => Runner::Untrusted,
            None => Runner::Unexposed,
        }
    }

    /// Takes the settings of a turn: options are merged, tools replaced.
    pub(super) fn set_up(
        &mut self,
        server_tools: Option<Vec<ServerTool>>,
        options: Option<BTreeMap<String, String>>,
        tools: Option<Vec<ToolSpec>>,
    ) {
        if let Some(tools) = server_tools {
            self.agent.tools = Some(tools);
        }
        if let Some(options) = options {
            self.agent.options.get_or_insert_default().extend(options);
        }
        if let Some(tools) = tools {
            self.tools = Some(tools);
        }
    }
}

impl Session {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// The session as the client sees it: secrets are masked.
    pub(super) fn show(&self) -> Value {
        let state = self.state();
        let mut agent = state.agent.clone();
        for (name, value) in agent.options.iter_mut().flatten() {
            if catalog::is_secret(name) {
                "***".clone_into(value);
            }
        }
        let mut shown = json!({"sessionId": self.id, "agent": agent});
        json::add(&mut shown, [("tools", state.tools.as_ref())]);
        shown
    }
}

impl Sessions {
    pub(super) fn create(
        &self,
        app: &App,
        agent: AgentConfig,
        tools: Option<Vec<ToolSpec>>,
        history: Vec<Message>,
    ) -> Arc<Session> {
        let id = format!("sess_{}", app.store.ids.next());
        let kept = store::Session::plain(&id, SPACE, &agent.name);
        let pending = Pending::of_seed(&history).map(Box::new);
        let state = State { agent, tools, history, pending, conversation: Conversation::default() };
        let session =
            Arc::new(Session { id: id.clone(), kept: app.store.insert(kept), state: Mutex::new(state) });
        lock(&self.0).insert(id, Arc::clone(&session));
        session
    }

    pub(super) fn find(&self, id: &str) -> Option<Arc<Session>> {
        lock(&self.0).get(id).cloned()
    }

    /// Removes a session, and stops its turns.
    pub(super) fn remove(&self, app: &App, id: &str) -> bool {
        let Some(session) = lock(&self.0).remove(id) else {
            return false;
        };
        for turn in session.kept.all_turns() {
            turn.stop(Stop::Cancelled);
        }
        app.store.remove(&session.kept);
        true
    }

    /// A page in order of creation, and the cursor of the next one. `None` if the cursor is not ours.
    pub(super) fn page(&self, after: Option<&str>) -> Option<(Vec<Arc<Session>>, Option<String>)> {
        let after = match after {
            Some(cursor) => Some(PageToken::decode(cursor)?.key),
            None => None,
        };
        let sessions = lock(&self.0);
        // The session of a cursor may be gone by now, but its place is still known.
        let later = sessions.values().filter(|session| after.as_ref().is_none_or(|id| session.id > *id));
        let mut page: Vec<Arc<Session>> = later.take(PAGE + 1).cloned().collect();
        let more = page.len() > PAGE;
        page.truncate(PAGE);
        let last = page.last().filter(|_| more);
        let next = last.map(|session| PageToken { key: session.id.clone(), before: false }.encode());
        Some((page, next))
    }
}
