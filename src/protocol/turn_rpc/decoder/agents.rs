//! Sub-agents of Codex (section 14). Each runs in a thread of its own, which the calls name that are made of it; what it
//! asks, the client of this turn is asked.
//!
//! The server tells of a thread to the connections that stand when it is made, whoever made it. On a later one it has to
//! be subscribed to, and then the server asks again what waits in it.

use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::Problem;
use crate::rpc::Message;

use super::super::codex;
use super::Turn;
use super::tasks::{About, MOST};

/// What this connection hears of a sub-agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// Nothing as yet, so that it may have asked something before.
    Silent,
    /// The server was asked whether it is there.
    Sought,
    /// It is there, and to be subscribed to.
    Found,
    /// All of it.
    Heard,
}

/// The sub-agents of a turn, by the ids of their threads.
#[derive(Debug, Default)]
pub(super) struct Agents(Vec<(String, Link)>);

impl Agents {
    /// Whether one of them has an id that is so.
    pub(super) fn any(&self, mut is_so: impl FnMut(&str) -> bool) -> bool {
        self.0.iter().any(|(id, _)| is_so(id))
    }

    /// It is one of them. What is not heard of is in the state `link`.
    fn note(&mut self, id: &str, link: Link) {
        if let Some((_, known)) = self.0.iter_mut().find(|(known, _)| known == id) {
            if *known != Link::Heard {
                *known = link;
            }
        } else if self.0.len() < MOST {
            self.0.push((id.to_owned(), link));
        }
    }

    /// Another connection comes.
    pub(super) fn are_silent(&mut self) {
        for (_, link) in &mut self.0 {
            *link = Link::Silent;
        }
    }

    /// Whether something is to be asked.
    pub(super) fn has_asks(&self) -> bool {
        self.0.iter().any(|(_, link)| matches!(link, Link::Silent | Link::Found))
    }

    /// Asks for those of which nothing is heard, and subscribes to those that were found.
    pub(super) fn ask(&mut self, thread: &str, list: &mut Vec<Message>) {
        let mut seeks = false;
        for (id, link) in &mut self.0 {
            match link {
                Link::Silent => (seeks, *link) = (true, Link::Sought),
                Link::Found => {
                    list.push(codex::resume(id));
                    *link = Link::Heard;
                }
                Link::Sought | Link::Heard => {}
            }
        }
        if seeks {
            list.push(codex::sub_agents(thread));
        }
    }
}

/// Whether a thread waits for its client.
pub(super) fn waits(thread: &Object<'_>) -> bool {
    let status = thread.object("status").unwrap_or(const { &Object::new() });
    let mut flags = status.array("activeFlags").iter().filter_map(Value::as_str);
    flags.any(|flag| flag.starts_with("waitingOn"))
}

impl Turn {
    /// Takes what is said in another thread: in one of the turn's sub-agents, or in one that is none of its business.
    /// Others may be other clients', and nothing is answered in them.
    pub(super) fn elsewhere(
        &mut self,
        (method, thread_id): (&str, &str),
        root: &Object<'_>,
        params: &Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<bool, Problem> {
        if method == "turn/started" {
            // Also of one that another sub-agent has made.
            let turn = params.object("turn").unwrap_or(const { &Object::new() });
            if !self.turn_id.is_empty() && turn.text("rootTurnId") == self.turn_id {
                self.agents.note(thread_id, Link::Heard);
            }
        }
        if !self.agents.any(|known| known == thread_id) {
            return Ok(true);
        }
        self.agents.note(thread_id, Link::Heard);
        if let Some(id) = root.get("id") {
            self.created(sink);
            let Some(thread) = self.task_thread(thread_id, &About::default(), sink) else { return Ok(true) };
            return self.asked(id, thread, method, params, sink);
        }
        if let Some(thread) = self.thread_of(thread_id) {
            self.requests_came(thread, sink);
        }
        if method == "serverRequest/resolved" {
            self.answered(&params.json("requestId"), sink);
        }
        Ok(true)
    }

    /// Takes what an item says of the sub-agents that it names.
    pub(super) fn agents_in(&mut self, item: &Object<'_>, sink: &mut dyn EventSink) {
        // Later calls give it something else to do.
        let (task, maker) = match item.text("tool") {
            "spawnAgent" => (item.text("prompt"), item.text("id")),
            _ => (item.text("agentPath"), ""),
        };
        let title = task.split('\n').next().unwrap_or_default();
        let about = About { title, role: "", maker };
        for id in item.array("receiverThreadIds").iter().filter_map(Value::as_str) {
            self.agent_in(id, &about, sink);
        }
        let id = item.text("agentThreadId");
        if !id.is_empty() {
            self.agent_in(id, &about, sink);
            self.agent_is(id, item.text("kind"), "", sink);
        }
        let Some(states) = item.object("agentsStates") else { return };
        for (id, state) in states.iter() {
            if let Some(state) = state.as_object() {
                self.agent_is(id, state.text("status"), state.text("message"), sink);
            }
        }
    }

    fn agent_in(&mut self, id: &str, about: &About<'_>, sink: &mut dyn EventSink) {
        self.agents.note(id, Link::Silent);
        self.task_thread(id, about, sink);
    }

    fn agent_is(&mut self, id: &str, status: &str, message: &str, sink: &mut dyn EventSink) {
        match status {
            "completed" => self.task_over(id, None, sink),
            "errored" => self.task_over(id, Some(message), sink),
            "shutdown" => self.task_over(id, Some(status), sink),
            // One that was interrupted can go on.
            _ => {}
        }
    }

    /// Takes the list of the threads that the turn's thread, or one below it, has made: each before its maker.
    pub(super) fn agents_listed(&mut self, result: &Object<'_>, sink: &mut dyn EventSink) {
        for thread in result.array("data").iter().rev().filter_map(Value::as_object) {
            let (id, parent) = (thread.text("id"), thread.text("parentThreadId"));
            // Those of other turns are left alone, and whatever a server lists that does not know what was asked.
            if !self.agents.any(|known| known == id || known == parent) {
                continue;
            }
            let is_there = thread.object("status").is_some_and(|status| status.text("type") != "notLoaded");
            self.agents.note(id, if is_there { Link::Found } else { Link::Sought });
            self.agent_read(thread, sink);
        }
    }

    /// The state of a sub-agent is known.
    pub(super) fn agent_read(&mut self, thread: &Object<'_>, sink: &mut dyn EventSink) {
        if !waits(thread)
            && let Some(thread) = self.thread_of(thread.text("id"))
        {
            // Somebody else has answered.
            self.stale_answered(thread, sink);
        }
    }
}
