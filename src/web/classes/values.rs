//! Values and errors on their way to JavaScript.

use js_sys::{Error as JsError, Reflect};
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::JsValue;

use crate::error::{Error, ErrorCode, Result};

/// A value as plain objects, `null` and numbers.
pub(super) fn to_js<T: Serialize>(value: &T) -> Result<JsValue, JsValue> {
    value.serialize(&Serializer::json_compatible()).map_err(Into::into)
}

/// An `Error` with `code`, `status` and `cause`.
pub(super) fn to_error(error: &Error) -> JsValue {
    let thrown = JsError::new(&error.message);
    thrown.set_name("TurnwireError");
    let set = |name: &str, value: &JsValue| {
        // A new object takes any member.
        let _ = Reflect::set(&thrown, &name.into(), value);
    };
    set("code", &error.code.as_str().into());
    if let Some(status) = error.status {
        set("status", &status.into());
    }
    if let Some(body) = &error.body {
        set("body", &body.as_str().into());
    }
    if let Some(source) = error.cause() {
        set("cause", &to_error(source));
    }
    thrown.into()
}

/// A result whose error JavaScript throws.
pub(super) fn thrown<T>(result: Result<T>) -> Result<T, JsValue> {
    result.map_err(|error| to_error(&error))
}

/// [`thrown`] as a method.
pub(super) trait Thrown<T> {
    fn thrown(self) -> Result<T, JsValue>;
}

impl<T> Thrown<T> for Result<T> {
    fn thrown(self) -> Result<T, JsValue> {
        thrown(self)
    }
}

/// The error of a reading that was stopped.
pub(super) fn stopped() -> JsValue {
    to_error(&Error::new(ErrorCode::Aborted, "the reading was stopped"))
}
