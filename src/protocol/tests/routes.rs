//! The tables of calls, and what their lines say.

use crate::error::ErrorCode;
use crate::json::{Object, Value};
use crate::protocol::Call;
use crate::protocol::calls::{Calls, calls};
use crate::protocol::route::{Route, add_query};

const CALLS: Calls = calls! {
    GetTurn "GET turns/{turn_id}/record",
    ListSessions "GET sessions limit page_token>after start window_start>start root=true | agent_name",
    CreateSession "POST sessions !agent_name>name title stream=false | metadata",
};

fn params(text: &str) -> Object<'_> {
    match Value::parse(text) {
        Ok(Value::Object(params)) => params,
        _ => panic!("{text} is an object"),
    }
}

/// What is sent: the path with its query, or the body.
fn sent(call: Call, text: &str) -> String {
    let route = Route::of(CALLS, call).expect("a route");
    let (mut path, sent) = route.fill(&params(text)).expect("options of the call");
    if route.has_body() {
        return sent.to_json();
    }
    add_query(&sent, &mut path);
    path
}

#[test]
fn a_call_without_a_line_is_unsupported() {
    for call in Call::ALL {
        let expected = matches!(call, Call::GetTurn | Call::ListSessions | Call::CreateSession);
        let line = CALLS.line(call);
        assert_eq!(line.is_ok(), expected, "{call:?}");
        assert!(expected || line.is_err_and(|error| error.code == ErrorCode::Unsupported), "{call:?}");
    }
}

#[test]
fn parameters_are_sent_under_the_names_of_the_wire() {
    assert_eq!(sent(Call::GetTurn, r#"{"turn_id": "a/b"}"#), "turns/a%2Fb/record");
    assert_eq!(sent(Call::ListSessions, "{}"), "sessions?root=true");
    let all = r#"{"agent_name": "a", "page_token": "p", "limit": 5, "window_start": "w", "start": "s"}"#;
    assert_eq!(sent(Call::ListSessions, all), "sessions?limit=5&after=p&start=s&root=true");
    assert_eq!(sent(Call::ListSessions, r#"{"window_start": "w"}"#), "sessions?start=w&root=true");
    let new = r#"{"agent_name": "a", "title": "t", "metadata": {}}"#;
    assert_eq!(sent(Call::CreateSession, new), r#"{"name":"a","title":"t","stream":false}"#);
}

#[test]
fn only_parameters_of_the_line_are_options() {
    let problem = |call, text: &str| {
        let route = Route::of(CALLS, call).expect("a route");
        route.fill(&params(text)).err().map(|error| error.message.clone())
    };
    for name in ["after", "root", "root=true", "true", "start>", "page_token>after"] {
        let text = format!(r#"{{"{name}": "x"}}"#);
        assert!(problem(Call::ListSessions, &text).is_some(), "{name}");
    }
    for name in ["name", "stream", "!agent_name", ">name"] {
        let text = format!(r#"{{"agent_name": "a", "{name}": "x"}}"#);
        assert!(problem(Call::CreateSession, &text).is_some(), "{name}");
    }
    assert_eq!(problem(Call::CreateSession, "{}").as_deref(), Some("`agentName` is required"));
    assert_eq!(problem(Call::GetTurn, r#"{"turn_id": "t"}"#), None);
}
