//! The raw client: one server, its requests and its answers.

use std::fmt;
use std::rc::Rc;

use wasm_bindgen::prelude::*;

use crate::error::{Error, ErrorCode};
use crate::json::{Object, Value};
use crate::protocol::{Answer, Call};

use super::failure::throw;
use super::options::Options;
use super::session::CoreSession;

/// A server. The package's `Client` wraps it.
#[wasm_bindgen]
pub struct CoreClient {
    options: Rc<Options>,
}

impl fmt::Debug for CoreClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreClient").field("base_url", &self.options.base_url).finish_non_exhaustive()
    }
}

#[wasm_bindgen]
impl CoreClient {
    /// Checks the options of `connect`, given as JSON; throws what is wrong with them. `page` is the URL
    /// that relative ones count from.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str, page: Option<String>) -> Result<CoreClient, JsValue> {
        let options = Options::read(options, page.as_deref()).map_err(throw)?;
        Ok(Self { options: Rc::new(options) })
    }

    /// The base URL as it is used.
    #[wasm_bindgen(getter, js_name = baseUrl)]
    pub fn base_url(&self) -> String {
        self.options.base_url.clone()
    }

    /// The request of the call of this number (its place in [`Call::ALL`]) with parameters given as a
    /// JSON object: `{ url, method, headers, body? }` as JSON.
    pub fn request(&self, call: u8, params: &str) -> Result<String, JsValue> {
        let call = call_of(call).map_err(throw)?;
        let params = Value::parse(params).unwrap_or_default();
        let none = Object::new();
        let params = params.as_object().unwrap_or(&none);
        let request = self.options.protocol.request(call, params).map_err(throw)?;
        Ok(request.to_json(&self.options.base_url))
    }

    /// Whether an answer is the stream that was asked for. If not, `answer` says why.
    #[wasm_bindgen(js_name = isStream)]
    pub fn is_stream(&self, status: u16, content_type: &str) -> bool {
        Answer { status, status_text: "", content_type, body: "" }.is_stream()
    }

    /// Reads an answer's body; gives JSON in turnwire's form. Throws what went wrong.
    pub fn answer(
        &self,
        call: u8,
        status: u16,
        status_text: &str,
        content_type: &str,
        body: &str,
    ) -> Result<String, JsValue> {
        let answer = Answer { status, status_text, content_type, body };
        let call = call_of(call).map_err(throw)?;
        answer.read(&*self.options.protocol, call).map_err(throw)
    }

    /// The session of this id, without asking the server.
    pub fn session(&self, id: String) -> CoreSession {
        CoreSession::new(Rc::clone(&self.options), id)
    }
}

fn call_of(number: u8) -> Result<Call, Error> {
    let call = Call::ALL.get(usize::from(number)).copied();
    call.ok_or_else(|| Error::new(ErrorCode::Unsupported, "there is no such call"))
}
