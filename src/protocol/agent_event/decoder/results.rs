//! Results of tool calls, and answers to them.

use crate::json::{Object, Value};
use crate::protocol::EventSink;

use super::fields::{Problem, check_object, missing, optional_text, put, text, wrong};
use super::run::{Head, Run};

/// The fields of a stored result, in order.
const RESULT: [&str; 4] = ["tool_name", "status", "data", "message"];

impl Run {
    /// A call has its result, or it waits for the client (section 1.3).
    pub(super) fn call_done(
        &mut self,
        head: &Head,
        fields: &mut Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let id = text(fields, "id")?.to_owned();
        let message_id = optional_text(fields, "message_id")?.unwrap_or_default().to_owned();
        let said = optional_text(fields, "outcome")?.and_then(known_outcome);
        check_object(fields, "patch")?;
        let result = check_result(fields)?;
        let outcome = said.unwrap_or_else(|| outcome_of(result.text("status")));
        let result = std::mem::take(result);
        if outcome == "suspended" {
            self.call_suspended(&id, &result, sink);
            return Ok(());
        }
        let result = self.complete_result(&id, outcome, result);
        let is_ok = outcome == "succeeded";
        let problem = if is_ok { String::new() } else { result.text("message").to_owned() };
        self.settle(&id);
        let mut response = self.main_event("tool.response");
        if !message_id.is_empty() {
            response.set("id", message_id.into());
        }
        put(&mut response, "tool_call_id", &id);
        response.set("content", content_of(head, &result).into());
        response.set("outcome", outcome.into());
        response.set("result", result.into());
        if let Some(patch) = fields.get_mut("patch").map(std::mem::take).filter(|patch| !patch.is_null()) {
            response.set("patch", patch);
        }
        self.give(&response, sink);
        self.end_threads(&id, is_ok, &problem, sink);
        Ok(())
    }

    /// A result in its stored order, with all required fields.
    fn complete_result<'a>(&self, id: &str, outcome: &str, mut result: Object<'a>) -> Object<'a> {
        let mut complete = Object::new();
        for name in RESULT {
            let value = result.get_mut(name).map(std::mem::take).unwrap_or_default();
            let value = match name {
                "tool_name" if value.is_null() => {
                    self.call(id).map_or_else(String::new, |call| call.name.clone()).into()
                }
                "status" if value.is_null() => if outcome == "failed" { "error" } else { "success" }.into(),
                _ => value,
            };
            complete.set(name, value);
        }
        for (name, value) in result {
            if !RESULT.contains(&&*name) && name != "suspension" && !(name == "metadata" && value.is_null()) {
                complete.insert(name, value);
            }
        }
        complete
    }

    /// An answer has reached its call. With awaken it includes the result, and nothing more follows.
    pub(super) fn call_resumed(
        &mut self,
        head: &Head,
        fields: &mut Object<'_>,
        sink: &mut dyn EventSink,
    ) -> Result<(), Problem> {
        let target = text(fields, "target_id")?;
        let id = self.meant(target).to_owned();
        let Some(result) = fields.get_mut("result").map(std::mem::take) else {
            return Err(missing("result"));
        };
        self.settle(&id);
        let mut resumed = self.main_event("tool.resumed");
        put(&mut resumed, "tool_call_id", &id);
        let response = head.is_flat.then(|| resumed_result(&result));
        resumed.set("result", result);
        self.give(&resumed, sink);
        if let Some((is_ok, content)) = response {
            let mut response = self.main_event("tool.response");
            put(&mut response, "tool_call_id", &id);
            put(&mut response, "content", &content);
            response.set("outcome", if is_ok { "succeeded" } else { "failed" }.into());
            self.give(&response, sink);
            self.end_threads(&id, is_ok, &content, sink);
        }
        Ok(())
    }

    /// A call no longer waits.
    fn settle(&mut self, id: &str) {
        self.answer_call(id);
        self.waiting.retain(|waiting| waiting.call_id != id);
    }
}

fn check_result<'o, 'a>(fields: &'o mut Object<'a>) -> Result<&'o mut Object<'a>, Problem> {
    let result = match fields.get_mut("result") {
        Some(Value::Object(result)) => result,
        Some(_) => return Err(wrong("result", "an object")),
        None => return Err(missing("result")),
    };
    for name in ["tool_name", "status", "message"] {
        optional_text(result, name)?;
    }
    check_object(result, "metadata")?;
    Ok(result)
}

fn known_outcome(outcome: &str) -> Option<&'static str> {
    ["succeeded", "failed", "suspended"].into_iter().find(|known| *known == outcome)
}

/// The outcome for a result's status.
fn outcome_of(status: &str) -> &'static str {
    match status {
        "error" => "failed",
        "pending" => "suspended",
        _ => "succeeded",
    }
}

/// The result as the agent reads it, and as the server stores it: tirea its JSON; awaken its message for people, or
/// else the data.
fn content_of(head: &Head, result: &Object<'_>) -> String {
    if !head.is_flat {
        return result.to_json();
    }
    match result.get("message").and_then(Value::as_str) {
        Some(message) => message.to_owned(),
        None => result.json("data"),
    }
}

/// awaken's result of a resumed call: its data, `{ "data", "metadata" }`, or `{ "error": message }` after a failure.
fn resumed_result(result: &Value<'_>) -> (bool, String) {
    let members = result.as_object();
    let only = |count: usize| members.filter(|members| members.len() == count);
    if let Some(error) = only(1).and_then(|members| members.get("error")?.as_str()) {
        return (false, error.to_owned());
    }
    let with_metadata = only(2).filter(|members| members.contains("metadata"));
    (true, with_metadata.and_then(|members| members.get("data")).unwrap_or(result).to_json())
}
