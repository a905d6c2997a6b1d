//! Calls that wait for the client beyond the end of the turn that made them.

use std::collections::{HashMap, HashSet};
use std::iter::Peekable;
use std::sync::Arc;

use super::message::{Call, Content, Message, unanswered};
use crate::agents::{Answers, Approval, Resume, Steps, saying};

/// What a session waits for.
pub(super) struct Pending {
    pub(super) calls: Vec<Waiting>,
    /// Calls of the same message that have their results already.
    pub(super) settled: HashSet<String>,
    pub(super) rest: Rest,
}

/// How the script continues once everything is answered.
pub(super) enum Rest {
    /// As scripted in any case, with these results.
    Steps { steps: Peekable<Steps>, results: HashMap<String, String> },
    /// Depending on the answers, some of which it has already.
    Script { resume: Resume, answers: Answers },
}

/// A call that waits.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub(super) call: Call,
    /// The call that the script asks about: this one, or one of a sub-agent behind it.
    pub(super) asked: String,
    /// Whether the client runs it; otherwise the server runs it, once allowed.
    pub(super) by_client: bool,
    /// What the script waits for.
    pub(super) awaited: Awaited,
}

/// What a script waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Awaited {
    Consent,
    Response,
    /// Nothing: the session requires consent.
    Nothing,
}

/// An answer to a call.
#[derive(Debug, Clone)]
pub(super) enum CallAnswer {
    Result(Content),
    Permission { granted: bool, reason: Option<String> },
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Pending").field("calls", &self.calls).finish_non_exhaustive()
    }
}

impl Pending {
    /// The pending calls in a history that the client sends.
    pub(super) fn of_seed(history: &[Message]) -> Option<Self> {
        let calls: Vec<Waiting> = unanswered(history).into_iter().map(Waiting::of_seed).collect();
        if calls.is_empty() {
            return None;
        }
        let ids: Vec<String> = calls.iter().map(|waiting| waiting.asked.clone()).collect();
        let resume: Resume = Arc::new(move |answers| {
            let said = ids.iter().map(|id| answers.response(id)).collect::<Vec<_>>();
            saying(&format!("Tool said: {}.", said.join(" | ")))
        });
        let rest = Rest::Script { resume, answers: Answers::default() };
        Some(Self { calls, settled: HashSet::new(), rest })
    }

    pub(super) fn call(&self, id: &str) -> Option<&Waiting> {
        self.calls.iter().find(|waiting| waiting.call.id == id)
    }
}

impl Waiting {
    fn of_seed(call: Call) -> Self {
        Self { asked: call.id.clone(), call, by_client: false, awaited: Awaited::Response }
    }

    /// Adds this answer to those of the script.
    pub(super) fn record(&self, answer: &CallAnswer, result: &str, answers: &mut Answers) {
        let approval = match answer {
            CallAnswer::Permission { granted: false, reason } => Approval::Deny { reason: reason.clone() },
            CallAnswer::Permission { granted: true, .. } | CallAnswer::Result(_) => Approval::Allow,
        };
        match self.awaited {
            Awaited::Consent => {
                answers.approvals.insert(self.asked.clone(), approval);
            }
            Awaited::Response => {
                answers.responses.insert(self.asked.clone(), result.to_owned());
            }
            Awaited::Nothing => {}
        }
    }
}
