//! A turn's input → messages, and decisions on waiting calls (sections 2.1, 2.2 and 5).

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, ObjectWriter, Value, write_u64};
use crate::protocol::options::option_error;

use super::Dialect;

/// The answer to a waiting call.
struct Decision<'v> {
    call_id: &'v str,
    /// True if the call may run or has its answer; false if it must not run.
    resumes: bool,
    result: Value<'v>,
    /// A reason for the agent; empty if there is none.
    reason: &'v str,
}

/// The body of a start.
///
/// tirea drops a message with an id that it has already, so messages are named after the turn.
pub(super) fn start(dialect: Dialect, params: &Object<'_>) -> Result<String> {
    let turn_id = params.text("turn_id");
    let is_tirea = dialect == Dialect::Tirea;
    let mut messages = String::from("[");
    let mut decisions = String::from("[");
    for (at, item) in items(params)?.iter().enumerate() {
        match decision(item)? {
            None => {
                let id = if is_tirea { item_id(turn_id, at) } else { String::new() };
                write_message(next_in(&mut messages), &id, &text_of(item)?);
            }
            Some(decision) if is_tirea => {
                decision.write(next_in(&mut decisions), &item_id(turn_id, at));
            }
            Some(_) => return Err(invalid("this server takes an answer only to a turn that waits")),
        }
    }
    messages.push(']');
    decisions.push(']');

    let mut json = String::new();
    let mut body = ObjectWriter::new(&mut json);
    body.str("agentId", params.text("agent_name")).str("threadId", params.text("session_id"));
    if is_tirea {
        if !turn_id.is_empty() {
            body.str("runId", turn_id);
        }
        let previous = params.text("previous_turn_id");
        if !matches!(previous, "" | "auto" | "none") {
            body.str("parentRunId", previous);
        }
    }
    body.raw("messages", &messages);
    if decisions.len() > "[]".len() {
        body.raw("decisions", &decisions);
    }
    body.end();
    Ok(json)
}

/// The body of answers to a waiting turn: all of them with tirea, one with awaken.
pub(super) fn answer(dialect: Dialect, params: &Object<'_>) -> Result<String> {
    let items = items(params)?;
    if dialect == Dialect::Awaken && items.len() != 1 {
        return Err(option_error("input", " must be one answer: this server takes them one by one"));
    }
    let turn_id = params.text("turn_id");
    let mut decisions = String::from("[");
    for (at, item) in items.iter().enumerate() {
        let decision = decision(item)?.ok_or_else(|| invalid("a user message is no answer"))?;
        if dialect == Dialect::Awaken {
            return Ok(decision.to_awaken());
        }
        decision.write(next_in(&mut decisions), &item_id(turn_id, at));
    }
    decisions.push(']');
    let mut json = String::new();
    let mut body = ObjectWriter::new(&mut json);
    body.raw("decisions", &decisions);
    body.end();
    Ok(json)
}

fn items<'v, 'a>(params: &'v Object<'a>) -> Result<&'v [Value<'a>]> {
    match params.get("input") {
        None => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(option_error("input", " must be a list of items")),
    }
}

/// The decision in an item; `None` for a user's message.
fn decision<'v>(item: &'v Value<'_>) -> Result<Option<Decision<'v>>> {
    let item = item.as_object().ok_or_else(|| invalid("an item must be an object with a `type`"))?;
    let call_id = item.text("tool_call_id");
    let (resumes, result, reason) = match item.text("type") {
        "user.message" => return Ok(None),
        "user.tool_approval" => verdict(item.object("approval"))?,
        "user.tool_response" => (true, result_of(item.text("content")), ""),
        _ => {
            return Err(invalid(
                "`type` must be `user.message`, `user.tool_approval` or `user.tool_response`",
            ));
        }
    };
    Ok(Some(Decision { call_id, resumes, result, reason }))
}

/// Whether a call may run, further data, and the reason for a refusal.
fn verdict<'v>(approval: Option<&'v Object<'_>>) -> Result<(bool, Value<'v>, &'v str)> {
    let approval = approval.unwrap_or(const { &Object::new() });
    let allows = match approval.text("status") {
        "allow" => true,
        "deny" => false,
        _ => return Err(invalid("`approval.status` must be `allow` or `deny`")),
    };
    let mut result = approval.object("result").cloned().unwrap_or_default();
    if let Some(remember) = approval.get("remember").and_then(Value::as_bool) {
        result.set("remember", remember.into());
    }
    // Further data must not override the decision.
    result.set("approved", allows.into());
    Ok((allows, result.into(), approval.text("reason")))
}

/// A tool's result: JSON if it is an object or a list, else a text. The server would read a bare boolean as a decision
/// on the call (section 2.2).
fn result_of(content: &str) -> Value<'_> {
    match Value::parse(content) {
        Ok(json @ (Value::Object(_) | Value::Array(_))) => json,
        _ => content.into(),
    }
}

impl Decision<'_> {
    fn action(&self) -> &'static str {
        if self.resumes { "resume" } else { "cancel" }
    }

    fn write(&self, out: &mut String, id: &str) {
        let mut json = ObjectWriter::new(out);
        json.str("target_id", self.call_id);
        if !id.is_empty() {
            json.str("decision_id", id);
        }
        json.str("action", self.action()).value("result", &self.result);
        if !self.reason.is_empty() {
            json.str("reason", self.reason);
        }
        json.end();
    }

    /// awaken's form has no field for a reason (section 5).
    fn to_awaken(&self) -> String {
        let mut payload = self.result.clone();
        if let Some(payload) = payload.as_object_mut()
            && !self.reason.is_empty()
        {
            payload.insert("reason", self.reason);
        }
        let mut json = String::new();
        let mut body = ObjectWriter::new(&mut json);
        body.str("toolCallId", self.call_id).str("action", self.action()).value("payload", &payload);
        body.end();
        json
    }
}

fn write_message(out: &mut String, id: &str, content: &str) {
    let mut message = ObjectWriter::new(out);
    if !id.is_empty() {
        message.str("id", id);
    }
    message.str("role", "user").str("content", content);
    message.end();
}

/// A user's message as one text.
fn text_of(message: &Value<'_>) -> Result<String> {
    match message.get("content") {
        Some(Value::String(text)) => Ok(text.to_string()),
        Some(Value::Array(parts)) => {
            let mut joined = String::new();
            for (at, part) in parts.iter().enumerate() {
                let text = part.get("text").and_then(Value::as_str);
                let is_text = part.get("type").and_then(Value::as_str) == Some("text");
                let text =
                    text.filter(|_| is_text).ok_or_else(|| invalid("this protocol takes text only"))?;
                joined.push_str(if at > 0 { "\n\n" } else { "" });
                joined.push_str(text);
            }
            Ok(joined)
        }
        _ => Err(invalid("`content` must be a text or a list of parts")),
    }
}

/// The id of a turn's item; empty if the turn has none.
fn item_id(turn_id: &str, at: usize) -> String {
    let mut id = turn_id.to_owned();
    if !id.is_empty() {
        id.push(':');
        write_u64(&mut id, at as u64);
    }
    id
}

/// The place of the next element of a list.
fn next_in(list: &mut String) -> &mut String {
    if list.len() > 1 {
        list.push(',');
    }
    list
}

fn invalid(rule: &str) -> Error {
    Error::new(ErrorCode::InvalidInput, rule)
}
