//! Calls and their results (sections 3.4 and 3.7).

use serde_json::{Value as Json, json};

use super::mirror::Mirror;
use super::{approval, arguments, base, call, feed, finish, index_of, question, response, thread_created};

fn statuses(mirror: &Mirror) -> Vec<&str> {
    let calls =
        mirror.messages.iter().flat_map(|message| message.head["tool_calls"].as_array().expect("a list"));
    calls.map(|call| call["status"].as_str().unwrap_or("hole")).collect()
}

#[test]
fn a_call_goes_through_its_statuses() {
    let approved: &[(Json, &str)] = &[
        (call("main", "m", 0, "a", "f"), "streaming"),
        (arguments("main", "m", 0, "{}"), "streaming"),
        (finish("main", "m", "tool_calls"), "running"),
        (approval("main", &["a"], "m"), "approval_required"),
        (response("main", "a", "x"), "done"),
        (approval("main", &["a"], "m"), "done"),
    ];
    let answered: &[(Json, &str)] = &[
        (call("main", "m", 0, "a", "f"), "streaming"),
        (question("main", &["a"], "m"), "response_required"),
        (finish("main", "m", "tool_calls"), "response_required"),
        (response("main", "a", "x"), "done"),
    ];
    for story in [approved, answered] {
        let (mut index, mut mirror) = (index_of(&[]), Mirror::default());
        for (event, status) in story {
            feed(&mut index, [event]);
            mirror.follow(&mut index);
            assert_eq!(statuses(&mirror), [*status], "after {event}");
        }
    }
}

#[test]
fn holes_stay_holes_until_their_call_comes() {
    let mut index = index_of(&[call("main", "m", 2, "c", "f")]);
    let mut mirror = Mirror::default();
    mirror.follow(&mut index);
    assert_eq!(statuses(&mirror), ["hole", "hole", "streaming"]);
    // On the hot path: pieces of arguments alone also create a call.
    feed(&mut index, [&arguments("main", "m", 0, "{}")]);
    mirror.follow(&mut index);
    assert_eq!(statuses(&mirror), ["streaming", "hole", "streaming"]);
    assert_eq!(mirror.messages[0].arguments[0], "{}");
}

#[test]
fn a_result_joins_the_newest_call_of_that_id_in_that_thread() {
    let index = index_of(&[
        call("main", "m1", 0, "a", "f"),
        call("t1", "m2", 0, "a", "f"),
        call("main", "m3", 0, "a", "f"),
        call("main", "m4", 0, "b", "f"),
        response("main", "a", "for m3"),
    ]);
    assert_eq!(statuses(&Mirror::of(index)), ["streaming", "streaming", "done", "streaming"]);
}

#[test]
fn a_result_is_kept_whole_and_the_last_one_counts() {
    let mut wire = response("main", "a", "one");
    wire["x_new"] = json!([1]);
    let mut index = index_of(&[call("main", "m", 0, "a", "f"), wire.clone()]);
    let joined = |index: &crate::index::EventIndex| -> Json {
        let call = index.message("m").and_then(|message| message.call("a")).expect("the call");
        serde_json::from_str(call.response().expect("a result")).expect("JSON")
    };
    assert_eq!(joined(&index), wire);
    feed(&mut index, [&response("main", "a", "other")]);
    assert_eq!(joined(&index)["content"], "other");
}

/// The result of a call from an earlier turn, for example an approved one.
#[test]
fn a_result_without_its_call_is_kept_with_the_thread() {
    let index = index_of(&[
        response("main", "a", "old"),
        response("main", "b", "other"),
        response("main", "a", "new"),
        response("t1", "a", "of a sub-agent"),
    ]);
    let mirror = Mirror::of(index);
    let contents = |thread: usize| {
        let kept = mirror.threads[thread]["tool_responses"].as_array().expect("a list");
        kept.iter().map(|response| response["content"].as_str().expect("text")).collect::<Vec<_>>()
    };
    assert_eq!(mirror.threads[1]["id"], "t1");
    assert_eq!(contents(0), ["other", "new"]);
    assert_eq!(contents(1), ["of a sub-agent"]);
}

#[test]
fn a_call_knows_the_thread_that_it_started() {
    let mut index = index_of(&[
        call("main", "m", 0, "a", "create_sub_agent"),
        call("main", "m", 1, "b", "create_sub_agent"),
        thread_created("t1", "main", "b"),
        thread_created("t2", "main", "a"),
    ]);
    let mut mirror = Mirror::default();
    mirror.follow(&mut index);
    let calls = &mirror.messages[0].head["tool_calls"];
    assert_eq!([&calls[0]["thread_id"], &calls[1]["thread_id"]], ["t2", "t1"]);
}

/// A complete message that replaces a streamed one keeps results and threads.
#[test]
fn results_and_threads_survive_a_second_base() {
    let mut whole = base("main", "m");
    whole["finish_reason"] = json!("tool_calls");
    whole["tool_calls"] = json!([
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"id": "b", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    ]);
    let index = index_of(&[
        base("main", "m"),
        call("main", "m", 0, "a", "f"),
        call("main", "m", 1, "b", "f"),
        response("main", "a", "x"),
        thread_created("t1", "main", "b"),
        approval("main", &["b"], "m"),
        whole,
    ]);
    let mirror = Mirror::of(index);
    assert_eq!(statuses(&mirror), ["done", "approval_required"]);
    let calls = &mirror.messages[0].head["tool_calls"];
    assert_eq!(calls[0]["response"]["content"], "x");
    assert_eq!(calls[1]["thread_id"], "t1");
}

/// The displayed name is the tool's, not the one that was changed for the model (section 3.3).
#[test]
fn the_name_to_show_is_the_tools_own() {
    let index = index_of(&[call("main", "m", 0, "a", "f")]);
    let call = index.message("m").and_then(|message| message.call("a")).expect("the call");
    assert_eq!((call.name.as_str(), call.display_name()), ("f", "shown f"));
    let bare = json!({"type": "model.message.delta", "id": "n", "tool_calls": [
        {"index": 0, "id": "a", "function": {"name": "g"}}]});
    let index = index_of(&[bare]);
    assert_eq!(
        index.message("n").and_then(|message| message.call("a")).expect("the call").display_name(),
        "g"
    );
}
