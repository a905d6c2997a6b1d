//! A client's decision about a suspended call.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::agents::Approval;
use crate::json;
use crate::time::now_ms;

/// The text of a denial without a reason.
const DENIED: &str = "User denied the action";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Action {
    Resume,
    Cancel,
}

/// A decision on the wire (`AgentEvent` HTTP, `decisions`).
#[derive(Debug, Clone, Deserialize)]
#[allow(clippy::struct_field_names)] // the names of the wire
pub(super) struct Decision {
    /// The call, the suspension, or the pending call.
    pub(super) target_id: String,
    #[serde(default)]
    pub(super) decision_id: Option<String>,
    pub(super) action: Action,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    pub(super) reason: Option<String>,
    #[serde(default)]
    pub(super) updated_at: u64,
}

impl Decision {
    pub(super) fn new(target_id: String, action: Action, result: Value) -> Self {
        let decision_id = Some(super::message::message_id());
        Self { target_id, decision_id, action, result, reason: None, updated_at: now_ms() }
    }

    /// What was remembered about the tool.
    pub(super) fn remembered(target_id: String, allowed: bool) -> Self {
        let action = if allowed { Action::Resume } else { Action::Cancel };
        Self::new(target_id, action, json!({"approved": allowed}))
    }

    /// The result; without one, whether the call resumes.
    pub(super) fn result(&self) -> Value {
        match &self.result {
            Value::Null => json!(self.action == Action::Resume),
            result => result.clone(),
        }
    }

    /// What it says about consent.
    pub(super) fn approval(&self) -> Approval {
        let refused = self.result.get("approved") == Some(&json!(false)) || self.result == json!(false);
        if self.action == Action::Resume && !refused {
            return Approval::Allow;
        }
        Approval::Deny { reason: self.stated_reason() }
    }

    /// Whether the decision applies to the tool from now on.
    pub(super) fn remember(&self) -> bool {
        self.result.get("remember") == Some(&json!(true))
    }

    fn stated_reason(&self) -> Option<String> {
        let in_result = || self.result.get("reason")?.as_str().map(str::to_owned);
        self.reason.clone().or_else(in_result)
    }

    /// The text that the agent gets instead of a result.
    pub(super) fn denial(&self) -> String {
        self.stated_reason().unwrap_or_else(|| DENIED.to_owned())
    }

    /// The text of an answer, wherever it is in the result.
    pub(super) fn words(&self) -> String {
        match &self.result {
            Value::String(text) => text.clone(),
            Value::Object(fields) => {
                let known = ["answer", "message", "content", "text", "response"];
                let named = known.iter().find_map(|name| fields.get(*name)?.as_str());
                named.map_or_else(|| self.result.to_string(), str::to_owned)
            }
            Value::Null => String::new(),
            other => other.to_string(),
        }
    }

    /// How a call's state remembers the decision.
    pub(super) fn show(&self, call: &str) -> Value {
        let mut shown = json!({
            "action": self.action,
            "decision_id": self.decision_id.as_deref().unwrap_or(call),
            "result": self.result(),
            "updated_at": self.updated_at,
        });
        json::add(&mut shown, [("reason", self.reason.as_ref())]);
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(json: &Value) -> Decision {
        serde_json::from_value(json.clone()).expect("a decision")
    }

    #[test]
    fn consent_is_what_is_not_refused() {
        for (action, result, allowed) in [
            ("resume", json!({"approved": true}), true),
            ("resume", json!(true), true),
            ("resume", Value::Null, true),
            ("resume", json!({"approved": false}), false),
            ("resume", json!(false), false),
            ("cancel", Value::Null, false),
            ("cancel", json!({"approved": true}), false),
        ] {
            let decision = decision(&json!({"target_id": "c", "action": action, "result": result}));
            assert_eq!(decision.approval() == Approval::Allow, allowed, "{action} {result}");
        }
    }

    #[test]
    fn a_reason_may_stand_in_two_places() {
        let outside = decision(&json!({"target_id": "c", "action": "cancel", "reason": "no"}));
        let inside = json!({"target_id": "c", "action": "cancel", "result": {"reason": "never"}});
        assert_eq!(outside.denial(), "no");
        assert_eq!(decision(&inside).denial(), "never");
        assert_eq!(Decision::new("c".to_owned(), Action::Cancel, Value::Null).denial(), DENIED);
    }

    #[test]
    fn words_are_found_wherever_a_form_puts_them() {
        for (result, words) in [
            (json!("blue"), "blue"),
            (json!({"message": "blue"}), "blue"),
            (json!({"answer": "blue", "other": 1}), "blue"),
            (json!({"colour": 3}), "{\"colour\":3}"),
            (json!(7), "7"),
            (Value::Null, ""),
        ] {
            assert_eq!(Decision::new("c".to_owned(), Action::Resume, result).words(), words);
        }
    }
}
