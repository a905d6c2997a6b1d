//! Adds a turn's input to the conversation, and creates the answers to interrupts (sections 4 and 5).
//!
//! The request and the decoder both add the input to the conversation, so that both have the same messages.

use crate::error::{Result, sentence};
use crate::iso::moment;
use crate::json::{Object, Value, write_u64};
use crate::protocol::fields::put;
use crate::protocol::options::option_error;

use super::conversation::{Conversation, Message};
use super::parts::{content, invalid};
use super::waiting::LEGACY;

/// The beginning of the result of a page's tool that threw or took too long.
const FAILED: [&str; 2] = ["Tool execution failed", "Tool execution timed out after "];

/// The parts of a run's request besides the conversation.
#[derive(Debug, Default)]
pub(super) struct Sent {
    /// The answers to interrupts.
    pub(super) resume: Vec<Value<'static>>,
    /// The answer to an interrupt of a server that has no `resume`.
    pub(super) command: Option<Value<'static>>,
    /// The answered actions, by their ids, with the text of a result, or else the payload; `null` if cancelled.
    pub(super) answers: Vec<(String, Value<'static>, bool)>,
    /// The earlier messages that the input repeats.
    pub(super) said_before: Vec<Message>,
}

/// The time of the turn's request, in milliseconds since 1970; 0 if unknown.
pub(super) fn now(terms: &Object<'_>) -> u64 {
    terms.get("now").and_then(Value::as_u64).unwrap_or_default()
}

/// Adds the input of a turn to its session's conversation.
pub(super) fn add(conversation: &mut Conversation, params: &Object<'_>) -> Result<Sent> {
    let items = match params.get("input") {
        Some(Value::Array(items)) if !items.is_empty() => items,
        None | Some(Value::Array(_)) => {
            return Err(invalid("a turn needs a message, or answers to the calls that wait"));
        }
        Some(_) => return Err(option_error("input", " must be a list of items")),
    };
    let now = params.object("terms").map_or(0, now);
    let mut sent = Sent::default();
    let mut begin = conversation.messages.len();
    for (at, item) in items.iter().enumerate() {
        let item = item.as_object().ok_or_else(|| invalid("an item must be an object with a `type`"))?;
        let mut id = sentence(&[params.text("turn_id"), ":"]);
        write_u64(&mut id, at as u64);
        match item.text("type") {
            "user.message" => {
                if at == 0 {
                    conversation.drop_unanswered_calls();
                    begin = conversation.messages.len();
                }
                let mut message = Message::new(&id, "user");
                message.set_content(content(item.get("content"))?);
                conversation.messages.push(message);
            }
            "user.tool_response" | "user.tool_approval" => answer(conversation, item, &id, now, &mut sent)?,
            _ => {
                return Err(invalid(
                    "`type` must be `user.message`, `user.tool_approval` or `user.tool_response`",
                ));
            }
        }
    }
    sent.said_before = conversation.drop_said_again(begin);
    Ok(sent)
}

/// Answers one action.
fn answer(
    conversation: &mut Conversation,
    item: &Object<'_>,
    id: &str,
    now: u64,
    sent: &mut Sent,
) -> Result<()> {
    let action_id = item.text("tool_call_id");
    let asked = conversation.action(action_id).and_then(|asked| asked.object("suspension"));
    let Some(asked) = asked else {
        if item.text("type") == "user.tool_approval" {
            return Err(invalid("this call waits for its result, and not for an approval"));
        }
        let text = item.text("content");
        let mut message = Message::new(id, "tool");
        message.put("toolCallId", action_id);
        message.set_content(text.into());
        // Some servers show the model only the content, others only the error.
        if FAILED.iter().any(|begin| text.starts_with(begin)) {
            message.put("error", text);
        }
        conversation.messages.push(message);
        sent.answers.push((action_id.to_owned(), text.to_owned().into(), true));
        return Ok(());
    };
    let mut payload = payload(item, asked);
    if asked.text("action") == LEGACY {
        let mut command = Object::new();
        command.set("resume", payload.clone());
        sent.command = Some(command.into());
    } else {
        let mut entry = Object::new();
        put(&mut entry, "interruptId", asked.text("id"));
        // Servers refuse an answer that comes too late, or mistake it for another one.
        let is_late = moment(asked.text("expires_at")).is_some_and(|end| now > 0 && end < now);
        if is_late || conversation.is_question(action_id) && is_refusal(item, &payload, asked) {
            payload = Value::Null;
            entry.set("status", "cancelled".into());
        } else {
            entry.set("status", "resolved".into());
            entry.set("payload", payload.clone());
        }
        sent.resume.push(entry.into());
    }
    sent.answers.push((action_id.to_owned(), payload, false));
    Ok(())
}

/// Whether a question about no call gets a denial in place of an answer, or a decision that its schema does not provide
/// for.
fn is_refusal(item: &Object<'_>, payload: &Value<'_>, asked: &Object<'_>) -> bool {
    if let Some(approval) = item.object("approval") {
        return approval.text("status") == "deny";
    }
    let takes_decisions =
        asked.object("response_schema").is_none_or(|schema| match schema.object("properties") {
            Some(fields) => fields.contains("approved"),
            // It may have them elsewhere, such as in one of its `anyOf`.
            None => matches!(schema.text("type"), "" | "object"),
        });
    !takes_decisions && payload.get("approved").is_some_and(|approved| approved.as_bool() == Some(false))
}

/// The answer to an interrupt, in the form of its schema.
fn payload(item: &Object<'_>, asked: &Object<'_>) -> Value<'static> {
    if item.text("type") == "user.tool_response" {
        let text = item.text("content");
        return Value::parse(text).map_or_else(|_| text.to_owned().into(), Value::into_owned);
    }
    let approval = item.object("approval").unwrap_or(const { &Object::new() });
    let is_allowed = approval.text("status") == "allow";
    let schema = asked.object("response_schema").unwrap_or(const { &Object::new() });
    if schema.text("type") == "boolean" {
        return is_allowed.into();
    }
    let takes = |name: &str| schema.object("properties").is_some_and(|fields| fields.contains(name));
    let mut payload = Object::new();
    payload.set(
        if takes("accepted") && !takes("approved") { "accepted" } else { "approved" },
        is_allowed.into(),
    );
    for (name, value) in approval.object("result").into_iter().flat_map(Object::iter) {
        payload.insert(name.to_owned(), value.clone().into_owned());
    }
    let reason = approval.text("reason");
    // One server refuses members that its schema does not have.
    if !reason.is_empty() && (takes("reason") || !schema.contains("properties")) {
        put(&mut payload, "reason", reason);
    }
    payload.into()
}
