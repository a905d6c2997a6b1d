//! What a turn is given, as the servers take it (sections 2.1, 2.2 and 5).

use serde_json::{Value as Json, json};

use super::requests::{BOTH, body, request};
use crate::error::ErrorCode;
use crate::protocol::Call;
use crate::protocol::agent_event::Dialect;

fn started() -> Json {
    json!({"sessionId": "s1", "agentName": "a", "turnId": "t1", "previousTurnId": "t0",
           "input": [{"type": "user.message", "content": "Hi \"there\"\n"}]})
}

/// Sections 2.1 and 5: tirea takes the turn's id, and drops a message whose id it knows.
#[test]
fn section_2_1_a_start() {
    let params = started();
    let content = "Hi \"there\"\n";
    let request = request(Dialect::Tirea, Call::CreateTurnStream, &params).expect("a request");
    assert_eq!((request.method.as_str(), &*request.path), ("POST", "v1/runs"));
    assert_eq!(request.headers.first(), Some(&("accept", "text/event-stream".to_owned())));
    assert_eq!(
        body(Dialect::Tirea, Call::CreateTurnStream, &params),
        json!({"agentId": "a", "threadId": "s1", "runId": "t1", "parentRunId": "t0",
               "messages": [{"id": "t1:0", "role": "user", "content": content}]})
    );
    assert_eq!(
        body(Dialect::Awaken, Call::CreateTurnStream, &params),
        json!({"agentId": "a", "threadId": "s1", "messages": [{"role": "user", "content": content}]})
    );
}

/// What the server is to decide is left to it.
#[test]
fn a_start_without_ids() {
    for previous in [json!(null), json!("auto"), json!("none"), json!("")] {
        let params = json!({"session_id": "s1", "agent_name": "a", "previous_turn_id": previous,
                            "input": [{"type": "user.message", "content": "Hi"}]});
        assert_eq!(
            body(Dialect::Tirea, Call::CreateTurnStream, &params),
            json!({"agentId": "a", "threadId": "s1", "messages": [{"role": "user", "content": "Hi"}]})
        );
    }
    for dialect in BOTH {
        let params = json!({"sessionId": "s1", "agentName": "a"});
        let expected = json!({"agentId": "a", "threadId": "s1", "messages": []});
        assert_eq!(body(dialect, Call::CreateTurnStream, &params), expected);
    }
}

#[test]
fn several_messages_and_parts() {
    let params = json!({"sessionId": "s1", "agentName": "a", "turnId": "t1", "input": [
        {"type": "user.message", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"type": "user.message", "content": [{"type": "text", "text": ""}]},
    ]});
    let tirea = body(Dialect::Tirea, Call::CreateTurnStream, &params);
    assert_eq!(
        tirea["messages"],
        json!([{"id": "t1:0", "role": "user", "content": "a\n\nb"}, {"id": "t1:1", "role": "user", "content": ""}])
    );
}

#[test]
fn files_are_refused() {
    for part in [
        json!({"type": "file", "name": "a", "data": "data:x;base64,"}),
        json!({"type": "file", "text": "a"}),
        json!({"type": "text"}),
        json!({"type": "text", "text": 5}),
        json!("text"),
    ] {
        let input = json!([{"type": "user.message", "content": [{"type": "text", "text": "a"}, part]}]);
        for dialect in BOTH {
            let params = json!({"sessionId": "s1", "agentName": "a", "turnId": "t1", "input": input});
            let error = request(dialect, Call::CreateTurnStream, &params).expect_err("a file");
            assert_eq!(error.code, ErrorCode::InvalidInput);
            assert_eq!(error.message, "this protocol takes text only");
        }
    }
}

#[test]
fn an_input_that_is_none_is_refused() {
    let cases = [
        (json!("Hi"), ErrorCode::InvalidOption),
        (json!({"type": "user.message"}), ErrorCode::InvalidOption),
        (json!(["Hi"]), ErrorCode::InvalidInput),
        (json!([null]), ErrorCode::InvalidInput),
        (json!([{}]), ErrorCode::InvalidInput),
        (json!([{"type": "user.message"}]), ErrorCode::InvalidInput),
        (json!([{"type": "user.message", "content": 5}]), ErrorCode::InvalidInput),
        (json!([{"type": "user.tool_approval", "tool_call_id": "c"}]), ErrorCode::InvalidInput),
        (
            json!([{"type": "user.tool_approval", "tool_call_id": "c", "approval": {"status": "maybe"}}]),
            ErrorCode::InvalidInput,
        ),
    ];
    for (input, code) in cases {
        for dialect in BOTH {
            let params = json!({"sessionId": "s1", "agentName": "a", "turnId": "t1", "input": input});
            let error = request(dialect, Call::CreateTurnStream, &params).expect_err("no input");
            assert_eq!(error.code, code, "{input}");
            let params = json!({"turnId": "t1", "input": input});
            request(dialect, Call::AnswerTurn, &params).expect_err("no answer");
        }
    }
}

/// An answer to a call, and what it becomes: action, result, reason.
fn answers() -> Vec<(Json, &'static str, Json, Option<&'static str>)> {
    let approval = |approval: Json| json!({"type": "user.tool_approval", "thread_id": "main", "tool_call_id": "c1", "approval": approval});
    let response = |content: &str| json!({"type": "user.tool_response", "thread_id": "main", "tool_call_id": "c1", "content": content});
    vec![
        (approval(json!({"status": "allow"})), "resume", json!({"approved": true}), None),
        (
            approval(json!({"status": "allow", "remember": true})),
            "resume",
            json!({"approved": true, "remember": true}),
            None,
        ),
        (
            approval(
                json!({"status": "allow", "remember": false, "result": {"colour": ["red"], "approved": "yes"}}),
            ),
            "resume",
            json!({"approved": true, "remember": false, "colour": ["red"]}),
            None,
        ),
        (approval(json!({"status": "deny"})), "cancel", json!({"approved": false}), None),
        (
            approval(
                json!({"status": "deny", "reason": "not \"now\"", "remember": true, "result": {"x": 1}}),
            ),
            "cancel",
            json!({"x": 1, "remember": true, "approved": false}),
            Some("not \"now\""),
        ),
        (response("blue"), "resume", json!("blue"), None),
        (response(" {\"a\": [1, null]} "), "resume", json!({"a": [1, null]}), None),
        (response("[]"), "resume", json!([]), None),
        // A bare boolean would be taken for a verdict.
        (response("true"), "resume", json!("true"), None),
        (response("5"), "resume", json!("5"), None),
        (response("null"), "resume", json!("null"), None),
        (response("\"a\""), "resume", json!("\"a\""), None),
        (response("{\"a\": "), "resume", json!("{\"a\": "), None),
    ]
}

/// Section 2.2.
#[test]
fn section_2_2_decisions_of_a_start() {
    for (item, action, result, reason) in answers() {
        let params = json!({"sessionId": "s1", "agentName": "a", "turnId": "t2", "previousTurnId": "t1", "input": [item]});
        let mut decision =
            json!({"target_id": "c1", "decision_id": "t2:0", "action": action, "result": result});
        if let Some(reason) = reason {
            decision["reason"] = reason.into();
        }
        let expected = json!({"agentId": "a", "threadId": "s1", "runId": "t2", "parentRunId": "t1",
                              "messages": [], "decisions": [decision]});
        assert_eq!(body(Dialect::Tirea, Call::CreateTurnStream, &params), expected);

        let error = request(Dialect::Awaken, Call::CreateTurnStream, &params).expect_err("apart");
        assert_eq!(error.code, ErrorCode::InvalidInput);
    }
}

#[test]
fn section_2_2_answers_to_a_turn_that_runs() {
    for (item, action, result, reason) in answers() {
        let mut decision =
            json!({"target_id": "c1", "decision_id": "t1:1", "action": action, "result": result});
        if let Some(reason) = reason {
            decision["reason"] = reason.into();
        }
        let first = json!({"type": "user.tool_response", "tool_call_id": "c0", "content": "x"});
        let params = json!({"sessionId": "s1", "turnId": "t1", "input": [first, item]});
        let before = json!({"target_id": "c0", "decision_id": "t1:0", "action": "resume", "result": "x"});
        let request = request(Dialect::Tirea, Call::AnswerTurn, &params).expect("a request");
        assert_eq!((request.method.as_str(), &*request.path), ("POST", "v1/runs/t1/inputs"));
        let found = body(Dialect::Tirea, Call::AnswerTurn, &params);
        assert_eq!(found, json!({"decisions": [before, decision]}));
    }
}

/// Section 5: one answer a request, without a field for the reason.
#[test]
fn section_5_answers_of_awaken() {
    for (item, action, result, reason) in answers() {
        let params = json!({"sessionId": "s1", "turnId": "t/1", "input": [item]});
        let mut payload = result;
        if let Some(reason) = reason {
            payload["reason"] = reason.into();
        }
        let request = request(Dialect::Awaken, Call::AnswerTurn, &params).expect("a request");
        assert_eq!((request.method.as_str(), &*request.path), ("POST", "v1/runs/t%2F1/decision"));
        assert_eq!(
            body(Dialect::Awaken, Call::AnswerTurn, &params),
            json!({"toolCallId": "c1", "action": action, "payload": payload})
        );
    }
    let one = json!({"type": "user.tool_response", "tool_call_id": "c", "content": "x"});
    for input in [json!([]), json!([one, one])] {
        let params = json!({"turnId": "t1", "input": input});
        let error = request(Dialect::Awaken, Call::AnswerTurn, &params).expect_err("not one");
        assert_eq!(error.code, ErrorCode::InvalidOption);
        assert!(error.message.contains("one by one"), "{}", error.message);
    }
}

#[test]
fn a_message_is_no_answer() {
    for dialect in BOTH {
        let params = json!({"turnId": "t1", "input": [{"type": "user.message", "content": "Hi"}]});
        let error = request(dialect, Call::AnswerTurn, &params).expect_err("no answer");
        assert_eq!(error.code, ErrorCode::InvalidInput);
    }
}
