//! Messages and calls that agents of the `AgentEvent` protocols change afterwards: attempts that are retried or
//! dropped, whole arguments, calls that are not made, and pending actions of an earlier turn.

use serde_json::{Value as Json, json};

use super::mirror::{Mirror, take};
use super::{apply, base, call, called, content, finish, reasoning, response, told};
use crate::event::TextField;
use crate::index::{EventIndex, PendingKind};

fn continuing(id: &str, before: &str) -> Json {
    json!({"type": "model.message", "id": id, "thread_id": "main", "content": "", "continues": before})
}

fn reset(id: &str) -> Json {
    json!({"type": "message.reset", "id": id, "thread_id": "main", "reason": "the step was retried"})
}

fn cancelled(call_id: &str) -> Json {
    json!({"type": "tool.cancelled", "id": "e", "thread_id": "main", "tool_call_id": call_id, "reason": "why"})
}

fn resumed(call_id: &str) -> Json {
    json!({"type": "tool.resumed", "id": "e", "thread_id": "main", "tool_call_id": call_id,
           "result": {"approved": true}})
}

/// A piece of a call's arguments, or the whole of them.
fn function(id: &str, index: u32, name: &str, text: &str) -> Json {
    json!({"type": "model.message.delta", "id": id, "thread_id": "main",
           "tool_calls": [{"index": index, "function": {name: text}}]})
}

fn ids(mirror: &Mirror) -> Vec<&str> {
    mirror.messages.iter().map(|message| message.head["id"].as_str().expect("a text")).collect()
}

fn statuses(mirror: &Mirror, message: usize) -> Vec<&str> {
    let calls = mirror.messages[message].head["tool_calls"].as_array().expect("a list");
    calls.iter().map(|call| call["status"].as_str().unwrap_or("hole")).collect()
}

/// The answer continues in the same place under the id of the second attempt.
#[test]
fn a_retried_attempt_goes_on_with_its_message() {
    let events = [
        base("main", "m1"),
        reasoning("main", "m1", "why "),
        content("main", "m1", "partial "),
        base("t1", "other"),
        continuing("m2", "m1"),
        content("main", "m2", "text"),
        continuing("m3", "m2"),
        content("main", "m3", "!"),
        finish("main", "m3", "stop"),
    ];
    let mirror = told(&events);
    assert_eq!(ids(&mirror), ["m3", "other"]);
    let message = &mirror.messages[0];
    assert_eq!((&*message.content, &*message.reasoning), ("partial text!", "why "));
    assert_eq!(
        (&message.head["finish_reason"], &message.head["thread_id"]),
        (&json!("stop"), &json!("main"))
    );

    let mut index = EventIndex::new();
    apply(&mut index, &events);
    assert!(index.message("m1").is_none() && index.message("m2").is_none());
    assert_eq!(index.message("m3").map(crate::message::Message::content), Some("partial text!"));
}

/// A mirror renames the message and appends to it: nothing is repeated.
#[test]
fn a_message_that_goes_on_is_not_said_again() {
    for releases_text in [false, true] {
        let mut index = EventIndex::new();
        if releases_text {
            index.release_taken_text();
        }
        apply(&mut index, [&base("main", "m1"), &content("main", "m1", "partial ")]);
        take(&mut index);
        apply(&mut index, [&continuing("m2", "m1"), &content("main", "m2", "text")]);
        let taken = take(&mut index);
        let head = &taken.document["messages"][0];
        assert_eq!((&head["id"], &head["slot"], &head["reset"]), (&json!("m2"), &json!(0), &json!(false)));
        assert_eq!(taken.pieces, [(0, TextField::Content, "text".to_owned())]);
    }
}

#[test]
fn a_message_that_goes_on_with_an_unknown_one_begins() {
    for before in ["unseen", ""] {
        let mirror = told(&[base("main", "m1"), continuing("m2", before), content("main", "m2", "text")]);
        assert_eq!(ids(&mirror), ["m1", "m2"], "{before}");
        assert_eq!(mirror.messages[1].content, "text");
    }
}

/// The server stores every attempt as a separate message. A message that was one stays one, whatever its length.
#[test]
fn many_attempts_are_one_message() {
    let mut events = vec![base("main", "m0")];
    for at in 1..200 {
        events.push(continuing(&format!("m{at}"), &format!("m{}", at - 1)));
        events.push(content("main", &format!("m{at}"), "x"));
    }
    events.push(base("main", "last"));
    let mut index = EventIndex::new();
    apply(&mut index, &events);
    assert_eq!(index.messages().len(), 2);
    assert_eq!(index.message("m199").map(|message| message.content().len()), Some(199));
    assert!(index.message("m198").is_none());
}

#[test]
fn what_does_not_count_is_gone() {
    let events = [
        base("main", "m"),
        reasoning("main", "m", "why"),
        content("main", "m", "void "),
        call("main", "m", 0, "c", "f"),
        function("m", 0, "arguments", "{\"x"),
        json!({"type": "model.message.delta", "id": "m", "thread_id": "main", "refusal": "no", "model": "a",
               "reasoning_encrypted": "b64", "usage": {"input_tokens": 1, "output_tokens": 1}}),
        reset("m"),
    ];
    let mirror = told(&events);
    let head = json!({"id": "m", "thread_id": "main", "created_at": "2026-07-01T10:00:00Z", "name": null, "refusal": "",
                      "finish_reason": null, "usage": null, "tool_calls": []});
    assert_eq!(mirror.messages[0].head, head);
    assert_eq!((&*mirror.messages[0].content, &*mirror.messages[0].reasoning), ("", ""));
    assert!(mirror.messages[0].arguments.is_empty());

    let mut again = events.to_vec();
    again.extend([
        continuing("n", "m"),
        content("main", "n", "counts"),
        call("main", "n", 0, "c", "g"),
        function("n", 0, "arguments", "{}"),
        finish("main", "n", "tool_calls"),
    ]);
    let mirror = told(&again);
    assert_eq!((ids(&mirror), &*mirror.messages[0].content), (vec!["n"], "counts"));
    assert_eq!(
        (statuses(&mirror, 0), &*mirror.messages[0].arguments),
        (vec!["running"], &["{}".to_owned()][..])
    );
    assert_eq!(mirror.messages[0].head["tool_calls"][0]["name"], "shown g");
}

/// Whole arguments replace the pieces before; those of other calls stay.
#[test]
fn whole_arguments_replace_pieces() {
    let begin =
        [call("main", "m", 0, "a", "f"), call("main", "m", 1, "b", "g"), content("main", "m", "text")];
    let pieces = [function("m", 0, "arguments", "{\"x\":1"), function("m", 1, "arguments", "{\"y\":2}")];
    let cases = [
        (vec![function("m", 0, "whole_arguments", "{\"x\":9}")], ["{\"x\":9}", "{\"y\":2}"]),
        (vec![function("m", 1, "whole_arguments", "{}")], ["{\"x\":1", "{}"]),
        (
            vec![function("m", 0, "whole_arguments", "{"), function("m", 0, "arguments", "}")],
            ["{}", "{\"y\":2}"],
        ),
        (
            vec![function("m", 0, "whole_arguments", "[]"), function("m", 1, "whole_arguments", "{}")],
            ["[]", "{}"],
        ),
    ];
    for (whole, expected) in cases {
        let mirror = told(&[&begin[..], &pieces, &whole].concat());
        assert_eq!(mirror.messages[0].arguments, expected, "{whole:?}");
        assert_eq!(mirror.messages[0].content, "text");
    }
}

/// A call that is not made is cancelled; a later call with the same id is another call.
#[test]
fn a_call_may_be_cancelled() {
    let begin = [call("main", "m", 0, "c", "f"), cancelled("c")];
    assert_eq!(statuses(&told(&begin), 0), ["cancelled"]);
    let second = |more: &[Json]| statuses_of(&[&begin[..], &[call("main", "m", 1, "c", "f")], more].concat());
    assert_eq!(second(&[]), ["cancelled", "streaming"]);
    assert_eq!(second(&[finish("main", "m", "tool_calls")]), ["cancelled", "running"]);
    assert_eq!(second(&[response("main", "c", "x")]), ["cancelled", "done"]);
    assert_eq!(second(&[cancelled("c")]), ["cancelled", "cancelled"]);
    // A later message makes it again.
    let mirror = told(&[&begin[..], &[called("n", &["c"])]].concat());
    assert_eq!((statuses(&mirror, 0), statuses(&mirror, 1)), (vec!["cancelled"], vec!["running"]));
    // An unknown call.
    assert!(told(&[cancelled("c")]).messages.is_empty());
}

fn statuses_of(events: &[Json]) -> Vec<String> {
    statuses(&told(events), 0).into_iter().map(str::to_owned).collect()
}

/// A cancelled call has no pending actions any more.
#[test]
fn a_cancelled_call_waits_for_nothing() {
    let question = json!({"type": "tool.approval_required", "id": "q", "thread_id": "main",
                          "tool_calls": [{"id": "c", "source_event_id": "m"}, {"id": "d", "source_event_id": "m"}]});
    let mirror = told(&[called("m", &["c", "d"]), question, cancelled("c")]);
    assert_eq!(statuses(&mirror, 0), ["cancelled", "approval_required"]);
    let waiting = mirror.turn["required_actions"].as_array().expect("a list");
    assert_eq!(waiting.iter().map(|action| &action["tool_call_id"]).collect::<Vec<_>>(), ["d"]);
}

/// The messages of this turn have the server's stored contents.
#[test]
fn kept_messages_replace_texts() {
    let snapshot = |messages: Json| json!({"type": "messages.snapshot", "id": "s", "thread_id": null, "messages": messages});
    let events = [
        base("main", "m"),
        reasoning("main", "m", "why"),
        content("main", "m", "streamed"),
        call("main", "m", 0, "c", "f"),
        function("m", 0, "arguments", "{}"),
        base("main", "n"),
        content("main", "n", "other"),
        snapshot(json!([
            {"id": "m0", "role": "user", "content": "of another turn"},
            {"id": "m", "role": "assistant", "content": "kept"},
            {"id": "n", "role": "assistant", "content": [{"type": "text", "text": "parts"}]},
            {"role": "user", "content": "without an id"}
        ])),
        content("main", "m", "!"),
    ];
    let mirror = told(&events);
    assert_eq!(ids(&mirror), ["m", "n"]);
    assert_eq!((&*mirror.messages[0].content, &*mirror.messages[1].content), ("kept!", "other"));
    assert_eq!(
        (&*mirror.messages[0].reasoning, &*mirror.messages[0].arguments),
        ("why", &["{}".to_owned()][..])
    );
}

/// The parts of a replaced message are gone, too.
#[test]
fn a_replaced_text_has_no_parts() {
    let mut whole = base("main", "m");
    whole["content"] = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
    let snapshot = json!({"type": "messages.snapshot", "id": "s", "thread_id": null,
                          "messages": [{"id": "m", "role": "assistant", "content": "kept"}]});
    let mut index = EventIndex::new();
    apply(&mut index, [&whole, &snapshot]);
    let message: Json =
        serde_json::from_str(&index.message("m").expect("it came").to_json("main")).expect("JSON");
    assert_eq!(message["content"], "kept");
}

/// A turn that continues after answers waits for calls of the turn before: the event of the action has all that is
/// known of them.
#[test]
fn an_action_tells_of_a_call_of_an_earlier_turn() {
    let suspension = json!({"id": "fc_c", "action": "tool:PermissionConfirm", "message": "May it?",
                            "parameters": {"tool_name": "f"}, "response_schema": {"type": "object"},
                            "resume_mode": "replay_tool_call"});
    let question = json!({"type": "tool.approval_required", "id": "q", "thread_id": "main", "tool_calls": [
        {"id": "c", "source_event_id": "", "event_id": "", "name": "f", "arguments": "{\"x\":1}",
         "suspension": suspension}]});
    let mirror = told(std::slice::from_ref(&question));
    let expected = json!([{"type": "tool.approval_required", "thread_id": "main", "tool_call_id": "c", "name": "f",
                           "arguments": "{\"x\":1}", "tool_info": null, "suspension": suspension}]);
    assert_eq!(mirror.turn["required_actions"], expected);
    assert!(mirror.messages.is_empty());

    // A call in this turn needs nothing from the action.
    let mirror = told(&[question.clone(), called("m", &["c"])]);
    assert_eq!(mirror.turn["required_actions"][0]["arguments"], "{}");
    assert_eq!(mirror.turn["required_actions"][0]["suspension"], suspension);
    assert_eq!(statuses(&mirror, 0), ["approval_required"]);

    let mut index = EventIndex::new();
    apply(&mut index, [&question]);
    assert_eq!(index.pending()[0].kind, PendingKind::Approval);
}

/// An answer resolves the action, and its result completes the call.
#[test]
fn a_resumed_call_goes_on() {
    let question = |kind: &str| json!({"type": kind, "id": "q", "thread_id": "main", "tool_calls": [{"id": "c", "source_event_id": "m"}]});
    for (kind, status) in
        [("tool.approval_required", "approval_required"), ("tool.response_required", "response_required")]
    {
        let mut events = vec![called("m", &["c"]), question(kind)];
        for (event, status, waits) in [
            (None, status, 1),
            (Some(resumed("other")), status, 1),
            (Some(resumed("c")), "running", 0),
            (Some(response("main", "c", "x")), "done", 0),
        ] {
            events.extend(event);
            let mirror = told(&events);
            assert_eq!(statuses(&mirror, 0), [status]);
            assert_eq!(mirror.turn["required_actions"].as_array().map(Vec::len), Some(waits), "{events:?}");
        }
    }
}
