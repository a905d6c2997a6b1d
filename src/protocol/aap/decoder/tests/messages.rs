//! Which message takes what is said (section 4): a result closes the one that is open, and nothing else does.

use serde_json::json;

use super::{Wire, call, called, play, result, says, start, stop, thinks};

#[test]
fn section_4_text_calls_and_thinking_go_into_the_message_that_is_open() {
    let seen = play([
        &start(),
        &thinks("Hm."),
        &says("Let me see. "),
        &call("a", "mine"),
        &says("And "),
        &call("b", "theirs"),
        &says("that."),
        &stop("tool_use"),
    ]);
    let expected = json!({"id": "t:0", "content": "Let me see. And that.", "reasoning_content": "Hm.",
        "tool_calls": [called("a", "mine"), called("b", "theirs")], "finish_reason": "tool_calls"});
    assert_eq!(seen.messages(), [expected]);
}

#[test]
fn section_4_what_follows_a_result_is_another_message() {
    let frames = [
        start(),
        says("One. "),
        call("a", "theirs"),
        result("a", "1"),
        thinks("Hm."),
        call("b", "theirs"),
        result("b", "2"),
        says("Done."),
        stop("end_turn"),
    ];
    let seen = play(&frames);
    let expected = [
        json!({"id": "t:0", "content": "One. ", "tool_calls": [called("a", "theirs")], "finish_reason": "tool_calls"}),
        json!({"id": "t:1", "reasoning_content": "Hm.", "tool_calls": [called("b", "theirs")], "finish_reason": "tool_calls"}),
        json!({"id": "t:2", "content": "Done.", "finish_reason": "stop"}),
    ];
    assert_eq!(seen.messages(), expected);
    assert_eq!(seen.state()["output"]["content"], "Done.");
    assert_eq!(seen.state()["output"]["id"], "t:2");
}

/// A message is closed where its results begin, and once.
#[test]
fn a_message_is_closed_once() {
    let seen =
        play([&call("a", "x"), &call("b", "x"), &result("a", ""), &result("b", ""), &stop("end_turn")]);
    let closes: Vec<_> = seen.events.iter().filter(|event| event.get("finish_reason").is_some()).collect();
    let expected = json!({"type": "model.message.delta", "id": "t:0", "thread_id": "main", "finish_reason": "tool_calls"});
    assert_eq!(closes, [&expected]);
    assert_eq!(
        seen.types(),
        [
            "turn.created",
            "model.message",
            "model.message.delta",
            "model.message.delta",
            "model.message.delta",
            "tool.response",
            "tool.response",
            "turn.done"
        ]
    );
}

/// Section 5: the result of a call that was granted comes before anything is said.
#[test]
fn a_result_at_the_beginning_opens_no_message() {
    let seen = play([&start(), &result("before", "18°C"), &says("It is warm."), &stop("end_turn")]);
    assert_eq!(seen.types()[1], "tool.response");
    assert_eq!(seen.of("tool.response")[0]["id"], "t:in:before");
    assert_eq!(seen.messages(), [json!({"id": "t:0", "content": "It is warm.", "finish_reason": "stop"})]);
}

/// The mode `message`: each text is a whole one, and of thinking and text either may come first (finding 8).
#[test]
fn section_4_whole_texts() {
    let text = |text: &str| -> Wire { ("text", json!({"text": text})) };
    let thinking = |text: &str| -> Wire { ("thinking", json!({"thinking": text})) };
    for head in [[text("Yes."), thinking("Hm.")], [thinking("Hm."), text("Yes.")]] {
        let rest = [call("a", "theirs"), result("a", "1"), text("Done."), stop("end_turn")];
        let seen = play([&start()].into_iter().chain(&head).chain(&rest));
        let expected = [
            json!({"id": "t:0", "content": "Yes.", "reasoning_content": "Hm.", "tool_calls": [called("a", "theirs")],
                "finish_reason": "tool_calls"}),
            json!({"id": "t:1", "content": "Done.", "finish_reason": "stop"}),
        ];
        assert_eq!(seen.messages(), expected);
        assert_eq!(seen.state()["output"]["content"], "Done.");
    }
}

#[test]
fn a_stream_of_both_modes_is_read() {
    let seen = play([&says("a"), &("text", json!({"text": "b"})), &("thinking", json!({"thinking": "c"}))]);
    assert_eq!(seen.messages(), [json!({"id": "t:0", "content": "ab", "reasoning_content": "c"})]);
}

/// Sections 9 and 10: what has no end is left open.
#[test]
fn a_stream_that_breaks_off_leaves_its_message_open() {
    for frames in [vec![start(), says("a")], vec![start(), says("a"), call("c", "mine")]] {
        let seen = play(&frames);
        assert!(seen.state().is_null());
        assert_eq!(seen.messages()[0].get("finish_reason"), None);
        assert!(seen.pending().is_empty(), "nothing is asked of the client before the turn has ended");
    }
}
