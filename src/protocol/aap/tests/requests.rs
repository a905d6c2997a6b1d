//! The request of each call (section 2).

use serde_json::{Value as Json, json};

use super::{body, request};
use crate::error::ErrorCode;
use crate::protocol::Call;

const HEADERS: [(&str, &str); 2] = [("accept", "application/json"), ("content-type", "application/json")];

fn turn(terms: &Json) -> Json {
    json!({"sessionId": "s", "turnId": "t", "input": [{"type": "user.message", "content": "Hi"}], "terms": terms})
}

#[test]
fn section_2_requests_without_a_body() {
    let s = json!({"sessionId": "s 1/2"});
    let found = json!({"sessionId": "s", "turnId": "t", "input": [], "said": 3, "isBegun": true, "order": "desc",
        "pageToken": "x", "limit": 5});
    let turn = json!({"sessionId": "s", "turnId": "t", "input": [], "said": 3, "isBegun": true});
    let page = json!({"sessionId": "s", "pageToken": "x", "limit": 5});
    let rows = [
        (Call::ListAgents, json!({}), "GET meta"),
        (Call::ListSessions, json!({}), "GET sessions"),
        (
            Call::ListSessions,
            json!({"agentName": "a", "limit": 5, "windowStart": "z", "pageToken": "a b&c=ü"}),
            "GET sessions?after=a%20b%26c%3D%C3%BC",
        ),
        (Call::GetSession, s.clone(), "GET sessions/s%201%2F2"),
        (Call::DeleteSession, s, "DELETE sessions/s%201%2F2"),
        (Call::ListTurns, page.clone(), "GET sessions/s/history?type=full"),
        (Call::GetTurn, turn, "GET sessions/s/history?type=full"),
        (Call::ListTurnEvents, found, "GET sessions/s/history?type=full"),
        (Call::ListSessionEvents, page.clone(), "GET sessions/s/history?type=full"),
        (Call::ListMessages, page, "GET sessions/s/history?type=full"),
    ];
    for (call, mut params, line) in rows {
        for terms in [json!(null), json!({"history": "full"}), json!({})] {
            params["terms"] = terms;
            let request = request(call, &params).unwrap_or_else(|error| panic!("{call:?}: {error}"));
            assert_eq!(format!("{} {}", request.method.as_str(), request.path), line);
            assert_eq!(request.headers, [("accept", "application/json".to_owned())], "{call:?}");
            assert_eq!(request.body, None, "{call:?}");
        }
    }
}

/// Section 6: the history that the agent keeps, or none.
#[test]
fn section_6_the_history_is_the_one_that_there_is() {
    let reads =
        [Call::ListTurns, Call::GetTurn, Call::ListTurnEvents, Call::ListSessionEvents, Call::ListMessages];
    for call in reads {
        let mut params = json!({"sessionId": "s", "terms": {"history": "compacted"}});
        if matches!(call, Call::GetTurn | Call::ListTurnEvents) {
            params["turnId"] = "t".into();
        }
        assert_eq!(request(call, &params).expect("a request").path, "sessions/s/history?type=compacted");
        for none in [json!(null), json!("none"), json!(5), json!({})] {
            params["terms"] = json!({"history": none});
            let error = request(call, &params).expect_err("there is none");
            assert_eq!(error.code, ErrorCode::Unsupported, "{none}");
            assert_eq!(error.message, "this agent keeps no history that could be read");
        }
    }
}

#[test]
fn calls_that_the_protocol_does_not_have_are_unsupported() {
    let mut unsupported = 0;
    for call in Call::ALL {
        let params = json!({"sessionId": "s"});
        if let Err(error) = request(call, &params)
            && error.code == ErrorCode::Unsupported
        {
            assert_eq!(error.message, "this protocol does not support it");
            unsupported += 1;
        }
    }
    assert_eq!(unsupported, 21);
}

#[test]
fn ids_that_are_none_reach_no_server() {
    for id in [json!(""), json!("."), json!(".."), json!(5), json!(null)] {
        let error = request(Call::GetSession, &json!({"sessionId": id})).expect_err("no session");
        assert_eq!(error.code, ErrorCode::InvalidOption);
        assert_eq!(error.message, "`sessionId` must be a non-empty id");
    }
}

#[test]
fn options_that_a_call_does_not_have_are_refused() {
    for (call, params, problem) in [
        (Call::GetSession, json!({"sessionId": "s", "limit": 1}), "`limit` is not an option of this call"),
        (Call::ListAgents, json!({"pageToken": "x"}), "`pageToken` is not an option of this call"),
        (
            Call::CreateSession,
            json!({"agentName": "a", "title": "x"}),
            "`title` is not an option of this call",
        ),
        (Call::CreateSession, json!({"agentTools": []}), "`agentName` is required"),
        (Call::ListTurnEvents, json!({"sessionId": "s"}), "`turnId` is required"),
    ] {
        let error = request(call, &params).expect_err("an option");
        assert_eq!((error.code, &*error.message), (ErrorCode::InvalidOption, problem));
    }
}

#[test]
fn section_2_a_session() {
    let tool = json!({"name": "get_weather", "description": "d", "parameters": {"type": "object"}});
    let params = json!({"agentName": "basic", "agentTools": [{"name": "web_fetch", "trust": true}],
        "agentOptions": {"language": "English", "apiKey": "secret"}, "messages": [{"role": "system", "content": "Be brief."}],
        "tools": [tool], "terms": {"stream": "message"}});
    let request = request(Call::CreateSession, &params).expect("a request");
    assert_eq!((request.method.as_str(), &*request.path), ("POST", "sessions"));
    assert_eq!(request.headers, HEADERS.map(|(name, value)| (name, value.to_owned())));
    let expected = json!({"agent": {"name": "basic", "tools": [{"name": "web_fetch", "trust": true}],
        "options": {"language": "English", "apiKey": "secret"}},
        "messages": [{"role": "system", "content": "Be brief."}], "tools": [tool]});
    assert_eq!(serde_json::from_str::<Json>(&request.body.expect("a body")).expect("JSON"), expected);
    // What is not given is not sent: the server has defaults.
    assert_eq!(
        body(Call::CreateSession, &json!({"agentName": "basic"})),
        json!({"agent": {"name": "basic"}})
    );
    let nothing = json!({"agentName": "basic", "agentTools": null, "agentOptions": null, "messages": null, "tools": null});
    assert_eq!(body(Call::CreateSession, &nothing), json!({"agent": {"name": "basic"}}));
}

/// Which option is wrong is said, but not what it is: it may be a secret.
#[test]
fn a_session_of_wrong_types_is_refused() {
    for (name, value, problem) in [
        ("agentOptions", json!({"apiKey": 12345}), "`agentOptions` must be an object of texts"),
        ("agentOptions", json!({"apiKey": null}), "`agentOptions` must be an object of texts"),
        ("agentOptions", json!(["12345"]), "`agentOptions` must be an object of texts"),
        ("agentTools", json!({}), "`agentTools` must be a list"),
        ("messages", json!("Hi"), "`messages` must be a list"),
        ("tools", json!(true), "`tools` must be a list"),
    ] {
        let error =
            request(Call::CreateSession, &json!({"agentName": "a", name: value})).expect_err("a type");
        assert_eq!((error.code, &*error.message), (ErrorCode::InvalidOption, problem));
    }
}

/// Sections 1 and 3: the mode is named in the body and in the header.
#[test]
fn section_3_a_turn_in_each_mode() {
    for (terms, mode, accept) in [
        (json!(null), "delta", "text/event-stream"),
        (json!({}), "delta", "text/event-stream"),
        (json!({"stream": "delta"}), "delta", "text/event-stream"),
        (json!({"stream": "message"}), "message", "text/event-stream"),
        (json!({"stream": "none"}), "none", "application/json"),
        (json!({"stream": "weird"}), "none", "application/json"),
        (json!({"stream": null}), "none", "application/json"),
    ] {
        let request = request(Call::CreateTurnStream, &turn(&terms)).expect("a request");
        assert_eq!((request.method.as_str(), &*request.path), ("POST", "sessions/s/turns"));
        let mut headers = request.headers.clone();
        headers.sort();
        assert_eq!(
            headers,
            [("accept", accept.to_owned()), ("content-type", "application/json".to_owned())],
            "{terms}"
        );
        let sent: Json = serde_json::from_str(&request.body.expect("a body")).expect("JSON");
        assert_eq!(sent, json!({"stream": mode, "messages": [{"role": "user", "content": "Hi"}]}), "{terms}");
    }
}

#[test]
fn section_3_what_the_terms_change_is_sent() {
    let agent = json!({"tools": [{"name": "web_fetch"}], "options": {"language": "Japanese"}});
    let declare = json!([{"name": "get_time", "description": "d", "parameters": {}}]);
    let terms = json!({"agent": agent, "declare": declare, "tools": ["get_time"]});
    let expected = json!({"stream": "delta", "agent": agent, "tools": declare, "messages": [{"role": "user", "content": "Hi"}]});
    assert_eq!(body(Call::CreateTurnStream, &turn(&terms)), expected);
    // An empty list says that there are no tools any more; `null` says nothing.
    let sent = body(Call::CreateTurnStream, &turn(&json!({"declare": [], "agent": null})));
    assert_eq!((sent.get("tools"), sent.get("agent")), (Some(&json!([])), None));
}

#[test]
fn what_only_the_client_needs_is_not_sent() {
    let mut params = turn(&json!({"history": "full", "images": ["data"], "tools": ["mine"]}));
    params["agentName"] = "a".into();
    params["previousTurnId"] = "turn-1".into();
    let sent = body(Call::CreateTurnStream, &params);
    assert_eq!(sent, json!({"stream": "delta", "messages": [{"role": "user", "content": "Hi"}]}));
}
