//! Answers: records, pages, errors (sections 1.2, 1.3, 1.4, 1.6 and 7).

use serde_json::{Value as Json, json};

use crate::error::{Error, ErrorCode};
use crate::event::{SessionEvent, SessionRecord, TurnRecord};
use crate::json::{Object, Value};
use crate::protocol::truefoundry::{Dialect, TrueFoundry};
use crate::protocol::{Answer, Call};

fn answer_of(status: u16, content_type: &str, body: &str, call: Call) -> Result<Json, Error> {
    let answer = Answer { status, status_text: "", content_type, body };
    let json = answer.read(&TrueFoundry::new(Dialect::Gateway), call, &Object::new())?;
    Ok(serde_json::from_str(&json).expect("JSON"))
}

fn answer(call: Call, body: &Json) -> Result<Json, Error> {
    answer_of(200, "application/json; charset=utf-8", &body.to_string(), call)
}

fn subject() -> Json {
    json!({"subject_id": "u", "subject_type": "user", "subject_slug": "ada"})
}

const SESSION_CALLS: [Call; 5] = [
    Call::CreateSession,
    Call::GetSession,
    Call::CreateDraftSession,
    Call::GetDraftSession,
    Call::UpdateDraftSession,
];
const SESSION_LISTS: [Call; 4] =
    [Call::ListSessions, Call::ListDraftSessions, Call::ListOwnedSessions, Call::SearchSessions];

#[test]
fn section_1_6_sessions() {
    let shipped = json!({
        "type": "session", "id": "s", "agent_name": "bot", "title": "Help", "created_by_subject": subject(),
        "created_at": "t1", "updated_at": "t2", "x_new": 1
    });
    let mut complete = shipped.clone();
    complete["created_by"] = subject();
    let draft = json!({
        "type": "session/draft", "id": "s", "agent_spec": {"model": {"name": "m"}}, "created_by_subject": subject(),
        "created_at": "t1", "updated_at": "t2"
    });
    let mut complete_draft = draft.clone();
    for name in ["agent_name", "title"] {
        complete_draft[name] = Json::Null;
    }
    complete_draft["created_by"] = subject();
    for (wire, expected) in [(shipped, complete), (draft, complete_draft)] {
        for call in SESSION_CALLS {
            let found = answer(call, &json!({"data": wire})).expect("a session");
            assert_eq!(found, expected, "{call:?}");
            serde_json::from_value::<SessionRecord>(found).expect("a record");
        }
        for call in SESSION_LISTS {
            let found = answer(call, &json!({"data": [wire], "pagination": {"limit": 10}})).expect("a list");
            assert_eq!(found, json!({"items": [expected], "next": null}), "{call:?}");
        }
    }
}

#[test]
fn section_7_sessions_of_the_sibling() {
    let wire = |agent: Json| json!({"data": {"id": "s", "agent": agent, "created_by": "ada", "title": null, "created_at": "t1"}});
    let saved = answer(Call::GetSession, &wire(json!({"type": "reference", "id": "a", "name": "bot"})));
    let saved = saved.expect("a session");
    assert_eq!(saved["type"], "session");
    assert_eq!(saved["agent_name"], "bot");
    assert_eq!(saved["created_by"], "ada");
    for missing in ["created_by_subject", "updated_at", "title"] {
        assert_eq!(saved.get(missing), Some(&Json::Null), "{missing}");
    }
    serde_json::from_value::<SessionRecord>(saved).expect("a record");

    let inline = answer(Call::GetSession, &wire(json!({"type": "inline", "spec": {"model": {"name": "m"}}})));
    let inline = inline.expect("a session");
    assert_eq!(inline["agent_spec"], json!({"model": {"name": "m"}}));
    assert_eq!((&inline["type"], &inline["agent_name"]), (&json!("session/draft"), &Json::Null));
    serde_json::from_value::<SessionRecord>(inline).expect("a record");
}

/// Section 7: the sibling has one list of sessions, of all agents and with the drafts among them.
#[test]
fn section_7_each_list_of_the_sibling_has_what_was_asked_for() {
    let named =
        |id: &str, name: &str| json!({"id": id, "agent": {"type": "reference", "id": "a", "name": name}});
    let draft = json!({"id": "d", "agent": {"type": "inline", "spec": {}}});
    let sessions = json!([named("a", "bot"), draft, named("b", "other"), named("c", "bot")]);
    let body = json!({"data": sessions, "pagination": {"next_page_token": "p"}}).to_string();
    let listed = |dialect: Dialect, call: Call, params: &Json| -> Json {
        let answer = Answer { status: 200, status_text: "", content_type: "application/json", body: &body };
        let params = params.to_string();
        let params = Value::parse(&params).expect("JSON");
        let params = params.as_object().expect("an object");
        let page = answer.read(&TrueFoundry::new(dialect), call, params).expect("a list");
        let page: Json = serde_json::from_str(&page).expect("JSON");
        assert_eq!(page["next"], "p", "also where this page has none of them");
        page["items"].as_array().expect("a list").iter().map(|session| session["id"].clone()).collect()
    };
    for (call, params, ids) in [
        (Call::ListSessions, json!({"agentName": "bot"}), json!(["a", "c"])),
        (Call::ListSessions, json!({"agent_name": "other"}), json!(["b"])),
        (Call::ListSessions, json!({"agentName": "none"}), json!([])),
        (Call::ListSessions, json!({}), json!(["a", "b", "c"])),
        (Call::ListDraftSessions, json!({}), json!(["d"])),
        (Call::ListOwnedSessions, json!({}), json!(["a", "d", "b", "c"])),
        (Call::ListOwnedSessions, json!({"agentName": "bot"}), json!(["a", "c"])),
    ] {
        assert_eq!(listed(Dialect::TrueForge, call, &params), ids, "{call:?} {params}");
        // The gateway has lists of their own for them.
        assert_eq!(listed(Dialect::Gateway, call, &params), json!(["a", "d", "b", "c"]));
    }
}

#[test]
fn section_1_6_turns() {
    let output = json!({"type": "model.message", "id": "m", "content": "a", "finish_reason": "stop"});
    let approval = json!({"type": "tool.approval_required", "id": "e", "thread_id": "main",
                          "tool_calls": [{"id": "c", "source_event_id": "m"}]});
    let file = json!({"type": "file", "name": "a", "data": "data:x;base64,"});
    let turn = |state: Json| {
        json!({"id": "t", "session_id": "s", "state": state, "created_by_subject": subject(), "created_at": "t1",
               "input": [{"type": "user.message", "content": [file]}]})
    };
    let states = [
        (json!({"status": "running"}), json!({"status": "running"})),
        (
            json!({"status": "done", "completed_at": "t2"}),
            json!({"status": "done", "completed_at": "t2", "output": null, "required_actions": []}),
        ),
        (
            json!({"status": "done", "output": output, "required_actions": [], "completed_at": "t2"}),
            json!({"status": "done", "required_actions": [], "completed_at": "t2",
                "output": {"type": "model.message", "id": "m", "content": "a", "finish_reason": "stop",
                           "thread_id": "main"}}),
        ),
        (
            json!({"status": "done", "required_actions": [approval]}),
            json!({"status": "done", "output": null, "required_actions": [{
            "type": "tool.approval_required", "id": "e", "thread_id": "main",
            "tool_calls": [{"id": "c", "source_event_id": "m", "event_id": "m"}]}]}),
        ),
        (json!({"status": "cancelled"}), json!({"status": "cancelled", "reason": null})),
        (json!({"status": "error", "message": "x"}), json!({"status": "error", "message": "x"})),
    ];
    for (wire, expected) in states {
        for call in [Call::GetTurn, Call::CreateTurn] {
            let found = answer(call, &json!({"data": turn(wire.clone())})).expect("a turn");
            assert_eq!(found["state"], expected);
            assert_eq!(found.get("previous_turn_id"), Some(&Json::Null));
            assert_eq!(found["created_by"], subject(), "in both spellings");
            let part = &found["input"][0]["content"][0];
            assert_eq!(part["file"], json!({"filename": "a", "file_data": "data:x;base64,"}));
            serde_json::from_value::<TurnRecord>(found).expect("a record");
        }
        let list = json!({"data": [turn(wire)], "pagination": {"limit": 10, "next_page_token": "n"}});
        let found = answer(Call::ListTurns, &list).expect("a list");
        assert_eq!(found["items"][0]["state"], expected);
        assert_eq!(found["next"], "n");
    }
    let bare = answer(Call::GetTurn, &json!({"data": {"id": "t", "state": {"status": "running"}}}));
    serde_json::from_value::<TurnRecord>(bare.expect("a turn"))
        .expect("a record of the least that a turn has");
}

/// Sections 1.2 (#9, #10) and 3.6: listed events are completed as streamed ones are.
#[test]
fn section_1_2_listed_events() {
    let wire = json!({"type": "tool.approval_required", "id": "e", "thread_id": "main",
                      "tool_calls": [{"id": "c", "event_id": "m"}]});
    let mut complete = wire.clone();
    complete["tool_calls"][0]["source_event_id"] = json!("m");
    let new = json!({"type": "turn.paused", "id": "e"});
    let unknown = json!({"type": "unknown", "wire_type": "turn.paused", "raw": new});
    let broken = json!({"type": "tool.response", "id": "e", "tool_call_id": 5});

    let page = json!({"data": [wire, new, broken], "pagination": {"limit": 25, "next_page_token": null}});
    let found = answer(Call::ListTurnEvents, &page).expect("a list");
    assert_eq!(found["next"], Json::Null);
    assert_eq!(found["items"][0], complete);
    assert_eq!(found["items"][1], unknown);
    assert_eq!(found["items"][2]["type"], "unknown");
    assert_eq!(found["items"][2]["wire_type"], "tool.response");

    let entries = json!([{"turn_id": "t", "event": wire}, {"turn_id": "t", "event": new}]);
    let page = json!({"data": entries, "pagination": {"limit": 100, "next_page_token": "n"}});
    let found = answer(Call::ListSessionEvents, &page).expect("a list");
    let expected = json!([{"turn_id": "t", "event": complete}, {"turn_id": "t", "event": unknown}]);
    assert_eq!(found, json!({"items": expected, "next": "n"}));
    for item in found["items"].as_array().expect("items") {
        serde_json::from_value::<SessionEvent>(item.clone()).expect("a record");
    }
}

/// Listed events keep a valid number; any other is as if there were none.
#[test]
fn listed_events_keep_their_numbers() {
    let event = json!({"type": "sandbox.created", "id": "e", "thread_id": null, "sandbox_id": "s"});
    let cases = [
        (json!(7), json!(7)),
        (json!(9_007_199_254_740_991_u64), json!(9_007_199_254_740_991_u64)),
        (json!(9_007_199_254_740_992_u64), Json::Null),
        (json!(0), Json::Null),
        (json!(-1), Json::Null),
        (json!(1.5), Json::Null),
        (json!("7"), Json::Null),
        (Json::Null, Json::Null),
    ];
    for (number, expected) in cases {
        let mut wire = event.clone();
        wire["sequence_number"] = number;
        let mut new = wire.clone();
        new["type"] = "turn.mood".into();
        let entries = json!([{"turn_id": "t", "event": wire}, {"turn_id": "t", "event": new}]);
        let turn = json!({"data": [wire, new], "pagination": {"limit": 25}});
        let session = json!({"data": entries, "pagination": {"limit": 25}});
        let found = answer(Call::ListTurnEvents, &turn).expect("a list");
        let in_session = answer(Call::ListSessionEvents, &session).expect("a list");
        for (at, kind) in ["sandbox.created", "unknown"].iter().enumerate() {
            let event = &found["items"][at];
            assert_eq!((&event["type"], &event["sequence_number"]), (&json!(kind), &expected), "{wire}");
            assert_eq!(event.get("sequence_number").is_some(), !expected.is_null(), "{wire}");
            assert_eq!(event, &in_session["items"][at]["event"]);
        }
        assert_eq!(found["items"][1]["raw"], new, "what came stays as it came");
    }
}

/// There is a next page if there is a token that is not empty, and this page is not empty.
#[test]
fn section_1_3_pagination() {
    let item = json!({"id": "s", "type": "session"});
    let cases = [
        (json!([item]), json!({"limit": 1, "next_page_token": "n"}), json!("n")),
        (json!([item]), json!({"next_page_token": "n", "previous_page_token": "p"}), json!("n")),
        (json!([item]), json!({"limit": 1, "next_page_token": null}), Json::Null),
        (json!([item]), json!({"limit": 1, "next_page_token": ""}), Json::Null),
        (json!([item]), json!({"limit": 1, "next_page_token": 5}), Json::Null),
        (json!([item]), json!({"limit": 1}), Json::Null),
        (json!([item]), json!({}), Json::Null),
        (json!([item]), Json::Null, Json::Null),
        (json!([]), json!({"limit": 1, "next_page_token": "n"}), Json::Null),
        (json!([]), json!({"limit": 1}), Json::Null),
    ];
    for (data, pagination, next) in cases {
        for call in SESSION_LISTS.into_iter().chain([Call::ListTurns]) {
            let body = json!({"data": data, "pagination": pagination});
            let found = answer(call, &body).expect("a list");
            assert_eq!(found["next"], next, "{body}");
            assert_eq!(found["items"].as_array().map(Vec::len), data.as_array().map(Vec::len));
        }
    }
    let without = answer(Call::ListTurns, &json!({"data": []})).expect("a list");
    assert_eq!(without, json!({"items": [], "next": null}));
}

#[test]
fn answers_without_what_they_should_hold_are_unexpected() {
    let one =
        [Call::CreateSession, Call::GetSession, Call::GetTurn, Call::CreateTurn, Call::UpdateDraftSession];
    let bodies = [
        json!({}),
        json!({"data": null}),
        json!({"data": {}}),
        json!({"data": {"id": 5}}),
        json!({"data": []}),
        json!({"id": "s"}),
        json!([]),
        json!(null),
        json!("ok"),
    ];
    for call in one {
        for body in &bodies {
            let error = answer(call, body).expect_err("no object");
            assert_eq!(error.code, ErrorCode::UnexpectedResponse, "{call:?} {body}");
            assert_eq!((error.status, error.body.clone()), (Some(200), Some(body.to_string())));
        }
    }
    for call in
        SESSION_LISTS.into_iter().chain([Call::ListTurns, Call::ListTurnEvents, Call::ListSessionEvents])
    {
        for body in [json!({}), json!({"data": null}), json!({"data": {}}), json!([]), json!({"items": []})] {
            let error = answer(call, &body).expect_err("no list");
            assert_eq!(error.code, ErrorCode::UnexpectedResponse, "{call:?} {body}");
        }
    }
}

#[test]
fn answers_that_are_not_json_are_unexpected() {
    for body in ["<html>", "{", "ok", "{\"data\":{}"] {
        let error = answer_of(200, "text/html", body, Call::GetSession).expect_err("not JSON");
        assert_eq!(error.code, ErrorCode::UnexpectedResponse);
        assert!(error.message.contains("text/html"), "{}", error.message);
        assert_eq!(error.body.as_deref(), Some(body));
    }
    let error = answer_of(200, "application/json", "", Call::GetSession).expect_err("nothing");
    assert_eq!(error.code, ErrorCode::UnexpectedResponse);
}

/// Section 1.2 (#4) and 7: these answers say nothing, whatever they are.
#[test]
fn cancelling_and_deleting_answer_nothing() {
    for (status, body) in [(200, "{}"), (204, ""), (200, " \n")] {
        for call in [Call::CancelSession, Call::DeleteSession] {
            assert_eq!(answer_of(status, "application/json", body, call), Ok(Json::Null));
        }
    }
}

/// Section 1.4.
#[test]
fn section_1_4_error_envelopes() {
    let cases = [
        (
            json!({"error": {"message": "Turn not found: x"}}).to_string(),
            "the server answered 404: Turn not found: x",
        ),
        (
            json!({"error": {"message": "m", "type": "t", "code": null, "param": "p"}}).to_string(),
            "the server answered 404: m",
        ),
        (json!({"error": "plain"}).to_string(), "the server answered 404: plain"),
        (json!({"error": {"message": ""}}).to_string(), "the server answered 404"),
        (json!({"error": {"message": 5}}).to_string(), "the server answered 404"),
        (json!({"message": "elsewhere"}).to_string(), "the server answered 404"),
        (json!([]).to_string(), "the server answered 404"),
        ("<html>Bad Gateway</html>".to_owned(), "the server answered 404"),
        (String::new(), "the server answered 404"),
    ];
    for (body, message) in cases {
        let error = answer_of(404, "application/json", &body, Call::GetTurn).expect_err("an error");
        assert_eq!(error.code, ErrorCode::Http);
        assert_eq!(error.message, message);
        assert_eq!(error.status, Some(404));
        assert_eq!(error.body, Some(body));
    }
}

#[test]
fn an_error_without_a_message_has_the_status_in_words() {
    let answer =
        Answer { status: 502, status_text: "Bad Gateway", content_type: "text/html", body: "<html>" };
    let error = answer
        .read(&TrueFoundry::new(Dialect::Gateway), Call::GetTurn, &Object::new())
        .expect_err("an error");
    assert_eq!(error.message, "the server answered 502: Bad Gateway");
}

#[test]
fn every_status_outside_the_2xx_is_an_error() {
    let body = json!({"data": {"id": "s"}}).to_string();
    for status in [100, 199, 300, 301, 304, 400, 401, 403, 404, 409, 412, 422, 424, 429, 500, 503, 504] {
        let error = answer_of(status, "application/json", &body, Call::GetSession).expect_err("an error");
        assert_eq!((error.code, error.status), (ErrorCode::Http, Some(status)));
    }
    for status in [200, 201, 202, 299] {
        answer_of(status, "application/json", &body, Call::CreateSession).expect("any 2xx will do");
    }
}

/// A body is kept for people, not for ever.
#[test]
fn a_long_body_is_cut_between_characters() {
    let body = "é".repeat(Error::BODY_LIMIT);
    let error = answer_of(500, "text/plain", &body, Call::GetSession).expect_err("an error");
    let kept = error.body.as_deref().expect("a body");
    assert!(kept.len() <= Error::BODY_LIMIT && kept.len() > Error::BODY_LIMIT - 2);
    let error = answer_of(500, "text/plain", &format!("a{body}"), Call::GetSession).expect_err("an error");
    assert_eq!(error.body.as_deref().expect("a body").len(), Error::BODY_LIMIT - 1);
}

/// Section 2.2: a stream is recognised by its type, whatever its parameters.
#[test]
fn section_2_2_event_streams() {
    let is_stream =
        |status, content_type| Answer { status, status_text: "", content_type, body: "" }.is_stream();
    for content_type in
        ["text/event-stream", "text/event-stream; charset=utf-8", "Text/Event-Stream", " text/event-stream"]
    {
        assert!(is_stream(200, content_type), "{content_type}");
        assert!(!is_stream(404, content_type), "{content_type}");
    }
    for content_type in ["application/json", "", "text/event", "text/html"] {
        assert!(!is_stream(200, content_type), "{content_type}");
    }
    for call in [Call::CreateTurnStream, Call::SubscribeTurn] {
        let error = answer_of(200, "application/json", "{\"data\":{}}", call).expect_err("not a stream");
        assert_eq!(error.code, ErrorCode::UnexpectedResponse);
        assert_eq!(error.message, "the response is not an event stream (`application/json`)");
    }
}
