//! What results mean (sections 3, 4 and 14).

use serde_json::{Value as Json, json};

use super::read;
use crate::error::ErrorCode;
use crate::json::Object;
use crate::protocol::turn_rpc::{Dialect, TurnRpc};
use crate::protocol::{Call, Protocol};

#[test]
fn a_connection_tells_what_later_calls_need() {
    let workspace = json!({"workspace": {"id": "w", "name": "Default"}});
    let told = read(Dialect::Gateway, Call::Connect, &json!({}), &workspace).expect("a connection");
    assert_eq!(told, json!({"workspace_id": "w"}));
    let told = read(Dialect::Codex, Call::Connect, &json!({}), &json!({"userAgent": "codex"}))
        .expect("a connection");
    assert_eq!(told, json!({"user_agent": "codex"}));
}

#[test]
fn what_is_only_done_needs_no_result() {
    for call in [
        Call::AnswerTurn,
        Call::SteerTurn,
        Call::CancelTurn,
        Call::RenameSession,
        Call::DeleteSession,
        Call::Ping,
    ] {
        for result in [json!(null), json!({}), json!({"data": []})] {
            let done = read(Dialect::Codex, call, &json!({}), &result);
            assert_eq!(done.expect("it is done"), json!(null), "{call:?} {result}");
        }
    }
}

#[test]
fn threads_are_sessions() {
    let thread = json!({"thread": {"id": "t", "mode": "Agent", "preview": "Hi", "created_at": 1_777_900_000, "updated_at": 1_777_900_001}});
    let expected = json!({"type": "session", "id": "t", "agent_name": "Agent", "title": "Hi", "created_by_subject": null,
        "created_at": "2026-05-04T13:06:40.000Z", "updated_at": "2026-05-04T13:06:41.000Z"});
    for call in [Call::CreateSession, Call::GetSession] {
        assert_eq!(read(Dialect::Gateway, call, &json!({}), &thread).expect("a session"), expected);
    }
    let page = json!({"data": [{"id": "t", "model": "m", "preview": "", "name": "N", "createdAt": 0}], "nextCursor": "c"});
    let list = read(Dialect::Codex, Call::ListSessions, &json!({}), &page).expect("a list");
    assert_eq!(
        (&list["next"], &list["items"][0]["title"], &list["items"][0]["agent_name"]),
        (&json!("c"), &json!("N"), &json!("m"))
    );
    let error = read(Dialect::Codex, Call::GetSession, &json!({}), &json!({})).expect_err("it is no thread");
    assert_eq!(error.code, ErrorCode::UnexpectedResponse);
}

#[test]
fn modes_and_models_are_agents() {
    let modes =
        TurnRpc::new(Dialect::Gateway).local(Call::ListAgents, &Object::new()).expect("it needs no server");
    assert_eq!(modes.to_json(), r#"{"items":[{"name":"Chat"},{"name":"Agent"}],"next":null}"#);
    let known = json!({"data": [{"id": "i", "model": "m", "displayName": "M"}], "nextCursor": null});
    let agents = read(Dialect::Codex, Call::ListAgents, &json!({}), &known).expect("agents");
    assert_eq!(
        agents["items"][0],
        json!({"id": "i", "model": "m", "displayName": "M", "name": "m", "title": "M"})
    );
}

fn turn(id: &str, status: &str) -> Json {
    let content = json!([{"type": "text", "text": "Hi"}]);
    let items = json!([
        {"type": "userMessage", "id": format!("u{id}"), "content": content},
        {"type": "agentMessage", "id": format!("a{id}"), "text": "Hello"},
    ]);
    json!({"id": id, "status": status, "items": items, "startedAt": 1_777_900_000, "error": null})
}

#[test]
fn turns_are_records_newest_first() {
    let thread = json!({"thread": {"id": "t", "turns": [turn("1", "completed"), turn("2", "inProgress")]}});
    let params = json!({"sessionId": "t"});
    let list = read(Dialect::Codex, Call::ListTurns, &params, &thread).expect("a list");
    let expected = json!({"id": "2", "session_id": "t", "previous_turn_id": "1", "input": [{"type": "user.message", "content": "Hi"}],
        "state": {"status": "running"}, "created_by_subject": null, "created_at": "2026-05-04T13:06:40.000Z"});
    assert_eq!(list["items"][0], expected);
    assert_eq!(list["items"][1]["state"]["output"]["content"], "Hello");
    let one = json!({"sessionId": "t", "turnId": "1"});
    assert_eq!(read(Dialect::Codex, Call::GetTurn, &one, &thread).expect("a turn")["id"], "1");
    let none = json!({"sessionId": "t", "turnId": "3"});
    let error = read(Dialect::Codex, Call::GetTurn, &none, &thread).expect_err("there is none");
    assert_eq!((error.code, error.status), (ErrorCode::Rpc, Some(404)));
    for (status, expected) in [
        ("Completed", json!("done")),
        ("Failed", json!("error")),
        ("Interrupted", json!("cancelled")),
        ("InProgress", json!("running")),
        ("Blocked", json!("running")),
    ] {
        let result = json!({"turn": {"id": "1", "status": status, "error": "why"}});
        let record = read(Dialect::Gateway, Call::GetTurn, &params, &result).expect("a turn");
        assert_eq!(record["state"]["status"], expected, "{status}");
    }
}

fn event(turn: &str, payload: Json) -> Json {
    json!({"turn_id": turn, "sequence": 1, "created_at": 1_777_900_000, "payload": payload})
}

fn item(kind: &str, item: Json) -> Json {
    json!({"type": kind, "workspaceId": "w", "threadId": "t", "turnId": "1", "item": item})
}

#[test]
fn kept_events_are_those_of_a_stream_with_whole_messages() {
    let call = json!({"type": "commandExecution", "id": "c", "toolName": "exec_command", "arguments": {"cmd": "ls"}, "status": "in_progress",
        "display": {"kind": "progress", "stage": "running", "metadata": {}}});
    let mut done = call.clone();
    done["status"] = json!("completed");
    done["display"] =
        json!({"kind": "shell", "stdout": "a\n", "stderr": "b", "exit_code": 0, "truncated": false});
    let kept = [
        item("itemStarted", json!({"type": "userMessage", "id": "u", "text": "Hi"})),
        item("itemStarted", json!({"type": "reasoning", "id": "r", "summary": [], "content": []})),
        item("itemCompleted", json!({"type": "reasoning", "id": "r", "summary": [], "content": ["Hm"]})),
        item("itemStarted", call),
        item("itemCompleted", done),
        json!({"type": "itemRecoveryOpened", "threadId": "t", "turnId": "1", "itemId": "a", "itemType": "agent_message", "recoveryJobId": "j", "attemptNumber": 1}),
        item("itemStarted", json!({"type": "agentMessage", "id": "a", "text": ""})),
        item("itemCompleted", json!({"type": "agentMessage", "id": "a", "text": "Done"})),
    ];
    let woven = |(at, payload): (usize, &Json)| {
        json!({"id": format!("parent:{at}"), "origin": {"kind": "parent_turn", "lane": "parent"},
            "payload": {"kind": "turn_item_event", "event": event("1", payload.clone())}})
    };
    let mut items: Vec<Json> = kept.iter().enumerate().map(woven).collect();
    items.push(json!({"id": "child:1", "origin": {"kind": "child_turn", "taskId": "k", "childTurnId": "2", "lane": "child_agent"},
        "payload": {"kind": "turn_item_event", "event": event("2", item("itemCompleted", json!({"type": "agentMessage", "id": "b", "text": "Seen"})))}}));
    let params = json!({"sessionId": "t", "turnId": "1"});
    let list =
        read(Dialect::Gateway, Call::ListTurnEvents, &params, &json!({"items": items})).expect("a list");
    let list = list["items"].as_array().expect("a list");
    let types: Vec<&str> = list.iter().map(|event| event["type"].as_str().expect("a type")).collect();
    let expected =
        ["model.message", "tool.response", "notice", "model.message", "thread.created", "model.message"];
    assert_eq!(types, expected);
    assert_eq!(
        (&list[0]["reasoning_content"], &list[0]["finish_reason"]),
        (&json!("Hm"), &json!("tool_calls"))
    );
    assert_eq!(
        list[0]["tool_calls"][0]["function"],
        json!({"name": "exec_command", "arguments": r#"{"cmd":"ls"}"#})
    );
    assert_eq!((&list[1]["content"], &list[1]["outcome"]), (&json!("a\nb"), &json!("succeeded")));
    assert_eq!((&list[2]["code"], &list[2]["item_id"]), (&json!("item/recovery_opened"), &json!("a")));
    assert_eq!(list[3]["content"], "Done");
    assert_eq!((&list[5]["thread_id"], &list[5]["content"]), (&json!("k"), &json!("Seen")));
}

#[test]
fn a_result_takes_the_place_of_an_earlier_one_of_the_same_call_only() {
    let result = |sequence: u64, text: &str, origin: Json| {
        let call = json!({"type": "dynamicToolCall", "id": "call_1", "toolName": "look", "arguments": {}, "status": "completed",
            "display": {"kind": "summary", "title": text, "metadata": {}, "truncated": false}});
        let mut event = event("1", item("itemCompleted", call));
        event["sequence"] = json!(sequence);
        json!({"origin": origin, "payload": {"kind": "turn_item_event", "event": event}})
    };
    let task = |id: &str| json!({"kind": "child_turn", "taskId": id, "childTurnId": format!("turn of {id}")});
    let items = [
        result(1, "early", json!({"kind": "parent_turn"})),
        result(1, "one", task("k1")),
        result(1, "two", task("k2")),
        result(2, "own", json!({"kind": "parent_turn"})),
    ];
    let params = json!({"sessionId": "t", "turnId": "1"});
    let list = read(Dialect::Gateway, Call::ListTurnEvents, &params, &json!({"items": items}));
    let list = list.expect("a list");
    let results = list["items"].as_array().expect("a list").iter();
    let results = results.filter(|event| event["type"] == "tool.response");
    let told: Vec<_> = results.map(|event| (&event["thread_id"], &event["content"])).collect();
    let expected = json!([["k1", "one"], ["k2", "two"], ["main", "own"]]);
    assert_eq!(json!(told), expected);
}

#[test]
fn a_history_tells_its_turns_apart() {
    let started = json!({"type": "turnStarted", "workspaceId": "w", "threadId": "t", "turn": {"id": "1"}, "input": [{"type": "text", "text": "Hi"}]});
    let events = json!([
        event("1", started),
        event("1", item("itemCompleted", json!({"type": "agentMessage", "id": "a", "text": "One"}))),
        event("1", json!({"type": "turnCompleted", "turn": {"id": "1", "status": "Completed"}})),
        event("2", item("itemCompleted", json!({"type": "userMessage", "id": "u2", "text": "Again"}))),
        event("2", json!({"type": "turnFailed", "turn": {"id": "2", "status": "Failed", "error": "no"}})),
    ]);
    let list = read(
        Dialect::Gateway,
        Call::ListSessionEvents,
        &json!({"sessionId": "t", "order": "asc"}),
        &json!({"events": events}),
    );
    let list = list.expect("a list");
    let told = list["items"].as_array().expect("a list").iter();
    let told: Vec<_> = told
        .map(|item| {
            (item["turn_id"].as_str().expect("a turn"), item["event"]["type"].as_str().expect("a type"))
        })
        .collect();
    let expected = [
        ("1", "turn.created"),
        ("1", "model.message"),
        ("1", "turn.done"),
        ("2", "turn.created"),
        ("2", "turn.done"),
    ];
    assert_eq!(told, expected);
    assert_eq!(list["items"][0]["event"]["input"], json!([{"type": "user.message", "content": "Hi"}]));
    assert_eq!(list["items"][3]["event"]["input"], json!([{"type": "user.message", "content": "Again"}]));
    let thread = json!({"thread": {"id": "t", "turns": [turn("1", "completed")]}});
    let list =
        read(Dialect::Codex, Call::ListSessionEvents, &json!({"sessionId": "t", "order": "desc"}), &thread)
            .expect("a list");
    assert_eq!(list["items"][0]["event"]["state"]["output"]["content"], "Hello");
}

#[test]
fn a_document_of_any_depth_leaves_a_history_readable() {
    let deep = ["{\"blocks\":", &"[{\"blocks\":".repeat(200), "[]", &"}]".repeat(200), "}"].concat();
    let events: Vec<_> = ["u", "v"]
        .map(|turn| {
            event(
                turn,
                item(
                    "itemCompleted",
                    json!({"type": "agentMessage", "id": turn, "text": turn, "markdown": "DEEP"}),
                ),
            )
        })
        .into();
    let message = json!({"result": {"events": events}}).to_string().replace("\"DEEP\"", &deep);
    let params = crate::json::Value::parse(r#"{"sessionId":"t"}"#).expect("JSON");
    let params = params.as_object().expect("an object");
    let history = crate::protocol::response::read(
        &super::TurnRpc::new(Dialect::Gateway),
        Call::ListSessionEvents,
        params,
        &message,
    );
    let history: Json = serde_json::from_str(&history.expect("a history")).expect("JSON");
    let items = history["items"].as_array().expect("a list");
    let said: Vec<_> = items.iter().filter_map(|item| item["event"]["content"].as_str()).collect();
    assert_eq!(said, ["v", "u"]);
}
