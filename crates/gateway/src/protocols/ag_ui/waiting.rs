//! A thread's pending questions, and how the client's next request answers them.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use serde_json::Value;

use super::event::Interrupt;
use super::input::{ResumeEntry, RunInput};
use crate::agents::{Answers, Approval, Resume, SubAgent};

/// Everything that a run has left open, and how its script continues.
pub(super) struct Waiting {
    pub(super) asked: Vec<Asked>,
    pub(super) resume: Resume,
    /// The answers that the script already has.
    pub(super) answers: Answers,
    /// Calls that have their results.
    pub(super) settled: HashSet<String>,
    /// Sub-agents that continue.
    pub(super) agents: Vec<SubAgent>,
}

impl std::fmt::Debug for Waiting {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Waiting").field("asked", &self.asked).finish_non_exhaustive()
    }
}

/// One pending question.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) what: What,
    pub(super) by: By,
}

/// What it asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// Consent to a call.
    Consent(String),
    /// The user's answer to a question, which is the result of a call.
    Answer(String),
    /// The result of a call that the page runs.
    Result(String),
    /// A sign-in.
    Authorization,
}

impl What {
    /// The call that waits.
    pub(super) fn call(&self) -> Option<&str> {
        match self {
            Self::Consent(call) | Self::Answer(call) | Self::Result(call) => Some(call),
            Self::Authorization => None,
        }
    }
}

/// How the answer is sent.
#[derive(Debug, Clone)]
pub(super) enum By {
    /// As an entry of `resume`.
    Interrupt(Box<Interrupt>),
    /// As the tool message of this call.
    Tool(String),
}

/// Why a request does not answer the pending questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rejection {
    pub(super) code: &'static str,
    pub(super) message: String,
}

impl Rejection {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// There is no answer.
    pub(super) fn required() -> Self {
        let message = "Pending interrupts require a resume entry for every interruptId.";
        Self::new("APPROVAL_RESUME_REQUIRED", message)
    }

    /// There is no question with this id.
    pub(super) fn not_found(interrupt: &str) -> Self {
        Self::new("APPROVAL_RESUME_NOT_FOUND", format!("No interrupt {interrupt} is pending."))
    }
}

/// The answers to all pending questions.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) answers: Answers,
    /// Calls whose results are the user's answers, which the run must report.
    pub(super) results: Vec<(String, String)>,
    /// Arguments that the user has changed, by call.
    pub(super) edited: HashMap<String, Value>,
    /// All calls that waited.
    pub(super) calls: Vec<String>,
}

impl Waiting {
    pub(super) fn interrupts(&self) -> impl Iterator<Item = &Interrupt> {
        self.asked.iter().filter_map(|asked| match &asked.by {
            By::Interrupt(interrupt) => Some(&**interrupt),
            By::Tool(_) => None,
        })
    }

    /// The calls whose tool messages are awaited.
    pub(super) fn tools(&self) -> impl Iterator<Item = &str> {
        self.asked.iter().filter_map(|asked| match &asked.by {
            By::Tool(call) => Some(call.as_str()),
            By::Interrupt(_) => None,
        })
    }

    /// Whether a request answers any of them.
    pub(super) fn is_answered(&self, input: &RunInput) -> bool {
        let interrupted = self.interrupts().next().is_some();
        !input.resume.is_empty()
            || (interrupted && input.command.is_some())
            || self.tools().any(|call| input.result_of(call).is_some())
    }

    /// Takes the answers of a request, which must cover all pending questions.
    pub(super) fn take(&self, input: &RunInput, now: Timestamp) -> Result<Taken, Rejection> {
        let known = |id: &str| self.interrupts().any(|interrupt| interrupt.id == id);
        if let Some(entry) = input.resume.iter().find(|entry| !known(&entry.interrupt)) {
            return Err(Rejection::not_found(&entry.interrupt));
        }
        let mut taken = Taken { answers: self.answers.clone(), ..Taken::default() };
        for asked in &self.asked {
            taken.calls.extend(asked.what.call().map(str::to_owned));
            match &asked.by {
                By::Interrupt(interrupt) => {
                    let payload = resumed(interrupt, input)?;
                    check_time(interrupt, payload.as_ref(), now)?;
                    taken.take(&asked.what, interrupt, payload.as_ref())?;
                }
                By::Tool(call) => {
                    let result = input.result_of(call).ok_or_else(|| {
                        Rejection::new(
                            "TOOL_RESULT_MISSING",
                            format!("Call {call} waits for a tool message too."),
                        )
                    })?;
                    taken.take_result(&asked.what, &result);
                }
            }
        }
        Ok(taken)
    }
}

/// The payload for an interrupt; `None` if the user declined.
fn resumed(interrupt: &Interrupt, input: &RunInput) -> Result<Option<Value>, Rejection> {
    if let Some(ResumeEntry { payload, .. }) =
        input.resume.iter().find(|entry| entry.interrupt == interrupt.id)
    {
        return Ok(payload.clone());
    }
    match &input.command {
        // It may be the text of a JSON value.
        Some(Value::String(text)) => {
            Ok(Some(serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))))
        }
        Some(payload) => Ok(Some(payload.clone())),
        None => {
            let message = format!("The resume has no entry for interrupt {}.", interrupt.id);
            Err(Rejection::new("APPROVAL_RESUME_MISSING_INTERRUPT", message))
        }
    }
}

fn check_time(interrupt: &Interrupt, payload: Option<&Value>, now: Timestamp) -> Result<(), Rejection> {
    let until = interrupt.expires_at.as_ref().and_then(|until| until.parse::<Timestamp>().ok());
    // Declining an expired question is allowed.
    if payload.is_some() && until.is_some_and(|until| until < now) {
        let message = format!("Interrupt {} has expired.", interrupt.id);
        return Err(Rejection::new("APPROVAL_RESUME_EXPIRED", message));
    }
    Ok(())
}

/// The text of a call whose question stays unanswered.
const CANCELLED: &str = "Cancelled by user.";

impl Taken {
    fn take(&mut self, what: &What, interrupt: &Interrupt, payload: Option<&Value>) -> Result<(), Rejection> {
        match what {
            What::Consent(call) => {
                let decision = match payload {
                    None => Decision { allowed: false, reason: None, edited: None },
                    Some(payload) => Decision::of(payload).ok_or_else(|| mismatch(interrupt))?,
                };
                self.decide(call, decision);
            }
            What::Answer(call) | What::Result(call) => {
                let answer = payload.map_or_else(|| CANCELLED.to_owned(), answer_text);
                self.answers.responses.insert(call.clone(), answer.clone());
                self.results.push((call.clone(), answer));
            }
            What::Authorization => {}
        }
        Ok(())
    }

    fn take_result(&mut self, what: &What, result: &str) {
        match what {
            What::Consent(call) => {
                let json = serde_json::from_str(result).unwrap_or_else(|_| Value::String(result.to_owned()));
                let decision =
                    Decision::of(&json).unwrap_or(Decision { allowed: false, reason: None, edited: None });
                self.decide(call, decision);
            }
            What::Answer(call) | What::Result(call) => {
                let values =
                    serde_json::from_str::<Value>(result).ok().filter(|json| json.get("values").is_some());
                let answer = values.map_or_else(|| result.to_owned(), |json| answer_text(&json["values"]));
                self.answers.responses.insert(call.clone(), answer);
            }
            What::Authorization => {}
        }
    }

    fn decide(&mut self, call: &str, decision: Decision) {
        let approval =
            if decision.allowed { Approval::Allow } else { Approval::Deny { reason: decision.reason } };
        self.answers.approvals.insert(call.to_owned(), approval);
        if let Some(edited) = decision.edited.filter(|_| decision.allowed) {
            self.edited.insert(call.to_owned(), edited);
        }
    }
}

fn mismatch(interrupt: &Interrupt) -> Rejection {
    let message = format!(
        "The payload for interrupt {} does not match its responseSchema (approved: missing).",
        interrupt.id
    );
    Rejection::new("APPROVAL_RESUME_INVALID", message)
}

/// The user's decision about a call.
struct Decision {
    allowed: bool,
    reason: Option<String>,
    /// Arguments in place of the model's.
    edited: Option<Value>,
}

impl Decision {
    /// Reads a decision in the form of any framework.
    fn of(payload: &Value) -> Option<Self> {
        let word = |name: &str| payload.get(name).and_then(Value::as_bool);
        let allowed = payload
            .as_bool()
            .or_else(|| word("approved"))
            .or_else(|| word("accepted"))
            .or_else(|| word("confirmed"))?;
        let reason = payload.get("reason").or_else(|| payload.get("note")).and_then(Value::as_str);
        let edited = payload.get("editedArgs").filter(|edited| edited.is_object()).cloned();
        Some(Self { allowed, reason: reason.map(str::to_owned), edited })
    }
}

/// The text of an answer: a string, `answer` of an object, the only value of one, or JSON.
fn answer_text(payload: &Value) -> String {
    match payload {
        Value::String(text) => text.clone(),
        Value::Object(members) => {
            let only = members.values().next().filter(|_| members.len() == 1);
            match members.get("answer").or(only) {
                Some(answer) => answer_text(answer),
                None => payload.to_string(),
            }
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn decisions_are_read_in_every_form() {
        for (payload, allowed) in [
            (json!({"approved": true}), Some(true)),
            (json!({"accepted": false, "note": "no"}), Some(false)),
            (json!({"confirmed": true}), Some(true)),
            (json!(false), Some(false)),
            (json!({"approved": "yes"}), None),
            (json!("yes"), None),
        ] {
            assert_eq!(Decision::of(&payload).map(|decision| decision.allowed), allowed, "{payload}");
        }
        let edited = Decision::of(&json!({"approved": true, "editedArgs": {"a": 1}})).expect("a decision");
        assert_eq!(edited.edited, Some(json!({"a": 1})));
    }

    #[test]
    fn answers_are_read_in_every_form() {
        for (payload, text) in [
            (json!("Oslo"), "Oslo"),
            (json!({"answer": "Oslo", "sure": true}), "Oslo"),
            (json!({"city": "Oslo"}), "Oslo"),
            (json!(7), "7"),
            (json!({"a": 1, "b": 2}), r#"{"a":1,"b":2}"#),
        ] {
            assert_eq!(answer_text(&payload), text);
        }
    }
}
