//! Calls inside of calls.

use serde_json::{Value as Json, json};

use super::{RunDecoder, Seen, call_done, calling, frame, run_start, tirea};
use crate::protocol::EventDecoder;

/// A whole report of a call that is made inside of another one.
fn report(call: &str, parent: &str, thread: &str, status: &str, at: u64) -> Json {
    let content = json!({
        "call_id": call, "parent_call_id": parent, "parent_node_id": format!("tool_call:{parent}"), "message": "half way",
        "node_id": format!("tool_call:{call}"), "status": status, "tool_name": format!("tool-{call}"), "thread_id": thread,
        "updated_at_ms": at
    });
    tirea(
        "activity_snapshot",
        json!({"activity_type": "tool-call-progress", "message_id": format!("tool_call:{call}"), "content": content, "replace": true}),
    )
}

/// What comes of reports, after a step that makes call `p`.
fn nested(reports: &[Json]) -> Seen {
    nested_texts(&reports.iter().map(Json::to_string).collect::<Vec<_>>())
}

fn nested_texts(reports: &[String]) -> Seen {
    let (mut decoder, mut seen) = (RunDecoder::default(), Seen::default());
    let before = [run_start()].into_iter().chain(calling("m", "p")).map(|json| json.to_string());
    for data in before.chain(reports.iter().cloned()) {
        decoder.decode(&frame(&data), &mut seen);
    }
    Seen { events: seen.events[5..].to_vec(), ..Seen::default() }
}

#[test]
fn a_nested_call_has_a_thread() {
    let seen = nested(&[
        report("k", "p", "child", "running", 1),
        report("k", "p", "child", "done", 2),
        call_done("p"),
    ]);
    let parent = json!({"thread_id": "main", "tool_call_id": "p"});
    assert_eq!(
        seen.types(),
        [
            "thread.created",
            "model.message",
            "activity.snapshot",
            "activity.snapshot",
            "tool.response",
            "tool.response",
            "thread.done"
        ]
    );
    assert_eq!(
        seen.events[0],
        json!({"type": "thread.created", "id": "r:6", "thread_id": "child", "title": "search", "parent": parent})
    );
    assert_eq!(
        seen.events[1],
        json!({"type": "model.message", "id": "tool_call:k", "thread_id": "child", "content": "",
        "tool_calls": [{"id": "k", "type": "function", "function": {"name": "tool-k", "arguments": ""}}], "finish_reason": "tool_calls"})
    );
    assert_eq!(seen.events[2]["thread_id"], "child");
    assert_eq!(seen.events[2]["tool_call_id"], "k");
    assert_eq!(
        seen.events[4],
        json!({"type": "tool.response", "id": "r:10", "thread_id": "child", "tool_call_id": "k",
        "content": "half way", "outcome": "succeeded"})
    );
    assert_eq!(
        seen.events[6],
        json!({"type": "thread.done", "id": "r:12", "thread_id": "child", "title": "search",
        "parent": parent, "status": "done", "state": {"status": "done"}})
    );
}

/// A thread that is the run's own, or none, says nothing of the nested call's.
#[test]
fn a_thread_without_a_name_is_named_after_its_call() {
    for thread in ["s", "", "main"] {
        let seen = nested(&[report("k", "p", thread, "running", 1), report("l", "p", thread, "running", 1)]);
        assert_eq!(
            seen.types(),
            ["thread.created", "model.message", "activity.snapshot", "model.message", "activity.snapshot"]
        );
        assert!(seen.events.iter().all(|event| event["thread_id"] == "tool_call:p"), "{thread}");
    }
}

#[test]
fn calls_nest_deeper() {
    let seen = nested(&[
        report("k", "p", "child", "running", 1),
        report("q", "k", "grandchild", "running", 1),
        report("k", "p", "child", "failed", 2),
    ]);
    let created: Vec<_> =
        seen.of("thread.created").iter().map(|event| (&event["thread_id"], &event["parent"])).collect();
    assert_eq!(created[1], (&json!("grandchild"), &json!({"thread_id": "child", "tool_call_id": "k"})));
    // What ends a call ends the threads inside of it.
    let done = json!({"type": "thread.done", "id": "r:14", "thread_id": "grandchild", "title": null,
        "parent": {"thread_id": "child", "tool_call_id": "k"}, "status": "error", "message": "half way",
        "state": {"status": "error", "error": "half way"}});
    assert_eq!(seen.of("thread.done"), [&done]);
    assert_eq!(seen.of("tool.response")[0]["outcome"], "failed");
}

#[test]
fn each_end_is_told_once() {
    for status in ["done", "failed", "cancelled"] {
        let seen = nested(&[
            report("k", "p", "child", status, 1),
            report("k", "p", "child", status, 2),
            call_done("p"),
            call_done("p"),
        ]);
        let of_child: Vec<_> =
            seen.of("tool.response").into_iter().filter(|event| event["thread_id"] == "child").collect();
        assert_eq!(of_child.len(), 1);
        assert_eq!(of_child[0]["outcome"], if status == "done" { "succeeded" } else { "failed" });
        assert_eq!(seen.of("thread.done").len(), 1);
    }
}

/// The same sub-agent's thread, called again later.
#[test]
fn a_thread_can_have_another_parent() {
    let seen = nested(&[
        report("k", "p", "child", "done", 1),
        call_done("p"),
        report("l", "p2", "child", "running", 1),
    ]);
    let created = seen.of("thread.created");
    assert_eq!(created.len(), 2);
    assert_eq!(created[1]["parent"], json!({"thread_id": "main", "tool_call_id": "p2"}));
}

#[test]
fn a_call_is_not_inside_of_itself_or_of_nothing() {
    for parent in ["k", ""] {
        let seen = nested(&[report("k", parent, "child", "done", 1)]);
        assert_eq!(seen.types(), ["activity.snapshot"]);
        assert_eq!(seen.last()["thread_id"], "main");
    }
}

/// Calls inside of each other make a circle of threads, and nothing that runs on.
#[test]
fn a_circle_ends() {
    let seen = nested(&[
        report("k", "l", "", "running", 1),
        report("l", "k", "", "done", 1),
        report("k", "l", "", "done", 2),
    ]);
    assert_eq!(seen.of("thread.created").len(), 2);
    assert_eq!(seen.of("thread.done").len(), 2);
}

/// The beginning of a report does not say yet where its call is made.
#[test]
fn a_part_of_a_report_makes_no_thread() {
    // In the order in which they are sent: the thread would come later.
    let fields = r#""call_id":"k","loaded":1,"message":"a","node_id":"tool_call:k","parent_call_id":"p""#;
    let part = format!(
        r#"{{"type":"activity_snapshot","data":{{"activity_type":"tool-call-progress","message_id":"tool_call:k","content":{{{fields}}}}}}}"#
    );
    let seen = nested_texts(&[
        part,
        call_done("other").to_string(),
        report("k", "p", "child", "running", 1).to_string(),
    ]);
    assert_eq!(
        seen.types(),
        ["activity.snapshot", "tool.response", "thread.created", "model.message", "activity.snapshot"]
    );
    assert_eq!(seen.events[0]["thread_id"], "main");
    assert_eq!(seen.events[4]["thread_id"], "child");
}

#[test]
fn a_change_of_a_nested_report_is_in_its_thread() {
    let change =
        tirea("activity_delta", json!({"activity_type": "p", "message_id": "tool_call:k", "patch": []}));
    let seen = nested(&[report("k", "p", "child", "running", 1), change]);
    assert_eq!(seen.last()["thread_id"], "child");
}

#[test]
fn what_is_nested_is_bounded() {
    let reports: Vec<Json> = (0..1100)
        .map(|number| report(&format!("k{number}"), &format!("p{number}"), "", "running", 1))
        .collect();
    let seen = nested(&reports);
    assert_eq!(seen.of("thread.created").len(), 1024);
    assert_eq!(seen.of("activity.snapshot").len(), 1100);
    assert_eq!(seen.last()["thread_id"], "main");
}
