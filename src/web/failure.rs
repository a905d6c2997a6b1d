//! Results on their way into JavaScript: promises, and errors.

use std::pin::Pin;

use js_sys::Promise;
use serde::Serialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use web_sys::AbortSignal;

use crate::error::{Error, ErrorCode};

/// An error, and the JavaScript value that caused it.
pub(super) struct Failure {
    pub(super) error: Error,
    pub(super) cause: JsValue,
}

impl Failure {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Error::new(code, message).into()
    }

    pub(super) fn caused_by(mut self, cause: JsValue) -> Self {
        self.cause = cause;
        self
    }

    /// The failure of something that `signal` may have aborted.
    pub(super) fn or_aborted(self, signal: Option<&AbortSignal>) -> Self {
        match signal {
            Some(signal) if signal.aborted() => Self::aborted(signal),
            _ => self,
        }
    }

    pub(super) fn aborted(signal: &AbortSignal) -> Self {
        Self::new(ErrorCode::Aborted, "the signal was aborted").caused_by(signal.reason())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self {
            error,
            cause: JsValue::UNDEFINED,
        }
    }
}

/// What the package's TypeScript makes an error of its classes from.
#[derive(Serialize)]
struct Thrown<'a> {
    code: &'static str,
    message: &'a str,
    status: Option<u16>,
    body: Option<&'a str>,
    #[serde(with = "serde_wasm_bindgen::preserve")]
    cause: JsValue,
}

impl From<Failure> for JsValue {
    fn from(Failure { error, cause }: Failure) -> Self {
        let thrown = Thrown {
            code: error.code.as_str(),
            message: &error.message,
            status: error.status,
            body: error.body.as_deref(),
            cause,
        };
        // Nothing in it can fail to become a value of JavaScript.
        serde_wasm_bindgen::to_value(&thrown).unwrap_or_default()
    }
}

pub(super) fn throw(error: Error) -> JsValue {
    Failure::from(error).into()
}

/// A promise of what a future gives. The future is boxed: the machinery of promises is then in the module
/// once, and not once for every future.
pub(super) fn promise(future: impl Future<Output = Result<JsValue, Failure>> + 'static) -> Promise {
    let boxed: Pin<Box<dyn Future<Output = Result<JsValue, JsValue>>>> =
        Box::pin(async move { future.await.map_err(JsValue::from) });
    future_to_promise(boxed)
}
