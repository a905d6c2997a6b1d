//! Reports, and many frames that are one.

use serde_json::{Value as Json, json};

use super::{DIALECTS, Seen, begin, calling, finish, play, run_start, step_end, text, tirea};

/// A report's fields in their order, as tirea sends them.
fn report(call: &str, step: u64, at: u64) -> Vec<(&'static str, Json)> {
    vec![
        ("call_id", call.into()),
        ("loaded", step.into()),
        ("message", format!("step {step}").into()),
        ("node_id", format!("tool_call:{call}").into()),
        ("parent_call_id", json!(null)),
        ("parent_node_id", "run:r".into()),
        ("parent_run_id", json!(null)),
        ("progress", 0.5.into()),
        ("run_id", "r".into()),
        ("schema", "tool-call-progress.v1".into()),
        ("status", "running".into()),
        ("thread_id", "s".into()),
        ("tool_name", "search".into()),
        ("total", 10.into()),
        ("type", "tool-call-progress".into()),
        ("updated_at_ms", at.into()),
    ]
}

/// A frame as it is sent, with the fields of its content in this order.
fn snapshot_text(call: &str, content: &[(&str, Json)]) -> String {
    let members: Vec<String> = content.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!(
        r#"{{"type":"activity_snapshot","data":{{"activity_type":"tool-call-progress","content":{{{}}},"message_id":"tool_call:{call}","replace":true}}}}"#,
        members.join(",")
    )
}

/// The sixteen frames of a report, after the one before it.
fn frames_of(call: &str, before: Option<(u64, u64)>, step: u64, at: u64) -> Vec<String> {
    let new = report(call, step, at);
    let mut content = before.map_or_else(Vec::new, |(step, at)| report(call, step, at));
    new.into_iter()
        .enumerate()
        .map(|(place, field)| {
            if content.len() > place {
                content[place] = field;
            } else {
                content.push(field);
            }
            snapshot_text(call, &content)
        })
        .collect()
}

fn play_texts<'t>(texts: impl IntoIterator<Item = &'t String>, ends: bool) -> Seen {
    use crate::protocol::EventDecoder;
    let (mut decoder, mut seen) = (super::RunDecoder::default(), Seen::default());
    for data in texts {
        decoder.decode(&super::frame(data), &mut seen);
    }
    if ends {
        decoder.end(&mut seen);
    }
    seen
}

fn loaded(seen: &Seen) -> Vec<(&str, u64)> {
    let of = |event| -> (&str, u64) {
        let event: &Json = event;
        (event["tool_call_id"].as_str().expect("a call"), event["content"]["loaded"].as_u64().unwrap_or(99))
    };
    seen.of("activity.snapshot").into_iter().map(of).collect()
}

/// Section 1.6: sixteen frames are one report.
#[test]
fn a_report_is_one_event() {
    let mut frames = frames_of("c", None, 0, 100);
    frames.extend(frames_of("c", Some((0, 100)), 1, 200));
    frames.extend(frames_of("c", Some((1, 200)), 2, 300));
    let seen = play_texts(&frames, true);
    assert_eq!(loaded(&seen), [("c", 0), ("c", 1), ("c", 2)]);
    let whole: Json = report("c", 2, 300).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    assert_eq!(
        *seen.last(),
        json!({"type": "activity.snapshot", "id": ":3", "thread_id": "main", "message_id": "tool_call:c",
        "activity_type": "tool-call-progress", "content": whole, "replace": true, "tool_call_id": "c"})
    );
}

#[test]
fn reports_of_tools_that_run_together_do_not_disturb_each_other() {
    let (a, b) = (frames_of("a", None, 0, 100), frames_of("b", None, 5, 100));
    let mixed: Vec<String> = a.into_iter().zip(b).flat_map(|(a, b)| [a, b]).collect();
    assert_eq!(loaded(&play_texts(&mixed, true)), [("a", 0), ("b", 5)]);
}

/// What is held is not lost: it comes before whatever else happens, and at the end.
#[test]
fn a_part_of_a_report_comes_before_anything_else() {
    let frames = frames_of("c", None, 0, 100);
    assert_eq!(play_texts(&frames[..5], false).events.len(), 0);
    let seen = play_texts(&frames[..5], true);
    assert_eq!(loaded(&seen), [("c", 0)]);
    assert_eq!(seen.last()["content"].as_object().map(serde_json::Map::len), Some(5));

    let others = [text("a"), finish("natural_end"), json!({"type": "new"}), json!(5)];
    for other in others {
        let mut cut = frames[..5].to_vec();
        cut.push(other.to_string());
        let seen = play_texts(&cut, false);
        assert_eq!(seen.types()[0], "activity.snapshot", "{other}");
        assert!(seen.events.len() > 1, "{other}");
        // It is given once.
        assert_eq!(play_texts(&cut, true).of("activity.snapshot").len(), 1);
    }
    let mut broken = frames[..5].to_vec();
    broken.push("{".to_owned());
    assert_eq!(play_texts(&broken, false).types()[0], "activity.snapshot");
}

/// Two reports within a millisecond: the second one is held, and comes with what follows.
#[test]
fn reports_of_the_same_time_are_not_lost() {
    let mut frames = frames_of("c", None, 0, 100);
    frames.extend(frames_of("c", Some((0, 100)), 1, 100));
    assert_eq!(loaded(&play_texts(&frames, false)), [("c", 0)]);
    assert_eq!(loaded(&play_texts(&frames, true)), [("c", 0), ("c", 1)]);
}

#[test]
fn other_reports_are_given_at_once() {
    let snapshot = |kind: &str, id: &str, content: Json| {
        tirea("activity_snapshot", json!({"activity_type": kind, "message_id": id, "content": content}))
    };
    let cases = [
        snapshot("progress", "x", json!({"progress": 0.3})),
        snapshot("reasoning", "x", json!({"text": "a"})),
        snapshot("file", "x", json!("text")),
        snapshot("progress", "x", json!({})),
        snapshot("tool-call-progress", "c", json!({"call_id": "c", "message": "awaken leaves nulls out"})),
        snapshot("tool-call-progress", "c", json!({"call_id": "c", "updated_at_ms": 5})),
    ];
    for wire in cases {
        let seen = begin([&wire]);
        assert_eq!(seen.types(), ["activity.snapshot"], "{wire}");
        assert_eq!(seen.last()["content"], wire["data"]["content"]);
        assert_eq!(seen.last().get("replace"), None);
    }
}

/// A report that counts only where nothing is known is not replaced by a newer one on the way.
#[test]
fn a_report_that_does_not_replace_is_not_held() {
    let wire = tirea(
        "activity_snapshot",
        json!({"activity_type": "a", "message_id": "m", "content": {"call_id": "c"}, "replace": false}),
    );
    let seen = begin([&wire, &wire]);
    assert_eq!(seen.events.len(), 2);
    assert_eq!(seen.last()["replace"], false);
}

#[test]
fn a_report_names_its_call_where_it_can() {
    for dialect in DIALECTS {
        let call_of = |id: &str, content: Json| {
            let mut frames = calling("m", "known");
            frames.push(step_end());
            frames.push(dialect(
                "activity_snapshot",
                json!({"activity_type": "progress", "message_id": id, "content": content}),
            ));
            begin(&frames).last()["tool_call_id"].clone()
        };
        assert_eq!(call_of("x", json!({"call_id": "c", "progress": 0})), "c");
        assert_eq!(call_of("tool_call:c", json!({"progress": 0})), "c");
        assert_eq!(call_of("known", json!({"progress": 0})), "known");
        assert_eq!(call_of("unknown", json!({"progress": 0})), json!(null));
        assert_eq!(call_of("x", json!({"call_id": "", "progress": 0})), json!(null));
        assert_eq!(call_of("x", json!("known")), json!(null));
    }
}

#[test]
fn changes_are_given_as_they_came() {
    for dialect in DIALECTS {
        let patch = json!([{"op": "replace", "path": "/progress", "value": 0.5}, {"op": "move", "from": "/a", "path": "/b"}, {"op": "remove", "path": "/c"}]);
        let seen = begin([
            &run_start(),
            &dialect(
                "activity_delta",
                json!({"activity_type": "p", "message_id": "tool_call:c", "patch": patch}),
            ),
            &dialect("state_delta", json!({"delta": patch})),
            &dialect(
                "messages_snapshot",
                json!({"messages": [{"role": "user", "content": "hi", "id": "m1"}]}),
            ),
        ]);
        let expected = [
            json!({"type": "activity.delta", "id": "r:2", "thread_id": "main", "message_id": "tool_call:c", "activity_type": "p", "patch": patch}),
            json!({"type": "state.delta", "id": "r:3", "thread_id": null, "delta": patch}),
            json!({"type": "messages.snapshot", "id": "r:4", "thread_id": null, "messages": [{"role": "user", "content": "hi", "id": "m1"}]}),
        ];
        assert_eq!(seen.events[1..], expected);
    }
}

#[test]
fn changes_that_are_none_are_unknown() {
    let patches = [
        json!(null),
        json!({}),
        json!([5]),
        json!([{"op": "replace", "path": "/a"}]),
        json!([{"op": "move", "path": "/a"}]),
        json!([{"op": "set", "path": "/a", "value": 1}]),
        json!([{"op": "remove", "path": ["a"]}]),
    ];
    for patch in patches {
        for wire in [
            tirea("activity_delta", json!({"activity_type": "p", "message_id": "m", "patch": patch})),
            tirea("state_delta", json!({"delta": patch})),
        ] {
            let seen = begin([&wire]);
            assert_eq!(seen.types(), ["unknown"], "{wire}");
            assert_eq!(seen.last()["raw"], wire);
        }
    }
    for messages in [json!("hi"), json!([5]), json!([{"role": "user"}]), json!([{"content": "hi"}])] {
        assert_eq!(begin([&tirea("messages_snapshot", json!({"messages": messages}))]).types(), ["unknown"]);
    }
}

#[test]
fn what_there_were_reports_of_is_forgotten_at_last() {
    let mut frames: Vec<String> =
        (0..600).map(|number| frames_of(&format!("c{number}"), None, number, 1)[3].clone()).collect();
    frames.extend(frames_of("c599", None, 599, 1)[4..].to_vec());
    let seen = play_texts(&frames, true);
    let mut calls: Vec<u64> = loaded(&seen).into_iter().map(|(_, number)| number).collect();
    calls.sort_unstable();
    assert_eq!(calls, (0..600).collect::<Vec<_>>(), "each is given once");
}

#[test]
fn a_report_that_is_none_is_unknown() {
    let cases = [
        (json!({"activity_type": "a", "content": {}}), "`message_id` is missing"),
        (json!({"message_id": "m", "content": {}}), "`activity_type` is missing"),
        (json!({"message_id": "m", "activity_type": "a"}), "`content` is missing"),
        (json!({"message_id": 5, "activity_type": "a", "content": {}}), "`message_id` is not a string"),
    ];
    for (data, problem) in cases {
        let seen = play([&tirea("activity_snapshot", data)]);
        assert_eq!(seen.types(), ["unknown"]);
        assert_eq!(seen.last()["problem"], problem);
    }
}
