//! The state of a thread as its snapshots show it. The two dialects have different trees with the same content: the
//! status of the run, the status of its calls, and the facts that the agent keeps.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::server::Dialect;
use super::suspension::SuspendedCall;
use crate::time::now_ms;

/// The status of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CallStatus {
    Suspended,
    Succeeded,
    Failed,
    Cancelled,
}

/// One call, for its state.
#[derive(Debug)]
pub(super) struct CallState<'a> {
    pub(super) call: &'a str,
    pub(super) tool: &'a str,
    pub(super) arguments: &'a Value,
    pub(super) status: CallStatus,
    /// What it waits for.
    pub(super) suspended: Option<&'a SuspendedCall>,
    /// The decision with which it continued, and the id that the decision answered.
    pub(super) resumed: Option<(Value, String)>,
}

/// Totals of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Totals {
    pub(super) input_tokens: usize,
    pub(super) output_tokens: usize,
    pub(super) steps: u64,
    pub(super) texts: Vec<String>,
    /// The text of the last answer.
    pub(super) response: String,
}

/// A state tree under construction.
#[derive(Debug, Clone)]
pub(super) struct State {
    dialect: Dialect,
    tree: Map<String, Value>,
    run: String,
    started_at: u64,
    revision: u64,
}

impl State {
    /// The state at the beginning of a run: everything of earlier runs is removed, except for calls that wait.
    pub(super) fn begin(dialect: Dialect, tree: Map<String, Value>, run: &str) -> Self {
        let mut state = Self { dialect, tree, run: run.to_owned(), started_at: now_ms(), revision: 1 };
        match dialect {
            Dialect::Tirea => {
                if state.tree.contains_key("__kernel") {
                    state.tree.insert("__kernel".to_owned(), json!({}));
                }
                let scope = state.tree.remove("__tool_call_scope");
                let waiting: Map<String, Value> = scope
                    .as_ref()
                    .and_then(Value::as_object)
                    .into_iter()
                    .flatten()
                    .filter(|(_, call)| call.get("suspended_call").is_some())
                    .map(|(id, call)| (id.clone(), call.clone()))
                    .collect();
                if !waiting.is_empty() {
                    state.tree.insert("__tool_call_scope".to_owned(), Value::Object(waiting));
                }
                let lifecycle = json!({"id": run, "status": "running", "updated_at": now_ms()});
                state.tree.insert("__run".to_owned(), lifecycle);
            }
            Dialect::Awaken => {
                state.revision = state.tree.get("revision").and_then(Value::as_u64).unwrap_or(3) + 1;
                state.calls().retain(|_, call| call["status"] == "suspended");
                state.extension("inference_override_state", json!({"overrides": null}));
                state.extension("tool_filter_state", json!({"excluded": [], "include_only": []}));
                state.lifecycle("running", None, &Totals::default());
            }
        }
        state
    }

    /// An inference is complete.
    pub(super) fn inferred(&mut self, totals: &Totals) {
        match self.dialect {
            Dialect::Tirea => {
                let stop_policy = json!({
                    "started_at_ms": self.started_at,
                    "total_input_tokens": {"_": totals.input_tokens},
                    "total_output_tokens": {"_": totals.output_tokens},
                });
                self.tree.insert("__kernel".to_owned(), json!({"stop_policy_runtime": stop_policy}));
            }
            Dialect::Awaken => self.lifecycle("running", None, totals),
        }
    }

    /// The status of the run, or its end.
    pub(super) fn lifecycle(&mut self, status: &str, reason: Option<&str>, totals: &Totals) {
        let mut lifecycle = json!({"status": status, "updated_at": now_ms()});
        match self.dialect {
            Dialect::Tirea => {
                lifecycle["id"] = json!(self.run);
                if let (Some(reason), "done") = (reason, status) {
                    lifecycle["done_reason"] = json!(reason);
                }
                self.tree.insert("__run".to_owned(), lifecycle);
            }
            Dialect::Awaken => {
                lifecycle["run_id"] = json!(self.run);
                lifecycle["step_count"] = json!(totals.steps);
                if let Some(reason) = reason {
                    lifecycle["status_reason"] = json!(reason);
                }
                self.extension("run_lifecycle", lifecycle);
                let statistics = json!({
                    "consecutive_errors": 0,
                    "recent_response_texts": totals.texts,
                    "start_time_ms": self.started_at,
                    "step_count": totals.steps,
                    "total_input_tokens": totals.input_tokens,
                    "total_output_tokens": totals.output_tokens,
                });
                self.extension("stop_condition_stats", statistics);
            }
        }
    }

    /// Writes a call's state. Returns the operation that does the same to another copy of the tree.
    pub(super) fn set_call(&mut self, call: &CallState<'_>) -> Value {
        match self.dialect {
            Dialect::Tirea => self.set_tirea_call(call),
            Dialect::Awaken => {
                let shown = awaken_call(call);
                self.calls().insert(call.call.to_owned(), shown);
                Value::Null
            }
        }
    }

    fn set_tirea_call(&mut self, call: &CallState<'_>) -> Value {
        let mut shown = json!({
            "arguments": call.arguments,
            "call_id": call.call,
            "status": call.status,
            "tool_name": call.tool,
            "updated_at": now_ms(),
        });
        if let Some(suspended) = call.suspended {
            shown["resume_token"] = json!(suspended.pending_id("fc_"));
        }
        if let Some((decision, token)) = &call.resumed {
            shown["resume"] = decision.clone();
            shown["resume_token"] = json!(token);
        }
        let mut entry = json!({"tool_call_state": shown});
        if let Some(suspended) = call.suspended {
            entry["suspended_call"] = suspended.state();
        }
        let scope = self.tree.entry("__tool_call_scope").or_insert_with(|| json!({}));
        object(scope).insert(call.call.to_owned(), entry);
        json!({"op": "set", "path": ["__tool_call_scope", call.call, "tool_call_state"], "value": shown})
    }

    /// Awaken forgets the calls of a step when the next one begins.
    pub(super) fn begin_step(&mut self) {
        if self.dialect == Dialect::Awaken {
            self.calls().retain(|_, call| call["status"] == "suspended");
        }
    }

    /// A fact that the agent keeps.
    pub(super) fn remember(&mut self, key: &str, value: &str) -> Value {
        match self.dialect {
            Dialect::Tirea => {
                self.tree.insert(key.to_owned(), json!(value));
            }
            Dialect::Awaken => self.extension_named(key, json!(value)),
        }
        json!({"op": "set", "path": [key], "value": value})
    }

    /// Any value at the root of what the agent keeps, and its path for a JSON patch.
    pub(super) fn put(&mut self, key: &str, value: Value) -> String {
        match self.dialect {
            Dialect::Tirea => {
                self.tree.insert(key.to_owned(), value);
                format!("/{key}")
            }
            Dialect::Awaken => {
                self.extension_named(key, value);
                format!("/extensions/{key}")
            }
        }
    }

    /// The tree as a snapshot shows it.
    pub(super) fn snapshot(&mut self) -> Value {
        if self.dialect == Dialect::Awaken {
            self.revision += 1;
            self.calls();
            self.tree.insert("revision".to_owned(), json!(self.revision));
        }
        Value::Object(self.tree.clone())
    }

    pub(super) fn tree(&self) -> Map<String, Value> {
        self.tree.clone()
    }

    fn extension(&mut self, name: &str, value: Value) {
        self.extension_named(&format!("__runtime.{name}"), value);
    }

    fn extension_named(&mut self, name: &str, value: Value) {
        self.extensions().insert(name.to_owned(), value);
    }

    fn extensions(&mut self) -> &mut Map<String, Value> {
        object(self.tree.entry("extensions").or_insert_with(|| json!({})))
    }

    fn calls(&mut self) -> &mut Map<String, Value> {
        let states =
            self.extensions().entry("__runtime.tool_call_states").or_insert_with(|| json!({"calls": {}}));
        object(object(states).entry("calls").or_insert_with(|| json!({})))
    }
}

/// The map of a value. Replaces a value that is not a map: clients may have put anything there.
fn object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = json!({});
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("it was made an object"),
    }
}

fn awaken_call(call: &CallState<'_>) -> Value {
    let mut shown = json!({
        "arguments": call.arguments,
        "call_id": call.call,
        "resume_mode": call.suspended.map_or("replay_tool_call", SuspendedCall::resume_mode),
        "status": call.status,
        "tool_name": call.tool,
        "updated_at": now_ms(),
    });
    if let Some(suspended) = call.suspended {
        let ticket = suspended.ticket("perm_");
        shown["suspension_id"] = ticket["suspension"]["id"].clone();
        shown["suspension_reason"] = ticket["suspension"]["action"].clone();
    }
    shown
}

/// A thread's state after a message of the user has cancelled its open questions.
pub(super) fn without_calls(dialect: Dialect, tree: &mut Map<String, Value>) {
    match dialect {
        Dialect::Tirea => {
            tree.remove("__tool_call_scope");
        }
        Dialect::Awaken => {
            if let Some(extensions) = tree.get_mut("extensions").and_then(Value::as_object_mut) {
                extensions.remove("__runtime.tool_call_states");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(status: CallStatus) -> CallState<'static> {
        static ARGUMENTS: Value = Value::Null;
        CallState { call: "c", tool: "t", arguments: &ARGUMENTS, status, suspended: None, resumed: None }
    }

    #[test]
    fn a_client_may_have_put_anything_where_calls_are_kept() {
        for (dialect, tree) in [
            (Dialect::Tirea, json!({"__tool_call_scope": 5, "__kernel": []})),
            (Dialect::Awaken, json!({"extensions": 5})),
            (Dialect::Awaken, json!({"extensions": {"__runtime.tool_call_states": {"calls": [1]}}})),
        ] {
            let Value::Object(tree) = tree else { unreachable!("a map") };
            let mut state = State::begin(dialect, tree, "r");
            state.set_call(&call(CallStatus::Succeeded));
            assert!(state.snapshot().to_string().contains("\"succeeded\""), "{dialect:?}");
        }
    }

    #[test]
    fn calls_of_an_earlier_run_are_gone_unless_they_wait() {
        let mut first = State::begin(Dialect::Tirea, Map::new(), "r1");
        first.set_call(&call(CallStatus::Succeeded));
        first.put("kept", json!(1));
        let second = State::begin(Dialect::Tirea, first.tree(), "r2").snapshot();
        assert!(second.get("__tool_call_scope").is_none());
        assert_eq!((&second["kept"], &second["__run"]["id"]), (&json!(1), &json!("r2")));
    }

    #[test]
    fn revisions_grow_over_runs() {
        let mut first = State::begin(Dialect::Awaken, Map::new(), "r1");
        let before = first.snapshot()["revision"].as_u64();
        let after = State::begin(Dialect::Awaken, first.tree(), "r2").snapshot()["revision"].as_u64();
        assert!(before.is_some() && after > before);
    }
}
