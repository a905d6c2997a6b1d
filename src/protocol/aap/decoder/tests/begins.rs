//! How a turn begins: with its input, whatever comes first (sections 4 and 5).

use serde_json::{Value as Json, json};

use super::{Seen, decoder, decoder_of, feed, play, says, start, stop};
use crate::protocol::EventDecoder;

fn created(input: &Json) -> Json {
    json!({"type": "turn.created", "id": "t:e1", "thread_id": null, "turn_id": "t", "previous_turn_id": null,
           "created_at": null, "input": input, "state": {"status": "running"}})
}

#[test]
fn a_turn_begins_with_what_it_was_given() {
    let seen = play([&start()]);
    assert_eq!(seen.events, [created(&json!([{"type": "user.message", "content": "Hi"}]))]);
}

#[test]
fn whatever_comes_first_begins_it_and_only_once() {
    for first in [says("a"), says(""), ("tool_call", json!({})), ("ping", json!({})), stop("end_turn")] {
        let seen = play([&first, &says("b")]);
        assert_eq!(seen.types().first(), Some(&"turn.created"), "{first:?}");
        assert_eq!(seen.of("turn.created").len(), 1, "{first:?}");
    }
}

/// Finding 7.
#[test]
fn a_stream_without_an_event_begins_nothing() {
    assert!(play([]).events.is_empty());
}

#[test]
fn to_begin_twice_is_a_problem() {
    for frames in [vec![start(), start()], vec![says("a"), start()]] {
        let seen = play(&frames);
        let unknown = seen.unknown();
        assert_eq!(unknown, [(&json!("turn_start"), &json!({}), Some("the turn has already begun"))]);
    }
}

#[test]
fn what_it_follows_is_told() {
    let params =
        json!({"turn_id": "t", "previous_turn_id": "turn-1", "input": [], "terms": {"tools": 5}}).to_string();
    let mut decoder = super::TurnDecoder::default();
    let json = crate::json::Value::parse(&params).expect("JSON");
    decoder.begin(json.as_object().expect("an object"));
    let seen = feed(&mut decoder, [&start()]);
    assert_eq!(seen.events[0]["previous_turn_id"], "turn-1");
}

/// No server repeats the answers that it received; a denied call is reported in the specification's words.
#[test]
fn section_5_answers_are_told_at_the_beginning() {
    let approval = |id: &str, approval: Json| json!({"type": "user.tool_approval", "thread_id": "main", "tool_call_id": id, "approval": approval});
    let input = json!([
        {"type": "user.tool_response", "thread_id": "main", "tool_call_id": "a", "content": "18°C"},
        approval("b", json!({"status": "allow"})),
        approval("c", json!({"status": "deny"})),
        approval("d", json!({"status": "deny", "reason": "too dear"})),
    ]);
    let seen = feed(&mut decoder_of(&input), [&start()]);
    let response = |id: &str, content: &str, outcome: &str| {
        json!({"type": "tool.response", "id": format!("t:in:{id}"), "thread_id": "main", "tool_call_id": id,
               "content": content, "outcome": outcome})
    };
    let expected = [
        created(&input),
        response("a", "18°C", "succeeded"),
        json!({"type": "tool.resumed", "id": "t:e3", "thread_id": "main", "tool_call_id": "b", "result": {"approved": true}}),
        response("c", "Tool call denied", "failed"),
        response("d", "Tool call denied: too dear", "failed"),
    ];
    assert_eq!(seen.events, expected);
}

#[test]
fn a_decoder_that_restarts_tells_the_turn_anew() {
    let mut decoder = decoder();
    let frames = [start(), says("a"), super::call("c", "mine"), stop("tool_use")];
    let first = feed(&mut decoder, &frames);
    assert_eq!(feed(&mut decoder, &frames).events.len(), 0, "the turn is over");
    decoder.restart();
    let again: Seen = feed(&mut decoder, &frames);
    assert_eq!(again.events, first.events);
}
