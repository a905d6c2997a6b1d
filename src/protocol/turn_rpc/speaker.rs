//! What a connection needs to know of this protocol.

use crate::error::Result;
use crate::json::{Object, Value};
use crate::protocol::response;
use crate::protocol::{Call, Protocol};
use crate::rpc::{Messages, Speaker};

use super::TurnRpc;

impl Speaker for TurnRpc {
    type Call = Call;
    const GREETING: Call = Call::Connect;
    const PING: Call = Call::Ping;
    const RECORD: Call = Call::GetSession;

    fn streams(call: Call) -> bool {
        call.streams()
    }

    fn local(&self, call: Call, params: &str) -> Option<String> {
        Protocol::local(self, call, &object(params)).map(|answer| answer.to_json())
    }

    fn messages(&self, call: Call, params: &str, facts: &str) -> Result<Messages> {
        let mut params = object(params);
        if !facts.is_empty() {
            params.set("connection", Value::parse(facts).unwrap_or_default());
        }
        Protocol::messages(self, call, params)
    }

    fn read(&self, call: Call, params: &str, message: &str) -> Result<String> {
        response::read(self, call, &object(params), message)
    }

    fn is_for_all(&self, method: &str) -> bool {
        // Turns that begin, and what became of the server's requests (section 9).
        matches!(method, "turn/started" | "serverRequest/resolved")
    }

    fn unloaded(&self, method: &str, message: &str) -> Option<String> {
        if method != "thread/closed" {
            return None;
        }
        let message = object(message);
        let thread = message.object("params")?.text("threadId");
        (!thread.is_empty()).then(|| thread.to_owned())
    }
}

/// The object that a JSON text is; an empty one if it is none.
fn object(json: &str) -> Object<'_> {
    match Value::parse(json) {
        Ok(Value::Object(object)) => object,
        _ => Object::new(),
    }
}
