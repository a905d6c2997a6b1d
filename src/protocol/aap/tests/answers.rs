//! Answers as records, lists and errors (sections 2 and 7).

use serde_json::{Value as Json, json};

use super::{agent, answer, answer_of, full, is_unexpected, read, user};
use crate::error::ErrorCode;
use crate::event::SessionRecord;
use crate::protocol::Call;

fn record(id: &str, agent_name: &Json) -> Json {
    json!({"type": "session", "id": id, "agent_name": agent_name, "title": null, "created_by_subject": null,
        "created_at": null, "updated_at": null})
}

#[test]
fn section_2_a_session_that_was_made() {
    let made =
        read(Call::CreateSession, &json!({"agentName": "basic"}), &json!({"sessionId": "sess/1", "x": 1}));
    assert_eq!(made, record("sess/1", &json!("basic")));
    serde_json::from_value::<SessionRecord>(made).expect("a record");
}

#[test]
fn section_2_a_session_as_the_server_has_it() {
    let agent = json!({"name": "basic", "tools": [{"name": "web_fetch", "trust": false}], "options": {"apiKey": "***"}});
    let tools = json!([{"name": "get_weather", "description": "d", "parameters": {}}]);
    let found = read(
        Call::GetSession,
        &json!({"sessionId": "s"}),
        &json!({"sessionId": "s", "agent": agent, "tools": tools}),
    );
    let mut expected = record("s", &json!("basic"));
    expected["agent"] = agent;
    expected["tools"] = tools;
    assert_eq!(found, expected);
    // What is not there is not made up.
    for agent in [json!(null), json!({}), json!({"name": 5})] {
        let found = read(
            Call::GetSession,
            &json!({"sessionId": "s"}),
            &json!({"sessionId": "s", "agent": agent, "tools": null}),
        );
        assert_eq!(found["agent_name"], Json::Null);
        assert!(found.get("tools").is_none());
        serde_json::from_value::<SessionRecord>(found).expect("a record");
    }
}

#[test]
fn section_2_sessions_of_an_agent() {
    let session = |id: &str, agent: &str| json!({"sessionId": id, "agent": {"name": agent}});
    let body = json!({"sessions": [session("1", "a"), session("2", "b"), session("3", "a"), {"sessionId": "4"}], "next": "c"});
    for (name, ids) in [("a", &["1", "3"][..]), ("b", &["2"]), ("c", &[]), ("", &["1", "2", "3", "4"])] {
        let page = read(Call::ListSessions, &json!({"agentName": name}), &body);
        let found: Vec<_> =
            page["items"].as_array().expect("a list").iter().map(|session| session["id"].clone()).collect();
        assert_eq!(found, ids);
        assert_eq!(page["next"], "c", "there may be more, also behind an empty page");
    }
    for next in [json!(null), json!(""), json!(5), json!({})] {
        let page = read(Call::ListSessions, &json!({}), &json!({"sessions": [], "next": next}));
        assert_eq!(page, json!({"items": [], "next": null}));
    }
}

#[test]
fn section_2_a_session_that_was_deleted() {
    for (status, body) in [(204, ""), (200, "{}"), (200, "null"), (200, " \n")] {
        assert_eq!(
            answer_of(status, body, Call::DeleteSession, &json!({"sessionId": "s"})).expect("an answer"),
            Json::Null
        );
    }
}

#[test]
fn messages_are_the_servers_own() {
    let messages = json!([{"role": "system", "content": "Be brief."}, user("Hi"), agent("Yes?"), {"role": "critic", "x": [1]}, 5]);
    let mut reversed = messages.clone();
    reversed.as_array_mut().expect("a list").reverse();
    for (order, expected) in [(json!(null), &messages), (json!("asc"), &messages), (json!("desc"), &reversed)]
    {
        let page = read(Call::ListMessages, &json!({"sessionId": "s", "order": order}), &full(&messages));
        assert_eq!(page, json!({"items": expected, "next": null}));
    }
    let params = json!({"sessionId": "s", "terms": {"history": "compacted"}});
    let page = read(Call::ListMessages, &params, &json!({"history": {"compacted": messages, "full": []}}));
    assert_eq!(page["items"], messages);
    assert!(is_unexpected(&answer(Call::ListMessages, &params, &full(&messages))), "it was not asked for");
}

/// Section 7: JSON, or a plain text; and what something in between says is not the server's.
#[test]
fn section_7_failures() {
    let long = "x".repeat(301);
    for (status, body, message) in [
        (404, r#"{"error":"Session not found"}"#, "the server answered 404: Session not found"),
        (
            400,
            r#"{"error":"type must be \"compacted\" or \"full\""}"#,
            "the server answered 400: type must be \"compacted\" or \"full\"",
        ),
        (404, "404 Not Found", "the server answered 404: 404 Not Found"),
        (500, "Internal Server Error\n", "the server answered 500: Internal Server Error"),
        (401, "Unauthorized", "the server answered 401: Unauthorized"),
        (400, r#"{"error":{"message":"no"}}"#, "the server answered 400: no"),
        (502, "<html>Bad gateway</html>", "the server answered 502"),
        (502, "", "the server answered 502"),
        (500, &*long, "the server answered 500"),
        (500, r#"{"error":5}"#, "the server answered 500"),
        (500, r#"{"message":"no"}"#, "the server answered 500"),
        (500, "[1]", "the server answered 500"),
        (500, "{\"error\":\"cut", "the server answered 500: {\"error\":\"cut"),
    ] {
        for call in
            [Call::GetSession, Call::CreateTurnStream, Call::ListTurns, Call::GetTurn, Call::ListAgents]
        {
            let error = answer_of(status, body, call, &json!({"sessionId": "s"})).expect_err("a failure");
            assert_eq!((error.code, error.status), (ErrorCode::Http, Some(status)));
            assert_eq!(error.message, message);
            assert_eq!(error.body.as_deref(), Some(body), "whatever it is, it is kept");
        }
    }
}

#[test]
fn answers_of_another_shape_are_unexpected() {
    let any = [json!(null), json!(5), json!("Hi"), json!([]), json!({}), json!([{"sessionId": "s"}])];
    let history = [
        json!({"history": null}),
        json!({"history": []}),
        json!({"history": {}}),
        json!({"history": {"full": {}}}),
        json!({"history": {"full": null}}),
        json!({"history": {"compacted": []}}),
        json!({"full": []}),
    ];
    let session = [
        json!({"sessionId": ""}),
        json!({"sessionId": 5}),
        json!({"sessionId": null}),
        json!({"session_id": "s"}),
    ];
    let sessions =
        [json!({"sessions": {}}), json!({"sessions": [5]}), json!({"sessions": [{"sessionId": "s"}, {}]})];
    let turn = json!({"sessionId": "s", "turnId": "t", "input": [{"type": "user.message", "content": "Hi"}]});
    let s = json!({"sessionId": "s"});
    for (call, params, bodies) in [
        (Call::CreateSession, &json!({"agentName": "a"}), &session[..]),
        (Call::GetSession, &s, &session),
        (Call::ListSessions, &json!({}), &sessions),
        (Call::ListTurns, &s, &history),
        (Call::ListSessionEvents, &s, &history),
        (Call::ListMessages, &s, &history),
        (Call::GetTurn, &turn, &history),
        (Call::ListTurnEvents, &turn, &history),
    ] {
        for body in any.iter().chain(bodies) {
            assert!(is_unexpected(&answer(call, params, body)), "{call:?} {body}");
        }
        for body in ["", "<html>", "{\"sessionId\":\"s\"", "event: turn_start\ndata: {}\n\n"] {
            assert!(is_unexpected(&answer_of(200, body, call, params)), "{call:?} {body}");
        }
    }
}

#[test]
fn calls_that_the_protocol_does_not_have_have_no_answer() {
    for call in [Call::CancelTurn, Call::CreateTurn, Call::GetSessionState, Call::ListTurnFrames] {
        let error = answer(call, &json!({}), &json!({})).expect_err("no such request");
        assert_eq!(error.code, ErrorCode::Unsupported, "{call:?}");
    }
}
