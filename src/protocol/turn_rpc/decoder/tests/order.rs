//! Reads beside what is heard (sections 6 and 8).

use serde_json::{Value as Json, json};

use super::Reading;
use crate::protocol::EventDecoder;

fn answer(id: &str, text: &str) -> Json {
    json!({"type": "agentMessage", "id": id, "text": text})
}

fn tool(id: &str, status: &str, arguments: &str, shown: &str) -> Json {
    json!({"type": "dynamicToolCall", "id": id, "toolName": "look", "arguments": arguments, "status": status,
        "display": {"kind": "summary", "title": shown}})
}

fn task(status: &str) -> Json {
    json!({"type": "task", "id": "i", "taskId": "k", "title": "Look", "status": status})
}

fn kept(events: &[(&str, Json)]) -> Vec<Json> {
    let event = |(at, (kind, item)): (usize, &(&str, Json))| json!({"sequence": at + 1, "created_at": 1, "payload": {"type": kind, "threadId": "t", "turnId": "u", "item": item}});
    events.iter().enumerate().map(event).collect()
}

fn timeline(events: &[(&str, Json)]) -> Json {
    let item = |event| json!({"id": "p", "origin": {"kind": "parent_turn"}, "payload": {"kind": "turn_item_event", "event": event}});
    json!({"response_to": "turn/timeline", "result": {"items": kept(events).into_iter().map(item).collect::<Vec<_>>()}})
}

/// The timeline is asked for, as it is by now.
fn ask(turn: &mut Reading) {
    turn.notify("turn/timeline/changed", json!({"reason": "child_turn_changed"}));
    turn.decoder.follow_up_requests().expect("there is more");
}

fn ends(turn: &mut Reading) {
    turn.notify("turn/completed", json!({"turn": {"id": "u", "status": "Completed"}}));
}

fn says(turn: &mut Reading, id: &str, text: &str) {
    turn.item("started", answer(id, ""));
    turn.item("completed", answer(id, text));
}

#[test]
fn what_was_heard_after_a_read_was_begun_is_newer() {
    let mut turn = Reading::gateway();
    let past = [
        ("itemStarted", tool("c", "in_progress", "raw", "")),
        ("itemCompleted", tool("c", "failed", "raw", "timeout")),
        ("itemStarted", answer("a", "")),
        ("itemCompleted", answer("a", "Draft")),
        ("itemStarted", task("pending")),
    ];
    turn.item("started", past[0].1.clone());
    turn.item("completed", past[1].1.clone());
    says(&mut turn, "a", "Draft");
    turn.item("started", task("pending"));
    ask(&mut turn);
    turn.item("completed", tool("c", "completed", "fixed", "fine"));
    turn.item("completed", answer("a", "Final"));
    turn.item("updated", task("running"));
    ends(&mut turn);
    let count = turn.seen.events.len();
    turn.hear(&timeline(&past));
    assert_eq!(turn.seen.events.len(), count + 1, "{:?}", &turn.seen.events[count..]);
    assert_eq!(turn.seen.last()["state"]["output"]["content"], "Final");
}

#[test]
fn an_answer_that_is_read_again_is_not_the_last_one() {
    // Read, completed once more, and completed once more after an answer that is empty.
    for (last, again) in [("Second", false), ("Second", true), ("", true)] {
        let mut turn = Reading::gateway();
        says(&mut turn, "a", "First");
        ask(&mut turn);
        says(&mut turn, "b", last);
        turn.hear(&timeline(&[("itemCompleted", answer("a", "First"))]));
        if again {
            turn.item("completed", answer("a", "First"));
        }
        ends(&mut turn);
        let output = &turn.seen.last()["state"]["output"];
        assert_eq!(output["content"].as_str().unwrap_or_default(), last);
    }
}

#[test]
fn what_was_read_is_not_told_again() {
    let past = [
        ("itemStarted", task("pending")),
        ("itemUpdated", task("running")),
        ("itemStarted", tool("c", "in_progress", "raw", "")),
        ("itemCompleted", tool("c", "failed", "fixed", "timeout")),
        ("itemCompleted", tool("c", "completed", "fixed", "fine")),
        ("itemStarted", answer("a", "")),
        ("itemCompleted", answer("a", "Draft")),
        ("itemCompleted", answer("a", "Final")),
    ];
    for is_heard in [true, false] {
        let mut turn = Reading::gateway();
        if is_heard {
            for (kind, item) in &past {
                turn.item(&kind["item".len()..].to_lowercase(), item.clone());
            }
        } else {
            ask(&mut turn);
            turn.hear(&timeline(&past));
        }
        let count = turn.seen.events.len();
        assert_eq!(turn.seen.of("tool.response").len(), 2);
        assert_eq!(turn.seen.index.message("a").expect("a message").content(), "Final");
        for _ in 0..2 {
            ask(&mut turn);
            turn.hear(&timeline(&past));
        }
        turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
        turn.hear(&timeline(&past));
        turn.hear(
            &json!({"response_to": "turn/get", "result": {"turn": {"id": "u", "status": "InProgress"}}}),
        );
        turn.hear(&json!({"response_to": "turn/items", "result": {"events": kept(&past)}}));
        assert_eq!(turn.seen.events.len(), count, "{:?}", &turn.seen.events[count..]);
    }
}

#[test]
fn what_was_missed_is_told_behind_what_is_known() {
    let mut turn = Reading::gateway();
    turn.item("started", task("pending"));
    says(&mut turn, "a", "Draft");
    turn.item("started", answer("b", ""));
    turn.delta("b", "Ha", "agent_message");
    turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
    turn.hear(&json!({"response_to": "turn/get", "result": {"turn": {"id": "u", "status": "InProgress"}}}));
    turn.hear(&json!({"response_to": "turn/items", "result": {"events": []}}));
    let count = turn.seen.events.len();
    turn.hear(&timeline(&[
        ("itemStarted", task("pending")),
        ("itemCompleted", answer("a", "Draft")),
        ("itemCompleted", answer("a", "Final")),
        ("itemStarted", answer("b", "")),
        ("itemCompleted", answer("b", "Half")),
        ("itemUpdated", task("waiting")),
        ("itemUpdated", task("running")),
    ]));
    let told = |event: &Json| event["content"].as_str().or(event["message"].as_str()).map(str::to_owned);
    let told: Vec<_> = turn.seen.events[count..].iter().map(told).collect();
    assert_eq!(told, ["Final", "Half", "waiting", "running"].map(|text| Some(text.to_owned())));
}

#[test]
fn a_call_keeps_what_it_was_made_with_in_the_end() {
    let mut turn = Reading::gateway();
    turn.item("started", tool("c", "in_progress", "raw", ""));
    turn.item("completed", tool("c", "completed", "fixed", "fine"));
    for kind in ["itemStarted", "itemUpdated"] {
        ask(&mut turn);
        turn.hear(&timeline(&[(kind, tool("c", "in_progress", "raw", ""))]));
    }
    let message = turn.seen.index.message("calls:c").expect("a message");
    assert_eq!(message.calls()[0].as_ref().expect("a call").arguments(), "\"fixed\"");
}

#[test]
fn calls_stay_with_the_message_that_was_begun_last() {
    let past = [
        ("itemStarted", answer("a", "")),
        ("itemStarted", answer("b", "")),
        ("itemCompleted", answer("b", "Whole")),
    ];
    for is_resumed in [false, true] {
        let mut turn = Reading::gateway();
        turn.item("started", answer("a", ""));
        turn.delta("a", "Ha", "agent_message");
        says(&mut turn, "b", "Whole");
        if is_resumed {
            turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
            turn.hear(
                &json!({"response_to": "turn/get", "result": {"turn": {"id": "u", "status": "InProgress"}}}),
            );
            turn.hear(&json!({"response_to": "turn/items", "result": {"events": kept(&past)}}));
        } else {
            ask(&mut turn);
        }
        turn.hear(&timeline(&past));
        turn.item("started", tool("c", "in_progress", "", ""));
        assert_eq!(turn.seen.last()["id"], "b");
    }
}

#[test]
fn what_is_taken_before_a_late_read_is_newer_than_it() {
    let mut turn = Reading::gateway();
    turn.resume(&json!({"sessionId": "t", "turnId": "u"}));
    turn.hear(&json!({"response_to": "turn/get", "result": {"turn": {"id": "u", "status": "InProgress"}}}));
    turn.hear(&json!({"response_to": "turn/items", "result": {"events": []}}));
    says(&mut turn, "b", "Draft");
    turn.item("completed", answer("b", "Last"));
    turn.hear(&timeline(&[
        ("itemStarted", answer("a", "")),
        ("itemCompleted", answer("a", "Missed")),
        ("itemStarted", answer("b", "")),
        ("itemCompleted", answer("b", "Draft")),
    ]));
    turn.item("started", tool("c", "in_progress", "", ""));
    assert_eq!(turn.seen.last()["id"], "b");
    ends(&mut turn);
    assert_eq!(turn.seen.index.message("a").expect("a message").content(), "Missed");
    assert_eq!(turn.seen.last()["state"]["output"]["content"], "Last");
}
