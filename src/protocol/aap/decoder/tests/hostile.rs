//! Whatever a server sends, in whatever order: events that are numbered on, and never a panic.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::{Seen, Wire, call, decoder, frame, play, result, says, start, stop, thinks, whole};
use crate::event::{EventRef, TextDelta};
use crate::json::{MAX_DEPTH, Value};
use crate::protocol::aap::tests::damage::{any_json, damaged};
use crate::protocol::{EventDecoder, EventSink};

#[test]
fn types_that_are_merely_new_are_unknown_without_a_problem() {
    for (kind, data) in [
        ("turn_paused", json!({"a": [null]})),
        ("TEXT_DELTA", json!({"delta": "a"})),
        ("text_deltas", json!({})),
    ] {
        let seen = play([&start(), &says("a"), &(kind, data.clone()), &says("b"), &stop("end_turn")]);
        assert_eq!(seen.unknown(), [(&json!(kind), &data, None)]);
        assert_eq!(seen.state()["output"]["content"], "ab");
    }
}

#[test]
fn what_is_no_frame_is_kept() {
    for kind in ["text_delta", "text", "tool_call", "tool_result", "turn_stop", "turn_start", "new", ""] {
        for data in [json!(null), json!(5), json!("a"), json!([]), json!([{"delta": "a"}]), json!(true)] {
            let (mut decoder, mut seen) = (decoder(), Seen::default());
            decoder.decode(&frame(kind, &data.to_string()), &mut seen);
            let wire_type = if kind.is_empty() { Json::Null } else { kind.into() };
            assert_eq!(seen.unknown(), [(&wire_type, &data, Some("it is not an object"))]);
        }
        let deep = "[".repeat(100_000);
        for data in
            ["", " ", "{", "[DONE]", "nul", "{\"delta\":", "{\"delta\":\"a\",}", "{'delta':'a'}", &*deep]
        {
            let (mut decoder, mut seen) = (decoder(), Seen::default());
            decoder.decode(&frame(kind, data), &mut seen);
            assert_eq!(seen.types(), ["turn.created", "unknown"]);
            assert_eq!(seen.last()["raw"], data);
            assert!(seen.last()["problem"].is_string());
        }
    }
}

#[test]
fn a_field_of_another_type_is_a_problem() {
    for (kind, data) in [
        ("text_delta", json!({"delta": 5})),
        ("text_delta", json!({"text": "a"})),
        ("thinking_delta", json!({"delta": {}})),
        ("text", json!({"text": []})),
        ("text", json!({"delta": "a"})),
        ("thinking", json!({"thinking": null})),
        ("tool_call", json!({"toolCallId": ["a"], "name": "n"})),
        ("tool_result", json!({"toolCallId": "a", "content": true})),
        ("turn_stop", json!({"stopReason": {}})),
    ] {
        let seen = play([&start(), &says("a"), &(kind, data.clone())]);
        let unknown = seen.unknown();
        assert_eq!((unknown[0].0, unknown[0].1), (&json!(kind), &data));
        assert!(unknown[0].2.is_some());
        assert_eq!(seen.messages()[0]["content"], "a");
        assert_eq!(seen.types().iter().filter(|kind| **kind == "turn.done").count(), 0);
    }
}

/// Deeper than serde's own limit: only the kinds are looked at.
#[derive(Default)]
struct Kinds(Vec<String>);

impl EventSink for Kinds {
    fn delta(&mut self, _: u64, _: TextDelta<'_>) {
        self.0.push("delta".to_owned());
    }

    fn event(&mut self, _: u64, event: EventRef<'_>) {
        self.0.push(event.fields.text("type").to_owned());
    }
}

#[test]
fn nesting_up_to_the_limit_is_read() {
    let depth = MAX_DEPTH as usize;
    for (levels, kinds) in [(depth - 1, &["model.message", "model.message.delta"][..]), (depth, &["unknown"])]
    {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        let data = format!(r#"{{"toolCallId":"a","name":"n","input":{open}{close}}}"#);
        let (mut decoder, mut seen) = (decoder(), Kinds::default());
        decoder.decode(&frame("tool_call", &data), &mut seen);
        assert_eq!(seen.0[1..], *kinds);
    }
}

#[test]
fn ids_and_names_are_opaque() {
    let long = "x".repeat(100_000);
    for id in [" ", "a/b?c", "é\u{2028}\u{0}", "t:0", "in:", "t:asks:0:a", "__proto__", &*long] {
        let seen = play([&call(id, id), &stop("tool_use")]);
        assert_eq!(seen.of("tool.approval_required")[0]["tool_calls"][0]["id"], id);
        let seen = play([&call(id, id), &result(id, id), &stop("end_turn")]);
        assert_eq!(seen.of("tool.response")[0]["tool_call_id"], id);
        assert!(seen.unknown().is_empty());
    }
}

#[test]
fn long_answers_are_read_to_the_end() {
    let many: Vec<Json> = (0..20_000).map(|number| match number % 4 {
        0 => json!({"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "tool_use", "toolCallId": "c", "name": "mine"}]}),
        1 => json!({"role": "tool", "toolCallId": "c", "content": "x"}),
        2 => json!({"role": "assistant", "content": vec![json!({}); 3]}),
        _ => json!(number),
    }).collect();
    let seen = whole(&json!({"stopReason": "end_turn", "messages": many}));
    assert_eq!(seen.of("model.message").len(), 5_000);
    assert_eq!(seen.of("tool.response").len(), 5_000);
    assert_eq!(seen.unknown().len(), 20_000);
    assert_eq!(seen.state()["status"], "done");
}

/// One frame of every kind, all of whose fields are there.
fn frames() -> Vec<Wire> {
    let blocks =
        json!([{"type": "text", "text": "a"}, {"type": "image", "url": "data:image/png;base64,AA=="}]);
    vec![
        start(),
        says("a"),
        thinks("b"),
        ("text", json!({"text": "a"})),
        ("thinking", json!({"thinking": "b"})),
        call("c", "mine"),
        call("d", "theirs"),
        result("c", "x"),
        result("d", blocks),
        stop("end_turn"),
        stop("tool_use"),
        stop("error"),
        ("new", json!({"a": 1})),
    ]
}

fn answer() -> Json {
    json!({"stopReason": "tool_use", "messages": [
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "a"}, {"type": "text", "text": "b"},
            {"type": "tool_use", "toolCallId": "c", "name": "mine", "input": {"x": 1}}]},
        {"role": "tool", "toolCallId": "c", "content": "x"},
        {"role": "tool", "toolCallId": "d", "content": [{"type": "text", "text": "a"}]},
        {"role": "assistant", "content": "b"},
    ]})
}

fn any_frame() -> impl Strategy<Value = Wire> {
    prop::sample::select(frames()).prop_flat_map(|(kind, data)| (Just(kind), damaged(data)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// `Seen` asserts that each event is one, and is numbered on, and applies it.
    #[test]
    fn any_frames_are_events(frames in prop::collection::vec(any_frame(), 0..40)) {
        let mut seen = play(&frames);
        seen.index.take_changes(&mut |_, _, _| {});
        // Nothing is dropped before the turn's end: there is an event for every frame that says something.
        let before = frames.iter().position(|(kind, data)| *kind == "turn_stop" && data["stopReason"].is_string());
        let before = &frames[..before.unwrap_or(frames.len())];
        let is_empty = |(kind, data): &Wire| *kind == "turn_start" && data.is_object() || ["delta", "text", "thinking"].iter().any(|name| data[*name] == "");
        let said = before.iter().filter(|frame| !is_empty(frame)).count();
        prop_assert!(seen.events.len() >= said);
        prop_assert_eq!(play(&frames).events, seen.events);
    }

    #[test]
    fn any_answer_comes_to_events(answer in damaged(answer())) {
        let seen = whole(&answer);
        let is_read = answer["messages"].is_array() && answer["stopReason"].is_string();
        prop_assert_eq!(seen.of("turn.done").len(), usize::from(is_read));
        prop_assert!(is_read || seen.last()["raw"] == without_floats(&answer));
    }

    #[test]
    fn any_input_can_be_begun_with(input in any_json(), frames in prop::collection::vec(any_frame(), 0..4)) {
        let params = json!({"turnId": input, "previousTurnId": input, "input": input, "terms": input}).to_string();
        let mut decoder = decoder();
        decoder.begin(Value::parse(&params).expect("JSON").as_object().expect("an object"));
        let mut seen = Kinds::default();
        for (kind, data) in frames {
            decoder.decode(&frame(kind, &data.to_string()), &mut seen);
        }
    }
}

/// Floats are compared as they are read again.
fn without_floats(json: &Json) -> Json {
    serde_json::from_str(&json.to_string()).expect("JSON")
}
