//! What the core imports from JavaScript: `fetch`, and the loops of `io.js`.

use wasm_bindgen::prelude::*;
use web_sys::{AbortSignal, ReadableStream, RequestInit};

#[wasm_bindgen]
extern "C" {
    /// The platform's `fetch`: a window's, a worker's or Node's.
    #[wasm_bindgen(catch, js_name = fetch)]
    pub(super) fn global_fetch(url: &str, init: &RequestInit) -> Result<js_sys::Promise, JsValue>;
}

#[wasm_bindgen(module = "/src/web/io.js")]
extern "C" {
    /// Hands each chunk to `push`, until the stream ends or `push` gives false.
    #[wasm_bindgen(catch)]
    pub(super) async fn pump(
        body: &ReadableStream,
        push: &Closure<dyn FnMut(js_sys::Uint8Array) -> bool>,
        signal: Option<&AbortSignal>,
    ) -> Result<JsValue, JsValue>;

    /// Waits, in milliseconds.
    pub(super) async fn sleep(delay: u32, signal: Option<&AbortSignal>) -> JsValue;
}
