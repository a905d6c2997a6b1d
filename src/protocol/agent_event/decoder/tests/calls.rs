//! Tool calls up to their running.

use serde_json::{Value as Json, json};

use super::{
    DIALECTS, Seen, awaken, begin, call_delta, call_done, call_ready, call_start, calling, complete,
    run_start, step, step_end, tirea,
};

/// A step that makes a call by these pieces, which then is ready with these arguments.
fn ready_after(pieces: &[&str], arguments: &Json) -> Seen {
    let mut frames = vec![step("m"), call_start("c")];
    frames.extend(pieces.iter().map(|piece| call_delta("c", piece)));
    frames.push(call_ready("c", arguments.clone()));
    begin(&frames)
}

#[test]
fn a_call_begins_with_its_name() {
    for dialect in DIALECTS {
        let seen = begin([
            &dialect("step_start", json!({"message_id": "m"})),
            &dialect("tool_call_start", json!({"id": "c1", "name": "one"})),
            &dialect("tool_call_delta", json!({"id": "c1", "args_delta": "{\"a\""})),
            &dialect("tool_call_start", json!({"id": "c2", "name": "two"})),
            &dialect("tool_call_delta", json!({"id": "c2", "args_delta": "{}"})),
            &dialect("tool_call_delta", json!({"id": "c1", "args_delta": ":1}"})),
        ]);
        let start = |index: u64, id: &str, name: &str| {
            json!({"type": "model.message.delta", "id": "m", "thread_id": "main", "tool_calls": [
                {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]})
        };
        assert_eq!(seen.events[1], start(0, "c1", "one"));
        assert_eq!(seen.events[3], start(1, "c2", "two"));
        assert_eq!(seen.arguments("m", 0), "{\"a\":1}");
        assert_eq!(seen.arguments("m", 1), "{}");
        assert_eq!(seen.pieces, 3);
    }
}

#[test]
fn arguments_that_came_in_pieces_are_not_said_again() {
    let cases: [(&[&str], Json); 5] = [
        (&["{", "}"], json!({})),
        (&["{\"b\": 1, ", "\"a\": [true, null]}"], json!({"a": [true, null], "b": 1})),
        (&["\"te", "xt\""], json!("text")),
        (&["{\"\\u0061\":\"\\n\"}"], json!({"a": "\n"})),
        (&["", "[ 1.50 ]"], serde_json::from_str("[1.50]").expect("JSON")),
    ];
    for (pieces, arguments) in cases {
        let mut frames = vec![step("m"), call_start("c")];
        frames.extend(pieces.iter().map(|piece| call_delta("c", piece)));
        let before = begin(&frames);
        let after = ready_after(pieces, &arguments);
        if arguments.is_array() {
            // A number is compared as it was written.
            assert_eq!(after.events.len(), before.events.len() + 1);
        } else {
            assert_eq!(after, before, "{arguments}");
        }
    }
}

#[test]
fn arguments_that_did_not_come_are_said_at_once() {
    for pieces in [&[][..], &[""], &["", ""]] {
        let seen = ready_after(pieces, &json!({"q": "é\n"}));
        assert_eq!(seen.arguments("m", 0), r#"{"q":"é\n"}"#);
    }
}

#[test]
fn arguments_that_are_others_are_said_whole() {
    let cases = [
        ("{\"a\":1", json!({"a": 1})),
        ("{\"a\":1}", json!({"a": 2})),
        ("{\"a\":1}", json!({"a": 1, "b": 1})),
        ("[1]", json!([1, 2])),
    ];
    for (pieces, arguments) in cases {
        let seen = ready_after(&[pieces], &arguments);
        let call = &seen.last()["tool_calls"][0];
        assert_eq!(call["index"], 0);
        assert_eq!(super::parsed(&call["function"]["whole_arguments"]), arguments);
        assert_eq!(call["function"].get("arguments"), None);
    }
}

#[test]
fn a_call_without_a_beginning_begins() {
    // Not even a step.
    let seen = begin([&run_start(), &call_ready("c", json!({"q": 1}))]);
    assert_eq!(seen.types(), ["turn.created", "model.message", "model.message.delta", "model.message.delta"]);
    assert_eq!(seen.events[2]["tool_calls"][0]["function"]["name"], "search");
    assert_eq!(seen.arguments("r:2", 0), "{\"q\":1}");

    let seen = begin([&run_start(), &step("m"), &call_delta("c", "{}"), &call_ready("c", json!({}))]);
    let calls: Vec<_> = seen.events[2..].iter().map(|event| &event["tool_calls"][0]).collect();
    assert_eq!(calls[0]["function"], json!({"name": "", "arguments": ""}));
    assert_eq!(calls[1]["function"], json!({"arguments": "{}"}));
    // Its name is said when it is known.
    assert_eq!(calls[2]["function"], json!({"name": "search", "arguments": ""}));
    assert_eq!(calls[2]["index"], 0);
}

#[test]
fn what_is_said_twice_counts_once() {
    let seen = ready_after(&["{}"], &json!({}));
    let mut frames = vec![step("m"), call_start("c"), call_delta("c", "{}"), call_ready("c", json!({}))];
    frames.push(call_ready("c", json!({})));
    assert_eq!(begin(&frames), seen);
    // A beginning that is said again says the name again, in the same place.
    let seen = begin([&step("m"), &call_start("c"), &call_start("c"), &call_start("d")]);
    let indexes: Vec<_> =
        seen.events[1..].iter().map(|event| event["tool_calls"][0]["index"].clone()).collect();
    assert_eq!(indexes, [0, 0, 1]);
}

/// Some models reuse call ids in every message.
#[test]
fn the_same_id_in_the_next_message_is_another_call() {
    let mut frames = calling("a", "c");
    frames.push(call_done("c"));
    frames.extend([
        step("b"),
        call_start("c"),
        call_delta("c", "{\"q\":1}"),
        complete(),
        step_end(),
        call_ready("c", json!({"q": 1})),
    ]);
    let seen = begin(&frames);
    assert_eq!(seen.arguments("a", 0), "{}");
    assert_eq!(seen.arguments("b", 0), "{\"q\":1}");
    // The same without pieces, and without a beginning.
    let mut frames = calling("a", "c");
    frames.extend([step("b"), complete(), step_end(), call_ready("c", json!({"q": 1}))]);
    assert_eq!(begin(&frames).arguments("b", 0), "{\"q\":1}");
}

/// Section 2.2: the question about a call is shown as another call, which is never made.
#[test]
fn projections_are_not_calls() {
    for prefix in ["fc_", "perm_"] {
        let id = format!("{prefix}c");
        let mut frames = calling("m", "c");
        let plain = begin(&frames);
        frames.push(call_start(&id));
        frames.push(call_delta(&id, "{}"));
        frames.push(call_ready(&id, json!({"tool_name": "search"})));
        assert_eq!(begin(&frames), plain, "{prefix}");
    }
    // A model may name a call so; and without the call behind it, it is one.
    let mut frames = calling("m", "c");
    frames.extend([step("n"), call_start("fc_c"), complete(), step_end(), call_start("fc_unknown")]);
    let seen = begin(&frames);
    let begun: Vec<_> =
        seen.events.iter().filter_map(|event| event["tool_calls"][0]["id"].as_str()).collect();
    assert_eq!(begun, ["c", "fc_c", "fc_unknown"]);
}

#[test]
fn a_message_has_no_more_calls_than_can_be_merged() {
    let mut frames = vec![step("m")];
    frames.extend((0..=super::super::calls::MAX_CALLS).map(|number| call_start(&number.to_string())));
    let seen = begin(&frames);
    assert_eq!(seen.of("unknown").len(), 1);
    assert_eq!(seen.last()["problem"], "a message has more than 1024 calls");
    assert_eq!(seen.last()["wire_type"], "tool_call_start");
    frames.push(call_delta("new", "{}"));
    let seen = begin(&frames);
    assert_eq!(seen.of("unknown").len(), 2, "nor by a delta");
    assert_eq!(seen.last()["wire_type"], "tool_call_delta");
}

/// The memory of calls is bounded: an old call's late result still comes, and says what it says itself.
#[test]
fn old_calls_are_forgotten() {
    let mut frames = Vec::new();
    for message in 0..5 {
        frames.push(step(&format!("m{message}")));
        frames.extend((0..1024).map(|number| call_start(&format!("{message}-{number}"))));
        frames.push(complete());
    }
    frames.push(call_done("0-0"));
    let seen = begin(&frames);
    assert_eq!(seen.last()["type"], "tool.response");
    assert_eq!(seen.of("unknown").len(), 0);
}

/// Section 5: a stream that broke within a call's arguments.
#[test]
fn a_call_is_cancelled_by_name() {
    let cancel =
        awaken("tool_call_cancel", json!({"id": "c", "name": "search", "reason": "connection reset"}));
    let frames = [
        run_start(),
        step("m"),
        call_start("c"),
        call_delta("c", "{\"q"),
        cancel.clone(),
        complete(),
        step_end(),
    ];
    let seen = begin(&frames);
    let cancelled = json!({"type": "tool.cancelled", "id": "r:5", "thread_id": "main", "tool_call_id": "c", "reason": "connection reset"});
    assert_eq!(seen.of("tool.cancelled"), [&cancelled]);
    assert_eq!(seen.last()["finish_reason"], "stop");
    // Not once more when the step is retried; and one that is not known is cancelled, too.
    let seen = begin([&step("m"), &call_start("c"), &cancel, &step_end(), &step("n")]);
    assert_eq!(seen.of("tool.cancelled").len(), 1);
    assert_eq!(begin([&cancel]).types(), ["tool.cancelled"]);
}

/// Section 5: what a tool says while it runs is a report that grows.
#[test]
fn a_running_tools_output_is_a_report() {
    let piece =
        |delta: &str| awaken("tool_call_stream_delta", json!({"id": "c", "name": "render", "delta": delta}));
    let seen = begin([&run_start(), &piece("one "), &piece("two"), &piece("three")]);
    let report = json!({
        "type": "activity.snapshot", "id": "r:2", "thread_id": "main", "message_id": "tool_call_output:c",
        "activity_type": "tool-call-output",
        "content": {"call_id": "c", "tool_name": "render", "output": ["one "]}
    });
    let change = |number: u64, piece: &str| {
        json!({"type": "activity.delta", "id": format!("r:{number}"), "thread_id": "main",
            "message_id": "tool_call_output:c", "activity_type": "tool-call-output",
            "patch": [{"op": "add", "path": "/output/-", "value": piece}]})
    };
    assert_eq!(seen.events[1..], [report, change(3, "two"), change(4, "three")]);
}

#[test]
fn a_call_may_say_less_than_it_should() {
    let bare = [
        step("m"),
        tirea("tool_call_start", json!({"id": "c"})),
        tirea("tool_call_ready", json!({"id": "c"})),
    ];
    let seen = begin(&bare);
    assert_eq!(seen.of("unknown").len(), 0);
    assert_eq!(seen.last()["tool_calls"][0]["function"]["name"], "");
}
