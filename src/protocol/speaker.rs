//! What a connection needs to know of the protocol that is spoken on it.

use crate::error::Result;
use crate::json::{Object, Value};
use crate::rpc::{Messages, Speaker};

use super::{AnyProtocol, Call, Capability, response};

impl Speaker for AnyProtocol {
    type Call = Call;
    const GREETING: Call = Call::Connect;
    const PING: Call = Call::Ping;
    const RECORD: Call = Call::GetSession;

    fn is_held(&self) -> bool {
        self.protocol().capabilities().has(Capability::Held)
    }

    fn streams(call: Call) -> bool {
        call.streams()
    }

    fn local(&self, call: Call, params: &str) -> Option<String> {
        self.protocol().local(call, &object(params)).map(|answer| answer.to_json())
    }

    fn messages(&self, call: Call, params: &str, facts: &str) -> Result<Messages> {
        let mut params = object(params);
        if !facts.is_empty() {
            params.set("connection", Value::parse(facts).unwrap_or_default());
        }
        self.protocol().messages(call, params)
    }

    fn read(&self, call: Call, params: &str, message: &str) -> Result<String> {
        response::read(self.protocol(), call, &object(params), message)
    }

    fn is_for_all(&self, method: &str) -> bool {
        self.protocol().is_for_all(method)
    }

    fn unloaded(&self, method: &str, message: &str) -> Option<String> {
        self.protocol().unloaded(method, message)
    }
}

/// The object that a JSON text is; an empty one if it is none.
fn object(json: &str) -> Object<'_> {
    match Value::parse(json) {
        Ok(Value::Object(object)) => object,
        _ => Object::new(),
    }
}
