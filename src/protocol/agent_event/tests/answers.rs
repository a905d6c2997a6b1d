//! Answers as records and lists: what the servers answered, and whatever else could come.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::turns::awaken_run;
use crate::error::{Error, ErrorCode};
use crate::event::{Event, SessionRecord};
use crate::json::Object;
use crate::protocol::agent_event::{AgentEvent, Dialect};
use crate::protocol::{Answer, Call, Protocol};

pub(super) const BOTH: [Dialect; 2] = [Dialect::Tirea, Dialect::Awaken];

fn answer_of(dialect: Dialect, status: u16, body: &str, call: Call) -> Result<Json, Error> {
    page_of(dialect, status, body, call, None)
}

/// The answer to a request for the page of this token.
fn page_of(
    dialect: Dialect,
    status: u16,
    body: &str,
    call: Call,
    token: Option<&str>,
) -> Result<Json, Error> {
    let answer = Answer { status, status_text: "", content_type: "application/json", body };
    let mut params = Object::new();
    if let Some(token) = token {
        params.insert("pageToken", token.to_owned());
    }
    let json = answer.read(&AgentEvent::new(dialect), call, &params)?;
    Ok(serde_json::from_str(&json).expect("JSON"))
}

pub(super) fn answer(dialect: Dialect, call: Call, body: &Json) -> Result<Json, Error> {
    answer_of(dialect, 200, &body.to_string(), call)
}

pub(super) fn tirea(call: Call, body: &Json) -> Json {
    answer(Dialect::Tirea, call, body).unwrap_or_else(|error| panic!("{call:?}: {error}"))
}

pub(super) fn awaken(call: Call, body: &Json) -> Json {
    answer(Dialect::Awaken, call, body).unwrap_or_else(|error| panic!("{call:?}: {error}"))
}

/// A thread with a call that waits, as tirea 0.5.0 answered it.
fn thread_that_waits() -> Json {
    json!({"id": "s2", "messages": [{"content": "TOOL", "id": "r3:0", "role": "user"}],
    "metadata": {"created_at": 1_795_288_965_694_u64, "updated_at": 1_795_288_965_699_u64, "title": "Größe"},
    "state": {
        "__run": {"status": "waiting", "updated_at": 1_795_288_965_698_u64},
        "permission_policy": {"default_behavior": "ask"},
        "__tool_call_scope": {
            "call_0": {"tool_call_state": {"status": "succeeded"}},
            "call_1": {
                "suspended_call": {
                    "arguments": {"n": 1}, "call_id": "call_1", "resume_mode": "replay_tool_call",
                    "tool_name": "serverInfo",
                    "pending": {"arguments": {"tool_args": {}}, "id": "fc_call_1", "name": "PermissionConfirm"},
                    "suspension": {
                        "action": "tool:PermissionConfirm", "id": "fc_call_1",
                        "message": "Permission required to run tool 'serverInfo'",
                        "parameters": {"tool_args": {}, "tool_name": "serverInfo"},
                        "response_schema": {"type": "object"}
                    }
                },
                "tool_call_state": {"status": "suspended"}
            },
            "call_ask1": {"suspended_call": {
                "arguments": {"message": "Which colour?"}, "call_id": "call_ask1",
                "resume_mode": "use_decision_as_tool_result", "tool_name": "askUser",
                "suspension": {"action": "tool:askUser", "id": "call_ask1", "parameters": null}
            }}
        }
    }})
}

#[test]
fn section_2_a_session_and_what_waits_in_it() {
    let found = tirea(Call::GetSession, &thread_that_waits());
    let actions = found["required_actions"].clone();
    let expected = json!({"type": "session", "id": "s2", "agent_name": null, "title": "Größe",
    "created_by_subject": null, "created_at": "2026-11-21T19:22:45.694Z",
    "updated_at": "2026-11-21T19:22:45.699Z", "required_actions": [
        {"type": "tool.approval_required", "id": "", "thread_id": "main", "tool_calls": [{
            "id": "call_1", "source_event_id": "", "event_id": "", "name": "serverInfo",
            "arguments": "{\"n\":1}", "suspension": {
                "id": "fc_call_1", "action": "tool:PermissionConfirm",
                "message": "Permission required to run tool 'serverInfo'",
                "parameters": {"tool_args": {}, "tool_name": "serverInfo"},
                "response_schema": {"type": "object"}, "resume_mode": "replay_tool_call"}}]},
        {"type": "tool.response_required", "id": "", "thread_id": "main", "tool_calls": [{
            "id": "call_ask1", "source_event_id": "", "event_id": "", "name": "askUser",
            "arguments": "{\"message\":\"Which colour?\"}", "suspension": {
                "id": "call_ask1", "action": "tool:askUser",
                "resume_mode": "use_decision_as_tool_result"}}]},
    ]});
    assert_eq!(found, expected);
    for action in actions.as_array().expect("actions") {
        let event: Event = serde_json::from_value(action.clone()).expect("an event");
        assert!(matches!(event, Event::ToolApprovalRequired(_) | Event::ToolResponseRequired(_)));
    }
    serde_json::from_value::<SessionRecord>(found).expect("a record");
}

/// awaken's threads store neither their agent nor pending calls (section 5).
#[test]
fn section_5_a_session() {
    let thread = json!({"id": "s1", "metadata": {"created_at": 1_795_288_965_694_u64, "custom": {"a": 1}},
                        "open_run_id": "r1", "latest_run_updated_at": 1_795_288_965});
    let found = awaken(Call::GetSession, &thread);
    let expected = json!({"type": "session", "id": "s1", "agent_name": null, "title": null,
        "created_by_subject": null, "created_at": "2026-11-21T19:22:45.694Z", "updated_at": null,
        "required_actions": []});
    assert_eq!(found, expected);
}

#[test]
fn section_2_sessions() {
    let summaries = json!([
        {"id": "s2", "title": "My title", "updated_at": 1_795_255_327_140_u64, "created_at": 1_795_255_327_030_u64,
         "message_count": 4},
        {"id": "s1", "title": null, "updated_at": null, "created_at": null, "message_count": 0},
    ]);
    let found = tirea(Call::ListSessions, &summaries);
    let session = |id: &str, title: Json, created_at: Json, updated_at: Json| {
        json!({"type": "session", "id": id, "agent_name": null, "title": title, "created_by_subject": null,
               "created_at": created_at, "updated_at": updated_at})
    };
    let first = session(
        "s2",
        json!("My title"),
        json!("2026-11-21T10:02:07.030Z"),
        json!("2026-11-21T10:02:07.140Z"),
    );
    let bare = |id| session(id, Json::Null, Json::Null, Json::Null);
    // Summaries say nothing of what follows.
    assert_eq!(found, json!({"items": [first, bare("s1")], "next": "200"}));
    assert_eq!(tirea(Call::ListSessions, &json!([])), json!({"items": [], "next": null}));

    let page = json!({"items": ["a", "b"], "total": 202, "has_more": false});
    let expected = json!({"items": [bare("a"), bare("b")], "next": null});
    assert_eq!(tirea(Call::ListSessions, &page), expected);
    for (token, length, next) in [(None, 3, "3"), (Some("200"), 200, "400"), (Some("400"), 1, "401")] {
        let ids: Vec<String> = (0..length).map(|id| format!("s{id}")).collect();
        let page = json!({"items": ids, "total": 1000, "has_more": true}).to_string();
        let found = page_of(Dialect::Tirea, 200, &page, Call::ListSessions, token);
        assert_eq!(found.expect("a page")["next"], next);
    }
}

#[test]
fn section_5_sessions() {
    let page = |has_more: Json, next: Json| {
        json!({"items": [{"id": "s1", "resource_id": null, "parent_thread_id": null, "title": "T",
                          "updated_at": 1_795_255_327_140_u64, "agent_id": "default"}],
               "offset": 0, "limit": 50, "total": 1, "has_more": has_more, "next_cursor": next})
    };
    let found = awaken(Call::ListSessions, &page(json!(true), json!("thr_x")));
    let expected = json!({"type": "session", "id": "s1", "agent_name": "default", "title": "T",
        "created_by_subject": null, "created_at": null, "updated_at": "2026-11-21T10:02:07.140Z"});
    assert_eq!(found, json!({"items": [expected], "next": "thr_x"}));
    serde_json::from_value::<SessionRecord>(expected).expect("a record");
    for (has_more, next) in [
        (json!(false), json!("thr_x")),
        (json!(null), json!("thr_x")),
        (json!(true), json!(null)),
        (json!(true), json!("")),
        (json!(true), json!({})),
    ] {
        assert_eq!(awaken(Call::ListSessions, &page(has_more, next))["next"], Json::Null);
    }
}

#[test]
fn section_2_the_agents_state() {
    let found = tirea(Call::GetSessionState, &thread_that_waits());
    assert_eq!(found, json!({"state": {"permission_policy": {"default_behavior": "ask"}}}));
    for (state, public) in [(json!({}), json!({})), (json!([1]), json!([1])), (json!(null), json!(null))] {
        let found = tirea(Call::GetSessionState, &json!({"id": "s1", "state": state}));
        assert_eq!(found, json!({"state": public}));
    }
    assert_eq!(tirea(Call::GetSessionState, &json!({"id": "s1"})), json!({"state": null}));

    let extensions = json!({"__runtime.tool_call_states": {"calls": {}}, "todo": ["a"], "": 1});
    let run = awaken_run("done", &json!({"state": {"revision": 8, "extensions": extensions}}));
    let found = awaken(Call::GetSessionState, &run);
    assert_eq!(found, json!({"state": {"revision": 8, "extensions": {"todo": ["a"], "": 1}}}));
}

/// Section 5: the list of a run's canonical events.
#[test]
fn section_5_frames() {
    let event = |kind: &str, payload: Json, run_cursor: &str| {
        json!({"event_id": "e", "scopes": [], "event_kind": kind, "payload": payload, "origin": "runtime",
               "visibility": "public", "schema_version": 1, "created_at": 1_795_256_357_984_u64,
               "cursors_by_scope": [
                   {"scope": {"scope_type": "thread", "thread_id": "s1"}, "cursor": "of-thread"},
                   {"scope": {"scope_type": "run", "run_id": "r1"}, "cursor": run_cursor}]})
    };
    let delta = json!({"event_type": "text_delta", "delta": "Hello"});
    let items = json!([
        event("RunStarted", json!({"event_type": "run_start", "run_id": "r1"}), "c1"),
        event("MessageQueued", json!({"message": "m"}), "c2"),
        event("TextDelta", delta.clone(), "c3"),
    ]);
    let payloads = json!([{"event_type": "run_start", "run_id": "r1"}, delta]);
    let page = json!({"items": items, "next_cursor": "n", "has_more": true});
    let found = awaken(Call::ListTurnFrames, &page);
    assert_eq!(found, json!({"items": payloads, "next": "n", "cursor": "n"}));

    let last = json!({"items": items, "next_cursor": null, "has_more": false});
    let found = awaken(Call::ListTurnFrames, &last);
    assert_eq!(found, json!({"items": payloads, "next": null, "cursor": "c3"}));

    let none = json!({"items": [], "next_cursor": null, "has_more": false});
    assert_eq!(awaken(Call::ListTurnFrames, &none), json!({"items": [], "next": null, "cursor": null}));
    let bare = json!({"items": [null, 5, {"payload": 5}, {"payload": {"event_type": 5}}], "has_more": true});
    assert_eq!(awaken(Call::ListTurnFrames, &bare), json!({"items": [], "next": null, "cursor": null}));
}

/// What these answer says nothing that a caller needs.
#[test]
fn commands_answer_nothing() {
    let bodies = [
        json!({"status": "cancel_requested", "run_id": "r1"}).to_string(),
        json!({"status": "decision_forwarded", "run_id": "r1", "thread_id": "s1"}).to_string(),
        json!({"created_at": 1, "title": "T", "updated_at": 2}).to_string(),
        String::new(),
    ];
    let calls = [
        Call::CancelTurn,
        Call::CancelSession,
        Call::InterruptSession,
        Call::AnswerTurn,
        Call::RenameSession,
        Call::DeleteSession,
    ];
    for dialect in BOTH {
        for call in calls {
            for body in &bodies {
                for status in [200, 202, 204] {
                    assert_eq!(answer_of(dialect, status, body, call), Ok(Json::Null), "{call:?}");
                }
            }
        }
    }
}

#[test]
fn section_2_errors() {
    let cases = [
        (r#"{"error":"agent not found: nope"}"#, "the server answered 422: agent not found: nope"),
        (r#"{"error":{"message":"thread busy"}}"#, "the server answered 422: thread busy"),
        (r#"{"error":"no resume","code":"capability_mismatch"}"#, "the server answered 422: no resume"),
        (
            "Failed to deserialize the JSON body into the target type: missing field `agentId` at line 1 column 15\n",
            "the server answered 422: Failed to deserialize the JSON body into the target type: missing field \
             `agentId` at line 1 column 15",
        ),
        ("", "the server answered 422"),
        (" \n", "the server answered 422"),
        ("<html>Bad Gateway</html>", "the server answered 422"),
        ("\n <!doctype html>", "the server answered 422"),
        (r#"{"error":""}"#, "the server answered 422"),
        (r#"{"error":5}"#, "the server answered 422"),
        (r#"{"error":{"message":5}}"#, "the server answered 422"),
        (r#"{"message":"elsewhere"}"#, "the server answered 422"),
        ("[]", "the server answered 422"),
        ("null", "the server answered 422"),
    ];
    for (body, message) in cases {
        for dialect in BOTH {
            let error = answer_of(dialect, 422, body, Call::GetTurn).expect_err("an error");
            assert_eq!((error.code, error.status), (ErrorCode::Http, Some(422)));
            assert_eq!(error.message, message);
        }
    }
    let longest = "é".repeat(300);
    let error = answer_of(Dialect::Tirea, 400, &longest, Call::GetTurn).expect_err("an error");
    assert!(error.message.ends_with(&longest));
    let error = answer_of(Dialect::Tirea, 400, &format!("{longest}x"), Call::GetTurn).expect_err("an error");
    assert_eq!(error.message, "the server answered 400");
}

const READING: [Call; 9] = [
    Call::GetSession,
    Call::ListSessions,
    Call::GetTurn,
    Call::ListTurns,
    Call::ListTurnEvents,
    Call::ListSessionEvents,
    Call::ListMessages,
    Call::GetSessionState,
    Call::ListTurnFrames,
];

#[test]
fn answers_without_what_they_should_hold_are_unexpected() {
    let bodies = [
        json!(null),
        json!(5),
        json!("ok"),
        json!([5]),
        json!([[]]),
        json!([{"title": "T"}]),
        json!({}),
        json!({"id": 5, "run_id": 5}),
        json!({"id": "", "run_id": ""}),
        json!({"items": null, "messages": null}),
        json!({"items": {}, "messages": {}}),
    ];
    for dialect in BOTH {
        for call in READING {
            for body in &bodies {
                let error = answer(dialect, call, body).expect_err("nothing");
                assert_eq!(error.code, ErrorCode::UnexpectedResponse, "{dialect:?} {call:?} {body}");
                assert_eq!(error.status, Some(200));
            }
            answer_of(dialect, 200, "", call).expect_err("nothing");
            answer_of(dialect, 200, "<html>", call).expect_err("not JSON");
        }
        for items in [json!([5]), json!([null]), json!([{}]), json!([[]]), json!([{"run_id": "r"}])] {
            let page = json!({"items": items});
            for call in [Call::ListTurns, Call::ListSessions] {
                let error = answer(dialect, call, &page).expect_err("no record");
                assert_eq!(error.code, ErrorCode::UnexpectedResponse, "{call:?} {page}");
            }
        }
        for status in [json!("paused"), json!(null), json!(5)] {
            let error = answer(dialect, Call::GetTurn, &json!({"run_id": "r", "status": status}));
            assert_eq!(error.expect_err("no state").code, ErrorCode::UnexpectedResponse);
        }
    }
}

#[test]
fn calls_without_answers_are_unsupported() {
    for dialect in BOTH {
        for call in
            [Call::CreateTurn, Call::SearchSessions, Call::CreateDraftSession, Call::DownloadSandboxFile]
        {
            let error = answer(dialect, call, &json!({})).expect_err("none");
            assert_eq!(error.code, ErrorCode::Unsupported, "{call:?}");
        }
    }
}

/// JSON with the servers' names in unlikely places.
fn any_json() -> impl Strategy<Value = Json> {
    let names = [
        "id",
        "run_id",
        "messages",
        "items",
        "state",
        "status",
        "content",
        "role",
        "metadata",
        "cursor",
        "text",
        "type",
        "tool_calls",
        "waiting",
        "tickets",
        "__tool_call_scope",
        "suspended_call",
        "suspension",
        "has_more",
        "next_cursor",
        "created_at",
        "extensions",
        "payload",
        "termination_reason",
        "value",
        "error",
    ];
    let texts = [
        "waiting",
        "done",
        "running",
        "user",
        "assistant",
        "tool",
        "text",
        "cancelled",
        "blocked",
        "a:1",
        ":",
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        prop::sample::select(texts.to_vec()).prop_map(Json::from),
        any::<String>().prop_map(Json::from),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        let name = prop::sample::select(names.to_vec()).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::vec((name, inner), 0..8)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Whatever comes, it is an answer or an error; events are events, and a list's token is a text or nothing.
    #[test]
    fn hostile_answers(body in any_json(), wrap in 0..4_u8) {
        let body = match wrap {
            0 => body,
            1 => json!({"messages": [body], "has_more": true, "next_cursor": 1}),
            2 => json!({"items": [body], "has_more": true, "next_cursor": "n"}),
            _ => json!({"id": "s", "run_id": "r", "status": "waiting", "state": body, "waiting": body}),
        };
        for dialect in BOTH {
            for call in Call::ALL {
                match answer(dialect, call, &body) {
                    Err(error) => prop_assert!(
                        matches!(error.code, ErrorCode::UnexpectedResponse | ErrorCode::Unsupported)
                    ),
                    Ok(found) => {
                        let next = found.get("next").unwrap_or(&Json::Null);
                        prop_assert!(next.is_null() || next.as_str().is_some_and(|next| !next.is_empty()));
                        if call == Call::ListTurnEvents {
                            for event in found["items"].as_array().expect("items") {
                                serde_json::from_value::<Event>(event.clone()).expect("an event");
                            }
                        }
                    }
                }
            }
            AgentEvent::new(dialect).error_message(&body.to_string());
        }
    }
}
