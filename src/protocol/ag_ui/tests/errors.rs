//! Bodies of error responses (section 8).

use super::*;
use crate::protocol::Answer;

fn error(status: u16, body: &str) -> crate::Error {
    let answer = Answer { status, status_text: "", content_type: "application/json", body };
    answer.read(&AgUi::new(), Call::CreateTurnStream, &Object::new()).expect_err("an error")
}

#[test]
fn bodies_of_all_servers_give_their_message() {
    let cases = [
        (
            r#"{"detail":[{"type":"missing","loc":["body","messages",0],"msg":"Field required","input":{}}]}"#,
            "Field required at body.messages.0",
        ),
        (
            r#"[{"type":"missing","loc":["runId"],"msg":"Field required","input":{}}]"#,
            "Field required at runId",
        ),
        (r#"{"detail":"A run is already active."}"#, "A run is already active."),
        (r#"{"error":"Agent not found","message":"Agent 'x' does not exist"}"#, "Agent 'x' does not exist"),
        (r#"{"error":"Invalid request body","details":"[…]"}"#, "Invalid request body"),
        (r#"{"error":{"message":"nested"}}"#, "nested"),
        ("plain words", "plain words"),
    ];
    for (body, message) in cases {
        assert_eq!(error(422, body).message, format!("the server answered 422: {message}"));
    }
    for body in ["<html>Bad gateway</html>", "", "{}", "[]", r#"{"detail":[]}"#, r#"{"detail":[7]}"#] {
        assert_eq!(error(502, body).message, "the server answered 502", "{body}");
    }
}

#[test]
fn an_error_has_nothing_of_the_request() {
    let echo = r#"{"detail":[{"type":"missing","loc":["body","x"],"msg":"Field required","input":{"forwardedProps":{"key":"secret"}},"ctx":{"key":"secret"}}]}"#;
    let list = r#"[{"type":"missing","loc":["x"],"msg":"Field required","input":{"key":"secret"}}]"#;
    for body in [echo, list] {
        let error = error(422, body);
        let kept = error.body.as_deref().expect("a body");
        assert!(!kept.contains("secret") && kept.contains("Field required"), "{kept}");
        assert!(!error.message.contains("secret"));
    }
    let text = "1 validation error for RunAgentInput\\nmessages.0\\n  Field required [type=missing, input_value={'key': 'secret'}, input_type=dict]";
    let plain = text.replace("\\n", "\n");
    for body in [format!(r#"{{"detail":"{text}"}}"#), format!(r#"{{"error":"{text}"}}"#), plain] {
        let error = error(400, &body);
        assert!(!error.body.as_deref().expect("a body").contains("secret"), "{body}");
        assert!(error.message.ends_with("Field required"), "{}", error.message);
        // What is read of it later is what the server said.
        let kept = error.body.as_deref().expect("a body");
        let is_json = body.starts_with('{');
        assert_eq!(Value::parse(kept).is_ok(), is_json, "{kept}");
        assert_eq!(super::super::errors::message(kept), super::super::errors::message(&body), "{kept}");
    }
    let nested = r#"{"error":{"message":"no [type=x, input_value='secret']"},"errors":[{"input":{"key":"secret"},"code":1.50}]}"#;
    assert_eq!(
        error(400, nested).body.as_deref(),
        Some(r#"{"error":{"message":"no"},"errors":[{"code":1.50}]}"#)
    );
    assert_eq!(error(409, r#"{"detail":"busy"}"#).body.as_deref(), Some(r#"{"detail":"busy"}"#));
}

#[test]
fn what_is_no_stream_is_unexpected() {
    for (content_type, body) in [
        ("text/html", "<html>"),
        ("application/json", "{}"),
        ("", ""),
        ("application/vnd.ag-ui.event+proto", "x"),
    ] {
        let answer = Answer { status: 200, status_text: "", content_type, body };
        let error = answer.read(&AgUi::new(), Call::CreateTurnStream, &Object::new()).expect_err("an error");
        assert_eq!(error.code, crate::ErrorCode::UnexpectedResponse, "{content_type}");
    }
    assert!(
        Answer { status: 200, status_text: "", content_type: "Text/Event-Stream;charset=utf-8", body: "" }
            .is_stream()
    );
}

#[test]
fn a_run_that_fails_repeats_nothing_of_the_request() {
    let message = "1 validation error\nx\n  Input should be a string [type=string_type, input_value='secret', input_type=int]";
    let turn = Turn::new().feed(&[started(), json!({"type": "RUN_ERROR", "message": message})]).end();
    let told = "1 validation error\nx\n  Input should be a string";
    assert_eq!(turn.seen.of("server.error")[0]["message"], told);
    assert_eq!(state(&turn.seen)["message"], told);
}
