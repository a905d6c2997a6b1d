//! Tests of requests and answers; those of streams stand beside the decoder. Section numbers are the protocol
//! note's.

mod agents;
mod answers;
pub(super) mod damage;
mod events;
mod found;
mod hostile;
mod inputs;
mod requests;
mod turns;

use serde_json::{Value as Json, json};

use super::Aap;
use crate::error::{Error, ErrorCode};
use crate::json::{Object, Value};
use crate::protocol::{Answer, Call, Protocol, Request};

fn with_params<T>(params: &Json, then: impl FnOnce(&Object<'_>) -> T) -> T {
    let text = params.to_string();
    then(Value::parse(&text).expect("JSON").as_object().expect("an object"))
}

fn request(call: Call, params: &Json) -> Result<Request, Error> {
    with_params(params, |params| Aap::new().request(call, params.clone()))
}

fn body(call: Call, params: &Json) -> Json {
    let request = request(call, params).unwrap_or_else(|error| panic!("{call:?}: {error}"));
    serde_json::from_str(&request.body.expect("a body")).expect("JSON")
}

/// The answer of this status.
fn answer_of(status: u16, body: &str, call: Call, params: &Json) -> Result<Json, Error> {
    let answer = Answer { status, status_text: "", content_type: "application/json", body };
    let json = with_params(params, |params| answer.read(&Aap::new(), call, params))?;
    Ok(serde_json::from_str(&json).expect("JSON"))
}

fn answer(call: Call, params: &Json, body: &Json) -> Result<Json, Error> {
    answer_of(200, &body.to_string(), call, params)
}

fn read(call: Call, params: &Json, body: &Json) -> Json {
    answer(call, params, body).unwrap_or_else(|error| panic!("{call:?}: {error}"))
}

/// The whole history of these messages.
fn full(messages: &Json) -> Json {
    json!({"history": {"full": messages}})
}

fn user(content: impl Into<Json>) -> Json {
    json!({"role": "user", "content": content.into()})
}

fn agent(content: impl Into<Json>) -> Json {
    json!({"role": "assistant", "content": content.into()})
}

fn result(id: &str, content: &str) -> Json {
    json!({"role": "tool", "toolCallId": id, "content": content})
}

/// A block that calls a tool.
fn call(id: &str, name: &str) -> Json {
    json!({"type": "tool_use", "toolCallId": id, "name": name, "input": {}})
}

/// The item of a user's message.
fn item(content: impl Into<Json>) -> Json {
    json!({"type": "user.message", "content": content.into()})
}

/// The item of a call's result.
fn respond(id: &str, content: &str) -> Json {
    json!({"type": "user.tool_response", "thread_id": "main", "tool_call_id": id, "content": content})
}

/// The item that allows a call.
fn allow(id: &str) -> Json {
    json!({"type": "user.tool_approval", "thread_id": "main", "tool_call_id": id, "approval": {"status": "allow"}})
}

fn is_unexpected(found: &Result<Json, Error>) -> bool {
    found.as_ref().is_err_and(|error| error.code == ErrorCode::UnexpectedResponse)
}
