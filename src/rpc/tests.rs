//! Messages on the wire, and the parts that show where a message belongs.

use crate::error::{Error, ErrorCode};
use crate::json::ObjectWriter;

use super::connection::is_undone;
use super::wire::{is_refusal, method_at_start, own_number, response_to, thread_mark};
use super::{Message, Messages};

impl Messages {
    /// The form that tests compare: `{ thread, subscribes, recreates_thread?, subscribe?, messages }`, where each
    /// message is `{ method, params, notifies? }`, `{ id, result }` or `{ id, error }`, and parameters, ids, results
    /// and errors are strings of JSON.
    pub(crate) fn to_json(&self) -> String {
        let mut json = String::new();
        let mut object = ObjectWriter::new(&mut json);
        object.str("thread", &self.thread).bool("subscribes", self.subscribes);
        if self.recreates_thread {
            object.bool("recreates_thread", true);
        }
        if let Some(message) = &self.subscribe {
            message.write(object.member("subscribe"));
        }
        let list = object.member("messages");
        list.push('[');
        for (at, message) in self.list.iter().enumerate() {
            if at > 0 {
                list.push(',');
            }
            message.write(list);
        }
        list.push(']');
        object.end();
        json
    }
}

impl Message {
    fn write(&self, json: &mut String) {
        let mut object = ObjectWriter::new(json);
        match self {
            Self::Request { method, params } => object.str("method", method).str("params", params),
            Self::Notification { method, params } => {
                object.str("method", method).str("params", params).bool("notifies", true)
            }
            Self::Response { id, result } => object.str("id", id).str("result", result),
            Self::Refusal { id, code, message } => {
                object.str("id", id).str("error", &format!(r#"{{"code":{code},"message":"{message}"}}"#))
            }
        };
        object.end();
    }
}

#[test]
fn requests_go_under_their_ids_and_responses_under_those_of_the_server() {
    let params = || r#"{"a":1}"#.to_owned();
    let request = Message::Request { method: "turn/get", params: params() };
    assert_eq!(
        request.to_wire("ABCDEFGHIJKLM", 33),
        r#"{"jsonrpc":"2.0","id":"ABCDEFGHIJKLMaaaaaacb","method":"turn/get","params":{"a":1}}"#
    );
    let notification = Message::Notification { method: "initialized", params: params() };
    assert_eq!(notification.to_wire("c", 1), r#"{"jsonrpc":"2.0","method":"initialized","params":{"a":1}}"#);
    let response = Message::Response { id: "7".to_owned(), result: "null".to_owned() };
    assert_eq!(response.to_wire("c", 1), r#"{"jsonrpc":"2.0","id":7,"result":null}"#);
}

#[test]
fn a_response_is_known_by_its_id_wherever_that_stands() {
    let number = |message| own_number(message, "ABCDEFGHIJKLM");
    assert_eq!(number(r#"{"id":"ABCDEFGHIJKLMaaaaaacb","result":{}}"#), Some(33));
    assert_eq!(number("{\"result\":{\"id\":\"x\"},\n\"id\" :\t\"ABCDEFGHIJKLMpppppppp\"}"), Some(u32::MAX));
    for other in [
        r#"{"id":7}"#,
        r#"{"id":"abc"}"#,
        r#"{"id":"ABCDEFGHIJKL-aaaaaacb"}"#,
        r#"{"id":"ABCDEFGHIJKLMaaaaaacbb"}"#,
        r#"{"text":"\"id\":\"ABCDEFGHIJKLMaaaaaacb\""}"#,
        r#"{"id":"ABCDEFGHIJKLMaaaaaacb"#,
        r#"{"id""#,
        "",
    ] {
        assert_eq!(number(other), None, "{other}");
    }
}

#[test]
fn an_error_is_a_refusal_and_so_is_what_cannot_be_read() {
    for refusal in [r#"{"id":"c","error":{"code":-32600}}"#, "{", "7"] {
        assert!(is_refusal(refusal), "{refusal}");
    }
    assert!(!is_refusal(r#"{"id":"c","result":{"error":null}}"#));
}

#[test]
fn only_what_a_server_refuses_as_things_stand_is_undone() {
    let answered = |body: &str| Error::new(ErrorCode::Rpc, "no").with_body(body);
    assert!(is_undone(&answered(r#"{"code":-32600,"message":"thread `t` is not loaded"}"#)));
    for body in ["{\"code\":-32603}", "{\"message\":\"-32600\"}", "{\"code\":\"-32600\"}", "[-32600]", "{"] {
        assert!(!is_undone(&answered(body)), "{body}");
    }
    assert!(!is_undone(&Error::new(ErrorCode::Network, "no").with_body(r#"{"code":-32600}"#)));
    assert!(!is_undone(&Error::new(ErrorCode::Rpc, "no")));
}

#[test]
fn a_response_in_a_stream_says_what_it_responds_to() {
    assert_eq!(response_to(" {\"a\":\r\n1}\n", "turn/get"), "{\"response_to\":\"turn/get\",\"a\":\r\n1}");
    assert_eq!(response_to("[1,\n2]", "turn/get"), "[1,\n2]");
}

#[test]
fn a_thread_is_looked_for_as_json_has_its_id() {
    assert_eq!(thread_mark("t\"1"), r#""t\"1""#);
}

#[test]
fn a_message_mostly_begins_with_its_method() {
    for (message, expected) in [
        (r#"{"method":"item/tool/call","id":0,"params":{}}"#, ("item/tool/call", true)),
        (r#"{ "jsonrpc" : "2.0", "method" : "item/tool/call", "id" : "r" }"#, ("item/tool/call", true)),
        (r#"{"method":"x/y","params":{"delta":"\"method\":\"turn/started\""}}"#, ("x/y", false)),
    ] {
        assert_eq!(method_at_start(message), Some(expected), "{message}");
    }
    for message in [
        r#"{"id":0,"method":"item/tool/call"}"#,
        r#"{"params":{"method":"x"},"jsonrpc":"2.0","method":"turn/started"}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}"#,
        r#"{"method":"thread/closed"}"#,
        "turn/started",
        "",
    ] {
        assert_eq!(method_at_start(message), None, "{message}");
    }
}
