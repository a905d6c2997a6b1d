//! The raw client: one server, and everything that is asked of it as JSON.

use std::fmt;
use std::rc::Rc;

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

use crate::error::{Error, ErrorCode};
use crate::json::{Object, Value};
use crate::protocol::Call;

use super::failure::{promise, throw};
use super::options::Options;
use super::session::CoreSession;
use super::transport::Transport;

/// A server. The package's `Client` wraps it.
#[wasm_bindgen]
pub struct CoreClient {
    transport: Rc<Transport>,
}

impl fmt::Debug for CoreClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreClient")
            .field("base_url", &self.transport.base_url)
            .finish_non_exhaustive()
    }
}

#[wasm_bindgen]
impl CoreClient {
    /// Checks the options of `connect`, given as JSON without `token` and `fetch`; throws what is wrong
    /// with them.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str, token: JsValue, fetch: JsValue) -> Result<CoreClient, JsValue> {
        let transport = Options::read(options).and_then(|options| Transport::new(options, token, &fetch));
        Ok(Self { transport: Rc::new(transport.map_err(throw)?) })
    }

    /// The base URL as it is used.
    #[wasm_bindgen(getter, js_name = baseUrl)]
    pub fn base_url(&self) -> String {
        self.transport.base_url.clone()
    }

    /// Makes the call of this number (its place in [`Call::ALL`]) with parameters given as a JSON
    /// object; the promise gives the answer as JSON.
    pub fn call(&self, call: u8, params: String, signal: Option<AbortSignal>) -> Promise {
        let transport = Rc::clone(&self.transport);
        promise(async move {
            let call = Call::ALL.get(usize::from(call)).copied();
            let call = call.ok_or_else(|| Error::new(ErrorCode::Unsupported, "there is no such call"))?;
            let answer = transport.call(call, &object(&params)?, signal.as_ref()).await?;
            Ok(answer.to_json().into())
        })
    }

    /// Downloads a sandbox's file; the promise gives a `Blob`.
    pub fn download(&self, params: String, signal: Option<AbortSignal>) -> Promise {
        let transport = Rc::clone(&self.transport);
        promise(async move { transport.download(&object(&params)?, signal.as_ref()).await })
    }

    /// The session of this id, without asking the server.
    pub fn session(&self, id: String) -> CoreSession {
        CoreSession::new(Rc::clone(&self.transport), id)
    }
}

/// Parameters come from the package's own TypeScript; what is no object is an empty one.
fn object(json: &str) -> Result<Object<'_>, Error> {
    match Value::parse(json) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Ok(Object::new()),
        Err(error) => Err(Error::new(ErrorCode::InvalidOption, error.to_string())),
    }
}
