//! The responses to requests of the server (section 14), from the client's answers.

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};
use crate::protocol::fields::{object, put, with_text};
use crate::rpc::Message;

use super::fields::{boolean, inner, members, objects};

/// The response for an answer. The item has the id, the method and the parameters of the server's request.
pub(super) fn response(at: usize, item: &Value<'_>) -> Result<Message> {
    let item = members(item);
    let asked = inner(item, "suspension");
    let (id, method) = (asked.text("id"), asked.text("action"));
    if id.is_empty() || method.is_empty() {
        let call = item.text("tool_call_id");
        let place = super::input::place(at);
        let parts = [&*place, ": what call `", call, "` waits for is not known"];
        return Err(Error::of(ErrorCode::InvalidInput, &parts));
    }
    let params = inner(asked, "parameters");
    let result = match (item.text("type"), method) {
        ("user.tool_approval", _) => decision(method, params, inner(item, "approval")),
        (_, "item/tool/requestUserInput") => answers(params, item.text("content")),
        (_, _) => output(item.text("content")),
    };
    Ok(Message::Response { id: id.to_owned(), result: result.to_json() })
}

fn decision<'a>(method: &str, params: &Object<'a>, approval: &Object<'a>) -> Object<'a> {
    let is_allowed = approval.text("status") == "allow";
    let is = |name: &str| boolean(approval, name) == Some(true);
    let remembers = is("remember");
    match method {
        "item/permissions/requestApproval" => {
            let asked = params.get("permissions").filter(|_| is_allowed).cloned();
            let mut granted = object("permissions", asked.unwrap_or_else(|| Object::new().into()));
            granted.set("scope", if is_allowed && remembers { "session" } else { "turn" }.into());
            with_result(granted, approval)
        }
        "mcpServer/elicitation/request" => {
            let action = match (is_allowed, is("cancel")) {
                (true, _) => "accept",
                (_, true) => "cancel",
                _ => "decline",
            };
            let mut answer = with_text("action", action);
            if let Some(content) = approval.get("result").filter(|_| is_allowed) {
                answer.set("content", content.clone());
            }
            answer
        }
        _ => {
            let decision = match (is_allowed, remembers, is("cancel")) {
                (true, true, _) => "acceptForSession",
                (true, ..) => "accept",
                (_, _, true) => "cancel",
                _ => "decline",
            };
            with_result(with_text("decision", decision), approval)
        }
    }
}

/// The response with the caller's `result`, which takes precedence.
fn with_result<'a>(mut response: Object<'a>, approval: &Object<'a>) -> Object<'a> {
    for (name, value) in approval.object("result").into_iter().flat_map(Object::iter) {
        response.insert(name.to_owned(), value.clone());
    }
    response
}

/// The response to questions: a result in the server's format, an object of texts by question id, or one text for all
/// questions.
fn answers(params: &Object<'_>, content: &str) -> Object<'static> {
    let given = Value::parse(content).unwrap_or_default().into_owned();
    let mut answers = Object::new();
    let one = |text: Value<'static>| {
        let list = if text.as_array().is_some() { text } else { vec![text].into() };
        Value::from(object("answers", list))
    };
    match given {
        Value::Object(given) if given.object("answers").is_some() => return given,
        Value::Object(given) => {
            for (id, text) in given {
                answers.insert(id, one(text));
            }
        }
        _ => {
            for question in objects(params, "questions") {
                answers.insert(question.text("id").to_owned(), one(content.to_owned().into()));
            }
        }
    }
    object("answers", answers.into())
}

/// The result of a tool: in the server's format, or a text.
fn output(content: &str) -> Object<'static> {
    if let Ok(Value::Object(given)) = Value::parse(content)
        && given.contains("contentItems")
    {
        return given.into_owned();
    }
    let mut text = with_text("type", "inputText");
    put(&mut text, "text", content);
    let mut output = Object::new();
    output.set("contentItems", vec![text.into()].into());
    output.set("success", true.into());
    output
}
