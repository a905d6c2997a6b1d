//! The messages of each call (sections 3, 4, 8 and 14).

use serde_json::{Value as Json, json};

use super::said;
use crate::error::ErrorCode;
use crate::json::Object;
use crate::protocol::turn_rpc::{Dialect, TurnRpc};
use crate::protocol::{Call, Protocol};

fn request(method: &str, params: Json) -> Json {
    json!({"method": method, "params": params})
}

fn plain(thread: &str, subscribes: bool, messages: Json) -> Json {
    json!({"thread": thread, "subscribes": subscribes, "messages": messages})
}

fn check(dialect: Dialect, call: Call, params: &Json, expected: &Json) {
    let said = said(dialect, call, params).unwrap_or_else(|error| panic!("{dialect:?} {call:?}: {error}"));
    assert_eq!(said, *expected, "{dialect:?} {call:?}");
}

fn with(mut params: Json, more: Json) -> Json {
    let Json::Object(more) = more else { panic!("more of an object") };
    params.as_object_mut().expect("an object").extend(more);
    params
}

/// What the gateway's calls are told of the connection.
fn session() -> Json {
    json!({"sessionId": "t", "connection": {"workspace_id": "w"}})
}

#[test]
fn the_gateway_is_asked_by_the_ids_of_the_client() {
    let check = |call, params: Json, expected: Json| check(Dialect::Gateway, call, &params, &expected);
    let start = request("thread/start", json!({"thread_id": "t", "workspace_id": "w"}));
    let own = json!({"thread_id": "t", "turn_id": "u"});
    for call in [Call::Connect, Call::Ping] {
        check(call, json!({}), plain("", false, json!([request("workspace/default", json!({}))])));
    }
    let options = json!({"modelProvider": "p", "sandbox": "FullAccess"});
    check(
        Call::CreateSession,
        with(session(), json!({"id": "n", "agentName": "Agent", "title": "T", "sessionOptions": options})),
        plain(
            "n",
            true,
            json!([request(
                "thread/start",
                json!({
                    "thread_id": "n", "mode": "Agent", "name": "T", "model_provider": "p", "sandbox": "FullAccess", "workspace_id": "w",
                })
            )]),
        ),
    );
    check(
        Call::GetSession,
        session(),
        plain("t", false, json!([request("thread/get", json!({"thread_id": "t"}))])),
    );
    check(
        Call::ListTurns,
        with(session(), json!({"limit": 25})),
        plain("t", false, json!([request("thread/get", json!({"thread_id": "t"}))])),
    );
    check(
        Call::ListSessionEvents,
        with(session(), json!({"limit": 100, "order": "desc"})),
        plain("t", false, json!([request("thread/history", json!({"thread_id": "t"}))])),
    );
    let capabilities =
        json!([{"id": "c", "kind": {"type": "skill", "slug": "s", "sourceKind": "workspace"}}]);
    check(
        Call::CreateTurnStream,
        with(
            session(),
            json!({
                "turnId": "u", "agentName": "Chat", "previousTurnId": "auto",
                "input": [{"type": "user.message", "content": "Hi"}],
                "turnOptions": {"sandboxPolicy": {"mode": "FullAccess"}, "capabilities": capabilities, "mode": "Agent"},
            }),
        ),
        json!({"thread": "t", "subscribes": false, "recreates_thread": true, "subscribe": start, "messages": [request("turn/start", json!({
            "thread_id": "t", "turn_id": "u", "input": [{"type": "text", "text": "Hi"}],
            "sandbox_policy": {"mode": "FullAccess"}, "capabilities": capabilities, "mode": "Agent",
        }))]}),
    );
    let timeline = request("turn/timeline", json!({"threadId": "t", "turnId": "u", "composeTasks": true}));
    let turn = with(session(), json!({"turnId": "u"}));
    check(
        Call::SubscribeTurn,
        with(turn.clone(), json!({"afterSequenceNumber": 7})),
        with(
            plain(
                "t",
                true,
                json!([
                    start,
                    request("turn/get", own.clone()),
                    request("turn/items", own.clone()),
                    timeline.clone()
                ]),
            ),
            json!({"recreates_thread": true}),
        ),
    );
    check(Call::GetTurn, turn.clone(), plain("t", false, json!([request("turn/get", own.clone())])));
    check(Call::ListTurnEvents, turn.clone(), plain("t", false, json!([timeline])));
    let elsewhere = with(turn.clone(), json!({"terms": {"workspace_id": "mine"}}));
    let there = request("thread/start", json!({"thread_id": "t", "workspace_id": "mine"}));
    check(
        Call::CancelTurn,
        elsewhere,
        json!({"thread": "t", "subscribes": false, "recreates_thread": true, "subscribe": there, "messages": [request("turn/cancel", own.clone())]}),
    );
    check(
        Call::CancelTurn,
        turn,
        json!({"thread": "t", "subscribes": false, "recreates_thread": true, "subscribe": start, "messages": [request("turn/cancel", own)]}),
    );
}

#[test]
fn codex_is_asked_by_its_own_ids() {
    let check = |call, params: Json, expected: Json| check(Dialect::Codex, call, &params, &expected);
    let session = json!({"sessionId": "t", "connection": {"user_agent": "codex"}});
    let turn = with(session.clone(), json!({"turnId": "u"}));
    let info = json!({"name": "turnwire", "title": "turnwire", "version": env!("CARGO_PKG_VERSION")});
    check(
        Call::Connect,
        json!({}),
        plain(
            "",
            false,
            json!([
                request("initialize", json!({"clientInfo": info, "capabilities": {"experimentalApi": true}})),
                {"method": "initialized", "params": {}, "notifies": true},
            ]),
        ),
    );
    check(
        Call::CreateSession,
        json!({"agentName": "gpt", "sessionOptions": {"cwd": "/srv", "approvalPolicy": "untrusted"}}),
        plain(
            "",
            true,
            json!([request(
                "thread/start",
                json!({"model": "gpt", "cwd": "/srv", "approvalPolicy": "untrusted"})
            )]),
        ),
    );
    check(
        Call::CreateSession,
        json!({"agentName": "codex"}),
        plain("", true, json!([request("thread/start", json!({}))])),
    );
    check(Call::ListAgents, json!({}), plain("", false, json!([request("model/list", json!({}))])));
    check(
        Call::ListSessions,
        json!({"agentName": "gpt", "limit": 5, "pageToken": "c"}),
        plain("", false, json!([request("thread/list", json!({"limit": 5, "cursor": "c"}))])),
    );
    let read = |turns| json!([request("thread/read", json!({"threadId": "t", "includeTurns": turns}))]);
    check(Call::GetSession, session.clone(), plain("t", false, read(false)));
    for call in [Call::GetTurn, Call::ListTurnEvents] {
        check(call, turn.clone(), plain("t", false, read(true)));
    }
    let message = json!([{"type": "user.message", "content": [{"type": "text", "text": "a"}, {"type": "skill", "name": "s", "path": "/s"}]}]);
    check(
        Call::CreateTurnStream,
        with(session.clone(), json!({"input": message, "turnOptions": {"model": "m", "effort": "high"}})),
        json!({
            "thread": "t", "subscribes": false,
            "subscribe": request("thread/resume", json!({"threadId": "t", "excludeTurns": true})),
            "messages": [request("turn/start", json!({
                "threadId": "t", "model": "m", "effort": "high",
                "input": [{"type": "text", "text": "a"}, {"type": "skill", "name": "s", "path": "/s"}],
            }))],
        }),
    );
    check(
        Call::SubscribeTurn,
        turn.clone(),
        plain(
            "t",
            true,
            json!([
                request("thread/resume", json!({"threadId": "t", "excludeTurns": true})),
                request(
                    "thread/turns/list",
                    json!({"threadId": "t", "limit": 1, "sortDirection": "desc", "itemsView": "full"})
                ),
            ]),
        ),
    );
    let more = json!([{"type": "user.message", "content": "Go on"}]);
    check(
        Call::SteerTurn,
        with(turn.clone(), json!({"input": more})),
        plain(
            "t",
            false,
            json!([request(
                "turn/steer",
                json!({"threadId": "t", "expectedTurnId": "u", "input": [{"type": "text", "text": "Go on"}]})
            )]),
        ),
    );
    check(
        Call::CancelTurn,
        turn,
        plain("t", false, json!([request("turn/interrupt", json!({"threadId": "t", "turnId": "u"}))])),
    );
    check(
        Call::DeleteSession,
        session.clone(),
        plain("t", false, json!([request("thread/delete", json!({"threadId": "t"}))])),
    );
    check(
        Call::RenameSession,
        with(session, json!({"title": "T"})),
        plain("t", false, json!([request("thread/name/set", json!({"threadId": "t", "name": "T"}))])),
    );
}

#[test]
fn what_is_no_option_is_refused_by_name() {
    for (dialect, call, params, message) in [
        (
            Dialect::Gateway,
            Call::GetSession,
            json!({"sessionId": "t", "turnId": "u"}),
            "`turnId` is not an option of this call",
        ),
        (Dialect::Gateway, Call::GetSession, json!({}), "`sessionId` must be a non-empty id"),
        (
            Dialect::Gateway,
            Call::CreateSession,
            json!({"id": "t"}),
            "`connection` has no workspace: the server named none",
        ),
        (
            Dialect::Gateway,
            Call::CreateSession,
            json!({"id": "t", "agentName": "gpt"}),
            "`agentName` must be `Chat` or `Agent`",
        ),
        (
            Dialect::Gateway,
            Call::CreateTurn,
            json!({"sessionId": "t", "turnId": "u", "turnOptions": {"effort": 1}}),
            "`turnOptions` has no member `effort`",
        ),
        (
            Dialect::Codex,
            Call::CreateTurn,
            json!({"sessionId": "t", "turnOptions": 1}),
            "`turnOptions` must be an object",
        ),
        (Dialect::Codex, Call::RenameSession, json!({"sessionId": "t"}), "`title` must be a string"),
        (
            Dialect::Codex,
            Call::SteerTurn,
            json!({"sessionId": "t", "input": []}),
            "`turnId` must be a non-empty id",
        ),
        (
            Dialect::Codex,
            Call::SteerTurn,
            json!({"sessionId": "t", "turnId": "u", "turnOptions": {}}),
            "`turnOptions` is not an option of this call",
        ),
    ] {
        let error = said(dialect, call, &params).expect_err("it is refused");
        assert_eq!((error.code, &*error.message), (ErrorCode::InvalidOption, message));
    }
}

#[test]
fn other_calls_are_not_of_these_protocols() {
    let unsupported = |dialect, call| {
        let error = said(dialect, call, &json!({})).expect_err("there is no such request");
        assert_eq!(error.code, ErrorCode::Unsupported, "{dialect:?} {call:?}");
    };
    for dialect in [Dialect::Gateway, Dialect::Codex] {
        for call in [
            Call::CancelSession,
            Call::InterruptSession,
            Call::ListMessages,
            Call::SearchSessions,
            Call::GetSessionState,
        ] {
            unsupported(dialect, call);
        }
        let error = TurnRpc::new(dialect).request(Call::GetTurn, Object::new()).expect_err("it is no HTTP");
        assert_eq!(error.code, ErrorCode::Unsupported);
    }
    for call in
        [Call::ListSessions, Call::AnswerTurn, Call::SteerTurn, Call::DeleteSession, Call::RenameSession]
    {
        unsupported(Dialect::Gateway, call);
    }
}

#[test]
fn errors_that_say_that_there_is_nothing_are_told_from_others() {
    let gateway = TurnRpc::new(Dialect::Gateway);
    for (call, code, status) in [
        (Call::GetTurn, -32600, Some(404)),
        (Call::GetSession, -32600, Some(404)),
        (Call::CreateTurnStream, -32600, None),
        (Call::ListTurnEvents, -32044, Some(404)),
        (Call::GetTurn, -32043, Some(403)),
        (Call::GetTurn, -32602, None),
    ] {
        assert_eq!(gateway.status_of(call, code), status, "{call:?} {code}");
    }
}

#[test]
fn a_thread_in_which_nothing_was_said_is_made_as_it_was() {
    let creation = json!({"agentName": "Agent", "title": "T", "sessionOptions": {"modelProvider": "p"}});
    let terms = json!({"terms": {"workspace_id": "mine", "creation": creation}, "turnId": "u"});
    let made = json!({"thread_id": "t", "mode": "Agent", "name": "T", "model_provider": "p", "workspace_id": "mine"});
    let params = with(session(), terms);
    let start = said(Dialect::Gateway, Call::CreateTurnStream, &params).expect("messages");
    assert_eq!(start["subscribe"], request("thread/start", made));
    assert_eq!(start["recreates_thread"], json!(null));
    // Its first turn may have begun by then, and with that the conversation.
    let resume = said(Dialect::Gateway, Call::SubscribeTurn, &params).expect("messages");
    let there = json!({"thread_id": "t", "workspace_id": "mine"});
    assert_eq!(
        (&resume["messages"][0], &resume["recreates_thread"]),
        (&request("thread/start", there), &json!(true))
    );
}
