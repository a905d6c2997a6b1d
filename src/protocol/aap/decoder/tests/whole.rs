//! Whole responses (section 4): the events are those of a stream.

use serde_json::{Value as Json, json};

use super::{Seen, call, called, decoder, play, result, says, start, stop, thinks, whole};
use crate::json::Value;
use crate::protocol::EventDecoder;

fn use_of(id: &str, name: &str) -> Json {
    json!({"type": "tool_use", "toolCallId": id, "name": name, "input": {"of": id}})
}

#[test]
fn an_answer_comes_to_what_its_stream_would() {
    let answer = json!({"stopReason": "tool_use", "messages": [
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "See: "}, use_of("a", "x")]},
        {"role": "tool", "toolCallId": "a", "content": [{"type": "text", "text": "1"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "And: "}, use_of("b", "mine"), use_of("c", "x")]},
    ]});
    let streamed = play([
        &start(),
        &thinks("Hm."),
        &says("See: "),
        &call("a", "x"),
        &result("a", json!([{"type": "text", "text": "1"}])),
        &says("And: "),
        &call("b", "mine"),
        &call("c", "x"),
        &stop("tool_use"),
    ]);
    let seen = whole(&answer);
    assert_eq!(seen.events, streamed.events);
    assert_eq!(seen.pending(), ["Response b", "Approval c"]);
    assert_eq!(seen.messages()[1]["tool_calls"], json!([called("b", "mine"), called("c", "x")]));
}

#[test]
fn contents_are_texts_blocks_or_nothing() {
    for (content, text) in [
        (json!("Hi"), "Hi"),
        (json!(""), ""),
        (json!([]), ""),
        (json!(null), ""),
        (json!([{"type": "text", "text": "H"}, {"type": "text", "text": "i"}]), "Hi"),
        (json!({"type": "text", "text": "Hi"}), "Hi"),
    ] {
        let answer =
            json!({"stopReason": "end_turn", "messages": [{"role": "assistant", "content": content}]});
        let seen = whole(&answer);
        assert_eq!(seen.state()["output"]["content"].as_str().unwrap_or_default(), text, "{content}");
        assert!(seen.unknown().is_empty(), "{content}");
    }
}

/// A protocol message that directly follows another one, without a result in between, continues it.
#[test]
fn section_4_only_results_part_messages() {
    let say = |text: &str| json!({"role": "assistant", "content": text});
    let answer = json!({"stopReason": "end_turn", "messages": [say("a"), say("b"),
        {"role": "tool", "toolCallId": "x", "content": ""}, say("c")]});
    let contents: Vec<_> =
        whole(&answer).messages().iter().map(|message| message["content"].clone()).collect();
    assert_eq!(contents, ["ab", "c"]);
}

#[test]
fn an_empty_answer_ends_the_turn() {
    let seen = whole(&json!({"stopReason": "refusal", "messages": []}));
    assert_eq!(seen.types(), ["turn.created", "turn.done"]);
    assert_eq!(seen.state()["termination"], json!({"type": "refusal"}));
}

#[test]
fn blocks_and_roles_that_are_merely_new_are_kept() {
    let audio = json!({"type": "audio", "url": "https://a.example"});
    let image = json!({"type": "image", "url": "https://a.example/b.png"});
    let odd = json!({"type": "text", "text": 5});
    let note = json!({"role": "critic", "content": "No."});
    let answer = json!({"stopReason": "end_turn", "x": 1, "messages": [
        {"role": "assistant", "content": [{"type": "text", "text": "a"}, audio, image, odd, "loose", 5, {"type": "text", "text": "b"}]},
        note, 5, null,
    ]});
    let seen = whole(&answer);
    let kept: Vec<_> =
        seen.unknown().into_iter().map(|(kind, raw, problem)| (kind.clone(), raw.clone(), problem)).collect();
    let expected = [
        (json!("audio"), audio, None),
        (json!("image"), image, None),
        (json!("text"), odd, None),
        (json!(null), json!("loose"), None),
        (json!(null), json!(5), None),
        (json!("critic"), note, None),
        (json!(null), json!(5), None),
        (json!(null), json!(null), None),
    ];
    assert_eq!(kept, expected);
    assert_eq!(seen.state()["output"]["content"], "ab");
}

#[test]
fn calls_and_results_that_are_none_are_kept() {
    let no_name = json!({"type": "tool_use", "toolCallId": "a"});
    let no_content = json!({"role": "tool", "toolCallId": "b"});
    let no_call = json!({"role": "tool", "content": "x"});
    let answer = json!({"stopReason": "tool_use", "messages": [
        {"role": "assistant", "content": [no_name, use_of("b", "mine"), use_of("b", "mine")]}, no_content, no_call]});
    let seen = whole(&answer);
    let kept = seen.unknown();
    assert_eq!(kept[0], (&json!("tool_use"), &no_name, Some("`name` is missing")));
    assert_eq!(kept[1].2, Some("the message already has this call"));
    assert_eq!(kept[2], (&json!("tool"), &no_content, Some("`content` is missing")));
    assert_eq!(kept[3], (&json!("tool"), &no_call, Some("`toolCallId` is missing")));
    assert!(seen.pending().is_empty());
}

/// Like a stream that breaks off: the readable part stays, and the turn has not ended.
#[test]
fn an_answer_without_its_end_is_kept_whole() {
    let said = json!([{"role": "assistant", "content": "Hi"}]);
    for (answer, problem) in [
        (json!({"messages": said}), "`stopReason` is missing"),
        (json!({"messages": said, "stopReason": 5}), "`stopReason` is not a string"),
        (json!({"stopReason": "end_turn"}), "it has no list `messages`"),
        (json!({"stopReason": "end_turn", "messages": {}}), "it has no list `messages`"),
        (json!({"error": "Session not found"}), "it has no list `messages`"),
        (json!([]), "it is not an object"),
        (json!("Hi"), "it is not an object"),
        (json!(null), "it is not an object"),
    ] {
        let seen = whole(&answer);
        assert_eq!(seen.last()["type"], "unknown", "{answer}");
        assert_eq!(seen.unknown(), [(&json!(null), &answer, Some(problem))]);
        assert!(seen.of("turn.done").is_empty());
        assert_eq!(seen.messages().len(), usize::from(answer["messages"].is_array()), "{answer}");
    }
}

#[test]
fn a_second_answer_says_nothing_more() {
    let (mut decoder, mut seen) = (decoder(), Seen::default());
    for text in ["a", "b"] {
        let answer = json!({"stopReason": "end_turn", "messages": [{"role": "assistant", "content": text}]});
        decoder.body(Value::parse(&answer.to_string()).expect("JSON"), &mut seen);
    }
    assert_eq!(seen.state()["output"]["content"], "a");
}
