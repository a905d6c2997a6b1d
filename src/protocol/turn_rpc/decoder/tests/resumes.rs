//! Connections that break, and what is read afterwards (section 8).

use serde_json::{Value as Json, json};

use super::{Reading, TurnDecoder, with};
use crate::protocol::EventDecoder;
use crate::protocol::turn_rpc::Dialect;

fn event(item: Json) -> Json {
    json!({"sequence": 1, "created_at": 1, "payload": {"type": "itemCompleted", "threadId": "t", "turnId": "u", "item": item}})
}

fn snapshot(turn: &mut Reading, status: &str, items: &[Json]) {
    let events: Vec<Json> = items.iter().cloned().map(event).collect();
    turn.hear(&json!({"response_to": "thread/start", "result": {"thread": {}}}));
    turn.hear(&json!({"response_to": "turn/get", "result": {"turn": {"id": "u", "status": status}}}));
    turn.hear(&json!({"response_to": "turn/items", "result": {"events": events}}));
    turn.hear(&json!({"response_to": "turn/timeline", "result": {"items": []}}));
}

#[test]
fn what_is_heard_before_the_responses_waits_for_them() {
    let mut turn = Reading::gateway();
    turn.delta("a", "One. ", "agent_message");
    turn.resume(&json!({"sessionId": "t", "turnId": "u", "afterSequenceNumber": 3}));
    let before = turn.seen.events.len();
    turn.item("completed", json!({"type": "agentMessage", "id": "a", "text": "One. Two."}));
    turn.delta("b", "Three", "agent_message");
    assert_eq!(turn.seen.events.len(), before, "it waits");
    snapshot(&mut turn, "InProgress", &[json!({"type": "agentMessage", "id": "a", "text": "One. Two."})]);
    assert_eq!(turn.seen.of("model.message").len(), 3, "a, a once more as it became, and b");
    assert_eq!(turn.seen.index.message("a").expect("a message").content(), "One. Two.");
    assert_eq!(turn.seen.index.message("b").expect("a message").content(), "Three");
}

#[test]
fn a_turn_that_has_ended_ends_at_once() {
    let mut turn = Reading::begun(Dialect::Gateway, &json!({}));
    turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
    let said = json!({"type": "userMessage", "id": "m", "text": "Look", "attachments": [{"type": "image", "url": "data:image/png;base64,AA=="}]});
    turn.decoder = TurnDecoder::new(Dialect::Gateway);
    turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
    snapshot(&mut turn, "Completed", &[said, json!({"type": "agentMessage", "id": "a", "text": "Hi"})]);
    let parts = json!([{"type": "text", "text": "Look"}, {"type": "file", "name": "", "data": "data:image/png;base64,AA=="}]);
    assert_eq!(turn.seen.events[0]["input"], json!([{"type": "user.message", "content": parts}]));
    assert_eq!(turn.seen.last()["state"]["output"]["content"], "Hi");
}

#[test]
fn a_turn_that_is_not_there_any_more_ends_with_an_error() {
    let mut turn = Reading::gateway();
    turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
    turn.hear(
        &json!({"response_to": "turn/get", "error": {"code": -32600, "message": "turn `u` was not found"}}),
    );
    let state = &turn.seen.last()["state"];
    assert_eq!(state["message"], "the server no longer has the turn: turn `u` was not found");
    let mut codex = Reading::codex();
    codex.resume(&json!({"sessionId": "t", "turnId": "u"}));
    codex.hear(&json!({"response_to": "thread/resume", "result": {"thread": {"id": "t", "status": {"type": "idle"}}}}));
    codex.hear(&json!({"response_to": "thread/turns/list", "result": {"data": [], "nextCursor": null}}));
    assert_eq!(codex.seen.last()["state"]["status"], "error");
}

#[test]
fn an_answer_of_another_client_is_noticed() {
    for (flags, left) in [(json!(["waitingOnApproval"]), 1), (json!([]), 0)] {
        let mut turn = Reading::codex();
        turn.hear(&json!({"method": "item/fileChange/requestApproval", "id": 3, "params": {"threadId": "t", "turnId": "u", "itemId": "c"}}));
        turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
        let turns = json!([{"id": "u", "status": "inProgress", "items": []}]);
        let status = json!({"type": "active", "activeFlags": flags});
        turn.hear(
            &json!({"response_to": "thread/resume", "result": {"thread": {"id": "t", "status": status}}}),
        );
        turn.hear(
            &json!({"response_to": "thread/turns/list", "result": {"data": turns, "nextCursor": null}}),
        );
        assert_eq!(turn.seen.index.pending().len(), left);
    }
}

#[test]
fn numbers_go_on_where_another_page_stood() {
    let mut turn = Reading::begun(Dialect::Gateway, &json!({}));
    with(&json!({"sessionId": "t", "turnId": "u", "afterSequenceNumber": 41}), |params| {
        turn.decoder.resume(params);
    });
    assert_eq!(turn.decoder.turn.emitted, 41);
}

#[test]
fn codex_waits_for_the_name_of_its_turn() {
    let mut turn = Reading::begun(Dialect::Codex, &json!({"sessionId": "t"}));
    turn.notify("item/agentMessage/delta", json!({"itemId": "x", "delta": "other", "turnId": "v"}));
    turn.notify("item/agentMessage/delta", json!({"itemId": "a", "delta": "own"}));
    assert!(turn.seen.events.is_empty());
    turn.hear(&json!({"response_to": "turn/start", "result": {"turn": {"id": "u"}}}));
    assert_eq!(turn.seen.events[0]["turn_id"], "u");
    assert_eq!(turn.seen.index.messages().iter().map(|message| &*message.id).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn a_start_that_was_refused_begins_nothing() {
    let error = json!({"response_to": "turn/start", "error": {"code": -32600, "message": "no"}});
    for dialect in [Dialect::Gateway, Dialect::Codex] {
        let params = if dialect == Dialect::Codex {
            json!({"sessionId": "t"})
        } else {
            json!({"sessionId": "t", "turnId": "u"})
        };
        let mut turn = Reading::begun(dialect, &params);
        turn.hear(&error);
        assert!(turn.seen.events.is_empty());
    }
    let mut turn = Reading::gateway();
    turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
    turn.hear(&json!({"response_to": "thread/start", "error": {"code": -32600, "message": "no"}}));
    assert!(turn.seen.events.is_empty());
}

/// A notification of 1 MiB without its document, and as much of that.
fn large(turn: &mut Reading, number: usize) {
    let text = format!("{number} {}", "x".repeat(1 << 20));
    let deltas = json!({"item_id": "a", "itemId": "a", "delta": text, "markdown": {"blocks": [text]}});
    turn.notify("item/agent_message/delta", deltas);
}

#[test]
fn there_is_an_end_to_what_is_held() {
    let mut turn = Reading::gateway();
    turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
    for number in 0..8 {
        assert!(turn.decoder.failure().is_none(), "{number}");
        large(&mut turn, number);
    }
    assert!(
        turn.decoder.failure().is_some() && turn.seen.events.is_empty(),
        "what was missed comes before it"
    );
    turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
    assert!(turn.decoder.failure().is_none());
    snapshot(&mut turn, "Completed", &[json!({"type": "agentMessage", "id": "a", "text": "All"})]);
    assert_eq!(turn.seen.index.message("a").expect("a message").content(), "All");
}

#[test]
fn a_turn_that_begins_has_missed_nothing_however_much_is_held() {
    let mut turn = Reading::begun(Dialect::Codex, &json!({"sessionId": "t"}));
    turn.notify("turn/started", json!({"turn": {"id": "u"}}));
    for number in 0..9 {
        large(&mut turn, number);
    }
    let said = turn.seen.index.message("a").expect("a message").content();
    assert!(said.starts_with("0 x") && said.contains("x8 x"), "nothing is lost");
}

#[test]
fn a_turn_that_ends_between_two_reads_says_all_that_was_heard() {
    let mut turn = Reading::gateway();
    turn.delta("a", "Hel", "agent_message");
    turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
    turn.hear(&json!({"response_to": "thread/start", "result": {"thread": {}}}));
    turn.hear(&json!({"response_to": "turn/items", "result": {"events": []}}));
    turn.item("completed", json!({"type": "agentMessage", "id": "a", "text": "Hello world"}));
    turn.notify("turn/completed", json!({"turn": {"id": "u", "status": "Completed"}}));
    turn.hear(&json!({"response_to": "turn/get", "result": {"turn": {"id": "u", "status": "Completed"}}}));
    turn.hear(&json!({"response_to": "turn/timeline", "result": {"items": []}}));
    assert_eq!(turn.seen.index.message("a").expect("a message").content(), "Hello world");
    assert_eq!(turn.seen.last()["state"]["output"]["content"], "Hello world");
    assert_eq!(turn.seen.of("turn.done").len(), 1);
}

#[test]
fn what_cannot_be_read_now_is_no_end() {
    let cases = [
        ("turn/items", -32603, Some(500)),
        ("turn/items", -32600, None),
        ("turn/get", -32603, Some(500)),
        ("turn/get", -32040, Some(401)),
        ("turn/timeline", -32603, Some(500)),
    ];
    for (method, code, status) in cases {
        let mut turn = Reading::gateway();
        turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
        turn.hear(&json!({"response_to": method, "error": {"code": code, "message": "broken"}}));
        let failure = turn.decoder.failure().expect("a failure");
        assert_eq!((failure.code, failure.status), (crate::ErrorCode::Rpc, status), "{method}");
        assert!(turn.seen.of("turn.done").is_empty());
    }
    for (method, code) in [("turn/timeline", -32601), ("turn/timeline", -32600), ("turn/get", -32044)] {
        let mut turn = Reading::gateway();
        turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
        turn.hear(&json!({"response_to": method, "error": {"code": code, "message": "none"}}));
        assert!(turn.decoder.failure().is_none(), "{method}");
        assert_eq!(turn.seen.of("turn.done").len(), usize::from(method == "turn/get"));
    }
}

#[test]
fn a_status_that_is_new_is_no_end() {
    let mut turn = Reading::gateway();
    turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
    snapshot(&mut turn, "Recovering", &[json!({"type": "agentMessage", "id": "a", "text": "Half"})]);
    assert!(turn.seen.of("turn.done").is_empty());
    turn.notify("turn/completed", json!({"turn": {"id": "u", "status": "Perfected"}}));
    assert_eq!(turn.seen.last()["state"]["status"], "done", "the notification says that it is over");
}

#[test]
fn a_turn_is_looked_for_behind_those_that_came_after_it() {
    let mut turn = Reading::codex();
    turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
    let page = |id: &str, next: Json| {
        let items = json!([{"type": "agentMessage", "id": format!("of {id}"), "text": id}]);
        let turns = json!([{"id": id, "status": "completed", "items": items}]);
        json!({"response_to": "thread/turns/list", "result": {"data": turns, "nextCursor": next}})
    };
    turn.hear(&json!({"response_to": "thread/resume", "result": {"thread": {"id": "t", "status": {"type": "idle"}}}}));
    turn.hear(&page("v", json!("before v")));
    assert!(turn.decoder.has_follow_up_requests() && turn.seen.of("turn.done").is_empty());
    let asked = turn.decoder.follow_up_requests().expect("older ones").to_json();
    assert!(asked.contains(r#"\"cursor\":\"before v\""#), "{asked}");
    turn.hear(&page("u", json!("before u")));
    assert_eq!(turn.seen.last()["state"]["output"]["content"], "u");
    assert!(!turn.decoder.has_follow_up_requests());
}

#[test]
fn a_turn_that_has_only_just_begun_goes_on() {
    let mut turn = Reading::codex();
    turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
    turn.hear(&json!({"response_to": "thread/resume", "result": {"thread": {"id": "t", "status": {"type": "active", "activeFlags": []}}}}));
    turn.hear(&json!({"response_to": "thread/turns/list", "result": {"data": [], "nextCursor": null}}));
    assert!(turn.seen.of("turn.done").is_empty());
}

#[test]
fn a_turn_that_is_gone_is_looked_for_once_more_when_nothing_runs() {
    let status = |status: &str| json!({"threadId": "t", "turnId": "", "status": {"type": status}});
    let page = |turns: Json| json!({"response_to": "thread/turns/list", "result": {"data": turns, "nextCursor": null}});
    for (turns, expected) in [
        (json!([{"id": "v", "status": "completed", "items": []}]), "error"),
        (json!([{"id": "u", "status": "completed", "items": []}]), "done"),
    ] {
        let mut turn = Reading::codex();
        turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
        turn.hear(&json!({"response_to": "thread/resume", "result": {"thread": {"id": "t", "status": {"type": "active", "activeFlags": []}}}}));
        turn.hear(&page(json!([{"id": "v", "status": "inProgress", "items": []}])));
        assert!(turn.seen.of("turn.done").is_empty());
        turn.notify("thread/status/changed", status("idle"));
        let asked = turn.decoder.follow_up_requests().expect("the newest turns").to_json();
        assert!(asked.contains("thread/turns/list") && !asked.contains("cursor"), "{asked}");
        turn.notify("thread/status/changed", status("idle"));
        assert!(!turn.decoder.has_follow_up_requests(), "once");
        turn.hear(&page(turns));
        assert_eq!(turn.seen.last()["state"]["status"], expected);
    }
}

#[test]
fn an_older_server_is_asked_for_the_whole_thread() {
    let mut turn = Reading::codex();
    turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
    turn.hear(&json!({"response_to": "thread/resume", "result": {"thread": {"id": "t", "status": {"type": "idle"}}}}));
    turn.hear(&json!({"response_to": "thread/turns/list", "error": {"code": -32600, "message": "Invalid request: unknown variant"}}));
    assert!(turn.seen.of("turn.done").is_empty() && turn.decoder.failure().is_none());
    let asked = turn.decoder.follow_up_requests().expect("the thread").to_json();
    assert!(asked.contains(r#""method":"thread/read""#), "{asked}");
    let items = json!([{"type": "agentMessage", "id": "a", "text": "All"}]);
    let turns =
        json!([{"id": "v", "status": "completed"}, {"id": "u", "status": "completed", "items": items}]);
    turn.hear(&json!({"response_to": "thread/read", "result": {"thread": {"id": "t", "turns": turns}}}));
    assert_eq!(turn.seen.last()["state"]["output"]["content"], "All");
    assert!(!turn.decoder.has_follow_up_requests());
}

#[test]
fn news_that_were_heard_are_known_where_they_are_read() {
    let mut turn = Reading::gateway();
    turn.notify(
        "item/timeout_detected",
        json!({"item_id": "a", "item_type": "agent_message", "attempt_number": 1, "reason": "lease_expired", "recovery_job_id": null}),
    );
    turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
    let payload = json!({"type": "itemTimeoutDetected", "threadId": "t", "turnId": "u", "itemId": "a", "itemType": "agent_message",
        "attemptNumber": 1, "reason": "lease_expired"});
    let news = json!({"sequence": 1, "created_at": 1, "payload": payload});
    turn.hear(&json!({"response_to": "turn/get", "result": {"turn": {"id": "u", "status": "InProgress"}}}));
    turn.hear(&json!({"response_to": "turn/items", "result": {"events": [news]}}));
    turn.hear(&json!({"response_to": "turn/timeline", "result": {"items": []}}));
    assert_eq!(turn.seen.of("notice").len(), 1);
}

#[test]
fn what_tasks_brought_may_come_when_it_wants() {
    let origin = json!({"kind": "child_turn", "taskId": "k", "childTurnId": "c"});
    let found = event(json!({"type": "agentMessage", "id": "f", "text": "Found"}));
    let timeline = json!({"items": [{"id": "1", "origin": origin, "payload": {"kind": "turn_item_event", "event": found}}]});
    let timeline = json!({"response_to": "turn/timeline", "result": timeline});
    let items = [event(json!({"type": "agentMessage", "id": "a", "text": "One"}))];
    for status in ["InProgress", "Completed"] {
        for is_first in [false, true] {
            let mut turn = Reading::gateway();
            turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
            turn.delta("b", "Two", "agent_message");
            if is_first {
                turn.hear(&timeline);
                assert!(turn.seen.events.is_empty());
            }
            turn.hear(&json!({"response_to": "turn/items", "result": {"events": items}}));
            turn.hear(&json!({"response_to": "turn/get", "result": {"turn": {"id": "u", "status": status}}}));
            assert_eq!(turn.seen.index.message("b").expect("what was held").content(), "Two");
            assert_eq!(turn.seen.index.message("f").is_some(), is_first);
            turn.delta("b", " and three", "agent_message");
            if !is_first {
                assert!(turn.seen.of("turn.done").is_empty(), "its tasks have something to say");
                turn.hear(&timeline);
            }
            assert_eq!(turn.seen.index.message("f").expect("the task's").content(), "Found");
            assert_eq!(turn.seen.of("turn.done").len(), usize::from(status == "Completed"));
            assert_eq!(turn.seen.of("model.message").len(), 3, "a, b and f, once each");
        }
    }
}

/// A document that is nested more deeply than JSON is read.
fn deep() -> String {
    ["{\"blocks\":", &"[{\"blocks\":".repeat(200), "[]", &"}]".repeat(200), "}"].concat()
}

#[test]
fn a_document_of_any_depth_is_no_hindrance() {
    let item =
        r#"{"type":"agentMessage","id":"a","text":"Half and whole","markdown":DEEP,"markdownVersion":1}"#;
    let item = item.replace("DEEP", &deep());
    let mut turn = Reading::gateway();
    turn.line(&r#"{"method":"item/agent_message/delta","params":{"thread_id":"t","turn_id":"u","item_id":"a","delta":"Half","stream":"agent_message","markdown":DEEP,"newer":1}}"#.replace("DEEP", &deep()));
    assert_eq!(turn.seen.index.message("a").expect("a message").content(), "Half");
    turn.line(
        &[r#"{"method":"item/completed","params":{"thread_id":"t","turn_id":"u","item":"#, &item, "}}"]
            .concat(),
    );
    assert_eq!(turn.seen.index.message("a").expect("a message").content(), "Half and whole");

    let mut turn = Reading::gateway();
    turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
    turn.hear(&json!({"response_to": "turn/get", "result": {"turn": {"id": "u", "status": "Completed"}}}));
    let events = r#"{"response_to":"turn/items","result":{"events":[{"payload":{"type":"itemCompleted","item":ITEM}}]}}"#;
    turn.line(&events.replace("ITEM", &item));
    let origin = r#""origin":{"kind":"child_turn","taskId":"k","childTurnId":"c"}"#;
    turn.line(
        &[
            r#"{"response_to":"turn/timeline","result":{"items":[{"#,
            origin,
            r#","payload":{"kind":"turn_item_event","event":{"payload":{"type":"itemCompleted","item":"#,
            &item.replace("\"a\"", "\"b\""),
            "}}}}]}}",
        ]
        .concat(),
    );
    assert_eq!(turn.seen.last()["state"]["output"]["content"], "Half and whole");
    assert_eq!(turn.seen.index.message("b").expect("the task's").content(), "Half and whole");
    assert!(turn.seen.of("unknown").is_empty());
}

#[test]
fn a_response_that_cannot_be_read_is_a_failure_and_no_end() {
    let turn = r#"{"turn":{"id":"u","status":"Completed"}}"#;
    let thread = r#"{"thread":{"status":{"type":"idle"}}}"#;
    let gateway =
        [("turn/timeline", r#"{"items":[]}"#), ("turn/get", turn), ("turn/items", r#"{"events":[]}"#)];
    let codex =
        [("thread/resume", thread), ("thread/turns/list", r#"{"data":[{"id":"u","status":"completed"}]}"#)];
    for (dialect, responses) in [(Dialect::Gateway, &gateway[..]), (Dialect::Codex, &codex[..])] {
        for (broken, _) in responses.iter().filter(|(method, _)| *method != "turn/timeline") {
            for instead in ["null", "[]", r#"{"turn":null,"events":{},"items":1,"data":"x"}"#, r#"{"a":"#] {
                let mut reading = Reading::begun(dialect, &json!({"sessionId": "t", "turnId": "u"}));
                reading.resume(&json!({"sessionId": "t", "turnId": "u"}));
                // It comes last, when everything else says that the turn has ended.
                let others = responses.iter().filter(|(method, _)| method != broken);
                for (method, result) in others.chain([&(*broken, instead)]) {
                    reading.line(&format!("{{\"response_to\":\"{method}\",\"result\":{result}}}"));
                }
                let failure = reading.decoder.failure().expect("a failure");
                assert_eq!(failure.code, crate::ErrorCode::UnexpectedResponse, "{broken}: {instead}");
                assert!(reading.seen.of("turn.done").is_empty(), "{broken}: {instead}");
                reading.resume(&json!({"sessionId": "t", "turnId": "u"}));
                for (method, result) in responses {
                    reading.line(&format!("{{\"response_to\":\"{method}\",\"result\":{result}}}"));
                }
                assert_eq!(reading.seen.of("turn.done").len(), 1, "{broken}: {instead}");
            }
        }
    }
}

#[test]
fn a_timeline_that_is_not_to_be_had_is_told_and_no_hindrance() {
    let refused = r#""error":{"code":-32601,"message":"no"}"#;
    for instead in [refused, r#""result":null"#, r#""result":{"items":1}"#, r#""result":{"a":"#] {
        for at in 0..3 {
            let mut turn = Reading::gateway();
            turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
            let mut responses = vec![
                r#"{"response_to":"turn/get","result":{"turn":{"id":"u","status":"Completed"}}}"#.to_owned(),
                r#"{"response_to":"turn/items","result":{"events":[]}}"#.to_owned(),
            ];
            responses.insert(at, ["{\"response_to\":\"turn/timeline\",", instead, "}"].concat());
            for response in &responses {
                turn.line(response);
            }
            assert!(turn.decoder.failure().is_none(), "{instead} at {at}");
            assert_eq!(turn.seen.of("notice").len(), 1, "{instead} at {at}");
            assert_eq!(turn.seen.last()["type"], "turn.done", "{instead} at {at}");
        }
    }
}
