//! Responses of JSON-RPC: a result, or an error.

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};
use crate::rpc::decimal;

use super::{Call, Protocol};

/// Reads the response to the first request of `call`. Returns its result as JSON, in turnwire's form, or an
/// empty text for a call that streams: its response is part of the stream.
pub(crate) fn read(
    protocol: &dyn Protocol,
    call: Call,
    params: &Object<'_>,
    message: &str,
) -> Result<String> {
    let unexpected = |problem: &str| Error::new(ErrorCode::UnexpectedResponse, problem);
    let message = protocol.readable(message);
    let message = Value::parse(&message).map_err(|_| unexpected("the response is not JSON"))?;
    let response = message.as_object().ok_or_else(|| unexpected("the response is not an object"))?;
    if let Some(error) = response.get("error") {
        return Err(refusal(error, |code| protocol.status_of(call, code)));
    }
    let result = response.get("result").ok_or_else(|| unexpected("the response has no `result`"))?;
    if call.streams() {
        return Ok(String::new());
    }
    Ok(protocol.answer(call, params, result.clone())?.to_json())
}

/// The error that a server answers with. `status_of` returns the HTTP status for its code.
pub(crate) fn refusal(error: &Value<'_>, status_of: impl Fn(i64) -> Option<u16>) -> Error {
    let said = error.get("message").and_then(Value::as_str).unwrap_or("an error without a message");
    let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
    let refusal = Error::of(ErrorCode::Rpc, &["the server answered ", &decimal(code), ": ", said]);
    let body = error.to_json();
    refusal.with_body(&body).with_status(status_of(code))
}
