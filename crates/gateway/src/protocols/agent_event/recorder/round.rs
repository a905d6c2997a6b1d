//! The round of tools after a message with calls: results in the order of the calls, then the state.

use serde_json::{Map, Value, json};
use turnwire::event::TrackedPatch;

use super::super::decision::{Action, Decision};
use super::super::event::{
    Event, ToolCallDone, ToolCallReady, ToolCallResult, ToolCallResumed, ToolCallStart, status, typed,
};
use super::super::message::{Message, Role, ToolCall, message_id};
use super::super::server::Dialect;
use super::super::state::{CallState, CallStatus};
use super::super::suspension::{CONFIRM, SuspendedCall, Wait};
use super::Recorder;
use crate::agents::{Approval, MAIN};

/// The calls of one message.
#[derive(Debug)]
pub(crate) struct Round {
    pub(crate) step: u32,
    pub(crate) calls: Vec<RoundCall>,
    /// What tools did to the state.
    pub(crate) operations: Vec<Value>,
}

#[derive(Debug)]
pub(crate) struct RoundCall {
    pub(crate) call: ToolCall,
    pub(crate) result: Option<ToolCallResult>,
    pub(crate) suspended: Option<SuspendedCall>,
}

impl RoundCall {
    pub(crate) fn is_settled(&self) -> bool {
        self.result.is_some() || self.suspended.is_some()
    }
}

impl Round {
    pub(crate) fn new(step: u32, calls: Vec<ToolCall>) -> Self {
        let call = |call| RoundCall { call, result: None, suspended: None };
        Self { step, calls: calls.into_iter().map(call).collect(), operations: Vec::new() }
    }

    pub(crate) fn tool_calls(&self) -> Vec<ToolCall> {
        self.calls.iter().map(|call| call.call.clone()).collect()
    }

    pub(crate) fn tool(&self, call: &str) -> Option<String> {
        self.calls.iter().find(|known| known.call.id == call).map(|known| known.call.name.clone())
    }
}

impl Recorder {
    /// These calls wait for consent: those of a sub-agent make the call wait that started it.
    pub(crate) fn await_consent(&mut self, thread: &str, calls: &[String]) {
        for call in calls {
            let (id, wait) = if thread == MAIN {
                (call.clone(), Wait::Consent)
            } else {
                let Some((parent, tool, arguments)) = self.sub_agents.asking(thread, call) else {
                    continue;
                };
                (parent, Wait::Nested { call: call.clone(), tool, arguments })
            };
            self.suspend(&id, wait);
        }
    }

    /// These calls wait for an answer.
    pub(crate) fn await_answers(&mut self, calls: &[String]) {
        for call in calls {
            self.suspend(call, Wait::Answer);
        }
    }

    fn suspend(&mut self, id: &str, wait: Wait) {
        let Some(call) = self.round_call(id) else {
            return;
        };
        let suspended = SuspendedCall {
            call: call.call.id.clone(),
            tool: call.call.name.clone(),
            arguments: call.call.arguments.clone(),
            wait,
        };
        call.suspended = Some(suspended.clone());
        if self.dialect() == Dialect::Tirea && suspended.asks_consent() {
            let id = suspended.pending_id("fc_");
            let arguments = suspended.projection();
            self.wire.send(Event::ToolCallStart(ToolCallStart { id: id.clone(), name: CONFIRM.to_owned() }));
            self.wire.send(Event::ToolCallReady(ToolCallReady { id, name: CONFIRM.to_owned(), arguments }));
        }
    }

    /// The calls of the round that wait.
    pub(crate) fn suspended(&self) -> Vec<SuspendedCall> {
        let calls = self.round.iter().flat_map(|round| &round.calls);
        calls.filter_map(|call| call.suspended.clone()).collect()
    }

    /// Ends the round: the results of all calls in their order, then the state.
    pub(crate) fn finish_round(&mut self) {
        let Some(round) = self.round.take() else {
            return;
        };
        let waits = round.calls.iter().any(|call| call.suspended.is_some());
        let mut operations = round.operations;
        let had_calls = !round.calls.is_empty();
        for RoundCall { call, result, suspended } in round.calls {
            match (result, suspended) {
                (Some(result), _) => {
                    self.done(&call, result, Some(round.step), None, std::mem::take(&mut operations));
                }
                (None, Some(suspended)) => self.hold(&call, &suspended, round.step),
                (None, None) => {}
            }
        }
        if self.dialect() == Dialect::Awaken {
            let status = if waits { "waiting" } else { "running" };
            self.state.lifecycle(status, waits.then_some("suspended"), &self.totals);
        }
        if had_calls || self.dialect() == Dialect::Awaken {
            self.snapshot();
        }
        if self.dialect() == Dialect::Awaken {
            self.wire.send(Event::StepEnd);
        }
        self.checkpoint();
    }

    /// A call that waits: its state, and a message that says so to the model.
    fn hold(&mut self, call: &ToolCall, suspended: &SuspendedCall, step: u32) {
        self.state.set_call(&CallState {
            call: &call.id,
            tool: &call.name,
            arguments: &call.arguments,
            status: CallStatus::Suspended,
            suspended: Some(suspended),
            resumed: None,
        });
        match self.dialect() {
            Dialect::Tirea => {
                let text = format!("Tool '{}' is awaiting approval. Execution paused.", call.name);
                self.tool_message(message_id(), &call.id, text, Some(step));
            }
            Dialect::Awaken => {
                let message = format!("Tool '{}' suspended: awaiting approval", call.name);
                let mut result =
                    self.dialect().tool_result(&call.name, status::PENDING, Value::Null, Some(message));
                result.suspension = Some(typed(&suspended.ticket("perm_")));
                self.send_done(call, String::new(), result, None);
            }
        }
    }

    /// A call's result: the event, the state, the message.
    pub(crate) fn done(
        &mut self,
        call: &ToolCall,
        result: ToolCallResult,
        step: Option<u32>,
        resumed: Option<(Value, String)>,
        mut operations: Vec<Value>,
    ) {
        let denied = resumed.as_ref().is_some_and(|(decision, _)| decision["action"] == "cancel");
        let status = match result.status.as_str() {
            status::ERROR if denied => CallStatus::Cancelled,
            status::ERROR => CallStatus::Failed,
            _ => CallStatus::Succeeded,
        };
        operations.push(self.state.set_call(&CallState {
            call: &call.id,
            tool: &call.name,
            arguments: &call.arguments,
            status,
            suspended: None,
            resumed,
        }));
        let patch = json!({"patch": {"ops": operations}, "source": format!("tool:{}", call.name)});
        let patches = self.dialect() == Dialect::Tirea && !denied;
        let patch = patches.then(|| serde_json::from_value(patch).ok()).flatten();
        let content = match self.dialect() {
            Dialect::Tirea => serde_json::to_string(&result).unwrap_or_default(),
            Dialect::Awaken => result.message.clone().unwrap_or_else(|| result.data.to_string()),
        };
        let message = message_id();
        self.tool_message(message.clone(), &call.id, content, step);
        let shown = if self.dialect() == Dialect::Tirea { message } else { String::new() };
        self.send_done(call, shown, result, patch);
    }

    /// A call resumes because of a decision. Its result is known already.
    pub(crate) fn resumed(&mut self, call: &SuspendedCall, decision: &Decision, content: Option<&str>) {
        self.wire.send(Event::ToolCallResumed(ToolCallResumed {
            target_id: call.call.clone(),
            result: decision.result(),
        }));
        let denied = match call.wait {
            Wait::Consent => decision.approval() != Approval::Allow,
            Wait::Answer => decision.action == Action::Cancel,
            Wait::Nested { .. } => false,
        };
        let mut arguments = call.arguments.clone();
        let result = if denied {
            let message = Some(decision.denial());
            self.dialect().tool_result(&call.tool, status::ERROR, Value::Null, message)
        } else if call.wait == Wait::Answer {
            // A bare yes is no result: the arguments stand for it.
            if !decision.result().is_boolean() {
                arguments = decision.result();
            }
            self.dialect().tool_result(&call.tool, status::SUCCESS, arguments.clone(), None)
        } else {
            self.dialect().result(&call.tool, content.unwrap_or("null"))
        };
        let done = ToolCall { id: call.call.clone(), name: call.tool.clone(), arguments };
        let resumed = (decision.show(&call.call), call.pending_id("fc_"));
        self.done(&done, result, None, Some(resumed), Vec::new());
    }

    fn send_done(
        &mut self,
        call: &ToolCall,
        message_id: String,
        result: ToolCallResult,
        patch: Option<TrackedPatch>,
    ) {
        let outcome = match result.status.as_str() {
            status::SUCCESS => "succeeded",
            status::ERROR => "failed",
            _ => "suspended",
        };
        let outcome = Some(outcome.to_owned());
        self.wire.send(Event::ToolCallDone(ToolCallDone {
            id: call.id.clone(),
            message_id,
            patch,
            result,
            outcome,
        }));
    }

    /// Results of decisions have no step; for tirea they do not even belong to the run that took them.
    fn tool_message(&mut self, id: String, call: &str, content: String, step: Option<u32>) {
        let mut message = Message::new(Role::Tool, content);
        message.id = Some(id);
        message.tool_call_id = Some(call.to_owned());
        message.step = step;
        let counts = step.is_some() || self.dialect() == Dialect::Awaken;
        message.run_id = counts.then(|| self.run.id.clone());
        self.commits.add(message);
    }
}

impl Dialect {
    /// A script's result as a tool's.
    pub(crate) fn result(self, tool: &str, content: &str) -> ToolCallResult {
        if let Some(error) = content.strip_prefix("Error: ") {
            return self.tool_result(tool, status::ERROR, Value::Null, Some(error.to_owned()));
        }
        let data = serde_json::from_str(content).unwrap_or_else(|_| json!(content));
        self.tool_result(tool, status::SUCCESS, data, None)
    }

    pub(crate) fn tool_result(
        self,
        tool: &str,
        status: &str,
        data: Value,
        message: Option<String>,
    ) -> ToolCallResult {
        let metadata = (self == Self::Tirea).then(Map::new);
        let status = status.to_owned();
        ToolCallResult { tool_name: tool.to_owned(), status, data, message, metadata, suspension: None }
    }
}
