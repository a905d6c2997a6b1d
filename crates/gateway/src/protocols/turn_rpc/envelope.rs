//! JSON-RPC 2.0 as this protocol narrows it: requests with ids of a fixed length, no batches.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The length of a request's id, in characters.
const ID_LENGTH: usize = 21;
const VERSION: &str = "2.0";

/// A well-formed request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Request {
    pub(super) id: String,
    pub(super) method: String,
    params: Map<String, Value>,
}

/// An error as the client receives it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Failure {
    pub(super) code: i64,
    pub(super) message: String,
}

/// A frame that is not a valid request, and the id for the response, if the frame has one.
#[derive(Debug, PartialEq)]
pub(super) struct Malformed {
    pub(super) id: Option<String>,
    pub(super) failure: Failure,
}

impl Failure {
    fn not_json() -> Self {
        Self { code: -32700, message: "failed to parse JSON-RPC payload".to_owned() }
    }

    /// The error of a frame that is not a valid request, and of everything that a method refuses.
    pub(super) fn refused(message: impl Into<String>) -> Self {
        Self { code: -32600, message: message.into() }
    }

    pub(super) fn invalid_request(problem: &str) -> Self {
        Self::refused(format!("invalid JSON-RPC request: {problem}"))
    }

    pub(super) fn no_method(method: &str) -> Self {
        Self { code: -32601, message: format!("method `{method}` is not supported") }
    }

    pub(super) fn invalid_params(method: &str, problem: impl std::fmt::Display) -> Self {
        Self { code: -32602, message: format!("invalid params for `{method}`: {problem}") }
    }

    /// An error without a specific code.
    pub(super) fn internal(message: String) -> Self {
        Self { code: -32603, message }
    }
}

impl Request {
    /// Reads a frame of text.
    pub(super) fn parse(text: &str) -> Result<Self, Malformed> {
        let unnamed = |failure| Malformed { id: None, failure };
        let frame: Value = serde_json::from_str(text).map_err(|_| unnamed(Failure::not_json()))?;
        let Value::Object(mut frame) = frame else {
            let problem = if frame.is_array() { "batches are not supported" } else { "expected an object" };
            return Err(unnamed(Failure::invalid_request(problem)));
        };
        let id = id_of(&frame).map_err(|problem| unnamed(Failure::invalid_request(&problem)))?;
        let named = |failure| Malformed { id: Some(id.clone()), failure };
        let invalid = |problem: &str| named(Failure::invalid_request(problem));
        match frame.get("jsonrpc") {
            Some(Value::String(version)) if version == VERSION => {}
            Some(Value::String(version)) => {
                return Err(named(Failure::refused(format!("unsupported jsonrpc version `{version}`"))));
            }
            Some(_) => return Err(invalid("`jsonrpc` must be a string")),
            None => return Err(invalid("missing field `jsonrpc`")),
        }
        let method = match frame.remove("method") {
            Some(Value::String(method)) => method,
            Some(_) => return Err(invalid("`method` must be a string")),
            None => return Err(invalid("missing field `method`")),
        };
        let params = match frame.remove("params") {
            Some(Value::Object(params)) => params,
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err(named(Failure::invalid_params(&method, "expected an object"))),
        };
        Ok(Self { id, method, params })
    }

    /// A parameter, if it is a text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.params.get(name)?.as_str()
    }

    /// The parameters, as the type that the method expects.
    pub(super) fn params<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_value(Value::Object(self.params.clone()))
            .map_err(|error| Failure::invalid_params(&self.method, error))
    }
}

fn id_of(frame: &Map<String, Value>) -> Result<String, String> {
    match frame.get("id") {
        Some(Value::String(id)) => match id.chars().count() {
            ID_LENGTH => Ok(id.clone()),
            length => Err(format!("request id must be exactly {ID_LENGTH} characters, got {length}")),
        },
        Some(other) => Err(format!("invalid type of `id`: {other}, expected a string")),
        None => Err("missing field `id`".to_owned()),
    }
}

/// The response of a method.
pub(super) fn result(id: &str, result: impl Serialize) -> String {
    json!({"jsonrpc": VERSION, "id": id, "result": result}).to_string()
}

pub(super) fn error(id: Option<&str>, error: &Failure) -> String {
    json!({"jsonrpc": VERSION, "id": id, "error": error}).to_string()
}

pub(super) fn notification(method: &str, params: impl Serialize) -> String {
    #[derive(Serialize)]
    struct Notification<'a, T> {
        jsonrpc: &'static str,
        method: &'a str,
        params: T,
    }
    // Our own types always serialize.
    serde_json::to_string(&Notification { jsonrpc: VERSION, method, params }).unwrap_or_default()
}

/// Whether a frame that this module wrote reports the end of a turn.
pub(super) fn ends_turn(frame: &str) -> bool {
    ["turn/completed", "turn/failed"]
        .iter()
        .any(|method| frame.starts_with(&format!(r#"{{"jsonrpc":"2.0","method":"{method}""#)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "rq0000000000000000001";

    fn refused(frame: &str) -> (Option<String>, i64, String) {
        let Malformed { id, failure } = Request::parse(frame).expect_err(frame);
        (id, failure.code, failure.message)
    }

    #[test]
    fn a_request_may_leave_out_its_params() {
        for params in ["", r#","params":null"#, r#","params":{}"#] {
            let frame = format!(r#"{{"jsonrpc":"2.0","id":"{ID}","method":"workspace/default"{params}}}"#);
            let request = Request::parse(&frame).expect("a request");
            assert_eq!((request.id.as_str(), request.method.as_str()), (ID, "workspace/default"));
        }
    }

    #[test]
    fn errors_say_what_is_wrong_with_a_frame() {
        let invalid = |problem: &str| format!("invalid JSON-RPC request: {problem}");
        let id = Some(ID.to_owned());
        let cases = [
            ("{not json", None, -32700, "failed to parse JSON-RPC payload".to_owned()),
            ("", None, -32700, "failed to parse JSON-RPC payload".to_owned()),
            ("[]", None, -32600, invalid("batches are not supported")),
            ("7", None, -32600, invalid("expected an object")),
            ("{}", None, -32600, invalid("missing field `id`")),
            (r#"{"id":1}"#, None, -32600, invalid("invalid type of `id`: 1, expected a string")),
            (r#"{"id":"short"}"#, None, -32600, invalid("request id must be exactly 21 characters, got 5")),
            (r#"{"id":"rq0000000000000000001"}"#, id.clone(), -32600, invalid("missing field `jsonrpc`")),
            (
                r#"{"id":"rq0000000000000000001","jsonrpc":"1.0"}"#,
                id.clone(),
                -32600,
                "unsupported jsonrpc version `1.0`".to_owned(),
            ),
            (
                r#"{"id":"rq0000000000000000001","jsonrpc":"2.0"}"#,
                id.clone(),
                -32600,
                invalid("missing field `method`"),
            ),
            (
                r#"{"id":"rq0000000000000000001","jsonrpc":"2.0","method":"m","params":[]}"#,
                id,
                -32602,
                "invalid params for `m`: expected an object".to_owned(),
            ),
        ];
        for (frame, id, code, message) in cases {
            assert_eq!(refused(frame), (id, code, message), "{frame}");
        }
    }

    #[test]
    fn the_length_of_an_id_counts_characters() {
        let id = "é".repeat(21);
        let frame = format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"m"}}"#);
        assert_eq!(Request::parse(&frame).expect("a request").id, id);
    }

    #[test]
    fn the_end_of_a_turn_is_seen_in_the_text() {
        assert!(ends_turn(&notification("turn/failed", 1)));
        assert!(!ends_turn(&notification("turn/started", 1)));
    }
}
