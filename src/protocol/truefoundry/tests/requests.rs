//! The request of each call, in both dialects (sections 1.1, 1.2 and 7).

use serde_json::{Value as Json, json};

use crate::error::{Error, ErrorCode};
use crate::json::Value;
use crate::protocol::truefoundry::{Dialect, TrueFoundry};
use crate::protocol::{Call, Protocol, Request};

fn request(dialect: Dialect, call: Call, params: &Json) -> Result<Request, Error> {
    let text = params.to_string();
    let json = Value::parse(&text).expect("JSON");
    TrueFoundry::new(dialect).request(call, json.as_object().expect("an object").clone())
}

/// A call with its parameters, and the request: method and path, body.
type Row = (Call, Json, &'static str, Option<Json>);

fn check(dialect: Dialect, rows: &[Row]) {
    for (call, params, line, body) in rows {
        let request = request(dialect, *call, params).unwrap_or_else(|error| panic!("{call:?}: {error}"));
        assert_eq!(format!("{} {}", request.method.as_str(), request.path), *line, "{call:?}");
        let found = request.body.as_ref().map(|body| serde_json::from_str::<Json>(body).expect("JSON"));
        assert_eq!(found, *body, "{call:?}");
        let header = |name: &str| {
            let mut found = request.headers.iter().filter(|(known, _)| *known == name);
            let value = found.next().map(|(_, value)| value.as_str());
            assert!(found.next().is_none(), "{name} twice");
            value
        };
        let accept = match call {
            Call::CreateTurnStream | Call::SubscribeTurn => "text/event-stream",
            Call::DownloadSandboxFile => "*/*",
            _ => "application/json",
        };
        assert_eq!(header("accept"), Some(accept), "{call:?}");
        assert_eq!(header("content-type"), body.as_ref().map(|_| "application/json"), "{call:?}");
        assert_eq!(header("authorization"), None, "credentials are not the protocol's");
    }
}

const S: &str = "01arz.g";
const T: &str = "01bcd.g.ab12cd";

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn section_1_2_the_gateway() {
    let input = json!([{"type": "user.message", "content": "Hi"}]);
    let window = json!({
        "agentName": "support-bot", "limit": 50, "order": "asc", "pageToken": "p/1=",
        "startTimestamp": "2026-07-01T00:00:00+02:00", "endTimestamp": "2026-07-02T00:00:00Z",
    });
    let query = "agent_name=support-bot&limit=50&order=asc&page_token=p%2F1%3D\
                 &start_timestamp=2026-07-01T00%3A00%3A00%2B02%3A00&end_timestamp=2026-07-02T00%3A00%3A00Z";
    let listed = |path: &str| &*Box::leak(format!("GET {path}?{query}").into_boxed_str());
    let spec = json!({"model": {"name": "m"}, "instructions": "Be kind."});
    let rows: &[Row] = &[
        (
            Call::CreateSession,
            json!({"agentName": "support-bot"}),
            "POST v1/agents/sessions",
            Some(json!({"agent_name": "support-bot"})),
        ),
        (
            Call::CreateSession,
            json!({"agentName": "support-bot", "title": "Help"}),
            "POST v1/agents/sessions",
            Some(json!({"agent_name": "support-bot", "title": "Help"})),
        ),
        (Call::ListSessions, window.clone(), listed("v1/agents/sessions"), None),
        (Call::GetSession, json!({"sessionId": S}), "GET v1/agents/sessions/01arz.g", None),
        (
            Call::CancelSession,
            json!({"sessionId": S}),
            "POST v1/agents/sessions/01arz.g/cancel",
            Some(json!({})),
        ),
        (Call::ListTurns, json!({"sessionId": S}), "GET v1/agents/sessions/01arz.g/turns", None),
        (
            Call::ListTurns,
            json!({"sessionId": S, "limit": 25, "pageToken": "x"}),
            "GET v1/agents/sessions/01arz.g/turns?page_token=x&limit=25",
            None,
        ),
        (
            Call::CreateTurnStream,
            json!({"sessionId": S, "input": input, "previousTurnId": "auto"}),
            "POST v1/agents/sessions/01arz.g/turns",
            Some(json!({"input": input, "previous_turn_id": "auto", "stream": true})),
        ),
        (
            Call::CreateTurnStream,
            json!({"sessionId": S}),
            "POST v1/agents/sessions/01arz.g/turns",
            Some(json!({"stream": true})),
        ),
        (
            Call::CreateTurn,
            json!({"sessionId": S, "input": input, "previousTurnId": "none"}),
            "POST v1/agents/sessions/01arz.g/turns",
            Some(json!({"input": input, "previous_turn_id": "none", "stream": false})),
        ),
        (
            Call::GetTurn,
            json!({"sessionId": S, "turnId": T}),
            "GET v1/agents/sessions/01arz.g/turns/01bcd.g.ab12cd",
            None,
        ),
        (
            Call::SubscribeTurn,
            json!({"sessionId": S, "turnId": T, "afterSequenceNumber": 17}),
            "POST v1/agents/sessions/01arz.g/turns/01bcd.g.ab12cd/subscribe",
            Some(json!({"after_sequence_number": 17})),
        ),
        (
            Call::SubscribeTurn,
            json!({"sessionId": S, "turnId": T}),
            "POST v1/agents/sessions/01arz.g/turns/01bcd.g.ab12cd/subscribe",
            Some(json!({})),
        ),
        (
            Call::ListTurnEvents,
            json!({"sessionId": S, "turnId": T, "limit": 25, "order": "desc", "pageToken": "x"}),
            "GET v1/agents/sessions/01arz.g/turns/01bcd.g.ab12cd/events?page_token=x&limit=25&order=desc",
            None,
        ),
        (
            Call::ListSessionEvents,
            json!({"sessionId": S, "lastTurnId": T, "limit": 100, "pageToken": "x"}),
            "GET v1/agents/sessions/01arz.g/events?page_token=x&last_turn_id=01bcd.g.ab12cd&limit=100",
            None,
        ),
        (
            Call::CreateDraftSession,
            json!({"agentSpec": spec, "agentName": "draft"}),
            "POST v1/agents/draft-sessions",
            Some(json!({"agent_spec": spec, "agent_name": "draft"})),
        ),
        (Call::ListDraftSessions, window.clone(), listed("v1/agents/draft-sessions"), None),
        (Call::GetDraftSession, json!({"sessionId": S}), "GET v1/agents/draft-sessions/01arz.g", None),
        (
            Call::UpdateDraftSession,
            json!({"sessionId": S, "agentSpec": spec}),
            "PATCH v1/agents/draft-sessions/01arz.g",
            Some(json!({"agent_spec": spec})),
        ),
        (
            Call::UpdateDraftSession,
            json!({"sessionId": S}),
            "PATCH v1/agents/draft-sessions/01arz.g",
            Some(json!({})),
        ),
        (Call::ListOwnedSessions, window, listed("v1/x/agents/owned-sessions"), None),
        (
            Call::SearchSessions,
            json!({"createdBySubjectId": "u 1", "createdBySubjectType": "user", "sessionType": "session/draft",
                "sessionId": S, "limit": 5}),
            "GET v1/x/agents/search-sessions?created_by_subject_id=u%201&created_by_subject_type=user\
          &session_type=session%2Fdraft&session_id=01arz.g&limit=5",
            None,
        ),
        (
            Call::DownloadSandboxFile,
            json!({"sandboxId": "sbx-1", "path": "/workspace/größe & co.csv"}),
            "GET v1/agents/sandbox/sbx-1/file?path=%2Fworkspace%2Fgr%C3%B6%C3%9Fe%20%26%20co.csv",
            None,
        ),
    ];
    check(Dialect::Gateway, rows);
    let covered = Call::ALL.iter().filter(|call| rows.iter().any(|row| row.0 == **call)).count();
    assert_eq!(covered, 18, "all calls but one are the gateway's 17 endpoints, one of which is two calls");
}

#[test]
fn section_7_the_open_source_sibling() {
    let spec = json!({"model": {"name": "m"}});
    let page = json!({"limit": 5, "pageToken": "x", "windowStart": "t"});
    let of_agent = json!({"agentName": "a", "limit": 100, "windowStart": "t"});
    let window = json!({
        "order": "asc", "startTimestamp": "2026-07-01T00:00:00Z", "endTimestamp": "2026-07-02T00:00:00Z",
        "windowStart": "t",
    });
    let in_window = "GET api/v1/sessions?order=asc&start_timestamp=2026-07-01T00%3A00%3A00Z\
                     &end_timestamp=2026-07-02T00%3A00%3A00Z";
    check(
        Dialect::TrueForge,
        &[
            (
                Call::CreateSession,
                json!({"agentName": "support-bot"}),
                "POST api/v1/sessions",
                Some(json!({"agent": {"name": "support-bot"}})),
            ),
            (
                Call::CreateDraftSession,
                json!({"agentSpec": spec}),
                "POST api/v1/sessions",
                Some(json!({"agent": {"spec": spec}})),
            ),
            // It has no window of its own, and refuses pages of more than 25.
            (Call::ListSessions, of_agent.clone(), "GET api/v1/sessions?limit=25", None),
            (Call::ListSessions, page.clone(), "GET api/v1/sessions?limit=5&page_token=x", None),
            (Call::ListSessions, window.clone(), in_window, None),
            (Call::ListOwnedSessions, of_agent, "GET api/v1/sessions?limit=25", None),
            (Call::ListOwnedSessions, window.clone(), in_window, None),
            (Call::ListDraftSessions, page, "GET api/v1/sessions?limit=5&page_token=x", None),
            (Call::ListDraftSessions, window, in_window, None),
            (Call::GetSession, json!({"sessionId": S}), "GET api/v1/sessions/01arz.g", None),
            (Call::GetDraftSession, json!({"sessionId": S}), "GET api/v1/sessions/01arz.g", None),
            (
                Call::UpdateDraftSession,
                json!({"sessionId": S, "agentSpec": spec}),
                "PATCH api/v1/sessions/01arz.g",
                Some(json!({"agent": {"spec": spec}})),
            ),
            (
                Call::UpdateDraftSession,
                json!({"sessionId": S}),
                "PATCH api/v1/sessions/01arz.g",
                Some(json!({})),
            ),
            (Call::DeleteSession, json!({"sessionId": S}), "DELETE api/v1/sessions/01arz.g", None),
            (
                Call::CancelSession,
                json!({"sessionId": S}),
                "POST api/v1/sessions/01arz.g/cancel",
                Some(json!({})),
            ),
            (
                Call::ListTurns,
                json!({"sessionId": S, "limit": 2}),
                "GET api/v1/sessions/01arz.g/turns?limit=2",
                None,
            ),
            (
                Call::CreateTurnStream,
                json!({"sessionId": S}),
                "POST api/v1/sessions/01arz.g/turns",
                Some(json!({"stream": true})),
            ),
            (
                Call::CreateTurn,
                json!({"sessionId": S}),
                "POST api/v1/sessions/01arz.g/turns",
                Some(json!({"stream": false})),
            ),
            (
                Call::GetTurn,
                json!({"sessionId": S, "turnId": T}),
                "GET api/v1/sessions/01arz.g/turns/01bcd.g.ab12cd",
                None,
            ),
            (
                Call::SubscribeTurn,
                json!({"sessionId": S, "turnId": T, "afterSequenceNumber": 17}),
                "GET api/v1/sessions/01arz.g/turns/01bcd.g.ab12cd/subscribe?after_sequence_number=17",
                None,
            ),
            (
                Call::ListTurnEvents,
                json!({"sessionId": S, "turnId": T, "limit": 100}),
                "GET api/v1/sessions/01arz.g/turns/01bcd.g.ab12cd/events?limit=100",
                None,
            ),
            (Call::ListSessionEvents, json!({"sessionId": S}), "GET api/v1/sessions/01arz.g/events", None),
            (
                Call::DownloadSandboxFile,
                json!({"sessionId": S, "turnId": T, "path": "/a"}),
                "GET api/v1/sessions/01arz.g/turns/01bcd.g.ab12cd/download-sandbox-file?path=%2Fa",
                None,
            ),
        ],
    );
}

#[test]
fn what_a_dialect_does_not_have_is_unsupported() {
    let none = json!({});
    let cases = [(Dialect::Gateway, Call::DeleteSession), (Dialect::TrueForge, Call::SearchSessions)];
    for (dialect, call) in cases {
        let error = request(dialect, call, &none).expect_err("no such request");
        assert_eq!(error.code, ErrorCode::Unsupported, "{dialect:?} {call:?}");
    }
}

/// Section 1.1: ids are opaque, and must not lead anywhere else.
#[test]
fn section_1_1_ids_are_percent_encoded() {
    let cases = [
        ("../x", "..%2Fx"),
        ("a/b", "a%2Fb"),
        ("a\\b", "a%5Cb"),
        ("?x=1#y", "%3Fx%3D1%23y"),
        ("100%", "100%25"),
        ("%2e%2e", "%252e%252e"),
        ("...", "..."),
        (" ", "%20"),
        ("a+b&c;d:e@f", "a%2Bb%26c%3Bd%3Ae%40f"),
        ("é漢\u{1f600}", "%C3%A9%E6%BC%A2%F0%9F%98%80"),
        ("\r\nHost: x", "%0D%0AHost%3A%20x"),
        ("\u{0}", "%00"),
        ("A-Z.a_z~0", "A-Z.a_z~0"),
    ];
    for (id, encoded) in cases {
        for dialect in [Dialect::Gateway, Dialect::TrueForge] {
            let path = request(dialect, Call::GetSession, &json!({"sessionId": id})).expect("a request").path;
            assert_eq!(path.rsplit('/').next(), Some(encoded), "{id:?}");
        }
    }
}

#[test]
fn ids_that_url_parsers_resolve_away_are_refused() {
    for id in [json!("."), json!(".."), json!(""), json!(null), json!(5), json!({})] {
        for params in [json!({"sessionId": id, "turnId": "t"}), json!({"sessionId": "s", "turnId": id})] {
            let error = request(Dialect::Gateway, Call::GetTurn, &params).expect_err("no id");
            assert_eq!(error.code, ErrorCode::InvalidOption);
            let name = if params["turnId"] == "t" { "`sessionId`" } else { "`turnId`" };
            assert!(error.message.contains(name), "{}", error.message);
        }
    }
    request(Dialect::Gateway, Call::GetTurn, &json!({"turnId": "t"})).expect_err("no session");
}

#[test]
fn options_that_a_call_does_not_take_are_refused_by_name() {
    let cases = [
        (Call::CreateSession, json!({"agentName": "a", "agent_nmae": "b"}), "`agentNmae`"),
        (Call::CreateSession, json!({"agentName": "a", "limit": 5}), "`limit`"),
        (Call::ListSessions, json!({"agentName": "a", "pagesize": 5}), "`pagesize`"),
        (Call::ListSessions, json!({"agentName": "a", "metadata": {}}), "`metadata`"),
        (Call::CancelSession, json!({"sessionId": "s", "metadata": {}}), "`metadata`"),
        (Call::ListTurns, json!({"sessionId": "s", "order": "asc"}), "`order`"),
        (Call::GetSession, json!({"sessionId": "s", "turnId": "t"}), "`turnId`"),
        (Call::SubscribeTurn, json!({"sessionId": "s", "turnId": "t", "lastEventId": 3}), "`lastEventId`"),
    ];
    for (call, params, name) in cases {
        let error = request(Dialect::Gateway, call, &params).expect_err("an unknown option");
        assert_eq!(error.code, ErrorCode::InvalidOption, "{params}");
        assert!(error.message.contains(name), "{} names {name}", error.message);
    }
}

/// Section 7: what the gateway takes, and the sibling would refuse or do without.
#[test]
fn options_that_the_sibling_does_not_take_are_refused_by_name() {
    let cases = [
        (Call::CreateSession, json!({"agentName": "a", "title": "t"}), "`title`"),
        (Call::CreateSession, json!({"agentName": "a", "metadata": {}}), "`metadata`"),
        (Call::CreateSession, json!({"agentName": "a", "agentSpec": {}}), "`agentSpec`"),
        (Call::CreateDraftSession, json!({"agentSpec": {}, "title": "t"}), "`title`"),
        (Call::CreateDraftSession, json!({"agentSpec": {}, "agentName": "a"}), "`agentName`"),
        (Call::CreateDraftSession, json!({"agentSpec": {}, "metadata": {}}), "`metadata`"),
        (Call::UpdateDraftSession, json!({"sessionId": "s", "agentName": "a"}), "`agentName`"),
        (Call::ListDraftSessions, json!({"agentName": "a"}), "`agentName`"),
        (Call::ListSessions, json!({"agentName": "a", "pagesize": 5}), "`pagesize`"),
        (Call::DownloadSandboxFile, json!({"sandboxId": "b", "path": "/a"}), "`sandboxId`"),
    ];
    for (call, params, name) in cases {
        let error = request(Dialect::TrueForge, call, &params).expect_err("an option of the gateway's");
        assert_eq!(error.code, ErrorCode::InvalidOption, "{params}");
        assert!(error.message.contains(name), "{} names {name}", error.message);
    }
}

/// `TrueForge` lists turns oldest first. One event of the newest turn names it.
#[test]
fn section_7_the_newest_turn() {
    let params = json!({"sessionId": S, "limit": 25, "pageToken": "p"});
    let rows =
        [(Call::ListNewestTurns, params, "GET v1/agents/sessions/01arz.g/turns?page_token=p&limit=25", None)];
    check(Dialect::Gateway, &rows);
    let params = json!({"sessionId": S, "limit": 25});
    let rows = [(Call::ListNewestTurns, params, "GET api/v1/sessions/01arz.g/events?limit=1", None)];
    check(Dialect::TrueForge, &rows);
}

/// What only the wire has is set by the protocol, and not by callers.
#[test]
fn words_of_the_wire_are_no_options() {
    let cases = [
        (Dialect::Gateway, Call::CreateTurn, json!({"sessionId": "s", "stream": true}), "`stream`"),
        (Dialect::TrueForge, Call::CreateTurnStream, json!({"sessionId": "s", "stream": false}), "`stream`"),
        (Dialect::TrueForge, Call::CreateSession, json!({"agentName": "a", "agent": {}}), "`agent`"),
        (Dialect::TrueForge, Call::UpdateDraftSession, json!({"sessionId": "s", "agent": {}}), "`agent`"),
        (Dialect::Gateway, Call::SearchSessions, json!({"windowStart": "t"}), "`windowStart`"),
    ];
    for (dialect, call, params, name) in cases {
        let error = request(dialect, call, &params).expect_err("not an option");
        assert_eq!(error.code, ErrorCode::InvalidOption, "{params}");
        assert!(error.message.contains(name), "{} names {name}", error.message);
    }
}

#[test]
fn what_a_call_needs_is_asked_for_by_name() {
    let cases = [
        (Dialect::Gateway, Call::CreateSession, json!({}), "`agentName`"),
        (Dialect::Gateway, Call::CreateSession, json!({"agentName": null}), "`agentName`"),
        (Dialect::Gateway, Call::ListSessions, json!({"limit": 5}), "`agentName`"),
        (Dialect::Gateway, Call::CreateDraftSession, json!({"agentName": "a"}), "`agentSpec`"),
        (Dialect::Gateway, Call::DownloadSandboxFile, json!({"sandboxId": "s"}), "`path`"),
        (Dialect::TrueForge, Call::CreateSession, json!({}), "`agentName`"),
        (Dialect::TrueForge, Call::CreateDraftSession, json!({}), "`agentSpec`"),
    ];
    for (dialect, call, params, name) in cases {
        let error = request(dialect, call, &params).expect_err("something is missing");
        assert_eq!(error.code, ErrorCode::InvalidOption);
        assert!(error.message.contains(name), "{} names {name}", error.message);
    }
}

#[test]
fn camel_case_and_wire_names_mean_the_same() {
    let cases = [
        (
            Call::SubscribeTurn,
            json!({"sessionId": "s", "turnId": "t", "afterSequenceNumber": 3}),
            json!({"session_id": "s", "turn_id": "t", "after_sequence_number": 3}),
        ),
        (
            Call::ListSessions,
            json!({"agentName": "a", "pageToken": "p", "startTimestamp": "x", "endTimestamp": "y"}),
            json!({"agent_name": "a", "page_token": "p", "start_timestamp": "x", "end_timestamp": "y"}),
        ),
        (
            Call::CreateTurnStream,
            json!({"sessionId": "s", "previousTurnId": "t"}),
            json!({"session_id": "s", "previous_turn_id": "t"}),
        ),
    ];
    for (call, camel, wire) in cases {
        let one = request(Dialect::Gateway, call, &camel).expect("a request");
        assert_eq!(one, request(Dialect::Gateway, call, &wire).expect("a request"));
    }
}

/// Section 1.1: absent is omitted; the sibling answers 400 to a `previous_turn_id` of null.
#[test]
fn section_1_1_null_is_as_good_as_nothing() {
    let params = json!({"sessionId": "s", "input": null, "previousTurnId": null});
    let body = request(Dialect::Gateway, Call::CreateTurnStream, &params).expect("a request").body;
    assert_eq!(body.as_deref(), Some(r#"{"stream":true}"#));
    let params = json!({"sessionId": "s", "limit": null, "pageToken": null});
    let path = request(Dialect::Gateway, Call::ListTurns, &params).expect("a request").path;
    assert_eq!(path, "v1/agents/sessions/s/turns");
}

/// The input is what a server must get to the byte.
#[test]
fn an_input_is_sent_as_it_is() {
    let input = json!([{"type": "user.message", "content": "\"é\u{1f600}\n\u{2028}"}]);
    let params = json!({"sessionId": "s", "input": input});
    let body = request(Dialect::Gateway, Call::CreateTurn, &params).expect("a request").body.expect("a body");
    let body: Json = serde_json::from_str(&body).expect("JSON");
    assert_eq!(body, json!({"input": input, "stream": false}));
}

/// Section 1.1: `x-tfy-metadata` is a JSON string, and a header holds no more than Latin-1.
#[test]
fn section_1_1_metadata_is_an_ascii_header() {
    let metadata = json!({"team": "größe \u{1f600}", "line": "a\nb\u{7f}", "n": 1});
    for call in [Call::CreateSession, Call::CreateDraftSession] {
        let params = json!({"agentName": "a", "agentSpec": {}, "metadata": metadata});
        let mut params = params;
        if call == Call::CreateSession {
            params.as_object_mut().expect("an object").remove("agentSpec");
        }
        let request = request(Dialect::Gateway, call, &params).expect("a request");
        let (_, header) =
            request.headers.iter().find(|(name, _)| *name == "x-tfy-metadata").expect("the header");
        assert!(header.bytes().all(|byte| (0x20..=0x7f).contains(&byte)), "{header}");
        assert_eq!(serde_json::from_str::<Json>(header).expect("JSON"), metadata);
        assert!(!request.body.expect("a body").contains("metadata"), "it is a header only");
    }
    let none = request(Dialect::Gateway, Call::CreateSession, &json!({"agentName": "a", "metadata": null}));
    assert!(none.expect("a request").headers.iter().all(|(name, _)| *name != "x-tfy-metadata"));
}

#[test]
fn a_request_is_json_for_javascript() {
    let request =
        request(Dialect::Gateway, Call::CreateSession, &json!({"agentName": "a"})).expect("a request");
    let json: Json = serde_json::from_str(&request.to_json()).expect("JSON");
    assert_eq!(
        json,
        json!({
            "path": "v1/agents/sessions",
            "method": "POST",
            "headers": {"accept": "application/json", "content-type": "application/json"},
            "body": r#"{"agent_name":"a"}"#,
        })
    );
}
