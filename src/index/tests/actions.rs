//! Pending actions, from all threads (sections 3.4 and 4.4).

use serde_json::{Value as Json, json};

use super::mirror::Mirror;
use super::{
    approval, arguments, call, content, feed, finish, index_of, question, response, sign_in, turn_done,
    turn_ended,
};
use crate::index::{EventIndex, PendingKind};
use crate::json::Value;

/// Kind, thread and id of all pending actions.
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

/// Section 3.4: `turn.done` repeats the actions.
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
    events.extend([approval("main", &["a"], "m"), sign_in("s1")]);
    let info = json!({"type": "truefoundry-system", "name": "shown f"});
    let expected = json!([
        {"type": "tool.approval_required", "thread_id": "main", "tool_call_id": "a", "name": "shown f",
         "arguments": "{}", "tool_info": info},
        {"type": "mcp.auth_required", "server": {
            "id": "s1", "name": "s1", "mcp_server_name": "s1", "auth_url": "https://a.example",
            "thread_ids": []}},
    ]);
    assert_eq!(required_actions(index_of(&events)), expected);
}

/// An action is shown with its call, and not at all while the call is unknown.
#[test]
fn an_action_waits_for_its_call() {
    let mut index =
        index_of(&[question("t1", &["b"], "unseen"), approval("main", &["a"], "m"), sign_in("s1")]);
    let mut mirror = Mirror::default();
    let mut shown = |index: &mut EventIndex| {
        mirror.follow(index);
        let actions = mirror.turn["required_actions"].as_array().expect("a list").clone();
        actions
            .iter()
            .map(|action| action["name"].as_str().unwrap_or("server").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(shown(&mut index), ["server"]);
    assert!(index.hides_actions());
    assert_eq!(pending(&index).len(), 3, "it waits all the same");
    feed(&mut index, asked("main", "m", "a").iter());
    assert_eq!(shown(&mut index), ["shown f", "server"]);
    feed(&mut index, asked("t1", "m1", "b").iter());
    assert_eq!(shown(&mut index), ["shown f", "shown f", "server"]);
    assert!(!index.hides_actions());
}

/// While events of the turn are missing, the call may be incomplete; a call sent with the action is whole.
#[test]
fn what_is_missing_may_be_part_of_the_call() {
    let mut told = approval("main", &["b"], "");
    told["tool_calls"][0]["name"] = json!("told");
    told["tool_calls"][0]["arguments"] = json!("{}");
    let mut events = asked("main", "m", "a").to_vec();
    events.extend([approval("main", &["a"], "m"), told]);
    let mut index = index_of(&events);
    index.set_missing_events(true);
    let names = |index: &mut EventIndex| {
        let document = super::mirror::take(index).document;
        let actions = document["turn"]["required_actions"].as_array().expect("a list").clone();
        actions.iter().map(|action| action["name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&mut index), ["told"]);
    index.set_missing_events(false);
    assert_eq!(names(&mut index), ["shown f", "told"]);
}

/// Section 3.4: a sub-agent may outlive its turn, and wait for a call of an earlier turn.
#[test]
fn an_action_can_be_for_a_call_of_an_earlier_turn() {
    let call = |name: &str| {
        json!({"id": "a", "type": "function", "function": {"name": name, "arguments": "{\"x\":1}"},
               "tool_info": {"type": "mcp", "name": name}})
    };
    let made = |thread: &str, id: &str, name: &str| json!({"type": "model.message", "id": id, "thread_id": thread, "tool_calls": [call(name)]});
    for (source, expected) in [("m", "named"), ("", "newest")] {
        let mut index = index_of(&[approval("t1", &["a"], source)]);
        // The newest first.
        for message in [made("main", "m9", "elsewhere"), made("t1", "m2", "newest"), made("t1", "m", "named")]
        {
            let text = message.to_string();
            let json = Value::parse(&text).expect("JSON");
            index.apply_earlier_message(json.as_object().expect("an object"));
        }
        assert!(!index.hides_actions());
        let expected = json!([{"type": "tool.approval_required", "thread_id": "t1", "tool_call_id": "a",
                               "name": expected, "arguments": "{\"x\":1}",
                               "tool_info": {"type": "mcp", "name": expected}}]);
        assert_eq!(required_actions(index), expected, "{source}");
    }
}

/// If a paused turn was fetched, its last message may be shown before the others are listed.
#[test]
fn what_is_shown_can_be_put_together_anew() {
    let mut index = EventIndex::new();
    let output = json!({"type": "model.message", "id": "m2", "thread_id": "main", "content": "last",
                        "finish_reason": "stop"});
    let state =
        json!({"status": "done", "output": output, "required_actions": [approval("main", &["a"], "m")]});
    let text = state.to_string();
    index.turn_recorded_as_ended(Value::parse(&text).expect("JSON").as_object().expect("an object"));
    let mut mirror = Mirror::default();
    mirror.follow(&mut index);
    assert_eq!(mirror.messages.len(), 1);
    index.restart();
    feed(&mut index, asked("main", "m", "a").iter().chain([&output]));
    index.set_missing_events(false);
    mirror.follow(&mut index);
    let ids: Vec<_> = mirror.messages.iter().map(|message| message.head["id"].clone()).collect();
    assert_eq!(ids, ["m", "m2"]);
    assert_eq!(mirror.turn["required_actions"][0]["name"], "shown f");
    assert_eq!(
        mirror,
        Mirror::of(index_of(
            &[&asked("main", "m", "a")[..], &[output, approval("main", &["a"], "m")]].concat()
        ))
    );
}

/// Some models reuse call ids in every message: the message named by the server counts.
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

/// The answer to a question is the call's result. An approved call has yet to run, and a discarded one never will.
#[test]
fn a_question_that_a_later_turn_answers_is_done() {
    for (ends, expected) in [
        (EventIndex::resolve_actions as fn(&mut EventIndex), ["done", "running"]),
        (EventIndex::discard_actions, ["cancelled", "cancelled"]),
    ] {
        let mut index = index_of(&[]);
        feed(&mut index, &asked("main", "m", "a"));
        feed(&mut index, &asked("main", "n", "b"));
        feed(&mut index, [&turn_done(&[question("main", &["a"], "m"), approval("main", &["b"], "n")])]);
        ends(&mut index);
        let mirror = Mirror::of(index);
        let statuses = mirror.messages.iter().map(|message| message.head["tool_calls"][0]["status"].clone());
        assert!(statuses.eq(expected));
    }
}
