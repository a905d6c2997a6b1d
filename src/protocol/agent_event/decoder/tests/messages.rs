//! Steps, text and reasoning.

use serde_json::{Value as Json, json};

use super::{
    DIALECTS, Seen, awaken, begin, call_delta, call_ready, call_start, complete, finish, play, run_start,
    step, step_end, text, tirea,
};

#[test]
fn a_step_is_a_message() {
    for dialect in DIALECTS {
        let usage = json!({"prompt_tokens": 42, "completion_tokens": 17, "total_tokens": 59, "cache_read_tokens": 8,
            "cache_creation_tokens": 2, "thinking_tokens": 4});
        let seen = begin([
            &run_start(),
            &dialect("step_start", json!({"message_id": "m"})),
            &dialect("reasoning_delta", json!({"delta": "Hm. "})),
            &dialect("reasoning_encrypted_value", json!({"encrypted_value": "b64=="})),
            &dialect("text_delta", json!({"delta": "Hel\nlo ☃"})),
            &dialect("text_delta", json!({"delta": ""})),
            &dialect("inference_complete", json!({"model": "mock-1", "duration_ms": 4, "usage": usage})),
            &dialect("step_end", json!({})),
        ]);
        let delta = |field: &str, value: Json| json!({"type": "model.message.delta", "id": "m", "thread_id": "main", field: value});
        let mut last = delta("finish_reason", "stop".into());
        last["model"] = "mock-1".into();
        last["duration_ms"] = 4.into();
        last["usage"] = json!({"input_tokens": 42, "output_tokens": 17, "cache_read_tokens": 8,
            "cache_write_tokens": 2, "reasoning_tokens": 4});
        let expected = [
            json!({"type": "model.message", "id": "m", "thread_id": "main", "content": ""}),
            delta("reasoning_content", "Hm. ".into()),
            delta("reasoning_encrypted", "b64==".into()),
            delta("content", "Hel\nlo ☃".into()),
            delta("content", "".into()),
            last,
        ];
        assert_eq!(seen.events[1..], expected);
        assert_eq!(seen.pieces, 3);
    }
}

#[test]
fn a_message_without_an_id_gets_one() {
    for wire in
        [tirea("step_start", json!({})), tirea("step_start", json!(null)), awaken("step_start", json!({}))]
    {
        let seen = begin([&run_start(), &wire, &text("a")]);
        assert_eq!(seen.events[1]["id"], "r:2");
        assert_eq!(seen.text("r:2", "content"), "a");
    }
}

#[test]
fn usage_is_what_was_said_of_it() {
    let usage_of = |usage: Json| {
        let seen = begin([&step("m"), &tirea("inference_complete", json!({"usage": usage}))]);
        seen.last()["usage"].clone()
    };
    assert_eq!(usage_of(json!(null)), json!(null));
    assert_eq!(usage_of(json!({})), json!({"input_tokens": 0, "output_tokens": 0}));
    assert_eq!(usage_of(json!({"prompt_tokens": 1})), json!({"input_tokens": 1, "output_tokens": 0}));
    assert_eq!(usage_of(json!({"prompt_tokens": "1"})), json!({"input_tokens": 0, "output_tokens": 0}));
}

fn continued(seen: &Seen) -> Vec<(&Json, &Json)> {
    seen.of("model.message").iter().map(|message| (&message["id"], &message["continues"])).collect()
}

/// Section 1.5: a step that is tried again is one message, and what was said stays.
#[test]
fn a_retried_step_continues_its_message() {
    let frames = [
        run_start(),
        step("a"),
        text("par"),
        step_end(),
        step("b"),
        step_end(),
        step("c"),
        text("tial"),
        complete(),
        step_end(),
    ];
    let seen = begin(&frames);
    assert_eq!(
        continued(&seen),
        [(&json!("a"), &json!(null)), (&json!("b"), &json!("a")), (&json!("c"), &json!("b"))]
    );
    assert_eq!(seen.of("model.message")[1]["content"], "");

    // The next step is a new message.
    let mut frames = frames.to_vec();
    frames.push(step("d"));
    assert_eq!(begin(&frames).last().get("continues"), None);
}

#[test]
fn an_attempt_that_brought_nothing_is_continued() {
    let seen = play([&run_start(), &step("a"), &step_end(), &step("b"), &finish("error")]);
    assert_eq!(seen.events[2]["continues"], "a");
    assert_eq!(
        seen.events[3],
        json!({"type": "model.message.delta", "id": "b", "thread_id": "main", "finish_reason": "error"})
    );
}

/// Nothing counts of an attempt in which a call had begun and did not get ready: neither its text nor its calls.
#[test]
fn a_retry_takes_back_an_attempt_with_a_begun_call() {
    let seen = begin([
        &run_start(),
        &step("a"),
        &text("partial "),
        &call_start("c1"),
        &call_delta("c1", "{\"q"),
        &step_end(),
        &step("b"),
        &call_start("c1"),
        &call_ready("c1", json!({"q": 1})),
        &complete(),
    ]);
    let types = seen.types();
    let at = types.iter().position(|kind| *kind == "message.reset").expect("a reset");
    assert_eq!(seen.events[at - 1]["continues"], "a");
    assert_eq!(
        seen.events[at],
        json!({"type": "message.reset", "id": "b", "thread_id": "main", "reason": "the step was retried"})
    );
    assert_eq!(
        seen.events[at + 1]["tool_calls"][0],
        json!({"index": 0, "id": "c1", "type": "function",
        "function": {"name": "search", "arguments": ""}})
    );
    assert_eq!(seen.last()["finish_reason"], "tool_calls");

    // With nothing but void calls, a message has said its last word.
    let seen = begin([&step("a"), &call_start("c1"), &step_end(), &step("b"), &text("x"), &complete()]);
    assert_eq!(seen.last()["finish_reason"], "stop");
}

/// A question about a call inside of another names a call that this run does not know.
#[test]
fn a_question_is_no_call() {
    let question = |frame: Json| -> Json {
        let frame = frame.to_string().replace("search", "PermissionConfirm");
        serde_json::from_str(&frame).expect("JSON")
    };
    let (start, ready) = (question(call_start("fc_nested")), question(call_ready("fc_nested", json!({}))));
    let seen = begin([&step("a"), &complete(), &step_end(), &start, &ready]);
    assert!(seen.events.iter().all(|event| event.get("tool_calls").is_none()), "{:?}", seen.events);
}

/// A call that was ready before the retry is the continued message's own.
#[test]
fn calls_go_on_with_their_message() {
    let mut frames =
        vec![step("a"), call_start("c1"), call_ready("c1", json!({})), step_end(), step("b"), complete()];
    frames.push(call_delta("c1", "late"));
    assert_eq!(begin(&frames).last()["id"], "b");
}

#[test]
fn the_same_message_again_begins_anew() {
    let seen = begin([&step("a"), &call_start("c1"), &step_end(), &step("a"), &call_start("c1")]);
    assert_eq!(seen.of("model.message")[1].get("continues"), None);
    assert_eq!(seen.last()["tool_calls"][0]["index"], 0);
}

#[test]
fn text_outside_of_a_step_has_a_message_of_its_own() {
    let seen = play([
        &run_start(),
        &text("a"),
        &text("b"),
        &step("m"),
        &text("c"),
        &complete(),
        &step_end(),
        &text("d"),
        &finish("natural_end"),
    ]);
    assert_eq!(seen.text("r:2", "content"), "ab");
    assert_eq!(seen.text("m", "content"), "c");
    assert_eq!(seen.of("model.message")[1].get("continues"), None);
    let made_up = seen.of("model.message")[2]["id"].as_str().expect("an id");
    assert_eq!(seen.text(made_up, "content"), "d");
    let reasons: Vec<_> = seen.events.iter().filter_map(|event| event["finish_reason"].as_str()).collect();
    assert_eq!(reasons, ["stop"; 3]);
}

/// An attempt's own words may come after its end.
#[test]
fn late_text_belongs_to_an_attempt_that_is_not_over() {
    let seen = begin([&step("a"), &text("a"), &step_end(), &text("b"), &step("b")]);
    assert_eq!(seen.text("a", "content"), "ab");
    assert_eq!(seen.last()["continues"], "a");
}

#[test]
fn an_inference_without_a_step_has_a_message() {
    let seen = begin([&run_start(), &complete()]);
    assert_eq!(seen.types(), ["turn.created", "model.message", "model.message.delta"]);
    assert_eq!(seen.last()["id"], "r:2");
}

/// Section 5: a broken stream that restarts within its step.
#[test]
fn a_reset_takes_everything_back() {
    let reset = awaken("stream_reset", json!({"reason": "idle stall"}));
    assert_eq!(begin([&reset]).events.len(), 0, "nothing was said");
    let seen = begin([
        &step("m"),
        &text("a"),
        &call_start("c1"),
        &reset,
        &call_start("c2"),
        &call_start("c1"),
        &complete(),
    ]);
    assert_eq!(
        seen.of("message.reset"),
        [&json!({"type": "message.reset", "id": "m", "thread_id": "main", "reason": "idle stall"})]
    );
    let calls: Vec<_> = seen.events.iter().filter(|event| event["tool_calls"].is_array()).collect();
    assert_eq!(calls[1]["tool_calls"][0]["index"], 0);
    assert_eq!(calls[2]["tool_calls"][0]["index"], 1);
    assert_eq!(seen.last()["finish_reason"], "tool_calls");
}
