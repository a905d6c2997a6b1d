//! Requests of the server's, which wait for the client (section 14).

use serde_json::{Value as Json, json};

use super::Reading;
use crate::index::PendingKind;
use crate::protocol::EventDecoder;

fn ask(turn: &mut Reading, id: &Json, method: &str, params: Json) {
    let mut params = params;
    params["threadId"] = json!("t");
    params["turnId"] = json!("u");
    turn.hear(&json!({"method": method, "id": id, "params": params}));
}

#[test]
fn a_request_waits_until_it_is_resolved() {
    let mut turn = Reading::codex();
    turn.item(
        "started",
        json!({"type": "commandExecution", "id": "c", "command": "ls", "status": "inProgress"}),
    );
    let params = json!({"itemId": "c", "command": "ls", "reason": "why"});
    for _ in 0..2 {
        ask(&mut turn, &json!(0), "item/commandExecution/requestApproval", params.clone());
    }
    let asked = turn.seen.of("tool.approval_required");
    assert_eq!(asked.len(), 1, "it is sent again to a client that comes back");
    let call = &asked[0]["tool_calls"][0];
    assert_eq!((&call["id"], &call["source_event_id"]), (&json!("c"), &json!("calls:c")));
    let suspension = &call["suspension"];
    assert_eq!(
        (&suspension["id"], &suspension["action"], &suspension["message"]),
        (&json!("0"), &json!("item/commandExecution/requestApproval"), &json!("why"))
    );
    assert_eq!(suspension["parameters"]["command"], "ls");
    assert_eq!(turn.seen.index.pending()[0].kind, PendingKind::Approval);
    turn.notify("serverRequest/resolved", json!({"requestId": 0}));
    assert_eq!(
        (turn.seen.last()["type"].as_str(), turn.seen.index.pending().len()),
        (Some("tool.resumed"), 0)
    );
    turn.notify("serverRequest/resolved", json!({"requestId": 0}));
    assert_eq!(turn.seen.of("tool.resumed").len(), 1);
}

#[test]
fn results_and_answers_are_asked_for() {
    let mut turn = Reading::codex();
    ask(
        &mut turn,
        &json!("r1"),
        "item/tool/call",
        json!({"callId": "c", "tool": "weather", "arguments": {"city": "Rome"}}),
    );
    ask(
        &mut turn,
        &json!("r2"),
        "item/tool/requestUserInput",
        json!({"itemId": "q", "questions": [{"id": "a"}]}),
    );
    ask(
        &mut turn,
        &json!("r3"),
        "mcpServer/elicitation/request",
        json!({"serverName": "s", "message": "m", "requestedSchema": {"type": "object"}}),
    );
    let kinds: Vec<_> = turn.seen.index.pending().iter().map(|action| (action.kind, &*action.id)).collect();
    assert_eq!(
        kinds,
        [
            (PendingKind::Response, "c"),
            (PendingKind::Response, "q"),
            (PendingKind::Approval, "request:\"r3\"")
        ]
    );
    let call = &turn.seen.of("tool.response_required")[0]["tool_calls"][0];
    assert_eq!((&call["name"], &call["arguments"]), (&json!("weather"), &json!(r#"{"city":"Rome"}"#)));
    turn.notify("turn/completed", json!({"turn": {"id": "u", "status": "interrupted"}}));
    assert!(turn.seen.index.pending().is_empty());
}

#[test]
fn newer_requests_are_not_lost() {
    let mut turn = Reading::codex();
    ask(&mut turn, &json!(1), "item/newer/request", json!({}));
    let last = turn.seen.last();
    assert_eq!(
        (&last["type"], &last["wire_type"], &last["raw"]["id"]),
        (&json!("unknown"), &json!("item/newer/request"), &json!(1))
    );
}

#[test]
fn an_unknown_request_is_refused() {
    let mut turn = Reading::codex();
    ask(&mut turn, &json!("x"), "item/newer/request", json!({}));
    let said = turn.decoder.follow_up_requests().expect("a response").to_json();
    let refusal =
        r#"{"id":"\"x\"","error":"{\"code\":-32601,\"message\":\"the client does not know this method\"}"}"#;
    assert_eq!(said, format!(r#"{{"thread":"t","subscribes":false,"messages":[{refusal}]}}"#));
    assert!(turn.decoder.follow_up_requests().is_none());
    ask(&mut turn, &json!(1), "item/tool/call", json!({"callId": "c"}));
    assert!(turn.decoder.follow_up_requests().is_none(), "this one waits for its answer");
}

#[test]
fn a_call_that_asks_more_than_once_is_answered_more_than_once() {
    const METHOD: &str = "item/commandExecution/requestApproval";
    let mut turn = Reading::codex();
    ask(&mut turn, &json!(0), METHOD, json!({"itemId": "c", "command": "a"}));
    ask(&mut turn, &json!(1), METHOD, json!({"itemId": "c", "approvalId": "b", "command": "b"}));
    ask(&mut turn, &json!(2), METHOD, json!({"itemId": "c", "command": "d"}));
    let waiting = |turn: &Reading| -> Vec<String> {
        turn.seen.index.pending().iter().map(|action| action.id.clone()).collect()
    };
    assert_eq!(waiting(&turn), ["c", "b", "request:2"]);
    turn.notify("serverRequest/resolved", json!({"requestId": 0}));
    assert_eq!(waiting(&turn), ["b", "request:2"]);
    ask(&mut turn, &json!(3), METHOD, json!({"itemId": "c", "command": "a"}));
    assert_eq!(waiting(&turn), ["b", "request:2", "c"], "it is free again");
}

/// The messages of a reconnected connection about a turn that waits.
fn resumed(turn: &mut Reading) {
    turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
    let turns = json!([{"id": "u", "status": "inProgress", "items": []}]);
    let status = json!({"type": "active", "activeFlags": ["waitingOnApproval"]});
    turn.hear(&json!({"response_to": "thread/resume", "result": {"thread": {"id": "t", "status": status}}}));
    turn.hear(&json!({"response_to": "thread/turns/list", "result": {"data": turns, "nextCursor": null}}));
}

#[test]
fn an_answer_that_got_lost_is_asked_for_again() {
    let mut turn = Reading::codex();
    for id in [0, 1] {
        ask(&mut turn, &json!(id), "item/tool/call", json!({"callId": format!("c{id}")}));
    }
    turn.decoder.answered(&[("main".to_owned(), "c0".to_owned())]);
    resumed(&mut turn);
    for id in [0, 1] {
        ask(&mut turn, &json!(id), "item/tool/call", json!({"callId": format!("c{id}")}));
    }
    let asked: Vec<_> = turn
        .seen
        .of("tool.response_required")
        .iter()
        .map(|event| event["tool_calls"][0]["id"].clone())
        .collect();
    assert_eq!(asked, ["c0", "c1", "c0"], "what was not answered is told once");
    let ids: Vec<_> =
        turn.seen.of("tool.response_required").iter().map(|event| event["id"].clone()).collect();
    assert_ne!(ids[0], ids[2], "it is another event");
    assert_eq!(turn.seen.index.pending().len(), 2);
}

#[test]
fn what_is_not_asked_again_was_answered_elsewhere() {
    let mut turn = Reading::codex();
    for id in [0, 1] {
        let params = json!({"itemId": format!("c{id}")});
        ask(&mut turn, &json!(id), "item/fileChange/requestApproval", params);
    }
    resumed(&mut turn);
    assert_eq!(turn.seen.index.pending().len(), 2, "they may still be asked again");
    ask(&mut turn, &json!(1), "item/fileChange/requestApproval", json!({"itemId": "c1"}));
    turn.notify("thread/status/changed", json!({"turnId": "", "status": {"type": "active"}}));
    let waiting: Vec<_> = turn.seen.index.pending().iter().map(|action| &*action.id).collect();
    assert_eq!(waiting, ["c1"]);
    assert_eq!(turn.seen.last()["tool_call_id"], "c0");
    ask(&mut turn, &json!(0), "item/fileChange/requestApproval", json!({"itemId": "c0"}));
    let asked = turn.seen.of("tool.approval_required");
    assert_eq!((asked.len(), turn.seen.index.pending().len()), (3, 2), "it comes late");
    assert_ne!(asked[0]["id"], asked[2]["id"], "it is another event");
}
