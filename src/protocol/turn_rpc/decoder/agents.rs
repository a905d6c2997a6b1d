//! Sub-agents of Codex (section 14). Each runs in a thread of its own, named by the calls that created it. The client
//! of this turn answers its requests, too.
//!
//! Connections that exist when a thread is created receive its messages. A later connection must subscribe to the
//! thread; then the server repeats the open requests.

use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::Problem;
use crate::rpc::Message;
use crate::text::cut;

use super::super::codex;
use super::super::fields::inner;
use super::Turn;
use super::tasks::{MOST, TaskInfo};

/// What this connection receives of a sub-agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// Nothing yet: it may have sent requests before.
    Unknown,
    /// Nothing yet: the server was asked whether the thread is loaded.
    Requested,
    /// The thread is loaded, and has to be subscribed to.
    Found,
    /// Everything.
    Subscribed,
}

/// The sub-agents of a turn, by the ids of their threads.
#[derive(Debug, Default)]
pub(super) struct Agents(Vec<(String, Link)>);

impl Agents {
    /// Whether the id of any sub-agent satisfies `is_so`.
    pub(super) fn any(&self, mut is_so: impl FnMut(&str) -> bool) -> bool {
        self.0.iter().any(|(id, _)| is_so(id))
    }

    /// Adds a sub-agent. Sets its link to `link`, unless it is subscribed to.
    fn note(&mut self, id: &str, link: Link) {
        if let Some((_, known)) = self.0.iter_mut().find(|(known, _)| known == id) {
            if *known != Link::Subscribed {
                *known = link;
            }
        } else if self.0.len() < MOST {
            self.0.push((id.to_owned(), link));
        }
    }

    /// The connection is lost.
    pub(super) fn connection_lost(&mut self) {
        for (_, link) in &mut self.0 {
            *link = Link::Unknown;
        }
    }

    /// Whether there are requests to send.
    pub(super) fn has_asks(&self) -> bool {
        self.0.iter().any(|(_, link)| matches!(link, Link::Unknown | Link::Found))
    }

    /// Adds the requests: for unknown sub-agents, and the subscriptions to loaded ones.
    pub(super) fn ask(&mut self, thread: &str, list: &mut Vec<Message>) {
        let mut seeks = false;
        for (id, link) in &mut self.0 {
            match link {
                Link::Unknown => (seeks, *link) = (true, Link::Requested),
                Link::Found => {
                    list.push(codex::resume(id));
                    *link = Link::Subscribed;
                }
                Link::Requested | Link::Subscribed => {}
            }
        }
        if seeks {
            list.push(codex::sub_agents(thread));
        }
    }
}

/// Whether a thread waits for its client.
pub(super) fn waits(thread: &Object<'_>) -> bool {
    let status = inner(thread, "status");
    let mut flags = status.array("activeFlags").iter().filter_map(Value::as_str);
    flags.any(|flag| flag.starts_with("waitingOn"))
}

impl Turn {
    /// Takes a message of another thread: of a sub-agent, or of a thread that may belong to another client, which is
    /// ignored.
    pub(super) fn other_thread(
        &mut self,
        (method, thread_id): (&str, &str),
        root: &Object<'_>,
        params: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<bool, Problem> {
        if method == "turn/started" {
            // Another sub-agent may have created the thread.
            let turn = inner(params, "turn");
            if !self.turn_id.is_empty() && turn.text("rootTurnId") == self.turn_id {
                self.agents.note(thread_id, Link::Subscribed);
            }
        }
        if !self.agents.any(|known| known == thread_id) {
            return Ok(true);
        }
        self.agents.note(thread_id, Link::Subscribed);
        if let Some(id) = root.get("id") {
            self.created(sink);
            let Some(thread) = self.thread_of_task(thread_id, &TaskInfo::default(), sink) else {
                return Ok(true);
            };
            return self.asked(id, thread, method, params, sink);
        }
        if let Some(thread) = self.thread_of(thread_id) {
            self.resolve_stale_after(thread, sink);
        }
        if method == "serverRequest/resolved" {
            self.answered(&params.json("requestId"), sink);
        }
        Ok(true)
    }

    /// Takes the data of an item about sub-agents.
    pub(super) fn agents_of_item(&mut self, item: &Object<'_>, sink: &mut dyn EventSink) {
        // Later calls have another prompt.
        let (task, maker) = match item.text("tool") {
            "spawnAgent" => (item.text("prompt"), item.text("id")),
            _ => (item.text("agentPath"), ""),
        };
        let (title, _) = cut(task, b'\n');
        let about = TaskInfo { title, role: "", maker };
        for id in item.array("receiverThreadIds").iter().filter_map(Value::as_str) {
            self.add_agent(id, &about, sink);
        }
        let id = item.text("agentThreadId");
        if !id.is_empty() {
            self.add_agent(id, &about, sink);
            self.agent_status(id, item.text("kind"), "", sink);
        }
        let Some(states) = item.object("agentsStates") else { return };
        for (id, state) in states.iter() {
            if let Some(state) = state.as_object() {
                self.agent_status(id, state.text("status"), state.text("message"), sink);
            }
        }
    }

    fn add_agent(&mut self, id: &str, about: &TaskInfo<'_>, sink: &mut dyn EventSink) {
        self.agents.note(id, Link::Unknown);
        self.thread_of_task(id, about, sink);
    }

    fn agent_status(&mut self, id: &str, status: &str, message: &str, sink: &mut dyn EventSink) {
        match status {
            "completed" => self.end_task(id, None, sink),
            "errored" => self.end_task(id, Some(message), sink),
            "shutdown" => self.end_task(id, Some(status), sink),
            // An interrupted sub-agent can continue.
            _ => {}
        }
    }

    /// Takes the list of threads below the turn's thread. Each comes before the thread that created it.
    pub(super) fn agents_listed(&mut self, result: &Object<'_>, sink: &mut dyn EventSink) {
        for thread in result.array("data").iter().rev().filter_map(Value::as_object) {
            let (id, parent) = (thread.text("id"), thread.text("parentThreadId"));
            // Skips the threads of other turns, which servers may list as well.
            if !self.agents.any(|known| known == id || known == parent) {
                continue;
            }
            let is_there = thread.object("status").is_some_and(|status| status.text("type") != "notLoaded");
            self.agents.note(id, if is_there { Link::Found } else { Link::Requested });
            self.agent_read(thread, sink);
        }
    }

    /// Takes the state of a sub-agent's thread.
    pub(super) fn agent_read(&mut self, thread: &Object<'_>, sink: &mut dyn EventSink) {
        if !waits(thread)
            && let Some(thread) = self.thread_of(thread.text("id"))
        {
            // Another client has answered.
            self.resolve_stale(thread, sink);
        }
    }
}
