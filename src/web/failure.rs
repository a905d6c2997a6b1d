//! Errors on their way into JavaScript.

use js_sys::{Object, Reflect};
use wasm_bindgen::prelude::*;

use crate::error::Error;

/// What the package's TypeScript makes an error of its classes from: `{ code, message, status?, body? }`.
pub(super) fn throw(error: Error) -> JsValue {
    let thrown = Object::new();
    let set = |name: &str, value: JsValue| {
        // A plain object made here takes any field.
        let _ = Reflect::set(&thrown, &name.into(), &value);
    };
    set("code", error.code.as_str().into());
    set("message", error.message.into());
    set("status", error.status.into());
    set("body", error.body.into());
    thrown.into()
}
