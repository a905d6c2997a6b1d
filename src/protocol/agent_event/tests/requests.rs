//! The request of each call, in both dialects (sections 2 and 5).

use serde_json::{Value as Json, json};

use crate::error::{Error, ErrorCode};
use crate::json::Value;
use crate::protocol::agent_event::{AgentEvent, Dialect};
use crate::protocol::{Call, Protocol, Request};

pub(super) const BOTH: [Dialect; 2] = [Dialect::Tirea, Dialect::Awaken];

pub(super) fn request(dialect: Dialect, call: Call, params: &Json) -> Result<Request, Error> {
    let text = params.to_string();
    let json = Value::parse(&text).expect("JSON");
    AgentEvent::new(dialect).request(call, json.as_object().expect("an object").clone())
}

pub(super) fn body(dialect: Dialect, call: Call, params: &Json) -> Json {
    let request = request(dialect, call, params).unwrap_or_else(|error| panic!("{call:?}: {error}"));
    serde_json::from_str(&request.body.expect("a body")).expect("JSON")
}

/// A call with its parameters, and the request: method and path, body.
type Row = (Call, Json, &'static str, Option<Json>);

fn check(dialect: Dialect, rows: &[Row]) {
    for (call, params, line, body) in rows {
        let request = request(dialect, *call, params).unwrap_or_else(|error| panic!("{call:?}: {error}"));
        assert_eq!(format!("{} {}", request.method.as_str(), request.path), *line, "{dialect:?} {call:?}");
        let found = request.body.as_ref().map(|body| serde_json::from_str::<Json>(body).expect("JSON"));
        assert_eq!(found, *body, "{dialect:?} {call:?}");
        let accept = if call.streams() { "text/event-stream" } else { "application/json" };
        let mut headers = vec![("accept", accept.to_owned())];
        if body.is_some() {
            // Without it the servers answer 415 to a start.
            headers.push(("content-type", "application/json".to_owned()));
        }
        assert_eq!(request.headers, headers, "{dialect:?} {call:?}");
    }
}

/// What both dialects ask for in the same way.
fn common() -> Vec<Row> {
    let s = json!({"sessionId": "s1"});
    let turn = json!({"sessionId": "s1", "turnId": "t1"});
    vec![
        (Call::GetSession, s.clone(), "GET v1/threads/s1", None),
        (Call::CancelSession, s.clone(), "POST v1/threads/s1/interrupt", Some(json!({}))),
        (Call::InterruptSession, s.clone(), "POST v1/threads/s1/interrupt", Some(json!({}))),
        (Call::DeleteSession, s.clone(), "DELETE v1/threads/s1", None),
        (
            Call::RenameSession,
            json!({"sessionId": "s1", "title": "Größe \"1\""}),
            "PATCH v1/threads/s1/metadata",
            Some(json!({"title": "Größe \"1\""})),
        ),
        (Call::GetTurn, turn.clone(), "GET v1/runs/t1", None),
        (Call::GetTurn, json!({"turnId": "t1"}), "GET v1/runs/t1", None),
        (Call::CancelTurn, turn.clone(), "POST v1/runs/t1/cancel", Some(json!({}))),
        (Call::ListTurnEvents, turn, "GET v1/threads/s1/messages?run_id=t1&limit=200", None),
        (Call::ListSessionEvents, s.clone(), "GET v1/threads/s1/messages?limit=200", None),
        (Call::ListMessages, s, "GET v1/threads/s1/messages?limit=200", None),
        (
            Call::ListMessages,
            json!({"sessionId": "s1", "limit": 20, "order": "asc", "visibility": "internal"}),
            "GET v1/threads/s1/messages?limit=20&visibility=internal",
            None,
        ),
    ]
}

#[test]
fn section_2_tirea() {
    let mut rows = common();
    rows.extend([
        (
            Call::ListSessions,
            json!({"agentName": "a", "limit": 25, "windowStart": "z"}),
            "GET v1/threads/summaries",
            None,
        ),
        (
            Call::ListSessions,
            json!({"agentName": "a", "limit": 25, "pageToken": "200"}),
            "GET v1/threads?offset=200&limit=25",
            None,
        ),
        (Call::GetSessionState, json!({"sessionId": "s1"}), "GET v1/threads/s1", None),
        (
            Call::ListTurns,
            json!({"sessionId": "s/1", "limit": 25}),
            "GET v1/runs?thread_id=s%2F1&offset=0&limit=25",
            None,
        ),
        (
            Call::ListTurns,
            json!({"sessionId": "s1", "pageToken": "399"}),
            "GET v1/runs?thread_id=s1&offset=399&limit=200",
            None,
        ),
        (
            Call::ListTurnEvents,
            json!({"sessionId": "s1", "turnId": "t 1", "limit": 25, "pageToken": "7"}),
            "GET v1/threads/s1/messages?run_id=t%201&limit=25&after=7",
            None,
        ),
        (
            Call::ListSessionEvents,
            json!({"sessionId": "s1", "order": "desc", "pageToken": "7"}),
            "GET v1/threads/s1/messages?limit=200&order=desc&before=7",
            None,
        ),
        (
            Call::ListMessages,
            json!({"sessionId": "s1", "visibility": "all"}),
            "GET v1/threads/s1/messages?limit=200&visibility=none",
            None,
        ),
    ]);
    check(Dialect::Tirea, &rows);
}

#[test]
fn section_5_awaken() {
    let mut rows = common();
    rows.extend([
        (Call::ListSessions, json!({"agentName": "a"}), "GET v1/threads/summaries?root=true", None),
        (
            Call::ListSessions,
            json!({"agentName": "a", "limit": 25, "pageToken": "thr_1=", "windowStart": "z"}),
            "GET v1/threads/summaries?limit=25&cursor=thr_1%3D&root=true",
            None,
        ),
        (Call::GetSessionState, json!({"sessionId": "s1"}), "GET v1/threads/s1/runs/latest", None),
        (
            Call::ListTurns,
            json!({"sessionId": "s1", "limit": 25}),
            "GET v1/threads/s1/runs?offset=0&limit=25",
            None,
        ),
        (
            Call::ListTurns,
            json!({"sessionId": "s1", "pageToken": "200"}),
            "GET v1/threads/s1/runs?offset=200&limit=200",
            None,
        ),
        (
            Call::ListTurnEvents,
            json!({"sessionId": "s1", "turnId": "t1", "limit": 25, "pageToken": "msg_x"}),
            "GET v1/threads/s1/messages?run_id=t1&limit=25&cursor=msg_x",
            None,
        ),
        (
            Call::ListSessionEvents,
            json!({"sessionId": "s1", "order": "desc", "pageToken": "msg_x"}),
            "GET v1/threads/s1/messages?limit=200&order=desc&cursor=msg_x",
            None,
        ),
        (
            Call::ListMessages,
            json!({"sessionId": "s1", "visibility": "all"}),
            "GET v1/threads/s1/messages?limit=200&visibility=all",
            None,
        ),
        (
            Call::ListTurnFrames,
            json!({"sessionId": "s1", "turnId": "t1", "cursor": "c/1", "limit": 200}),
            "GET v1/runs/t1/events?cursor=c%2F1&limit=200",
            None,
        ),
        (
            Call::SubscribeTurn,
            json!({"sessionId": "s1", "turnId": "t1", "cursor": "c1"}),
            "GET v1/runs/t1/events/stream?cursor=c1",
            None,
        ),
        (Call::SubscribeTurn, json!({"turnId": "t1"}), "GET v1/runs/t1/events/stream", None),
    ]);
    check(Dialect::Awaken, &rows);
}

#[test]
fn what_a_dialect_does_not_have_is_unsupported() {
    let neither = [
        Call::CreateSession,
        Call::CreateTurn,
        Call::CreateDraftSession,
        Call::ListDraftSessions,
        Call::GetDraftSession,
        Call::UpdateDraftSession,
        Call::ListOwnedSessions,
        Call::SearchSessions,
        Call::DownloadSandboxFile,
    ];
    let tirea = neither.into_iter().chain([Call::SubscribeTurn, Call::ListTurnFrames]);
    let cases = tirea.map(|call| (Dialect::Tirea, call));
    for (dialect, call) in cases.chain(neither.map(|call| (Dialect::Awaken, call))) {
        let error = request(dialect, call, &json!({"sessionId": "s", "turnId": "t"})).expect_err("none");
        assert_eq!(error.code, ErrorCode::Unsupported, "{dialect:?} {call:?}");
        assert_eq!(error.message, "this protocol does not support it");
    }
}

/// A session that was not made here does not know its agent.
#[test]
fn a_turn_names_its_agent() {
    for dialect in BOTH {
        for agent in [json!(null), json!("")] {
            let params = json!({"sessionId": "s1", "agentName": agent, "turnId": "t1"});
            let error = request(dialect, Call::CreateTurnStream, &params).expect_err("no agent");
            assert_eq!(error.code, ErrorCode::InvalidOption);
            assert!(error.message.contains("getSession(id, { agentName })"), "{}", error.message);
        }
    }
}

/// A session comes into being with its first turn.
#[test]
fn section_2_1_a_session_needs_no_request() {
    let cases = [
        (json!({"id": "s1", "agentName": "a", "title": "T"}), json!("T")),
        (json!({"id": "s1", "agent_name": "a"}), Json::Null),
        (json!({"id": "s1", "agent_name": "a", "title": null}), Json::Null),
    ];
    for dialect in BOTH {
        for (params, title) in &cases {
            let text = params.to_string();
            let json = Value::parse(&text).expect("JSON");
            let local =
                AgentEvent::new(dialect).local(Call::CreateSession, json.as_object().expect("an object"));
            let found: Json = serde_json::from_str(&local.expect("a session").to_json()).expect("JSON");
            let expected = json!({"type": "session", "id": "s1", "agent_name": "a", "title": title,
                                  "created_by_subject": null, "created_at": null, "updated_at": null});
            assert_eq!(found, expected);
            serde_json::from_value::<crate::event::SessionRecord>(found).expect("a record");
        }
        for call in Call::ALL.into_iter().filter(|call| *call != Call::CreateSession) {
            let none = crate::json::Object::new();
            assert_eq!(AgentEvent::new(dialect).local(call, &none), None, "{call:?}");
        }
    }
}

/// Ids are opaque, and must not lead anywhere else.
#[test]
fn ids_are_percent_encoded() {
    let cases = [("../x", "..%2Fx"), ("a/b?c#d%", "a%2Fb%3Fc%23d%25"), ("é\u{1f600}", "%C3%A9%F0%9F%98%80")];
    for dialect in BOTH {
        for (id, encoded) in cases {
            let path = request(dialect, Call::GetTurn, &json!({"turnId": id})).expect("a request").path;
            assert_eq!(path, format!("v1/runs/{encoded}"));
        }
        for id in [json!("."), json!(".."), json!(""), json!(null), json!(5)] {
            for call in [Call::GetSession, Call::DeleteSession, Call::ListMessages, Call::InterruptSession] {
                let error = request(dialect, call, &json!({"sessionId": id})).expect_err("no id");
                assert_eq!(error.code, ErrorCode::InvalidOption, "{call:?} {id}");
            }
        }
    }
}

#[test]
fn options_that_a_call_does_not_take_are_refused_by_name() {
    let cases = [
        (Call::ListSessions, json!({"agentName": "a", "offset": 5}), "`offset`"),
        // The servers have one order, and no times to choose from.
        (Call::ListSessions, json!({"agentName": "a", "order": "asc"}), "`order`"),
        (Call::ListSessions, json!({"agentName": "a", "startTimestamp": "x"}), "`startTimestamp`"),
        (Call::ListTurns, json!({"sessionId": "s", "order": "asc"}), "`order`"),
        (Call::ListTurns, json!({"sessionId": "s", "threadId": "s"}), "`threadId`"),
        (Call::ListTurns, json!({"sessionId": "s", "pageToken": "x"}), "`pageToken`"),
        (Call::ListTurns, json!({"sessionId": "s", "pageToken": "x1"}), "`pageToken`"),
        (Call::ListTurns, json!({"sessionId": "s", "pageToken": "18446744073709551616"}), "`pageToken`"),
        (Call::ListTurns, json!({"sessionId": "s", "pageToken": 1}), "`pageToken`"),
        (Call::GetTurn, json!({"turnId": "t", "runId": "t"}), "`runId`"),
        (Call::ListTurnEvents, json!({"sessionId": "s"}), "`turnId`"),
        (Call::ListTurnEvents, json!({"sessionId": "s", "turnId": "t", "order": "up"}), "`order`"),
        (Call::ListMessages, json!({"sessionId": "s", "order": 1}), "`order`"),
        (Call::ListMessages, json!({"sessionId": "s", "visibility": "external"}), "`visibility`"),
        (Call::ListMessages, json!({"sessionId": "s", "visibility": true}), "`visibility`"),
        (Call::ListSessionEvents, json!({"sessionId": "s", "lastTurnId": "t"}), "`lastTurnId`"),
        (Call::RenameSession, json!({"sessionId": "s"}), "`title`"),
        (Call::RenameSession, json!({"sessionId": "s", "title": 5}), "`title`"),
        (Call::AnswerTurn, json!({"turnId": "t"}), "`input`"),
        (Call::CreateTurnStream, json!({"agentName": "a"}), "`sessionId`"),
        (Call::CreateTurnStream, json!({"sessionId": "s", "agentName": "a", "stream": true}), "`stream`"),
    ];
    for dialect in BOTH {
        for (call, params, name) in &cases {
            let error = request(dialect, *call, params).expect_err("an option");
            assert_eq!(error.code, ErrorCode::InvalidOption, "{dialect:?} {params}");
            assert!(error.message.contains(name), "{} names {name}", error.message);
        }
    }
}
