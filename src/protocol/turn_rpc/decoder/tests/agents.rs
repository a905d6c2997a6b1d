//! Sub-agents of Codex (section 14): threads of their own, whose questions are the turn's.

use serde_json::{Value as Json, json};

use super::Reading;
use crate::protocol::EventDecoder;

const METHOD: &str = "item/commandExecution/requestApproval";

/// Something is said in another thread.
fn say(turn: &mut Reading, method: &str, thread: &str, params: Json) {
    let mut params = params;
    params["threadId"] = json!(thread);
    turn.hear(&json!({"method": method, "params": params}));
}

fn ask(turn: &mut Reading, thread: &str, id: u32, method: &str) {
    let params = json!({"threadId": thread, "turnId": "cu", "itemId": format!("c{id}"), "command": "ls"});
    turn.hear(&json!({"method": method, "id": id, "params": params}));
}

/// A thread begins to do what turn `root` wants of it.
fn begin(turn: &mut Reading, thread: &str, root: &str) {
    say(turn, "turn/started", thread, json!({"turn": {"id": "cu", "rootTurnId": root}}));
}

fn call(id: &str, tool: &str, agent: &str, status: &str) -> Json {
    json!({
        "type": "collabAgentToolCall", "id": id, "tool": tool, "status": "completed", "senderThreadId": "t",
        "receiverThreadIds": [agent], "prompt": "Look\nfor it", "agentsStates": {agent: {"status": status, "message": "broken"}},
    })
}

fn spawn(turn: &mut Reading, agent: &str) {
    turn.item("completed", call("s", "spawnAgent", agent, "pendingInit"));
}

/// What waits: threads and calls.
fn waiting(turn: &Reading) -> Vec<(String, String)> {
    let pending = turn.seen.index.pending().iter();
    pending.map(|action| (action.thread_id.clone(), action.id.clone())).collect()
}

/// The requests that are made: methods and what they are about.
fn asks(turn: &mut Reading) -> Vec<(String, String)> {
    let said =
        turn.decoder.follow_up_requests().map_or_else(|| "{}".to_owned(), |messages| messages.to_json());
    let said: Json = serde_json::from_str(&said).expect("JSON");
    let about = |message: &Json| {
        let params: Json =
            serde_json::from_str(message["params"].as_str().unwrap_or("{}")).expect("parameters");
        let id = if params["threadId"].is_null() { &params["ancestorThreadId"] } else { &params["threadId"] };
        (message["method"].as_str().unwrap_or("refusal").to_owned(), id.as_str().unwrap_or("").to_owned())
    };
    said["messages"].as_array().into_iter().flatten().map(about).collect()
}

fn pairs<const N: usize>(list: [(&str, &str); N]) -> Vec<(String, String)> {
    list.map(|(one, two)| (one.to_owned(), two.to_owned())).into()
}

/// A thread as it is listed.
fn listed(id: &str, parent: &str, flags: Json) -> Json {
    json!({"id": id, "parentThreadId": parent, "status": {"type": "active", "activeFlags": flags}})
}

/// Another connection comes, and the turn is read: these are its items.
fn resume(turn: &mut Reading, items: Json) {
    turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
    assert!(!turn.decoder.has_follow_up_requests(), "first the turn itself");
    let status = json!({"type": "active", "activeFlags": []});
    turn.hear(&json!({"response_to": "thread/resume", "result": {"thread": {"id": "t", "status": status}}}));
    let turns = json!([{"id": "u", "status": "inProgress", "items": items}]);
    turn.hear(&json!({"response_to": "thread/turns/list", "result": {"data": turns, "nextCursor": null}}));
}

#[test]
fn what_a_sub_agent_asks_waits_in_its_thread() {
    let mut turn = Reading::codex();
    spawn(&mut turn, "a");
    begin(&mut turn, "a", "u");
    ask(&mut turn, "a", 0, METHOD);
    assert_eq!(waiting(&turn), pairs([("a", "c0")]));
    let created = turn.seen.of("thread.created");
    assert_eq!(created.len(), 1);
    assert_eq!(
        (&created[0]["thread_id"], &created[0]["title"], &created[0]["parent"]),
        (&json!("a"), &json!("Look"), &json!({"thread_id": "main", "tool_call_id": "s"}))
    );
    assert_eq!(turn.seen.last()["tool_calls"][0]["suspension"]["id"], "0");
    assert_eq!(asks(&mut turn), [], "it is heard of");
    say(&mut turn, "serverRequest/resolved", "a", json!({"requestId": 0}));
    assert_eq!(waiting(&turn), []);
    assert_eq!(
        (&turn.seen.last()["type"], &turn.seen.last()["thread_id"]),
        (&json!("tool.resumed"), &json!("a"))
    );
    turn.item("completed", call("w", "wait", "a", "completed"));
    let done = turn.seen.last();
    assert_eq!(
        (&done["type"], &done["thread_id"], &done["status"]),
        (&json!("thread.done"), &json!("a"), &json!("done"))
    );
}

#[test]
fn what_sub_agents_of_sub_agents_ask_waits_too() {
    let mut turn = Reading::codex();
    begin(&mut turn, "b", "u");
    ask(&mut turn, "b", 3, "item/tool/requestUserInput");
    assert_eq!(waiting(&turn), pairs([("b", "c3")]));
    turn.notify("turn/completed", json!({"turn": {"id": "u", "status": "completed"}}));
    assert_eq!(waiting(&turn), []);
}

#[test]
fn threads_of_others_are_left_alone() {
    let mut turn = Reading::codex();
    spawn(&mut turn, "a");
    let count = turn.seen.events.len();
    begin(&mut turn, "x", "y");
    for method in [METHOD, "item/newer/request"] {
        ask(&mut turn, "x", 0, method);
        ask(&mut turn, "", 1, method);
    }
    say(&mut turn, "serverRequest/resolved", "x", json!({"requestId": 0}));
    assert_eq!(turn.seen.events.len(), count);
    assert_eq!(asks(&mut turn), pairs([("thread/list", "t")]), "nothing is refused");
    assert!(!turn.decoder.concerns(r#"{"method":"m","id":0,"params":{"threadId":"x"}}"#));
    assert!(turn.decoder.concerns(r#"{"method":"m","id":0,"params":{"threadId":"a"}}"#));
}

#[test]
fn an_unknown_request_of_a_sub_agent_is_refused() {
    let mut turn = Reading::codex();
    begin(&mut turn, "a", "u");
    ask(&mut turn, "a", 0, "item/newer/request");
    assert_eq!(asks(&mut turn), pairs([("refusal", "")]));
}

#[test]
fn a_sub_agent_that_is_not_heard_of_is_looked_for() {
    let mut turn = Reading::codex();
    // Made by an earlier turn.
    turn.item("started", call("w", "wait", "a", "running"));
    assert!(turn.decoder.has_follow_up_requests());
    assert_eq!(asks(&mut turn), pairs([("thread/list", "t")]));
    assert!(!turn.decoder.has_follow_up_requests());
    let unloaded = json!({"id": "c", "parentThreadId": "a", "status": {"type": "notLoaded"}});
    let list = [
        unloaded,
        listed("b", "a", json!([])),
        listed("x", "t", json!([])),
        listed("a", "t", json!(["waitingOnApproval"])),
    ];
    turn.hear(&json!({"response_to": "thread/list", "result": {"data": list, "nextCursor": null}}));
    assert_eq!(
        asks(&mut turn),
        pairs([("thread/resume", "a"), ("thread/resume", "b")]),
        "no others of the thread"
    );
    turn.hear(&json!({"response_to": "thread/resume", "result": {"thread": listed("a", "t", json!(["waitingOnApproval"]))}}));
    ask(&mut turn, "a", 0, METHOD);
    assert_eq!(waiting(&turn), pairs([("a", "c0")]));
    assert_eq!(asks(&mut turn), []);
}

#[test]
fn on_another_connection_it_is_asked_again() {
    let mut turn = Reading::codex();
    spawn(&mut turn, "a");
    begin(&mut turn, "a", "u");
    for id in [0, 1] {
        ask(&mut turn, "a", id, METHOD);
    }
    turn.decoder.answered(&[("a".to_owned(), "c1".to_owned())]);
    // Its answer is in flight.
    ask(&mut turn, "a", 1, METHOD);
    resume(&mut turn, json!([call("s", "spawnAgent", "a", "pendingInit")]));
    turn.notify("thread/status/changed", json!({"turnId": "", "status": {"type": "active"}}));
    assert_eq!(waiting(&turn).len(), 2, "it may still be asked again");
    assert_eq!(asks(&mut turn), pairs([("thread/list", "t")]));
    let waits = listed("a", "t", json!(["waitingOnApproval"]));
    turn.hear(&json!({"response_to": "thread/list", "result": {"data": [waits]}}));
    assert_eq!(asks(&mut turn), pairs([("thread/resume", "a")]));
    turn.hear(&json!({"response_to": "thread/resume", "result": {"thread": waits}}));
    ask(&mut turn, "a", 1, METHOD);
    let asked: Vec<_> = turn
        .seen
        .of("tool.approval_required")
        .iter()
        .map(|event| event["tool_calls"][0]["id"].clone())
        .collect();
    assert_eq!(asked, ["c0", "c1", "c1"], "the answer got lost");
    begin(&mut turn, "a", "u");
    assert_eq!(waiting(&turn), pairs([("a", "c1")]), "the other one was answered elsewhere");
}

#[test]
fn what_waits_no_longer_on_another_connection_was_answered() {
    for method in ["thread/list", "thread/resume"] {
        let mut turn = Reading::codex();
        begin(&mut turn, "a", "u");
        ask(&mut turn, "a", 0, METHOD);
        resume(&mut turn, json!([]));
        assert_eq!(waiting(&turn).len(), 1);
        let thread = listed("a", "t", json!([]));
        turn.hear(&json!({"response_to": method, "result": {"data": [thread], "thread": thread}}));
        assert_eq!(waiting(&turn), [], "{method}");
    }
}

#[test]
fn without_a_list_the_turn_goes_on() {
    let mut turn = Reading::codex();
    spawn(&mut turn, "a");
    assert_eq!(asks(&mut turn).len(), 1);
    for method in ["thread/list", "thread/resume"] {
        turn.hear(&json!({"response_to": method, "error": {"code": -32600, "message": "no"}}));
        assert_eq!(
            (&turn.seen.last()["type"], &turn.seen.last()["code"]),
            (&json!("notice"), &json!(method))
        );
    }
    assert!(turn.decoder.failure().is_none());
    assert_eq!(asks(&mut turn), []);
}

#[test]
fn a_turn_of_another_thread_is_not_taken_for_the_own() {
    let mut turn = Reading::begun(super::Dialect::Codex, &json!({"sessionId": "t"}));
    // So much is heard that it cannot all be held.
    say(&mut turn, "thread/name/updated", "t", json!({"name": "x".repeat(super::super::gate::MOST)}));
    begin(&mut turn, "x", "y");
    turn.hear(&json!({"response_to": "turn/start", "result": {"turn": {"id": "u"}}}));
    assert_eq!(turn.seen.events[0]["turn_id"], "u");
}

#[test]
fn sub_agents_fail_and_end() {
    for (status, expected) in
        [("errored", "broken"), ("shutdown", "shutdown"), ("running", ""), ("interrupted", "")]
    {
        let mut turn = Reading::codex();
        for _ in 0..2 {
            turn.item("completed", call("w", "wait", "a", status));
        }
        let errors: Vec<_> =
            turn.seen.of("thread.done").iter().map(|done| done["state"]["error"].clone()).collect();
        assert_eq!(errors.len(), usize::from(!expected.is_empty()), "{status}");
        assert!(errors.iter().all(|error| error == expected));
    }
}

#[test]
fn the_newer_kind_of_sub_agents_is_known_by_what_they_do() {
    let mut turn = Reading::codex();
    let activity = |kind: &str| json!({"type": "subAgentActivity", "id": kind, "kind": kind, "agentThreadId": "a", "agentPath": "/lead/kid"});
    turn.item("completed", activity("started"));
    begin(&mut turn, "a", "u");
    ask(&mut turn, "a", 0, METHOD);
    assert_eq!(waiting(&turn), pairs([("a", "c0")]));
    turn.item("completed", activity("completed"));
    assert_eq!(turn.seen.of("thread.done").len(), 1);
    assert_eq!(turn.seen.of("thread.created")[0]["title"], "/lead/kid");
}
