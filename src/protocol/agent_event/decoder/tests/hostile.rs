//! Whatever a server sends, in whatever order: events that are numbered on, and never a panic.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::{
    RunDecoder, Seen, awaken, begin, call_done, call_ready, call_start, frame, play, run_start, step, tirea,
};
use crate::event::EventRef;
use crate::index::EventIndex;
use crate::json::{MAX_DEPTH, Value};
use crate::protocol::EventDecoder;
use crate::protocol::tests::damage::place;

#[test]
fn types_that_are_merely_new_are_unknown_without_a_problem() {
    for wire in [
        tirea("run_paused", json!({"a": [null]})),
        awaken("run_paused", json!({"a": 1})),
        json!({"type": ""}),
    ] {
        let kind = wire.get("event_type").unwrap_or(&wire["type"]).clone();
        let seen = begin([&wire]);
        assert_eq!(seen.events, [json!({"type": "unknown", "wire_type": kind, "raw": wire})]);
    }
}

#[test]
fn what_is_no_frame_is_kept() {
    for raw in [
        json!(null),
        json!(5),
        json!("text_delta"),
        json!([]),
        json!({}),
        json!({"type": 5}),
        json!({"data": {}}),
    ] {
        let seen = begin([&raw]);
        assert_eq!(seen.last()["type"], "unknown");
        assert_eq!(seen.last()["wire_type"], json!(null));
        assert_eq!(seen.last()["raw"], raw);
        assert!(seen.last()["problem"].is_string());
    }
    let deep = "[".repeat(100_000);
    for data in
        ["", " ", "{", "[DONE]", "nul", "{\"type\":\"text_delta\"", "{\"type\":\"text_delta\",}", &*deep]
    {
        let (mut decoder, mut seen) = (RunDecoder::default(), Seen::default());
        decoder.decode(&frame(data), &mut seen);
        assert_eq!(seen.last()["type"], "unknown");
        assert_eq!(seen.last()["raw"], data);
    }
}

#[test]
fn a_payload_that_is_none_is_a_problem() {
    for kind in ["text_delta", "run_finish", "step_end", "error", "state_snapshot"] {
        let wire = json!({"type": kind, "data": "text", "delta": "a", "message": "m"});
        let seen = begin([&wire]);
        assert_eq!(seen.types(), ["unknown"]);
        assert_eq!(seen.last()["problem"], "`data` is not an object");
        assert_eq!(seen.last()["raw"], wire);
    }
}

#[test]
fn a_field_of_another_type_is_a_problem() {
    let cases = [
        tirea("text_delta", json!({"delta": 5})),
        tirea("text_delta", json!({})),
        tirea("reasoning_encrypted_value", json!({"encrypted_value": null})),
        tirea("tool_call_start", json!({"name": "a"})),
        tirea("tool_call_start", json!({"id": "a", "name": []})),
        tirea("tool_call_delta", json!({"id": "a"})),
        tirea("tool_call_ready", json!({"id": {}})),
        tirea("tool_call_resumed", json!({"target_id": "c"})),
        tirea("step_start", json!({"message_id": 5})),
        tirea("inference_complete", json!({"usage": 5})),
        tirea("inference_complete", json!({"model": 5})),
        tirea("state_snapshot", json!({"snapsot": {}})),
        awaken("tool_call_cancel", json!({"reason": "r"})),
        awaken("tool_call_stream_delta", json!({"id": "a"})),
        awaken("stream_reset", json!({"reason": 5})),
    ];
    for wire in cases {
        let seen = begin([&run_start(), &step("m"), &wire]);
        assert_eq!(seen.last()["type"], "unknown", "{wire}");
        assert_eq!(seen.last()["raw"], wire);
        assert!(seen.last()["problem"].is_string());
        assert_eq!(seen.events.len(), 3, "{wire}: nothing but that");
    }
}

#[test]
fn nesting_up_to_the_limit_is_read() {
    let data = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"event_type":"state_snapshot","snapshot":{open}{close}}}"#)
    };
    let depth = MAX_DEPTH as usize;
    for (levels, kind) in [(depth - 1, "state.snapshot"), (depth, "unknown")] {
        let (mut decoder, mut seen) = (RunDecoder::default(), Kinds::default());
        decoder.decode(&frame(&data(levels)), &mut seen);
        assert_eq!(seen.0, [kind]);
    }
}

/// Deeper than serde's own limit: only the kinds are looked at.
#[derive(Default)]
struct Kinds(Vec<String>);

impl crate::protocol::EventSink for Kinds {
    fn delta(&mut self, _: u64, _: crate::event::TextDelta<'_>) {
        self.0.push("delta".to_owned());
    }

    fn event(&mut self, _: u64, event: EventRef<'_>) {
        self.0.push(event.fields.text("type").to_owned());
    }
}

#[test]
fn ids_are_opaque() {
    let long = "x".repeat(100_000);
    for id in ["", " ", "a/b?c", "é\u{2028}\u{0}", "main", "tool_call:", "fc_", &*long] {
        let seen =
            play([&run_start(), &step(id), &call_start(id), &call_ready(id, json!({})), &call_done(id)]);
        assert_eq!(seen.of("unknown").len(), 0);
        assert_eq!(seen.last()["tool_call_id"], id);
    }
}

/// One frame of every kind, all of whose fields are there.
fn frames() -> Vec<Json> {
    let ticket = json!({"suspension": {"id": "fc_c", "action": "a"}, "pending": {"id": "c", "name": "n", "arguments": {}},
        "resume_mode": "pass_decision_to_tool"});
    let result = json!({"tool_name": "t", "status": "success", "data": 1, "message": "m", "metadata": {}, "suspension": ticket});
    let waiting = json!({"notes": [], "__tool_call_scope": {"c": {"suspended_call": {"call_id": "c", "tool_name": "t",
        "arguments": {}, "resume_mode": "replay_tool_call", "suspension": {"id": "fc_c", "action": "a"}}}}});
    let report = json!({"call_id": "k", "parent_call_id": "c", "node_id": "tool_call:k", "status": "done", "thread_id": "t2",
        "tool_name": "t", "updated_at_ms": 5});
    let payloads = [
        ("step_start", json!({"message_id": "m"})),
        ("step_end", json!({})),
        ("text_delta", json!({"delta": "a"})),
        ("reasoning_delta", json!({"delta": "a"})),
        ("reasoning_encrypted_value", json!({"encrypted_value": "a"})),
        ("tool_call_start", json!({"id": "c", "name": "t"})),
        ("tool_call_delta", json!({"id": "c", "args_delta": "{}"})),
        ("tool_call_ready", json!({"id": "c", "name": "t", "arguments": {}})),
        ("tool_call_cancel", json!({"id": "c", "name": "t", "reason": "r"})),
        ("tool_call_stream_delta", json!({"id": "c", "name": "t", "delta": "a"})),
        ("tool_call_done", json!({"id": "c", "message_id": "r", "outcome": "succeeded", "result": result})),
        ("tool_call_done", json!({"id": "c", "outcome": "suspended", "result": result})),
        ("tool_call_resumed", json!({"target_id": "c", "result": true})),
        ("inference_complete", json!({"model": "m", "duration_ms": 1, "usage": {"prompt_tokens": 1}})),
        ("stream_reset", json!({"reason": "r"})),
        ("state_snapshot", json!({"snapshot": waiting})),
        ("state_delta", json!({"delta": [{"op": "add", "path": "/a", "value": 1}]})),
        ("messages_snapshot", json!({"messages": [{"role": "user", "content": "a"}]})),
        (
            "activity_snapshot",
            json!({"activity_type": "a", "message_id": "tool_call:k", "content": report, "replace": true}),
        ),
        (
            "activity_snapshot",
            json!({"activity_type": "a", "message_id": "tool_call:k", "content": {"call_id": "k"}}),
        ),
        ("activity_delta", json!({"activity_type": "a", "message_id": "tool_call:k", "patch": []})),
        ("error", json!({"message": "e", "code": "c"})),
        ("run_start", json!({"run_id": "r", "thread_id": "s", "parent_run_id": "q"})),
        (
            "run_finish",
            json!({"run_id": "r", "thread_id": "s", "termination": {"type": "suspended"}, "result": {"response": "a"}}),
        ),
    ];
    let mut frames: Vec<Json> = payloads.iter().map(|(kind, data)| awaken(kind, data.clone())).collect();
    frames.extend(
        payloads
            .into_iter()
            .map(|(kind, data)| json!({"type": kind, "run_id": "r", "thread_id": "s", "data": data})),
    );
    frames
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        "\\PC{0,8}".prop_map(Json::from),
        prop::sample::select(vec!["c", "m", "tool_call:c", "fc_c", "suspended", "cancelled", "done"])
            .prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            prop::collection::vec(("[a-z_]{1,8}", inner), 0..3)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

/// A frame, as it is or with one of its values replaced.
fn any_frame() -> impl Strategy<Value = Json> {
    let damage = prop::option::weighted(0.4, (any::<prop::sample::Index>(), any_json()));
    (prop::sample::select(frames()), damage).prop_map(|(mut frame, damage)| {
        if let Some((at, value)) = damage {
            *place(&mut frame, at) = value;
        }
        frame
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// `Seen` asserts that each event is one, and is numbered on.
    #[test]
    fn any_frames_are_events(frames in prop::collection::vec(any_frame(), 0..40)) {
        let seen = play(&frames);
        let mut index = EventIndex::new();
        for event in &seen.events {
            let text = event.to_string();
            let json = Value::parse(&text).expect("JSON");
            index.apply(EventRef::of(json.as_object().expect("an object")));
            index.take_changes(&mut |_, _, _| {});
        }
        // The same frames give the same events.
        prop_assert_eq!(play(&frames), seen);
    }

    #[test]
    fn any_text_is_an_event(data in "\\PC{0,40}", number in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>()) {
        let whole = frames()[number.index(frames().len())].to_string();
        let end = (0..cut.index(whole.len())).rev().find(|at| whole.is_char_boundary(*at)).unwrap_or(0);
        for data in [&*data, &whole[..end]] {
            let (mut decoder, mut seen) = (RunDecoder::default(), Seen::default());
            decoder.decode(&frame(data), &mut seen);
            prop_assert_eq!(seen.types(), ["unknown"]);
        }
    }
}
