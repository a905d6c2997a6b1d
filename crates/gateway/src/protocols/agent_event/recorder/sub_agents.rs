//! Sub-agents: each has a thread and a run of its own, and on the parent's stream only the progress
//! of the calls is seen.

use std::sync::Arc;

use serde_json::json;

use super::super::message::{Message, Role, plain_id};
use super::super::progress::{Lineage, Report, ToolStatus};
use super::super::run::{Run, RunHead, RunStatus};
use super::super::sub_agents::Working;
use super::{Recorder, tool_calls};
use crate::agents::{Draft, Step, SubAgent};
use crate::store::Turn;

/// The number of steps that a sub-agent reports.
const STEPS: u32 = 4;

impl Recorder {
    pub(crate) fn begin_sub_agent(&mut self, agent: SubAgent) {
        let server = self.thread.server;
        let thread = self.app.own.obtain(&self.app.store, server, &agent.thread, &agent.name);
        let new = RunHead {
            id: plain_id(),
            thread: agent.thread.clone(),
            agent: agent.name.clone(),
            parent: Some(self.run.id.clone()),
            parent_thread: Some(self.run.thread.clone()),
            origin: "subagent",
        };
        let turn = Turn::plain(new.id.clone(), agent.input.clone());
        let run = Arc::new(Run::new(new, turn));
        self.app.own.add(server, &run);
        {
            let mut content = thread.content();
            content.labels.parent_thread_id = Some(self.run.thread.clone());
            content.labels.title = Some(agent.title);
            content.runs.latest = Some(run.id.clone());
            let mut message = Message::new(Role::User, agent.input);
            message.run_id = Some(run.id.clone());
            content.messages.push(message);
            content.writes.touch();
        }
        let working = Working {
            parent_call: agent.parent_call,
            name: agent.name,
            run,
            calls: Vec::new(),
            output: String::new(),
            done: 0,
        };
        let (parent, name) = (working.parent_call.clone(), working.name.clone());
        self.sub_agents.agents.insert(agent.thread, working);
        self.report(&parent, ToolStatus::Pending, 0, STEPS, &format!("Starting {name}"));
    }

    /// Adds to a message of a sub-agent. Only calls are reported.
    pub(crate) fn add_of_sub_agent(&mut self, step: &Step) {
        let Some(draft) = self.sub_agents.drafts.add(step) else {
            return;
        };
        if let Step::BeginCall { call, tool, .. } = step {
            let thread = draft.thread.clone();
            self.report_sub_call(&thread, call, tool.name(), ToolStatus::Running, "Running");
        }
    }

    pub(crate) fn end_sub_message(&mut self, draft: Draft<()>) {
        let calls = tool_calls(&draft);
        let Draft { thread, text: said, .. } = draft;
        let Some(agent) = self.sub_agents.agents.get_mut(&thread) else {
            return;
        };
        let mut message = Message::new(Role::Assistant, said.clone());
        message.tool_calls.clone_from(&calls);
        message.run_id = Some(agent.run.id.clone());
        agent.calls.extend(calls);
        agent.output.clone_from(&said);
        agent.done = (agent.done + 1).min(STEPS - 1);
        let (parent, done) = (agent.parent_call.clone(), agent.done);
        self.store(&thread, message);
        self.report(&parent, ToolStatus::Running, done, STEPS, &said);
    }

    /// A result of a sub-agent's own call.
    pub(crate) fn sub_result(&mut self, thread: &str, call: &str, content: &str) {
        let Some(agent) = self.sub_agents.agents.get_mut(thread) else {
            return;
        };
        let Some(known) = agent.calls.iter().find(|known| known.id == call).cloned() else {
            return;
        };
        let mut message = Message::new(Role::Tool, content);
        message.tool_call_id = Some(call.to_owned());
        message.run_id = Some(agent.run.id.clone());
        self.store(thread, message);
        let status = if content.starts_with("Error: ") { ToolStatus::Failed } else { ToolStatus::Done };
        self.report_sub_call(thread, call, &known.name, status, content);
    }

    /// A sub-agent has ended. Returns the result of the call that started it.
    pub(crate) fn end_sub_agent(&mut self, agent: &SubAgent, failure: Option<String>) -> String {
        let Some(working) = self.sub_agents.agents.remove(&agent.thread) else {
            return String::new();
        };
        let status = if failure.is_some() { ToolStatus::Failed } else { ToolStatus::Done };
        let (code, said) = match &failure {
            Some(error) => ("error", error.clone()),
            None => ("natural", working.output.clone()),
        };
        working.run.finish(RunStatus::Done, Some(code.to_owned()), failure.clone());
        self.report(&agent.parent_call, status, STEPS, STEPS, &said);
        match failure {
            Some(error) => format!("Error: {error}"),
            None => json!({
                "agent_id": working.name,
                "run_id": working.run.id,
                "status": "completed",
                "output": working.output,
            })
            .to_string(),
        }
    }

    fn report_sub_call(&mut self, thread: &str, call: &str, tool: &str, status: ToolStatus, message: &str) {
        let Some(agent) = self.sub_agents.agents.get(thread) else {
            return;
        };
        let lineage = Lineage {
            thread_id: thread.to_owned(),
            run_id: agent.run.id.clone(),
            parent_call_id: Some(agent.parent_call.clone()),
            parent_run_id: Some(self.run.id.clone()),
        };
        let done = u32::from(matches!(status, ToolStatus::Done | ToolStatus::Failed));
        let report = Report {
            call: call.to_owned(),
            tool: tool.to_owned(),
            status,
            done,
            all: 1,
            message: message.to_owned(),
        };
        self.send_report(&report, &lineage);
    }

    /// Stores a message in the thread of a sub-agent.
    fn store(&self, thread: &str, message: Message) {
        if let Some(thread) = self.app.own.thread(self.thread.server, thread) {
            let mut content = thread.content();
            content.messages.push(message);
            content.writes.touch();
        }
    }
}
