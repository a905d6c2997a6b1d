//! Tasks and their child turns (section 4).

use serde_json::{Value as Json, json};

use super::Reading;

fn task(status: &str) -> Json {
    json!({"type": "task", "id": "i", "taskId": "k", "title": "Look", "status": status, "childThreadId": "ct", "errorPreview": "broken"})
}

fn timeline() -> Json {
    let event = |item: Json| json!({"sequence": 1, "created_at": 1, "payload": {"type": "itemCompleted", "threadId": "ct", "turnId": "cu", "item": item}});
    let child = |item: Json| json!({"id": "x", "origin": {"kind": "child_turn", "taskId": "k", "childTurnId": "cu"}, "payload": {"kind": "turn_item_event", "event": event(item)}});
    json!({"items": [
        {"id": "task:k:1", "origin": {"kind": "task_event", "taskId": "k"}, "payload": {"kind": "task_event", "event": {"sequence": 1}}},
        child(json!({"type": "userMessage", "id": "cm", "text": "Look it up"})),
        child(json!({"type": "dynamicToolCall", "id": "c", "toolName": "x", "arguments": {}, "status": "completed"})),
        child(json!({"type": "agentMessage", "id": "a", "text": "Found"})),
    ]})
}

#[test]
fn a_task_is_a_thread_with_what_its_turn_says() {
    let mut turn = Reading::gateway();
    turn.item("started", task("running"));
    // The same id as the child's call.
    turn.item("started", json!({"type": "dynamicToolCall", "id": "c", "toolName": "y", "arguments": {}, "status": "in_progress"}));
    turn.notify(
        "turn/timeline/changed",
        json!({"turnId": "u", "threadId": "t", "reason": "child_turn_changed"}),
    );
    let asked = crate::protocol::EventDecoder::follow_up_requests(&mut turn.decoder).expect("there is more");
    let expected = r#"{"thread":"t","subscribes":false,"messages":[{"method":"turn/timeline","params":"{\"threadId\":\"t\",\"turnId\":\"u\",\"composeTasks\":true}"}]}"#;
    assert_eq!(asked.to_json(), expected);
    assert!(crate::protocol::EventDecoder::follow_up_requests(&mut turn.decoder).is_none());
    // Its end waits for what was asked.
    turn.item("completed", task("completed"));
    turn.notify("turn/completed", json!({"turn": {"id": "u", "status": "Completed"}}));
    assert!(turn.seen.of("turn.done").is_empty());
    turn.hear(&json!({"response_to": "turn/timeline", "result": timeline()}));
    assert_eq!(turn.seen.last()["type"], "turn.done");
    let threads: Vec<_> = turn
        .seen
        .index
        .threads()
        .iter()
        .map(|thread| (&*thread.id, format!("{:?}", thread.status)))
        .collect();
    assert_eq!(threads, [("main", "Running".to_owned()), ("k", "Done".to_owned())]);
    let found = turn.seen.index.message("a").expect("a message");
    assert_eq!((found.thread, found.content()), (1, "Found"));
    let call = turn.seen.index.message("calls:c").expect("a message").calls()[0].as_ref().expect("a call");
    assert!(call.is_cancelled && call.response().is_none(), "it is another call than the task's");
}

#[test]
fn tasks_fail_and_go_on() {
    let mut turn = Reading::gateway();
    turn.item("started", task("running"));
    turn.item("updated", task("waiting"));
    turn.item("updated", task("waiting"));
    turn.item("updated", task("failed"));
    turn.item("completed", task("failed"));
    assert_eq!(turn.seen.types(), ["thread.created", "notice", "notice", "thread.done"]);
    assert_eq!(turn.seen.last()["state"], json!({"status": "error", "error": "broken"}));
}

#[test]
fn a_task_is_over_when_its_status_says_so() {
    for status in ["scheduled", "running", "pending", "queued", "newer", ""] {
        let mut turn = Reading::gateway();
        turn.item("started", task("waiting"));
        turn.item("completed", task(status));
        assert!(turn.seen.of("thread.done").is_empty(), "{status}");
        turn.item("updated", task("completed"));
        assert_eq!(turn.seen.last()["state"], json!({"status": "done"}), "{status}");
    }
    for (status, state) in [
        ("Completed", "done"),
        ("SUCCEEDED", "done"),
        ("Failed", "error"),
        ("errored", "error"),
        ("canceled", "error"),
        ("Cancelled", "error"),
        ("timedOut", "error"),
        ("timeout", "error"),
    ] {
        let mut turn = Reading::gateway();
        turn.item("started", task("running"));
        turn.item("updated", task(status));
        assert_eq!(turn.seen.last()["state"]["status"], state, "{status}");
    }
}

#[test]
fn a_task_is_never_the_turns_own_thread() {
    let mut turn = Reading::gateway();
    let mut main = task("running");
    main["taskId"] = json!("main");
    turn.item("started", main.clone());
    main["status"] = json!("failed");
    turn.item("completed", main);
    assert_eq!(turn.seen.last()["type"], "thread.done");
    let threads = turn.seen.index.threads();
    let threads: Vec<_> =
        threads.iter().map(|thread| (&*thread.id, format!("{:?}", thread.status))).collect();
    assert_eq!(threads, [("main", "Running".to_owned()), ("task:main", "Error(\"broken\")".to_owned())]);
}

#[test]
fn a_timeline_that_comes_again_says_nothing_new() {
    let mut turn = Reading::gateway();
    turn.hear(&json!({"response_to": "turn/timeline", "result": timeline()}));
    let count = turn.seen.events.len();
    assert!(count > 4);
    turn.hear(&json!({"response_to": "turn/timeline", "result": timeline()}));
    assert_eq!(turn.seen.events.len(), count);
    turn.hear(
        &json!({"response_to": "turn/timeline", "error": {"code": -32600, "message": "turn was not found"}}),
    );
    assert_eq!(
        (&turn.seen.last()["code"], &turn.seen.last()["level"]),
        (&json!("turn/timeline"), &json!("warning"))
    );
}

#[test]
fn the_end_waits_for_all_that_was_asked() {
    let mut turn = Reading::gateway();
    let changed = json!({"turnId": "u", "threadId": "t", "reason": "child_turn_changed"});
    for _ in 0..2 {
        turn.notify("turn/timeline/changed", changed.clone());
        crate::protocol::EventDecoder::follow_up_requests(&mut turn.decoder).expect("there is more");
    }
    turn.notify("turn/completed", json!({"turn": {"id": "u", "status": "Completed"}}));
    turn.hear(&json!({"response_to": "turn/timeline", "result": {"items": []}}));
    assert!(turn.seen.of("turn.done").is_empty(), "another response is on its way");
    turn.hear(&json!({"response_to": "turn/timeline", "result": timeline()}));
    assert_eq!(turn.seen.index.message("a").expect("a message").content(), "Found");
    assert_eq!(turn.seen.last()["type"], "turn.done");
}

#[test]
fn the_end_does_not_wait_for_what_tasks_do_after_it() {
    let mut turn = Reading::gateway();
    turn.notify("turn/timeline/changed", json!({"reason": "child_turn_changed"}));
    turn.notify("turn/completed", json!({"turn": {"id": "u", "status": "Completed"}}));
    crate::protocol::EventDecoder::follow_up_requests(&mut turn.decoder).expect("there is more");
    turn.notify("turn/timeline/changed", json!({"reason": "child_turn_changed"}));
    assert!(crate::protocol::EventDecoder::follow_up_requests(&mut turn.decoder).is_none());
    turn.hear(&json!({"response_to": "turn/timeline", "result": timeline()}));
    assert_eq!(turn.seen.last()["type"], "turn.done");
}

#[test]
fn the_end_does_not_wait_for_what_cannot_be_read() {
    for result in ["null", "{", r#"{"items":{}}"#] {
        let mut turn = Reading::gateway();
        turn.notify("turn/timeline/changed", json!({"turnId": "u", "threadId": "t"}));
        crate::protocol::EventDecoder::follow_up_requests(&mut turn.decoder).expect("there is more");
        turn.notify("turn/completed", json!({"turn": {"id": "u", "status": "Completed"}}));
        turn.line(&["{\"response_to\":\"turn/timeline\",\"result\":", result, "}"].concat());
        assert_eq!(turn.seen.types(), ["notice", "turn.done"], "{result}");
    }
}

#[test]
fn messages_of_the_same_id_are_kept_apart() {
    for child_first in [false, true] {
        let mut turn = Reading::gateway();
        turn.item("started", task("running"));
        let own = json!({"type": "agentMessage", "id": "a", "text": "Own"});
        if !child_first {
            turn.item("completed", own.clone());
        }
        turn.notify("turn/timeline/changed", json!({"turnId": "u", "threadId": "t"}));
        turn.hear(&json!({"response_to": "turn/timeline", "result": timeline()}));
        if child_first {
            turn.item("completed", own);
        }
        let said = |thread: usize| {
            let messages = turn.seen.index.messages().iter().filter(|message| message.thread == thread);
            messages.map(crate::index::Message::content).filter(|text| !text.is_empty()).collect::<Vec<_>>()
        };
        assert_eq!((said(0), said(1)), (vec!["Own"], vec!["Found"]), "{child_first}");
    }
}

#[test]
fn news_of_a_task_are_in_its_thread() {
    let mut turn = Reading::gateway();
    turn.item("started", task("running"));
    let news = |child: &str| {
        let payload = json!({"type": "itemRecoveryOpened", "threadId": "ct", "turnId": child, "itemId": "a", "itemType": "agent_message", "recoveryJobId": "j", "attemptNumber": 1});
        json!({"id": child, "origin": {"kind": "child_turn", "taskId": child, "childTurnId": child},
            "payload": {"kind": "turn_item_event", "event": {"sequence": 1, "created_at": 1, "payload": payload}}})
    };
    let task_event = json!({"id": "e", "origin": {"kind": "task_event", "taskId": "k"}, "payload": {"kind": "task_event", "event": {}}});
    turn.notify("turn/timeline/changed", json!({"turnId": "u", "threadId": "t"}));
    turn.hear(
        &json!({"response_to": "turn/timeline", "result": {"items": [news("k"), news("l"), task_event]}}),
    );
    let threads: Vec<_> = turn.seen.of("notice").iter().map(|notice| notice["thread_id"].clone()).collect();
    assert_eq!(threads, ["k", "k", "l", "k"], "that the task runs is the first");
}
