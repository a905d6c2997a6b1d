//! The raw client: one server, its requests and its answers.

use std::rc::Rc;

use wasm_bindgen::prelude::*;

use crate::error::{Error, ErrorCode, Result};
use crate::json::Value;
use crate::protocol::truefoundry::{Dialect, TrueFoundry};
use crate::protocol::{Answer, Call, Protocol};

use super::failure::outcome;
use super::session::CoreSession;

/// A server. The package's `Client` wraps it.
#[wasm_bindgen]
#[derive(Debug)]
pub struct CoreClient {
    server: Rc<Server>,
}

/// What everything on one server shares.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) protocol: TrueFoundry,
    pub(super) max_frame_bytes: usize,
}

#[wasm_bindgen]
impl CoreClient {
    /// A server that speaks the hosted gateway's dialect, or its open-source sibling's.
    #[wasm_bindgen(constructor)]
    pub fn new(is_sibling: bool, max_frame_bytes: u32) -> CoreClient {
        let dialect = if is_sibling { Dialect::TrueForge } else { Dialect::Gateway };
        let server =
            Server { protocol: TrueFoundry::new(dialect), max_frame_bytes: max_frame_bytes as usize };
        Self { server: Rc::new(server) }
    }

    /// The request of the call of this number (its place in [`Call::ALL`]) with parameters given as a
    /// JSON object: `{ path, method, headers, body? }` as JSON.
    pub fn request(&self, call: u8, params: &str) -> String {
        outcome(self.server.request(call, params))
    }

    /// Reads an answer's body; gives JSON in turnwire's form.
    pub fn answer(&self, call: u8, status: u16, status_text: &str, content_type: &str, body: &str) -> String {
        let answer = Answer { status, status_text, content_type, body };
        outcome(call_of(call).and_then(|call| answer.read(&self.server.protocol, call)))
    }

    /// The session of this id, without asking the server.
    pub fn session(&self, id: String) -> CoreSession {
        CoreSession::new(Rc::clone(&self.server), id)
    }
}

impl Server {
    fn request(&self, call: u8, params: &str) -> Result<String> {
        let call = call_of(call)?;
        let Value::Object(params) = Value::parse(params).unwrap_or_default() else {
            return Err(Error::new(ErrorCode::InvalidOption, "parameters must be an object"));
        };
        Ok(self.protocol.request(call, params)?.to_json())
    }
}

fn call_of(number: u8) -> Result<Call> {
    let call = Call::ALL.get(usize::from(number)).copied();
    call.ok_or_else(|| Error::new(ErrorCode::Unsupported, "there is no such call"))
}
