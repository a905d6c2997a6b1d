//! Messages as JSON and on the wire, to whom they belong, and lines however they are cut.

use crate::error::{Error, ErrorCode};

use super::response::is_undone;
use super::wire::{Envelope, find_id, is_refusal, response_to, thread_mark, thread_of};
use super::{LineDecoder, Message, Messages};

#[test]
fn a_call_says_its_messages_in_order() {
    let request = |method, params: &str| Message::Request { method, params: params.to_owned() };
    let messages = Messages {
        thread: "t".to_owned(),
        subscribe: Some(request("thread/start", "{}")),
        subscribes: false,
        recreates_thread: false,
        list: vec![
            request("turn/start", r#"{"a":"b"}"#),
            Message::Notification { method: "initialized", params: "{}".to_owned() },
            Message::Response { id: "7".to_owned(), result: "null".to_owned() },
        ],
    };
    assert_eq!(
        messages.to_json(),
        concat!(
            r#"{"thread":"t","subscribes":false,"subscribe":{"method":"thread/start","params":"{}"},"messages":["#,
            r#"{"method":"turn/start","params":"{\"a\":\"b\"}"},"#,
            r#"{"method":"initialized","params":"{}","notifies":true},{"id":"7","result":"null"}]}"#
        )
    );
    let one = Messages::request("turn/get", "{}".to_owned()).to_json();
    assert_eq!(one, r#"{"thread":"","subscribes":false,"messages":[{"method":"turn/get","params":"{}"}]}"#);
}

/// The lines of a stream whose chunks have this size.
fn lines(text: &[u8], size: usize, limit: usize) -> (Vec<String>, bool) {
    let mut decoder = LineDecoder::with_limit(limit);
    let mut lines = Vec::new();
    for chunk in text.chunks(size) {
        if decoder.feed(chunk, &mut |frame| lines.push(frame.data.to_owned())).is_err() {
            return (lines, false);
        }
    }
    (lines, true)
}

#[test]
fn lines_are_the_same_however_they_are_cut() {
    let text = "{\"a\":1}\n\n {\"ü\":\"😀\"}\r\n{}\nunfinished";
    for size in 1..=text.len() {
        let (lines, is_whole) = lines(text.as_bytes(), size, 100);
        assert_eq!(lines, ["{\"a\":1}", "{\"ü\":\"😀\"}", "{}"], "{size}");
        assert!(is_whole);
    }
}

#[test]
fn a_line_has_a_limit_and_nothing_is_taken_after_it() {
    for size in 1..=12 {
        let (lines, is_whole) = lines(b"1234\n12345\n1234\n", size, 4);
        assert_eq!(lines, ["1234"], "{size}");
        assert!(!is_whole);
    }
    let mut decoder = LineDecoder::with_limit(2);
    assert!(decoder.feed(b"123", &mut |_| ()).is_err());
    assert!(decoder.feed(b"\n", &mut |_| ()).is_err());
    decoder.reset();
    assert!(decoder.feed(b"1\n", &mut |_| ()).is_ok());
}

#[test]
fn a_line_that_is_no_text_is_a_message_that_cannot_be_read() {
    let (lines, _) = lines(b"a\xff\n{}\r", 1, 10);
    assert_eq!(lines, ["\u{fffd}", "{}"]);
}

#[test]
fn requests_go_under_their_ids_and_responses_under_those_of_the_server() {
    let params = || r#"{"a":1}"#.to_owned();
    let request = Message::Request { method: "turn/get", params: params() };
    assert_eq!(
        request.to_wire("ccccccccccccccccccccc"),
        r#"{"jsonrpc":"2.0","id":"ccccccccccccccccccccc","method":"turn/get","params":{"a":1}}"#
    );
    let notification = Message::Notification { method: "initialized", params: params() };
    assert_eq!(notification.to_wire("c"), r#"{"jsonrpc":"2.0","method":"initialized","params":{"a":1}}"#);
    let response = Message::Response { id: "7".to_owned(), result: "null".to_owned() };
    assert_eq!(response.to_wire("c"), r#"{"jsonrpc":"2.0","id":7,"result":null}"#);
}

#[test]
fn a_response_is_known_by_its_id_wherever_that_stands() {
    let id = "abcdefghijklmnopqrs-_";
    let find = |message| find_id(message, &|found| found == id);
    assert_eq!(find(r#"{"id":"abcdefghijklmnopqrs-_","result":{}}"#), Some(id));
    assert_eq!(find("{\"result\":{\"id\":\"x\"},\n\"id\" :\t\"abcdefghijklmnopqrs-_\"}"), Some(id));
    for other in [
        r#"{"id":7}"#,
        r#"{"id":"abc"}"#,
        r#"{"id":"abcdefghijklmnopqrs-+"}"#,
        r#"{"text":"\"id\":\"abcdefghijklmnopqrs-_\""}"#,
        r#"{"id":"abcdefghijklmnopqrs-_"#,
        r#"{"id""#,
        r#"{"ids":"abcdefghijklmnopqrs-_"}"#,
        "",
    ] {
        assert_eq!(find(other), None, "{other}");
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
fn a_notification_names_its_thread() {
    let thread = |message| {
        let value = crate::json::Value::parse(message).unwrap_or_default();
        value.as_object().and_then(thread_of).map(str::to_owned)
    };
    let closed = r#"{"method":"thread/closed","params":{"workspaceId":"w","threadId":"t\"1"}}"#;
    assert_eq!(thread(closed).as_deref(), Some("t\"1"));
    for other in [r#"{"params":{"threadId":7}}"#, r#"{"params":{}}"#, r#"{"params":"t"}"#, "{}", "[]", "{"] {
        assert_eq!(thread(other), None, "{other}");
    }
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
fn requests_and_turns_that_begin_go_to_all() {
    for message in [
        r#"{"method":"item/commandExecution/requestApproval","id":0,"params":{"threadId":"x"}}"#,
        r#"{ "jsonrpc" : "2.0", "method" : "item/tool/call", "id" : "r", "params" : {} }"#,
        r#"{"id":0,"method":"item/tool/call","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":"r","method":"item/tool/call","params":{}}"#,
        r#"{"method":"serverRequest/resolved","params":{"threadId":"x","requestId":0}}"#,
        r#"{"method":"turn/started","params":{}}"#,
    ] {
        let envelope = Envelope::begin(message).expect(message);
        assert!(envelope.is_for_all(), "{message}");
        assert_eq!(Envelope::parse(message), envelope, "{message}");
    }
    for message in [
        r#"{"method":"item/agentMessage/delta","params":{"itemId":"i","delta":"\"method\":\"turn/started\""}}"#,
        r#"{"method":"turn/completed","params":{"turn":{"id":"u"}}}"#,
        r#"{"method":"thread/closed"}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}"#,
        r#"{"id":"x","result":{"method":"turn/started"}}"#,
        "turn/started",
        "",
    ] {
        let begun = Envelope::begin(message);
        assert!(begun.is_none_or(|envelope| !envelope.is_for_all()), "{message}");
        assert!(!Envelope::parse(message).is_for_all(), "{message}");
    }
}

#[test]
fn a_method_is_found_wherever_it_stands() {
    let message = r#"{"params":{"method":"x"},"jsonrpc":"2.0","method":"turn\/started"}"#;
    assert_eq!(Envelope::begin(message), None);
    assert!(Envelope::parse(message).is_for_all());
}
