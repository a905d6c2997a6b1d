//! How turns end: why, once, or not at all (sections 4 and 9).

use serde_json::{Value as Json, json};

use super::{call, play, result, says, start, stop};

#[test]
fn section_4_reasons_to_stop() {
    let output = |finish: &str| json!({"type": "model.message", "id": "t:0", "thread_id": "main", "content": "Hi", "finish_reason": finish});
    for (reason, finish) in
        [("end_turn", "stop"), ("tool_use", "stop"), ("max_tokens", "length"), ("refusal", "content_filter")]
    {
        let seen = play([&start(), &says("Hi"), &stop(reason)]);
        let expected = json!({"status": "done", "output": output(finish), "required_actions": [],
            "termination": {"type": reason}});
        assert_eq!(seen.state(), expected, "{reason}");
        assert_eq!(seen.messages()[0]["finish_reason"], finish, "{reason}");
        assert_eq!(seen.last()["id"], format!("t:e{}", seen.events.len()));
    }
}

#[test]
fn errors_and_reasons_that_are_new_are_failures_that_keep_the_text() {
    for (reason, message) in [
        ("error", "the agent reported an error without a message"),
        ("paused", "the turn ended for the unknown reason `paused`"),
        ("", "the turn ended for the unknown reason ``"),
    ] {
        let seen = play([&start(), &says("Hi"), &stop(reason)]);
        let expected = json!({"status": "error", "message": message, "termination": {"type": reason}});
        assert_eq!(seen.state(), expected);
        assert_eq!(seen.messages(), [json!({"id": "t:0", "content": "Hi", "finish_reason": "error"})]);
    }
}

/// Finding 5.
#[test]
fn the_first_end_is_the_end() {
    let end = [start(), says("Hi"), call("c", "mine"), stop("error")];
    let expected = play(&end).events;
    for after in [
        stop("error"),
        stop("end_turn"),
        says("more"),
        ("text_delta", json!({"delta": "more", "x": 1})),
        call("d", "mine"),
        result("c", "x"),
        ("turn_start", json!({})),
        ("new", json!({})),
    ] {
        assert_eq!(play(end.iter().chain([&after])).events, expected, "{after:?}");
    }
}

/// Finding 9.
#[test]
fn a_turn_can_say_nothing() {
    for reason in ["end_turn", "refusal", "tool_use"] {
        let seen = play([&start(), &stop(reason)]);
        assert_eq!(seen.types(), ["turn.created", "turn.done"]);
        assert_eq!(seen.state()["status"], "done");
        assert_eq!(seen.state()["output"], Json::Null);
    }
}

#[test]
fn a_turn_whose_last_message_makes_calls_has_it_as_its_output() {
    let seen = play([&says("See: "), &call("a", "x"), &result("a", "1"), &stop("end_turn")]);
    assert_eq!(seen.state()["output"]["content"], "See: ");
    assert_eq!(seen.state()["output"]["finish_reason"], "tool_calls");
    let seen = play([&call("a", "x"), &stop("max_tokens")]);
    assert_eq!(seen.state()["output"]["finish_reason"], "length");
}

/// Finding 1: it is not an end, so that the reader of the stream looks into the history.
#[test]
fn a_stream_that_breaks_off_does_not_end_the_turn() {
    for frames in [
        vec![start()],
        vec![start(), says("Hi")],
        vec![start(), call("c", "mine")],
        vec![start(), call("c", "x"), result("c", "1")],
    ] {
        let seen = play(&frames);
        assert!(seen.of("turn.done").is_empty());
        assert!(seen.pending().is_empty());
    }
}

#[test]
fn an_end_without_a_reason_is_none() {
    for wire in [json!({}), json!({"stopReason": null}), json!({"stopReason": 5}), json!([])] {
        let seen = play([&says("Hi"), &("turn_stop", wire.clone())]);
        assert_eq!(seen.unknown()[0].1, &wire);
        assert!(seen.unknown()[0].2.is_some());
        assert!(seen.of("turn.done").is_empty(), "{wire}");
        // And the true end still is one.
        let seen = play([&("turn_stop", wire.clone()), &says("Hi"), &stop("end_turn")]);
        assert_eq!(seen.state()["output"]["content"], "Hi");
    }
}
