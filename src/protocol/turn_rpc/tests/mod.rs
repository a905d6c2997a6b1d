//! What calls say, and what their results mean, in both dialects.

#![expect(clippy::needless_pass_by_value, reason = "payloads are written where they are passed")]

mod answers;
mod decisions;
mod inputs;
mod requests;
mod wire;

use serde_json::Value as Json;

use super::{Dialect, TurnRpc};
use crate::error::Error;
use crate::json::Value;
use crate::protocol::{Call, Protocol};

/// What a call says: its messages as JSON, with parameters and results read.
fn said(dialect: Dialect, call: Call, params: &Json) -> Result<Json, Error> {
    let text = params.to_string();
    let json = Value::parse(&text).expect("JSON");
    let messages = TurnRpc::new(dialect).messages(call, json.as_object().expect("an object").clone())?;
    let mut said: Json = serde_json::from_str(&messages.to_json()).expect("JSON");
    let read = |message: &mut Json| {
        for name in ["params", "result"] {
            if let Some(text) = message[name].as_str() {
                message[name] = serde_json::from_str(text).expect("JSON");
            } else {
                message.as_object_mut().expect("an object").remove(name);
            }
        }
    };
    if let Some(message) = said.get_mut("subscribe") {
        read(message);
    }
    said["messages"].as_array_mut().expect("a list").iter_mut().for_each(read);
    Ok(said)
}

/// What a call's result means.
fn read(dialect: Dialect, call: Call, params: &Json, result: &Json) -> Result<Json, Error> {
    let (params, result) = (params.to_string(), result.to_string());
    let params = Value::parse(&params).expect("JSON");
    let result = Value::parse(&result).expect("JSON");
    let answer = TurnRpc::new(dialect).answer(call, params.as_object().expect("an object"), result)?;
    Ok(serde_json::from_str(&answer.to_json()).expect("JSON"))
}
