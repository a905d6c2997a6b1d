//! What waits for the client, over all threads (sections 3.4 and 4.4).

use serde_json::{Value as Json, json};

use super::mirror::Mirror;
use super::{
    approval, arguments, call, content, feed, finish, index_of, question, response, sign_in, turn_done,
    turn_ended,
};
use crate::index::{EventIndex, PendingKind};

/// Kind, thread and id of all that waits.
fn pending(index: &EventIndex) -> Vec<(PendingKind, &str, &str)> {
    index.pending().iter().map(|action| (action.kind, &*action.thread_id, &*action.id)).collect()
}

fn required_actions(index: EventIndex) -> Json {
    Mirror::of(index).turn["required_actions"].clone()
}

/// A message with one complete call.
fn asked(thread: &str, id: &str, call_id: &str) -> [Json; 3] {
    [call(thread, id, 0, call_id, "f"), arguments(thread, id, 0, "{}"), finish(thread, id, "tool_calls")]
}

#[test]
fn actions_of_all_threads_wait_in_their_order() {
    let index = index_of(&[
        question("main", &["a", "b"], "m"),
        approval("t1", &["a"], "m1"),
        sign_in("s1"),
        approval("main", &["c"], "m"),
    ]);
    let expected = [
        (PendingKind::Response, "main", "a"),
        (PendingKind::Response, "main", "b"),
        (PendingKind::Approval, "t1", "a"),
        (PendingKind::Auth, "", "s1"),
        (PendingKind::Approval, "main", "c"),
    ];
    assert_eq!(pending(&index), expected);
}

/// Section 3.4: `turn.done` says the same once more.
#[test]
fn turn_done_repeats_without_doubling() {
    let events = [question("main", &["a"], "m"), approval("t1", &["a", "b"], "m"), sign_in("s1")];
    let mut index = index_of(&events);
    feed(&mut index, [&turn_done(&events)]);
    assert_eq!(index.pending().len(), 4);
    feed(&mut index, [&turn_done(&[approval("t1", &["a", "c"], "m")])]);
    assert_eq!(index.pending().len(), 5, "what is new in it counts");
}

#[test]
fn turn_done_alone_says_what_waits() {
    let index =
        index_of(&[turn_done(&[approval("main", &["a"], "m"), sign_in("s1"), json!({"type": "new.kind"})])]);
    assert_eq!(pending(&index), [(PendingKind::Approval, "main", "a"), (PendingKind::Auth, "", "s1")]);
}

#[test]
fn a_response_removes_what_it_answers() {
    let events = [approval("main", &["a", "b"], "m"), approval("t1", &["a"], "m1")];
    let cases = [
        (response("main", "a", "x"), vec![("main", "b"), ("t1", "a")]),
        (response("t1", "a", "x"), vec![("main", "a"), ("main", "b")]),
        (response("t2", "a", "x"), vec![("main", "a"), ("main", "b"), ("t1", "a")]),
        (response("main", "c", "x"), vec![("main", "a"), ("main", "b"), ("t1", "a")]),
    ];
    for (response, expected) in cases {
        let mut index = index_of(&events);
        feed(&mut index, [&response]);
        let left: Vec<_> = index.pending().iter().map(|action| (&*action.thread_id, &*action.id)).collect();
        assert_eq!(left, expected, "{response}");
    }
}

#[test]
fn a_response_is_no_authorization() {
    let index = index_of(&[sign_in("a"), response("main", "a", "x"), response("", "a", "x")]);
    assert_eq!(pending(&index), [(PendingKind::Auth, "", "a")]);
}

#[test]
fn nothing_waits_after_a_turn_that_was_cancelled_or_failed() {
    for status in ["cancelled", "error", "evicted"] {
        let mut events = asked("main", "m", "a").to_vec();
        events.extend([approval("main", &["a"], "m"), sign_in("s1"), turn_ended(status)]);
        let mirror = Mirror::of(index_of(&events));
        assert_eq!(mirror.turn["required_actions"], json!([]), "{status}");
        assert_eq!(mirror.messages[0].head["tool_calls"][0]["status"], "running");
    }
}

#[test]
fn an_action_shows_its_call() {
    let mut events = asked("main", "m", "a").to_vec();
    events.extend([approval("main", &["a"], "m"), question("t1", &["b"], "unseen"), sign_in("s1")]);
    let info = json!({"type": "truefoundry-system", "name": "shown f"});
    let expected = json!([
        {"type": "tool.approval_required", "thread_id": "main", "tool_call_id": "a", "name": "shown f",
         "arguments": "{}", "tool_info": info},
        {"type": "tool.response_required", "thread_id": "t1", "tool_call_id": "b", "name": "",
         "arguments": "", "tool_info": null},
        {"type": "mcp.auth_required", "server": {
            "id": "s1", "name": "s1", "mcp_server_name": "s1", "auth_url": "https://a.example",
            "thread_ids": []}},
    ]);
    assert_eq!(required_actions(index_of(&events)), expected);
}

/// Where a paused turn was fetched, its events come from a list, after what it waits for.
#[test]
fn an_action_shows_a_call_that_comes_later() {
    let mut index = index_of(&[turn_done(&[approval("main", &["a"], "m")])]);
    let mut mirror = Mirror::default();
    mirror.follow(&mut index);
    assert_eq!(mirror.turn["required_actions"][0]["name"], "");
    for (event, name, shown) in [
        (call("main", "m", 0, "a", "f"), "shown f", ""),
        (arguments("main", "m", 0, "{\"x\""), "shown f", "{\"x\""),
        (arguments("main", "m", 0, ":1}"), "shown f", "{\"x\":1}"),
    ] {
        feed(&mut index, [&event]);
        mirror.follow(&mut index);
        assert_eq!(mirror.turn["required_actions"][0]["name"], name);
        assert_eq!(mirror.turn["required_actions"][0]["arguments"], shown);
        assert_eq!(mirror.messages[0].head["tool_calls"][0]["status"], "approval_required");
    }
}

/// Some models number their calls anew in every message: the message that the server names counts.
#[test]
fn an_action_is_for_the_call_of_its_own_message() {
    let mut events = asked("main", "old", "a").to_vec();
    events.extend(asked("main", "new", "a"));
    for (source, expected) in [
        ("old", ["approval_required", "running"]),
        ("new", ["running", "approval_required"]),
        ("unseen", ["running", "approval_required"]),
    ] {
        let mut index = index_of(&events);
        feed(&mut index, [&approval("main", &["a"], source)]);
        let statuses = Mirror::of(index)
            .messages
            .into_iter()
            .map(|message| message.head["tool_calls"][0]["status"].clone());
        assert!(statuses.eq(expected), "{source}");
    }
}

/// A page does not build its list of actions anew because a sub-agent goes on talking.
#[test]
fn other_messages_leave_actions_alone() {
    let mut events = asked("main", "m", "a").to_vec();
    events.push(approval("main", &["a"], "m"));
    let mut index = index_of(&events);
    super::mirror::take(&mut index);
    feed(
        &mut index,
        [&content("t1", "m1", "x"), &call("t1", "m1", 0, "b", "f"), &arguments("t1", "m1", 0, "{}")],
    );
    assert_eq!(super::mirror::take(&mut index).document.get("turn"), None);
}
