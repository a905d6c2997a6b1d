//! Calls that wait for the user, over the end of the run that made them.

use serde_json::{Value, json};

use super::decision::{Action, Decision};
use super::sub_agents::SubAgents;
use crate::agents::{Answers, Resume};

/// The tool whose call asks for consent.
pub(super) const CONFIRM: &str = "PermissionConfirm";

/// What a thread waits for.
#[derive(Clone)]
pub(super) struct Suspension {
    pub(super) calls: Vec<SuspendedCall>,
    /// How the script continues when all is answered.
    pub(super) resume: Resume,
    /// What was answered so far.
    pub(super) answers: Answers,
    /// Calls of the same message that have their results already.
    pub(super) settled: Vec<String>,
    /// The sub-agents that work behind the calls.
    pub(super) sub_agents: SubAgents,
}

impl std::fmt::Debug for Suspension {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Suspension").field("calls", &self.calls).finish_non_exhaustive()
    }
}

impl Suspension {
    /// The open call that a decision names: by its id, its suspension's, or its pending call's.
    pub(super) fn target(&self, target: &str) -> Option<usize> {
        self.calls.iter().position(|call| call.is_called(target))
    }

    /// Takes an answer. Returns the call that it closes, or `None` if no call waits for it.
    pub(super) fn answer(&mut self, decision: &Decision) -> Option<SuspendedCall> {
        let call = self.calls.remove(self.target(&decision.target_id)?);
        match call.wait {
            Wait::Consent | Wait::Nested { .. } => {
                self.answers.approvals.insert(call.asked().to_owned(), decision.approval());
            }
            Wait::Answer => {
                let denied = decision.action == Action::Cancel;
                let words = if denied { decision.denial() } else { decision.words() };
                self.answers.responses.insert(call.call.clone(), words);
            }
        }
        self.settled.push(call.call.clone());
        Some(call)
    }

    pub(super) fn is_answered(&self) -> bool {
        self.calls.is_empty()
    }
}

/// What a call waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wait {
    /// The user's consent; then it runs.
    Consent,
    /// A result from the client.
    Answer,
    /// Consent to a call of a sub-agent that this call started.
    Nested { call: String, tool: String, arguments: Value },
}

/// A call that waits.
#[derive(Debug, Clone)]
pub(super) struct SuspendedCall {
    pub(super) call: String,
    pub(super) tool: String,
    pub(super) arguments: Value,
    pub(super) wait: Wait,
}

impl SuspendedCall {
    /// The call that the script asks about.
    pub(super) fn asked(&self) -> &str {
        match &self.wait {
            Wait::Nested { call, .. } => call,
            Wait::Consent | Wait::Answer => &self.call,
        }
    }

    /// The id under which the client answers: the call's own, or that of the call that asks.
    pub(super) fn pending_id(&self, prefix: &str) -> String {
        match &self.wait {
            Wait::Answer => self.call.clone(),
            Wait::Consent | Wait::Nested { .. } => format!("{prefix}{}", self.asked()),
        }
    }

    fn is_called(&self, target: &str) -> bool {
        let prefixed = ["fc_", "perm_"].iter().any(|prefix| self.pending_id(prefix) == target);
        prefixed || target == self.call || target == self.asked()
    }

    pub(super) fn asks_consent(&self) -> bool {
        self.wait != Wait::Answer
    }

    /// The arguments of the call that asks.
    pub(super) fn projection(&self) -> Value {
        match &self.wait {
            Wait::Answer => self.arguments.clone(),
            Wait::Consent => json!({"tool_args": self.arguments, "tool_name": self.tool}),
            Wait::Nested { tool, arguments, .. } => json!({"tool_args": arguments, "tool_name": tool}),
        }
    }

    /// The name of the call that the client sees.
    fn pending_tool(&self) -> &str {
        if self.asks_consent() { CONFIRM } else { &self.tool }
    }

    pub(super) fn resume_mode(&self) -> &'static str {
        match self.wait {
            Wait::Consent => "replay_tool_call",
            Wait::Answer => "use_decision_as_tool_result",
            Wait::Nested { .. } => "pass_decision_to_tool",
        }
    }

    /// The ticket of the suspension (`AgentEvent` protocol, `SuspendTicket`).
    pub(super) fn ticket(&self, prefix: &str) -> Value {
        let id = self.pending_id(prefix);
        let parameters = self.projection();
        let mut suspension = json!({
            "action": format!("tool:{}", self.pending_tool()),
            "id": id,
            "parameters": parameters,
        });
        if self.asks_consent() {
            let tool = match &self.wait {
                Wait::Nested { tool, .. } => tool,
                Wait::Consent | Wait::Answer => &self.tool,
            };
            suspension["message"] = json!(format!("Permission required to run tool '{tool}'"));
            suspension["response_schema"] = json!({
                "type": "object",
                "properties": {
                    "approved": {"type": "boolean"},
                    "reason": {"type": "string"},
                    "remember": {"type": "boolean"},
                },
                "required": ["approved"],
                "additionalProperties": true,
            });
        }
        json!({
            "suspension": suspension,
            "pending": {"id": id, "name": self.pending_tool(), "arguments": parameters},
            "resume_mode": self.resume_mode(),
        })
    }

    /// The call in the state tree, which shows that it waits.
    pub(super) fn state(&self) -> Value {
        let mut state = self.ticket("fc_");
        state["call_id"] = json!(self.call);
        state["tool_name"] = json!(self.tool);
        state["arguments"] = self.arguments.clone();
        state
    }
}
