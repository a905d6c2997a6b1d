//! Errors on their way into JavaScript.

use wasm_bindgen::JsValue;

use crate::error::Error;
use crate::json::ObjectWriter;

/// What the package's TypeScript makes an error of its classes from:
/// `{ "code", "message", "status"?, "body"? }` as JSON.
#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
pub(super) fn throw(error: Error) -> JsValue {
    let mut json = String::new();
    let mut object = ObjectWriter::new(&mut json);
    object.str("code", error.code.as_str()).str("message", &error.message);
    if let Some(status) = error.status {
        object.u64("status", u64::from(status));
    }
    if let Some(body) = &error.body {
        object.str("body", body);
    }
    object.end();
    JsValue::from_str(&json)
}
